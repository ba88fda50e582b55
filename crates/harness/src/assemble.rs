//! Collects the records of one entry's launches in the form of its entry, before they are judged.
//! Pure.

use std::collections::BTreeMap;

use yamba_record::distribution::Singles;
use yamba_record::event::{Begin, Curve, Event, Placement, RawBatch};
use yamba_record::program::Program;
use yamba_record::records::Packed;
use yamba_record::run::Launch;
use yamba_record::{Batch, Benchmark, Evidence, LaunchRecords, Note, Records, Status, Workers};
use yamba_stats::{median, sorted};

use super::process_output::ProcessOutput;
use super::{points, units, validity};

/// Limit on notes: more would not be read, and a runaway program must not slow the run down.
const MOST_NOTES: usize = 50;

/// The measurements of one launch.
#[derive(Debug, Default)]
pub(super) struct MeasuredLaunch {
    pub records: LaunchRecords,
    /// The single operations that were timed alone.
    pub singles: Option<Singles>,
}

/// A [`MeasuredLaunch`] in a tenth of its memory: a whole run has some hundred thousand batches.
pub(super) struct PackedLaunch {
    records: Records,
    singles: Option<Packed<Singles>>,
}

impl MeasuredLaunch {
    pub fn pack(self) -> PackedLaunch {
        PackedLaunch {
            records: Records::packed(self.records),
            singles: self.singles.as_ref().map(Packed::new),
        }
    }
}

impl PackedLaunch {
    pub fn unpack(&self) -> MeasuredLaunch {
        MeasuredLaunch {
            records: self.records.unpack(),
            singles: self.singles.as_ref().map(Packed::value),
        }
    }
}

/// The records of an entry's launches so far, except those that [`Recorded::append`] returns.
pub(super) struct Recorded {
    benchmark: Benchmark,
    /// Lines that were no records.
    garbled: u64,
    /// Names of processes that outlived their launch, with their number.
    orphans: BTreeMap<String, u64>,
    /// An unplanned number of processes or threads with which a launch measured.
    pub other_workers: Option<Workers>,
}

/// A benchmark that cannot run here.
pub(super) fn skipped(class: &str, reason: &str) -> Benchmark {
    let mut note = Note::Text(reason.to_owned());
    note.recognise_report(class);
    Benchmark::ended(class, Status::Skipped, vec![note])
}

/// The entry of a class whose program has not described itself when the run was stopped.
pub fn not_started(class: &str) -> Benchmark {
    Benchmark::ended(class, Status::NotStarted, vec![Note::NotStarted])
}

/// The entry of a point that had no launch yet when the run was stopped.
pub(super) fn not_started_point(program: &Program, workers: Workers) -> Benchmark {
    let mut benchmark = Recorded::new(program, workers).benchmark;
    benchmark.status = Status::NotStarted;
    benchmark.notes = vec![Note::NotStarted];
    benchmark.details.evidence = evidence(program, &[]);
    benchmark
}

impl Recorded {
    /// The state before the first launch.
    pub fn new(program: &Program, workers: Workers) -> Recorded {
        let mut benchmark = Benchmark::ended(&program.class, Status::Ok, Vec::new());
        benchmark.declaration.ports = program.ports.clone();
        benchmark.parameters = points::parameters(program);
        let swept = program.parameters.iter().filter(|p| p.over.is_some());
        benchmark.declaration.swept = swept.map(|p| p.name.clone()).collect();
        benchmark.environment.processes = workers.processes;
        benchmark.environment.threads = workers.threads;
        benchmark.unit = program.unit.clone();
        benchmark.declaration.figure = program.figure.clone();
        benchmark.declaration.charts = program.charts.clone();
        benchmark.declaration.primitive = program.primitive.clone();
        benchmark.declaration.bounds = program.bounds.clone();
        Recorded { benchmark, garbled: 0, orphans: BTreeMap::new(), other_workers: None }
    }

    /// Adds the next launch. Returns its batches, sizing, curves and single operations.
    pub fn append(&mut self, program: &Program, output: &ProcessOutput) -> MeasuredLaunch {
        let number = self.benchmark.launches.len() as u64;
        let mut launch = Launch::default();
        let mut measured = MeasuredLaunch::default();
        let records = &mut measured.records;
        for event in &output.events {
            match event {
                Event::Begin(begin) => self.begin(&mut launch, begin),
                // Each of several processes may report whether its memory is locked.
                Event::Locked { held } => {
                    launch.locked = Some(launch.locked.unwrap_or(true) && *held);
                }
                Event::Sizing(s) if is_finite(&[s.ns, s.dummy_ns]) => {
                    records.sizing.push(s.clone());
                }
                Event::Batch(raw) if is_finite(&[raw.batch.ns, raw.batch.dummy_ns]) => {
                    records.batches.push(batch(program, number, raw));
                }
                Event::Curve(curve) => {
                    records.curves.push(Curve { launch: number, ..curve.clone() })
                }
                Event::Singles(singles) if is_finite(&singles.ns) => {
                    measured.singles = Some(singles.clone());
                }
                Event::Partner { .. } => launch.shares_core = true,
                Event::Platform { facts } => {
                    self.benchmark.environment.platform.extend(facts.clone())
                }
                Event::CommonClock(clock) => launch.common_clock = Some(*clock),
                Event::Note { text } => self.note(text),
                Event::Harness(used) => self.benchmark.environment.harness.push(used.clone()),
                _ => {}
            }
        }
        self.benchmark.launches.push(launch);
        self.garbled += output.garbled;
        for name in &output.orphans {
            *self.orphans.entry(name.clone()).or_default() += 1;
        }
        measured
    }

