//! Everything that the launches of one entry recorded, in the form of its entry, before any judgement. Pure.

use std::collections::BTreeMap;

use yamba_record::event::{Begin, Event, Placement, RawInterval, Sizing};
use yamba_record::program::Program;
use yamba_record::run::Launch;
use yamba_record::{Benchmark, Evidence, Interval, Status};
use yamba_stats::{median, sorted};

use super::outcome::Outcome;
use super::{points, units, validity};

/// Nobody reads more, and a program gone wild must not cost the run its time.
const MOST_NOTES: usize = 50;

/// An entry without a figure, and what its launches said besides.
pub(super) struct Recorded {
    pub benchmark: Benchmark,
    /// Warm-up, sizing and the growth check of each launch.
    pub sizing: Vec<Vec<Sizing>>,
}

/// A benchmark that cannot run here.
pub(super) fn skipped(class: &str, reason: &str) -> Benchmark {
    Benchmark::ended(class, Status::Skipped, vec![reason.to_owned()])
}

/// Why an entry has no launch: the run was stopped.
pub(super) const NOT_BEGUN: &str = "stopped before it began";

/// What stands for a benchmark that was not begun.
pub fn no_figure(class: &str) -> Benchmark {
    skipped(class, NOT_BEGUN)
}

/// An entry whose turn had not come when the run was stopped.
pub(super) fn not_begun(program: &Program, processes: u64) -> Benchmark {
    Benchmark {
        status: Status::Skipped,
        notes: vec![NOT_BEGUN.to_owned()],
        ..record(program, processes, &[]).benchmark
    }
}

/// Whether the run was stopped before the first launch of this entry.
pub fn is_not_begun(benchmark: &Benchmark) -> bool {
    let notes = &benchmark.notes;
    benchmark.status == Status::Skipped && notes.first().is_some_and(|n| n == NOT_BEGUN)
}

pub(super) fn record(program: &Program, processes: u64, launches: &[Outcome]) -> Recorded {
    let mut benchmark = Benchmark::ended(&program.class, Status::Ok, Vec::new());
    benchmark.ports = program.ports.clone();
    benchmark.parameters = points::parameters(program);
    let swept = program.parameters.iter().filter(|p| p.over.is_some());
    benchmark.swept = swept.map(|p| p.name.clone()).collect();
    benchmark.processes = processes;
    benchmark.unit = program.unit.clone();
    benchmark.figure = program.figure.clone();
    benchmark.charts = program.charts.clone();
    benchmark.bounds = program.bounds.clone();
    let mut sizing = Vec::new();
    benchmark.launches = launches.iter().map(conditions).collect();
    for (number, outcome) in launches.iter().enumerate() {
        sizing.push(add_launch(&mut benchmark, program, number as u64, outcome));
    }
    benchmark.sizing = sizing.concat();
    let all: Vec<&Interval> = benchmark.intervals.iter().collect();
    benchmark.evidence = evidence(program, &all);
    benchmark.operations = benchmark
        .intervals
        .first()
        .map(|i| i.operations as f64 / i.passes as f64)
        .filter(|o| o.is_finite());
    let garbled: u64 = launches.iter().map(|o| o.garbled).sum();
    if garbled > 0 {
        let note = format!("{garbled} lines among the records were none, and were passed over");
        benchmark.notes.push(note);
    }
    benchmark.notes.extend(strays(launches));
    Recorded { benchmark, sizing }
}

/// While it lived it took processor time from the launch too.
fn strays(launches: &[Outcome]) -> Option<String> {
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for name in launches.iter().flat_map(|o| &o.strays) {
        *names.entry(name).or_default() += 1;
    }
    let each: Vec<String> = names
        .iter()
        .map(|(name, n)| format!("{n} {name}"))
        .collect();
    let all = each.join(", ");
    (!all.is_empty()).then(|| format!("what outlived its launch was ended: {all}"))
}

fn add_launch(
    benchmark: &mut Benchmark,
    program: &Program,
    launch: u64,
    outcome: &Outcome,
) -> Vec<Sizing> {
    let mut sizing = Vec::new();
    for event in &outcome.events {
        match event {
            Event::Begin(begin) => begin_with(benchmark, begin),
            Event::Sizing(s) if is_finite(&[s.ns, s.dummy_ns]) => sizing.push(s.clone()),
            Event::Interval(raw) if is_finite(&[raw.ns, raw.dummy_ns]) => {
                benchmark.intervals.push(interval(program, launch, raw));
            }
            Event::Platform { facts } => benchmark.platform.extend(facts.clone()),
            // Every launch has the same to say.
            Event::Note { text }
                if benchmark.notes.len() < MOST_NOTES && !benchmark.notes.contains(text) =>
            {
                benchmark.notes.push(text.clone());
            }
            Event::Harness(used) => benchmark.harness.push(used.clone()),
            _ => {}
        }
    }
    sizing
}

/// A launch without a figure, and what it says of how it ran.
fn conditions(outcome: &Outcome) -> Launch {
    let mut launch = Launch::default();
    for event in &outcome.events {
        match event {
            Event::Begin(begin) => {
                launch.clock = Some(begin.clock.clone());
                launch.placement = placement(begin);
                launch.realtime = begin.realtime;
            }
            // Of several processes, each tries for itself.
            Event::Locked { held } => launch.locked = Some(launch.locked.unwrap_or(true) && *held),
            _ => {}
        }
    }
    launch
}

fn placement(begin: &Begin) -> Option<Placement> {
    Some(begin.placement.clone()).filter(|p| !p.kind.is_empty())
}

fn is_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|n| n.is_finite())
}

fn begin_with(benchmark: &mut Benchmark, begin: &Begin) {
    benchmark.clock = Some(begin.clock.clone());
    benchmark.platform = begin.platform.clone();
    benchmark.placement = placement(begin);
}

fn interval(program: &Program, launch: u64, raw: &RawInterval) -> Interval {
    let figure = program.figure.as_deref().unwrap_or_default();
    let unit = program.unit.as_deref().unwrap_or_default();
    let mut interval = Interval {
        passes: raw.passes,
        operations: raw.operations,
        ns: raw.ns,
        dummy_ns: raw.dummy_ns,
        launch,
        process: raw.process,
        cycle_ns: raw.cycle_ns,
        dummy_cycle_ns: raw.dummy_cycle_ns,
        check_cycle_ns: raw.check_cycle_ns,
        disturbance: raw.disturbance.clone(),
        disturbed: raw.disturbed.clone(),
        load: raw.load,
        group: raw.group,
        counters: raw.counters.clone(),
        sample: units::sample(figure, unit, raw),
        evidence: raw.evidence.clone(),
        outside: Vec::new(),
    };
    interval.outside = validity::outside(program, &interval);
    interval
}

/// What each evidence said over these intervals.
pub(super) fn evidence(program: &Program, intervals: &[&Interval]) -> BTreeMap<String, Evidence> {
    let summarise = |bound: &yamba_record::program::Bound| {
        let values = intervals
            .iter()
            .filter_map(|i| i.evidence.get(&bound.name)?.filter(|v| v.is_finite()));
        let values = sorted(&values.collect::<Vec<f64>>());
        let outside = intervals.iter().filter(|i| i.outside.contains(&bound.name));
        Evidence {
            median: median(&values),
            min: values.first().copied(),
            max: values.last().copied(),
            expects: bound.expects,
            outside: outside.count() as u64,
        }
    };
    let each = program.evidence.iter();
    each.map(|bound| (bound.name.clone(), summarise(bound)))
        .collect()
}
