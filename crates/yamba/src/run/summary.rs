//! From the raw records of one point to its entry in the run. Pure: the same records give the same entry anywhere.

use std::collections::BTreeMap;

use yamba_record::event::{Begin, Event, RawInterval, Sizing};
use yamba_record::program::Program;
use yamba_record::run::Cycles;
use yamba_record::{Benchmark, Evidence, Interval, Parameters, Status};
use yamba_stats::{median, median_interval, sorted};

use super::crash::{self, Listing};
use super::outcome::{Ending, Outcome};
use super::{points, units, validity};

/// The confidence of every interval.
const CONFIDENCE: f64 = 0.95;

/// A benchmark without a figure.
pub(super) fn ended(class: &str, status: Status, notes: Vec<String>) -> Benchmark {
    Benchmark {
        name: class.to_owned(),
        class: class.to_owned(),
        ports: Vec::new(),
        parameters: Parameters::default(),
        processes: 1,
        status,
        valid: false,
        unit: None,
        operations: None,
        median: None,
        interval: None,
        interval_kind: None,
        launches: Vec::new(),
        set_aside: 0,
        disturbed: BTreeMap::new(),
        throughput: None,
        median_of_medians: None,
        placement: None,
        harness: Vec::new(),
        samples: Vec::new(),
        evidence: BTreeMap::new(),
        notes,
        figure: None,
        intervals: Vec::new(),
        sizing: Vec::new(),
        clock: None,
        cycle_ns: Vec::new(),
        cycles: None,
        bounds: Vec::new(),
        charts: Vec::new(),
        platform: BTreeMap::new(),
    }
}

/// A benchmark that cannot run here.
pub(super) fn skipped(class: &str, reason: &str) -> Benchmark {
    ended(class, Status::Skipped, vec![reason.to_owned()])
}

/// What a program's records amount to.
pub(super) fn summarise(program: &Program, outcome: &Outcome, listing: &Listing<'_>) -> Benchmark {
    let mut benchmark = record(program, outcome);
    let mut reasons = early_end(&mut benchmark, outcome, listing);
    if benchmark.status == Status::Ok {
        reasons = judge(&mut benchmark);
        if !reasons.is_empty() {
            benchmark.status = Status::Invalid;
        }
    }
    benchmark.valid = benchmark.status == Status::Ok;
    reasons.append(&mut benchmark.notes);
    benchmark.notes = reasons;
    benchmark
}

/// Everything that was recorded, before any judgement.
fn record(program: &Program, outcome: &Outcome) -> Benchmark {
    let mut benchmark = ended(&program.class, Status::Ok, Vec::new());
    benchmark.ports = program.ports.clone();
    benchmark.parameters = points::parameters(program);
    benchmark.unit = program.unit.clone();
    benchmark.figure = program.figure.clone();
    benchmark.charts = program.charts.clone();
    benchmark.bounds = program.bounds.clone();
    for event in &outcome.events {
        match event {
            Event::Begin(begin) => begin_with(&mut benchmark, begin),
            Event::Sizing(sizing) if is_finite(&[sizing.ns, sizing.dummy_ns]) => {
                benchmark.sizing.push(Sizing::clone(sizing));
            }
            Event::Interval(raw) if is_finite(&[raw.ns, raw.dummy_ns]) => {
                benchmark.intervals.push(interval(program, raw));
            }
            Event::Cycle { ns } => benchmark.cycle_ns.push(ns.filter(|c| *c > 0.0)),
            Event::Note { text } => benchmark.notes.push(text.clone()),
            _ => {}
        }
    }
    benchmark.evidence = evidence(program, &benchmark.intervals);
    benchmark.operations = benchmark
        .intervals
        .first()
        .map(|i| i.operations as f64 / i.passes as f64)
        .filter(|o| o.is_finite());
    if outcome.garbled > 0 {
        let lines = outcome.garbled;
        let note = format!("{lines} lines among the records were none, and were passed over");
        benchmark.notes.push(note);
    }
    benchmark
}

fn is_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|n| n.is_finite())
}

fn begin_with(benchmark: &mut Benchmark, begin: &Begin) {
    benchmark.clock = Some(begin.clock.clone());
    benchmark.platform = begin.platform.clone();
}

fn interval(program: &Program, raw: &RawInterval) -> Interval {
    let figure = program.figure.as_deref().unwrap_or_default();
    let unit = program.unit.as_deref().unwrap_or_default();
    let mut interval = Interval {
        passes: raw.passes,
        operations: raw.operations,
        ns: raw.ns,
        dummy_ns: raw.dummy_ns,
        sample: units::sample(figure, unit, raw),
        evidence: raw.evidence.clone(),
        process: raw.process,
        cycle_ns: raw.cycle_ns,
        dummy_cycle_ns: raw.dummy_cycle_ns,
        check_cycle_ns: raw.check_cycle_ns,
        disturbance: raw.disturbance.clone(),
        disturbed: raw.disturbed.clone(),
        load: raw.load,
        group: raw.group,
        counters: raw.counters.clone(),
        ..Interval::default()
    };
    interval.outside = validity::outside(program, &interval);
    interval
}

