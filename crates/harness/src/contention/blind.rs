//! Finds launches whose probes say nothing of the time between them, because turns of a neighbour
//! begin in many of the batches. Pure.
//!
//! A launch is blind if its probes are noticeably longer, and if either
//!
//! 1. interrupted probes show that more than a quarter of the batches were interrupted, or
//! 2. turns may have begun in more than a quarter of the batches, and the probes before and after
//!    the calls are not correlated.

use std::collections::BTreeSet;

use yamba_record::Batch;
use yamba_stats::median;

use super::batch_length::share_of_batches;
use super::{QuietWidth, Reading, all_readings, is_free_of_others};

/// If turns begin in a larger share of the batches, the median of all batches differs from the
/// median of the undisturbed ones.
const MOST_DISTURBED: f64 = 0.25;

/// From this mean lengthening of the probes on, the probes of a launch must show that the core
/// stays quiet between them. The probe uses the full width of the core. If a neighbour lengthens no
/// benchmark more than the probe, a smaller lengthening moves no figure by more than a fiftieth.
const NOTICEABLE: f64 = 0.02;

/// A probe that is longer by more than this share was interrupted. The longest probes beside a
/// saturating neighbour were 1.1 longer.
const INTERRUPTED: f64 = 1.5;

/// Batches of a launch that is judged alone.
const ENOUGH_PAIRS: usize = 40;

/// Least correlation of the two probes around the calls of the benchmark, which must exceed it by
/// this multiple of its standard error.
const LEAST_CORRELATION: f64 = 0.12;
const ERROR_PART: f64 = 2.0;

/// The batches of a launch that only a neighbour may have disturbed.
type Pairs = Vec<Pair>;

/// The probes before and after the calls of the benchmark, and the time of the calls.
#[derive(Clone, Copy, Debug)]
struct Pair {
    ends: [End; 2],
    ns: f64,
}

/// A probe at one end of the calls.
#[derive(Clone, Copy, Debug)]
struct End {
    /// 1 if the core was busy, 0 if it was quiet.
    busy: f64,
    /// Share of the quiet width by which the probe is longer, at most [`MOST_LENGTHENED`].
    lengthened: f64,
    is_interrupted: bool,
}

impl End {
    fn new(reading: Reading, level: f64) -> End {
        End {
            busy: f64::from(!reading.is_quiet(level)),
            lengthened: reading.lengthening(level),
            is_interrupted: reading.width / level - 1.0 > INTERRUPTED,
        }
    }
}

/// The launches whose probes say nothing of the time between them, because turns begin in many of
/// the batches. A launch of many batches is judged alone, since a quiet launch says nothing of
/// another one. Launches of few batches are judged together.
pub(crate) fn blind_launches(
    batches: &[Batch],
    width: impl Fn(&Batch) -> QuietWidth,
) -> BTreeSet<u64> {
    let each = batches.chunk_by(|a, b| a.launch == b.launch);
    let each = each.map(|of_launch| (of_launch[0].launch, pairs(of_launch, &width)));
    let (long, short): (Vec<_>, Vec<_>) = each.partition(|(_, pairs)| pairs.len() >= ENOUGH_PAIRS);
    let long = long.into_iter().map(|launch| vec![launch]);
    let groups = long.chain([short]);
    let blind = groups.filter(|group| {
        let launches: Vec<&Pairs> = group.iter().map(|(_, pairs)| pairs).collect();
        is_blind(&launches)
    });
    blind.flatten().map(|(launch, _)| launch).collect()
}

fn pairs(batches: &[Batch], width: impl Fn(&Batch) -> QuietWidth) -> Pairs {
    let pair = |batch: &Batch| {
        if !is_free_of_others(batch) {
            return None;
        }
        let level = width(batch).level()?;
        let [before, between, _] = all_readings(&batch.probes);
        let ends = [before?, between?].map(|reading| End::new(reading, level));
        Some(Pair { ends, ns: batch.ns })
    };
    batches.iter().filter_map(pair).collect()
}

fn is_blind(launches: &[&Pairs]) -> bool {
    let pairs: Vec<Pair> = launches.iter().copied().flatten().copied().collect();
    let ends: Vec<End> = pairs.iter().flat_map(|pair| pair.ends).collect();
    let mean = |of: fn(&End) -> f64| ends.iter().map(of).sum::<f64>() / ends.len() as f64;
    // Without any quiet end there is nothing to trust.
    if ends.is_empty() || mean(|e| e.lengthened) <= NOTICEABLE || mean(|e| e.busy) == 1.0 {
        return false;
    }
    let times: Vec<f64> = pairs.iter().map(|pair| pair.ns).collect();
    let ns = median(&times).unwrap_or(0.0);
    let interrupted = least_interrupted(&ends);
    if interrupted > NOTICEABLE && share_of_batches(interrupted, ns) > MOST_DISTURBED {
        return true;
    }
    share_of_batches(most_begun(&pairs), ns) > MOST_DISTURBED && !is_correlated(launches)
}

/// The share of interrupted probes, less a standard error. No correlation vouches for the time
/// between them: the processor did nothing else during an interruption.
fn least_interrupted(ends: &[End]) -> f64 {
    let count = ends.iter().filter(|end| end.is_interrupted).count() as f64;
    (count - count.sqrt()) / ends.len() as f64
}

/// Upper limit of the share of busy ends after a quiet beginning: the share and its standard error.
/// By Laplace's rule of succession, the share is above 0 even if no end is busy.
fn most_begun(pairs: &[Pair]) -> f64 {
    let after_quiet = pairs.iter().filter(|pair| pair.ends[0].busy == 0.0);
    let (count, busy) =
        after_quiet.fold((0.0, 0.0), |(count, busy), pair| (count + 1.0, busy + pair.ends[1].busy));
    let share: f64 = (busy + 1.0) / (count + 2.0);
    let error = (share * (1.0 - share) / (count + 2.0)).sqrt();
    (share + error).min(1.0)
}

/// The state of the core is a signal of two values, and a batch takes samples of it at its ends.
/// Without correlation of the samples, quiet ends say nothing of the middle. The correlation within
/// the launches must exceed its limit by a multiple of its error. Launches that are quiet or busy
/// from beginning to end have no correlation; their neighbour is slow.
fn is_correlated(launches: &[&Pairs]) -> bool {
    let (mut number, mut both, mut of_begin, mut of_end) = (0.0, 0.0, 0.0, 0.0);
    for pairs in launches {
        let count = pairs.len() as f64;
        let begin = pairs.iter().map(|p| p.ends[0].busy).sum::<f64>() / count;
        let end = pairs.iter().map(|p| p.ends[1].busy).sum::<f64>() / count;
        let varies = |mean: f64| mean > 0.0 && mean < 1.0;
        if varies(begin) || varies(end) {
            number += count;
            both += pairs
                .iter()
                .map(|p| (p.ends[0].busy - begin) * (p.ends[1].busy - end))
                .sum::<f64>();
            of_begin += count * begin * (1.0 - begin);
            of_end += count * end * (1.0 - end);
        }
    }
    if number == 0.0 {
        return true;
    }
    let spread = (of_begin * of_end).sqrt();
    let correlation = if spread > 0.0 { both / spread } else { 0.0 };
    let error = (1.0 - correlation * correlation).max(0.0) / number.sqrt();
    correlation - ERROR_PART * error >= LEAST_CORRELATION
}