    fn begin(&mut self, launch: &mut Launch, begin: &Begin) {
        launch.clock = Some(begin.clock.clone());
        launch.placement = placement(begin);
        launch.realtime = begin.realtime;
        self.benchmark.environment.clock = Some(begin.clock.clone());
        self.benchmark.environment.platform = begin.platform.clone();
        self.benchmark.environment.placement =
            common(self.benchmark.environment.placement.take(), placement(begin));
        let workers = Workers { processes: begin.processes, threads: begin.threads };
        if workers != self.benchmark.workers() {
            self.other_workers.get_or_insert(workers);
        }
    }

    /// The placement of the latest launch.
    pub fn latest_placement(&self) -> Option<&Placement> {
        self.benchmark.launches.last()?.placement.as_ref()
    }

    /// Whether a partner of the latest launch ran on the same core.
    pub fn latest_shares_core(&self) -> bool {
        let latest = self.benchmark.launches.last();
        latest.is_some_and(|launch| launch.shares_core)
    }

    /// The processor that the latest launch was fixed to.
    pub fn latest_processor(&self) -> Option<u64> {
        self.latest_placement()?.cpu
    }

    /// Adds a note once: every launch reports the same notes.
    fn note(&mut self, text: &str) {
        let (notes, note) = (&mut self.benchmark.notes, Note::from(text));
        if notes.len() < MOST_NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// The entry without its records, and without figures computed from them.
    pub fn entry(&self) -> Benchmark {
        let mut benchmark = self.benchmark.clone();
        if self.garbled > 0 {
            let garbled = self.garbled;
            let note = format!("{garbled} lines among the records were none, and were passed over");
            benchmark.notes.push(Note::Text(note));
        }
        benchmark.notes.extend(orphans(&self.orphans).map(Note::Text));
        benchmark
    }
}

/// A note about processes that outlived their launch: they also took processor time from it.
fn orphans(names: &BTreeMap<String, u64>) -> Option<String> {
    let each = names.iter().map(|(name, n)| format!("{n} {name}"));
    let all = each.collect::<Vec<String>>().join(", ");
    (!all.is_empty()).then(|| format!("what outlived its launch was ended: {all}"))
}

fn placement(begin: &Begin) -> Option<Placement> {
    Some(begin.placement.clone()).filter(|p| !p.kind.is_empty())
}

/// The placement of an entry whose earlier launches had the placement `before`. Launches may run on
/// different processors.
fn common(before: Option<Placement>, latest: Option<Placement>) -> Option<Placement> {
    let Some(latest) = latest else {
        return before;
    };
    let is_same = before.is_none_or(|before| before.cpu == latest.cpu);
    Some(Placement { cpu: latest.cpu.filter(|_| is_same), probed: Vec::new(), ..latest })
}

fn is_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|n| n.is_finite())
}

fn batch(program: &Program, launch: u64, raw: &RawBatch) -> Batch {
    let figure = program.figure.as_deref().unwrap_or_default();
    let unit = program.unit.as_deref().unwrap_or_default();
    let mut batch = Batch { launch, sample: units::sample(figure, unit, raw), ..raw.batch.clone() };
    batch.outside = validity::outside(program, &batch);
    batch
}

/// Summary of each evidence over these batches.
pub(super) fn evidence(program: &Program, batches: &[&Batch]) -> BTreeMap<String, Evidence> {
    let summarise = |bound: &yamba_record::program::Bound| {
        let value = |i: &&Batch| i.evidence.get(&bound.name)?.filter(|v| v.is_finite());
        let values = sorted(&batches.iter().filter_map(value).collect::<Vec<f64>>());
        let outside = batches.iter().filter(|i| i.outside.contains(&bound.name));
        Evidence {
            median: median(&values),
            min: values.first().copied(),
            max: values.last().copied(),
            expects: bound.expects,
            outside: outside.count() as u64,
        }
    };
    let each = program.evidence.iter();
    each.map(|bound| (bound.name.clone(), summarise(bound))).collect()
}