fn evidence(program: &Program, intervals: &[Interval]) -> BTreeMap<String, Evidence> {
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

/// A benchmark that did not get to its end has no figure; what it recorded stays.
fn early_end(benchmark: &mut Benchmark, outcome: &Outcome, listing: &Listing<'_>) -> Vec<String> {
    let Some(mut reasons) = crash::reasons(&benchmark.class, outcome, listing) else {
        return Vec::new();
    };
    let kept = benchmark.intervals.len();
    benchmark.status = match outcome.ending {
        Ending::Stopped => Status::Skipped,
        Ending::Exit(4) => Status::Skipped,
        _ => Status::Crashed,
    };
    if kept > 0 {
        reasons.push(format!(
            "{kept} intervals were measured before; they are kept in `intervals`"
        ));
    }
    reasons
}

/// Gives the benchmark its figure, and says what is wrong with it.
fn judge(benchmark: &mut Benchmark) -> Vec<String> {
    let good = |i: &&Interval| i.outside.is_empty() && i.sample.is_some();
    let total = benchmark.intervals.len();
    let counted = benchmark.intervals.iter().filter(good).count();
    let most_fail = 2 * counted <= total;
    let used: Vec<&Interval> = benchmark
        .intervals
        .iter()
        .filter(|i| most_fail || good(i))
        .collect();
    let samples: Vec<f64> = used.iter().filter_map(|i| i.sample).collect();
    let times: Vec<f64> = used.iter().filter_map(|i| time(i)).collect();
    figure(benchmark, samples, &times);
    let mut reasons = evidence_reasons(benchmark, most_fail, total, counted);
    if benchmark.figure.as_deref() != Some("value")
        && (validity::is_nothing(&times) || !validity::grows(&benchmark.sizing))
    {
        reasons.push(nothing_measurable(benchmark, &times));
    }
    reasons.extend(physics(benchmark, &times));
    reasons
}

fn time(interval: &Interval) -> Option<f64> {
    let time = (interval.ns - interval.dummy_ns) / interval.operations as f64;
    time.is_finite().then_some(time)
}

fn figure(benchmark: &mut Benchmark, samples: Vec<f64>, times: &[f64]) {
    benchmark.median = median(&samples);
    benchmark.interval = median_interval(&samples, CONFIDENCE).map(|i| [i.low, i.high]);
    benchmark.cycles = cycles(benchmark, times);
    benchmark.samples = samples;
}

fn cycles(benchmark: &Benchmark, times: &[f64]) -> Option<Cycles> {
    let lengths: Vec<f64> = benchmark.cycle_ns.iter().flatten().copied().collect();
    let length = yamba_stats::mean(&lengths).filter(|l| *l > 0.0)?;
    if benchmark.figure.as_deref() != Some("latency") {
        return None;
    }
    let interval = median_interval(times, CONFIDENCE)?;
    Some(Cycles {
        median: median(times)? / length,
        interval: [interval.low / length, interval.high / length],
    })
}

fn evidence_reasons(
    benchmark: &mut Benchmark,
    most_fail: bool,
    total: usize,
    counted: usize,
) -> Vec<String> {
    let mut reasons = Vec::new();
    if total == 0 {
        reasons.push("nothing was measured".to_owned());
    }
    for (name, evidence) in benchmark.evidence.iter().filter(|(_, e)| e.outside > 0) {
        let text = validity::evidence_fails(name, evidence, total);
        if most_fail {
            reasons.push(text);
        } else {
            let left = total - counted;
            let note = format!("{left} of {total} samples left out: {text}");
            benchmark.notes.insert(0, note);
        }
    }
    let without = benchmark
        .intervals
        .iter()
        .filter(|i| i.sample.is_none())
        .count();
    if without > 0 {
        let text = format!("{without} of {total} intervals gave no number");
        if most_fail {
            reasons.push(text);
        } else {
            benchmark.notes.push(text);
        }
    }
    reasons
}

fn nothing_measurable(benchmark: &Benchmark, times: &[f64]) -> String {
    if validity::grows(&benchmark.sizing) {
        let interval = median_interval(times, CONFIDENCE);
        let (low, high) = interval.map_or((0.0, 0.0), |i| (i.low, i.high));
        format!(
            "nothing measurable: benchmark and dummy take the same time ({} to {} ns an operation apart)",
            units::number(low),
            units::number(high)
        )
    } else {
        "nothing measurable: twice the passes do not take longer".to_owned()
    }
}

fn physics(benchmark: &Benchmark, times: &[f64]) -> Vec<String> {
    let (Some(interval), Some(times)) = (benchmark.interval, median_interval(times, CONFIDENCE))
    else {
        return Vec::new();
    };
    let lengths = sorted(
        &benchmark
            .cycle_ns
            .iter()
            .flatten()
            .copied()
            .collect::<Vec<f64>>(),
    );
    let cycle = lengths.first().zip(lengths.last()).map(|(a, b)| [*a, *b]);
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let each = benchmark.bounds.iter();
    each.filter_map(|b| validity::breaks(b, unit, interval, [times.low, times.high], cycle))
        .collect()
}
