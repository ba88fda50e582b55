//! The entries of a run in the order of its document, and the time for their launches.

use std::time::Duration;

use yamba_record::{Benchmark, Note, Status};

use super::assemble;
use super::budget;
use super::child::Limits;
use super::contention::QuietWidths;
use super::earlier_figures::EarlierFigures;
use super::job::{Job, UsageError};
use super::launches::{Conditions, Launches};
use super::options::Options;
use super::plan::{self, Planned};
use super::scratch::Scratch;
use super::spread;

/// An entry's place in the run's document.
pub(super) enum Slot<'a> {
    /// An entry without launches.
    Settled(Box<Benchmark>),
    /// The launches so far, and the entry once these are done. Probes of later launches may change
    /// the quiet width by which it was judged.
    Measured(Box<Launches<'a>>, Option<Box<Benchmark>>),
}

/// The place of each entry, and the index of its job. Programs run only to describe themselves.
/// `elapsed` is the time since the run began.
pub(super) fn slots<'a>(
    jobs: &'a [Job],
    options: &Options,
    scratch: &Scratch,
    limits: &Limits,
    elapsed: impl Fn() -> Duration,
) -> Result<(Vec<Slot<'a>>, Vec<usize>), UsageError> {
    let (mut slots, mut of_job) = (Vec::new(), Vec::new());
    for (number, planned) in plan::plan(jobs, options, scratch, limits)? {
        of_job.push(number);
        slots.push(match planned {
            Planned::Settled(mut benchmark) | Planned::Faulty(mut benchmark) => {
                benchmark.declaration.provenance = jobs[number].provenance.clone();
                Slot::Settled(benchmark)
            }
            Planned::Measure(entry) => {
                Slot::Measured(Box::new(Launches::new(*entry, options)), None)
            }
        });
    }
    if let Some(budget) = options.run_time() {
        keep_time(&mut slots, budget, budget.saturating_sub(elapsed()));
    }
    Ok((slots, of_job))
}

/// The entries that are not settled, with their places.
pub(super) fn measured<'p, 'a>(
    slots: &'p [Slot<'a>],
) -> impl Iterator<Item = (usize, &'p Launches<'a>)> {
    slots.iter().enumerate().filter_map(|(i, slot)| match slot {
        Slot::Measured(launches, None) => Some((i, launches.as_ref())),
        Slot::Settled(_) | Slot::Measured(_, Some(_)) => None,
    })
}

/// Reduces the launches that are still planned to those that fit into the time left of the run's
/// `budget`. An entry for which there is no time at all is skipped.
pub(super) fn keep_time(slots: &mut [Slot<'_>], budget: Duration, left: Duration) {
    let (places, expected): (Vec<usize>, Vec<budget::Expected>) =
        measured(slots).map(|(place, launches)| (place, launches.expected())).unzip();
    let granted = budget::launches(&expected, left);
    for (place, launches) in places.into_iter().zip(granted) {
        slots[place].limit(launches, budget);
    }
}

/// The finished entries at the end of the run, judged by all its probes and launches, and by
/// earlier figures. `true` stands for an entry that changed since its last launch.
pub(super) fn settled(
    slots: Vec<Slot<'_>>,
    widths: &QuietWidths,
    earlier: &EarlierFigures,
) -> Vec<(Benchmark, bool)> {
    let each = slots.into_iter().map(|slot| slot.settled(widths));
    let (mut entries, is_judged_again): (Vec<Benchmark>, Vec<bool>) = each.unzip();
    let is_widened = spread::enter(&mut entries, earlier);
    let is_changed = is_judged_again.iter().zip(is_widened).map(|(a, b)| *a || b);
    entries.into_iter().zip(is_changed).collect()
}

impl<'a> Slot<'a> {
    /// The place of an entry whose launches were recorded elsewhere. `lost` has a note about each
    /// launch that is lost. An entry without any other is skipped.
    pub fn of_recorded(mut launches: Launches<'a>, lost: Vec<String>) -> Slot<'a> {
        launches.lose(&lost);
        if launches.left() > 0 {
            return Slot::Measured(Box::new(launches), None);
        }
        let mut skipped = not_started(&launches);
        skipped.status = Status::Skipped;
        skipped.notes = lost.into_iter().map(Note::Text).collect();
        Slot::Settled(Box::new(skipped))
    }

    /// Plans at most this number of further launches. An entry without any is skipped.
    pub fn limit(&mut self, further: u64, budget: Duration) {
        let Slot::Measured(launches, None) = self else {
            return;
        };
        if further > 0 || launches.has_begun() {
            return launches.limit(further, budget);
        }
        let mut skipped = not_started(launches);
        skipped.status = Status::Skipped;
        skipped.notes = vec![Note::Text(launches.without_time(budget))];
        *self = Slot::Settled(Box::new(skipped));
    }

    /// Plans no further launches, since the time of the run is over.
    pub fn end_time(&mut self, conditions: &Conditions<'_>) {
        let has_begun = matches!(self, Slot::Measured(launches, None) if launches.has_begun());
        self.limit(0, if has_begun { conditions.begun.elapsed() } else { Duration::ZERO });
    }

    /// Enters the figure after the last launch.
    pub fn judge(&mut self, entry: Benchmark) {
        if let Slot::Measured(_, judged) = self {
            *judged = Some(Box::new(entry));
        }
    }

    /// The finished entry, judged by the quiet widths of the whole run, and whether it was judged
    /// again.
    fn settled(self, widths: &QuietWidths) -> (Benchmark, bool) {
        let entry = match self {
            Slot::Settled(entry) => *entry,
            Slot::Measured(mut launches, Some(entry)) => {
                return match launches.judged_again(widths) {
                    Some(again) => (again, true),
                    None => (*entry, false),
                };
            }
            Slot::Measured(launches, None) if launches.has_begun() => launches.summary(),
            Slot::Measured(launches, None) => not_started(&launches),
        };
        (entry, false)
    }
}

fn not_started(launches: &Launches<'_>) -> Benchmark {
    let entry = &launches.entry;
    let mut benchmark = assemble::not_started_point(&entry.point.program, entry.workers);
    benchmark.declaration.provenance = entry.provenance.clone();
    benchmark
}
