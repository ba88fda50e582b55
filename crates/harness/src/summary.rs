//! Computes an entry from the raw records of all its launches. Pure: the same records give the same
//! entry on any machine.

use std::collections::BTreeMap;

use yamba_record::distribution::Singles;
use yamba_record::event::{Curve, Sizing};
use yamba_record::number::number;
use yamba_record::program::{Inference, Program};
use yamba_record::run::{Cycles, Launch};
use yamba_record::{
    Batch, Benchmark, Evidence, LaunchRecords, Note, Probes, Records, Status, Workers,
};
use yamba_stats::median;

use super::assemble::{MeasuredLaunch, Recorded, evidence};
use super::caches::inferred;
use super::contention::quiet_time::{Kind, QuietFactors, quiet_factors};
use super::contention::{self, QuietWidth, agreement};
use super::crash::OUT_OF_TIME;
use super::disturbed::{self, DisturbanceVerdict};
use super::estimate::{Estimate, Quantity, estimate, loaded_estimate};
use super::launch_status::LaunchStatus;
use super::units::per_operation;
use super::{circle, cycles, distribution, load, validity};

/// How an entry is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Protocol<'a> {
    /// Number of planned launches.
    pub launches: u64,
    /// Whether the launches timed single operations, too.
    pub percentiles: bool,
    /// Whether an emulator runs the launches: physical bounds do not apply to its times.
    pub is_emulated: bool,
    /// The CPU quota of the control group, in processors.
    pub cpu_quota: Option<f64>,
    /// The width of an undisturbed core, by processor.
    pub quiet: &'a BTreeMap<u64, QuietWidth>,
}

/// The entry of launches that wrote `recorded` and `launches`, and ended as in `ends`.
pub(super) fn summarise(
    program: &Program,
    protocol: Protocol<'_>,
    recorded: &Recorded,
    launches: impl IntoIterator<Item = MeasuredLaunch>,
    ends: &[LaunchStatus],
) -> Benchmark {
    let mut benchmark = recorded.entry();
    let mut sizing = Vec::new();
    let mut batches: Vec<Batch> = Vec::new();
    let mut curves: Vec<Curve> = Vec::new();
    let mut singles: Vec<Singles> = Vec::new();
    for (launch, end) in launches.into_iter().zip(ends) {
        singles.extend(launch.singles.filter(|_| *end == LaunchStatus::Complete));
        batches.extend(launch.records.batches);
        sizing.push(launch.records.sizing);
        curves.extend(launch.records.curves);
    }
    find_neighbours(&mut benchmark, &mut batches, protocol.quiet);
    let first = batches.first();
    let operations = first.map(|i| i.operations as f64 / i.passes as f64);
    benchmark.details.operations = operations.filter(|o| o.is_finite());
    let mut reasons = if ends.contains(&LaunchStatus::Complete) {
        let mut reasons = accidents(ends);
        reasons.extend(wrong_workers(recorded, benchmark.workers()).map(Note::Text));
        reasons.extend(match &program.infer {
            Some(inference) => {
                let b = &mut benchmark;
                infer(program, inference, protocol, b, &batches, &curves, ends)
            }
            None => judge(program, protocol, &mut benchmark, &batches, &sizing, ends),
        });
        if !reasons.is_empty() {
            benchmark.status = Status::Invalid;
        }
        let stopped = stopped(ends, protocol.launches);
        benchmark.notes.splice(0..0, stopped.map(Note::Text));
        reasons
    } else {
        benchmark.details.evidence = evidence(program, &batches.iter().collect::<Vec<_>>());
        without_figure(&mut benchmark, batches.len(), ends)
    };
    benchmark.valid = benchmark.status == Status::Ok;
    if protocol.percentiles && benchmark.valid {
        distribution::enter(&mut benchmark, &singles);
    }
    reasons.append(&mut benchmark.notes);
    benchmark.notes = reasons;
    let sizing = sizing.concat();
    benchmark.records = Records::packed(LaunchRecords { batches, sizing, curves });
    benchmark
}

/// The processor whose quiet width judges the batches of a launch. `None` if nothing does.
fn judged_processor(launch: &Launch) -> Option<u64> {
    let placement = launch.placement.as_ref()?;
    placement.cpu.filter(|_| !launch.shares_core)
}

/// The quiet width of each launch's processor.
struct QuietLaunches(Vec<QuietWidth>);

impl QuietLaunches {
    fn new(benchmark: &Benchmark, quiet: &BTreeMap<u64, QuietWidth>) -> QuietLaunches {
        let width = |l: &Launch| judged_processor(l).and_then(|cpu| quiet.get(&cpu).copied());
        let each = benchmark.launches.iter().map(width);
        QuietLaunches(each.map(|w| w.unwrap_or(QuietWidth::Unknown)).collect())
    }

    fn width(&self, batch: &Batch) -> QuietWidth {
        self.0[batch.launch as usize]
    }
}

/// The note of a figure whose width probes form no level, because they are too few or differ
/// slightly. All its batches count.
const NEIGHBOURS_UNKNOWN: &str = "it is not known whether another hardware thread used the core: the width probes have no clear level yet";

/// Marks the batches that a neighbour disturbed, and enters the share of contended time.
fn find_neighbours(
    benchmark: &mut Benchmark,
    batches: &mut [Batch],
    quiet: &BTreeMap<u64, QuietWidth>,
) {
    let processors = benchmark.launches.iter();
    let mut processors = processors.filter_map(judged_processor);
    let is_unknown = processors.any(|cpu| quiet.get(&cpu) == Some(&QuietWidth::Unknown));
    if is_unknown && batches.iter().any(|b| b.probes != Probes::default()) {
        benchmark.notes.push(Note::Text(NEIGHBOURS_UNKNOWN.to_owned()));
    }
    let quiet = QuietLaunches::new(benchmark, quiet);
    let is_time = benchmark.declaration.figure.as_deref() != Some("value");
    contention::mark(batches, is_time, |i| quiet.width(i));
    benchmark.interference.contended = contention::contended_share(batches, |i| quiet.width(i));
    for of_launch in batches.chunk_by(|a, b| a.launch == b.launch) {
        benchmark.launches[of_launch[0].launch as usize].contended =
            contention::contended_share(of_launch, |i| quiet.width(i));
    }
}

/// Ends an entry that has no complete launch. Its records stay.
fn without_figure(benchmark: &mut Benchmark, batches: usize, ends: &[LaunchStatus]) -> Vec<Note> {
    let is_failed = |e: &&LaunchStatus| matches!(e, LaunchStatus::Failed { .. });
    let (status, mut reasons) = match ends.iter().find(is_failed).or(ends.first()) {
        Some(LaunchStatus::Failed { reasons, .. }) => (Status::Crashed, reasons.clone()),
        Some(LaunchStatus::Skipped { reasons }) => (Status::Skipped, reasons.clone()),
        end => {
            let is_stopped = end != Some(&LaunchStatus::OutOfTime);
            let text = if is_stopped { "was stopped" } else { OUT_OF_TIME };
            let ended = Note::action(&benchmark.declaration.class, text.to_owned(), None);
            (Status::Skipped, vec![ended])
        }
    };
    benchmark.status = status;
    if batches > 0 {
        let text = format!("{batches} batches were measured before; they are kept in `batches`");
        reasons.push(Note::Text(text));
    }
    reasons
}

/// A note about an entry that had not all its launches at the end of the run.
fn stopped(ends: &[LaunchStatus], planned: u64) -> Option<String> {
    let is_complete = |e: &&LaunchStatus| **e == LaunchStatus::Complete;
    let complete = ends.iter().filter(is_complete).count();
    let is_accident = |e: &LaunchStatus| {
        !matches!(e, LaunchStatus::Complete | LaunchStatus::Stopped | LaunchStatus::OutOfTime)
    };
    let is_short = (complete as u64) < planned && !ends.iter().any(is_accident);
    let end = match ends.contains(&LaunchStatus::OutOfTime) {
        true => "the time of the run was over",
        false => "stopped",
    };
    is_short.then(|| format!("{end} after {complete} of {planned} launches"))
}

/// Reasons for an invalid figure: launches that failed or were skipped.
fn accidents(ends: &[LaunchStatus]) -> Vec<Note> {
    let mut all: Vec<Note> = Vec::new();
    for (number, end) in ends.iter().enumerate() {
        if let LaunchStatus::Failed { reasons, .. } | LaunchStatus::Skipped { reasons } = end {
            let first = all.len();
            all.extend(reasons.iter().cloned());
            if let Some(note) = all.get_mut(first) {
                note.add_launch([number + 1, ends.len()]);
            }
        }
    }
    all
}

fn wrong_workers(recorded: &Recorded, workers: Workers) -> Option<String> {
    let other = recorded.other_workers?;
    Some(format!("measured with {other} instead of {workers}"))
}

/// The batches that a figure is computed from.
struct Used<'a> {
    /// Batches by launch; empty for an incomplete launch.
    launches: Vec<Vec<&'a Batch>>,
    /// Batches that were not discarded.
    admitted: Vec<&'a Batch>,
    /// Number of valid batches among `admitted`.
    good: usize,
    /// At most half of `admitted` are valid. Then all count, and the figure is invalid.
    most_fail: bool,
}

impl Used<'_> {
    /// Restricts the figure to the batches for which `wanted` is true.
    fn keep(&mut self, wanted: impl Fn(&Batch) -> bool) {
        for launch in &mut self.launches {
            launch.retain(|i| wanted(i));
        }
    }

    /// A value of each batch, by launch.
    fn each(&self, value: impl Fn(&Batch) -> Option<f64>) -> Vec<Vec<f64>> {
        let of_launch = |l: &Vec<&Batch>| l.iter().filter_map(|i| value(i)).collect();
        self.launches.iter().map(of_launch).collect()
    }

    fn samples(&self, value: impl Fn(&Batch) -> Option<f64>) -> Vec<load::Sample> {
        let all = self.launches.iter().flatten();
        let sample = |i: &&Batch| {
            Some(load::Sample { launch: i.launch, worker: load::worker(i), value: value(i)? })
        };
        all.filter_map(sample).collect()
    }
}

fn is_good(batch: &Batch) -> bool {
    batch.outside.is_empty() && batch.sample.is_some()
}

fn choose<'a>(
    batches: &'a [Batch],
    ends: &[LaunchStatus],
    verdict: &DisturbanceVerdict,
) -> Used<'a> {
    let complete = |i: &&Batch| ends.get(i.launch as usize) == Some(&LaunchStatus::Complete);
    let admitted = batches.iter().filter(complete);
    let admitted: Vec<&Batch> = admitted.filter(|i| verdict.admits(i)).collect();
    let good = admitted.iter().filter(|i| is_good(i)).count();
    let most_fail = 2 * good <= admitted.len();
    let mut launches = vec![Vec::new(); ends.len()];
    for batch in &admitted {
        if most_fail || is_good(batch) {
            launches[batch.launch as usize].push(*batch);
        }
    }
    Used { launches, admitted, good, most_fail }
}

/// Computes the benchmark's figure. Returns the reasons why it is invalid.
fn judge(
    program: &Program,
    protocol: Protocol<'_>,
    b: &mut Benchmark,
    batches: &[Batch],
    sizing: &[Vec<Sizing>],
    ends: &[LaunchStatus],
) -> Vec<Note> {
    let complete = |i: &&Batch| ends.get(i.launch as usize) == Some(&LaunchStatus::Complete);
    let measured: Vec<Batch> = batches.iter().filter(complete).cloned().collect();
    let quiet = QuietLaunches::new(b, protocol.quiet);
    let beside = agreement::quiet_batches(&measured, |i| quiet.width(i));
    let verdict = disturbed::judge(&measured, b.workers(), &beside);
    let verdict = verdict.under_quota(b.workers(), protocol.cpu_quota);
    let mut used = choose(batches, ends, &verdict);
    let counts = |i: &Batch| used.most_fail || (verdict.admits(i) && is_good(i));
    b.details.circles = circle::circles(&measured, program.circles.unwrap_or_default(), counts);
    if let Some(circles) = &b.details.circles {
        used.keep(|i| circle::is_warm(circles, i));
    }
    b.interference.discarded = (measured.len() - used.admitted.len()) as u64;
    b.interference.disturbed = verdict.kinds;
    b.interference.is_disturbed = verdict.is_disturbed;
    b.details.evidence = evidence(program, &used.admitted);
    let factors =
        quiet_factors(&used.launches, b.interference.is_disturbed, kind(b), |i| quiet.width(i));
    b.interference.quiet_factors = factors.map(|f| f.figure);
    b.interference.is_bounded = b.interference.is_disturbed && factors.is_some();
    let figures = Figures::new(b, &used).reaching_quiet_time(factors);
    figures.enter(b, &used);
    let mut reasons = Vec::new();
    if b.workers().are_several() {
        reasons.extend(load::broken_guarantee(&measured, b.workers()).map(Note::Text));
        b.notes.splice(0..0, load::short_intervals(&measured).map(Note::Text));
    }
    reasons.extend(evidence_reasons(b, &used));
    if b.declaration.figure.as_deref() != Some("value") {
        let reason = nothing_measurable(figures.times, &used, sizing, ends);
        reasons.extend(reason.or_else(|| below_the_clock(b, &used)));
    }
    if !protocol.is_emulated {
        reasons.extend(physics(b, &figures).into_iter().map(Note::Text));
    }
    b.notes.splice(0..0, verdict.note.map(Note::Text));
    reasons
}

/// Infers the benchmark's figure from the curves of its complete launches. Returns the reasons why
/// it is invalid. The batches only have the evidence.
fn infer(
    program: &Program,
    inference: &Inference,
    protocol: Protocol<'_>,
    b: &mut Benchmark,
    batches: &[Batch],
    curves: &[Curve],
    ends: &[LaunchStatus],
) -> Vec<Note> {
    let is_complete = |launch: u64| ends.get(launch as usize) == Some(&LaunchStatus::Complete);
    let used: Vec<&Batch> = batches.iter().filter(|i| is_complete(i.launch)).collect();
    let curves = curves.iter().filter(|c| is_complete(c.launch));
    let curves: Vec<Curve> = curves.cloned().collect();
    let quiet = QuietLaunches::new(b, protocol.quiet);
    b.details.evidence = evidence(program, &used);
    let outside = b.details.evidence.iter().filter(|(_, e)| e.outside > 0);
    let text = |(name, e): (&String, &Evidence)| validity::evidence_fails(name, e, used.len());
    let mut reasons: Vec<Note> = outside.map(text).map(Note::Text).collect();
    let width = |launch: u64| quiet.0[launch as usize];
    match inferred::enter(b, inference, &curves, width) {
        Ok(estimate) => {
            b.median = Some(estimate.median);
            b.confidence_interval = Some(estimate.confidence_interval);
            b.interval_scope = Some(estimate.kind);
            let unit = b.unit.as_deref().unwrap_or_default();
            let interval = estimate.confidence_interval;
            let bounds = b.declaration.bounds.iter().filter(|_| !protocol.is_emulated);
            reasons.extend(
                bounds
                    .filter_map(|b| validity::breaks(b, unit, interval, [f64::NAN; 2], None))
                    .map(Note::Text),
            );
        }
        Err(reason) => reasons.push(Note::Text(reason)),
    }
    reasons
}

fn time(batch: &Batch) -> Option<f64> {
    per_operation(batch.ns, batch.dummy_ns, batch.operations)
}

/// The estimates of one entry. One rule computes all: that for a single process, or that for
/// several workers.
struct Figures {
    /// In the benchmark's unit.
    samples: Option<Estimate>,
    /// ns per operation.
    times: Option<Estimate>,
    /// Cycles per operation.
    cycles: Option<Estimate>,
    /// The length of a cycle by the second chain.
    second_opinion: Option<cycles::SecondOpinion>,
    /// Share of the time in which the thread was blocked, if that is most of it.
    blocked: Option<f64>,
    /// Whether the clock rate changed during each batch.
    is_unsteady: bool,
}

/// How the figure of a benchmark follows from the time of a batch.
fn kind(benchmark: &Benchmark) -> Kind {
    match benchmark.declaration.figure.as_deref() {
        Some("latency") => Kind::Time,
        Some("bandwidth") => Kind::Rate,
        _ => Kind::Other,
    }
}

impl Figures {
    /// Widens the intervals to hold the figures of a quiet machine.
    fn reaching_quiet_time(mut self, factors: Option<QuietFactors>) -> Figures {
        if let Some(factors) = factors {
            self.samples = self.samples.map(|e| e.scaled(factors.figure));
            self.times = self.times.map(|e| e.scaled(factors.time));
            self.cycles = self.cycles.map(|e| e.scaled(factors.cycles));
        }
        self
    }

    fn new(benchmark: &Benchmark, used: &Used<'_>) -> Figures {
        let rule = if benchmark.workers().are_several() { loaded_estimate } else { estimate };
        let all: Vec<&Batch> = used.launches.concat();
        let samples = rule(&used.each(|i| i.sample));
        let step = relative_clock_step(benchmark, &all).unwrap_or(0.0);
        let of_time = |e: Estimate| e.with_clock_step(step, Quantity::Time);
        let samples = match benchmark.declaration.figure.as_deref() {
            Some("value") => samples,
            Some("bandwidth") => {
                samples.map(|e| e.with_drift().with_clock_step(step, Quantity::Rate))
            }
            _ => samples.map(|e| of_time(e.with_drift())),
        };
        let cycles = rule(&used.each(cycles::cycles)).map(cycles::with_own_error);
        Figures {
            samples,
            times: rule(&used.each(time)).map(of_time),
            cycles: cycles.map(of_time),
            second_opinion: cycles::second_opinion(&all),
            blocked: cycles::blocked(all.iter().copied()),
            is_unsteady: cycles::is_unsteady(&all),
        }
    }

    fn enter(&self, b: &mut Benchmark, used: &Used<'_>) {
        let samples = used.each(|i| i.sample);
        let figure = b.declaration.figure.clone().unwrap_or_default();
        let unit = b.unit.clone().unwrap_or_default();
        b.median = self.samples.map(|e| e.median);
        b.confidence_interval = self.samples.map(|e| e.confidence_interval);
        b.interval_scope = self.samples.map(|e| e.kind);
        let has_cycles = figure == "latency" && self.blocked.is_none();
        enter_launches(&mut b.launches, used, has_cycles);
        b.environment.cycle_ns = b.launches.iter().map(|l| l.cycle_ns).collect();
        let of_one: fn(&Batch) -> Option<f64> = match figure.as_str() {
            "latency" => time,
            _ => |i| i.sample,
        };
        b.details.throughput = load::throughput(&figure, &unit, &used.samples(of_one));
        if b.workers().are_several() {
            b.details.median_of_medians = load::median_of_medians(&used.samples(|i| i.sample));
        }
        if figure == "latency" {
            let without = self.without_cycles(b.interference.is_bounded);
            let known = self.cycles.filter(|_| without.is_none());
            b.details.cycles = known
                .map(|e| Cycles { median: e.median, confidence_interval: e.confidence_interval });
            b.notes.extend(without);
        }
        b.details.samples = samples.concat();
    }

    /// Why a latency has no figure in cycles. The bounds of a disturbed figure (`is_bounded`) hold
    /// for any cycle length that a neighbour can cause, so the two chains need not agree.
    fn without_cycles(&self, is_bounded: bool) -> Option<Note> {
        let doubt = || self.second_opinion.filter(|_| !is_bounded).and_then(cycles::doubt);
        let known = self.cycles.and(self.blocked);
        let unsteady = || self.is_unsteady.then(cycles::unsteady_note);
        known.map(cycles::blocked_note).or_else(unsteady).or_else(doubt)
    }
}

fn enter_launches(launches: &mut [Launch], used: &Used<'_>, has_cycles: bool) {
    let values = |of: &[&Batch], value: fn(&Batch) -> Option<f64>| {
        median(&of.iter().filter_map(|i| value(i)).collect::<Vec<f64>>())
    };
    for (launch, of) in launches.iter_mut().zip(&used.launches) {
        launch.median = values(of, |i| i.sample);
        launch.cycles = values(of, cycles::cycles).filter(|_| has_cycles);
        launch.samples = of.iter().filter(|i| i.sample.is_some()).count() as u64;
        launch.cycle_ns = values(of, |i| i.cycle_ns);
    }
}

fn evidence_reasons(benchmark: &mut Benchmark, used: &Used<'_>) -> Vec<Note> {
    let mut reasons = Vec::new();
    let total = used.admitted.len();
    if total == 0 {
        reasons.push(Note::Text("nothing was measured".to_owned()));
    }
    for (name, evidence) in benchmark.details.evidence.iter().filter(|(_, e)| e.outside > 0) {
        let text = validity::evidence_fails(name, evidence, total);
        if used.most_fail {
            reasons.push(Note::Text(text));
        } else {
            let left = total - used.good;
            let note = format!("{left} of {total} samples left out: {text}");
            benchmark.notes.insert(0, Note::Text(note));
        }
    }
    let without = used.admitted.iter().filter(|i| i.sample.is_none()).count();
    if without > 0 {
        let text = Note::Text(format!("{without} of {total} batches gave no number"));
        if used.most_fail {
            reasons.push(text);
        } else {
            benchmark.notes.push(text);
        }
    }
    reasons
}

fn nothing_measurable(
    times: Option<Estimate>,
    used: &Used<'_>,
    sizing: &[Vec<Sizing>],
    ends: &[LaunchStatus],
) -> Option<Note> {
    // One launch may be disturbed so much that it shows no growth; most launches must show it.
    let complete = sizing.iter().zip(ends);
    let complete = complete.filter(|(_, e)| **e == LaunchStatus::Complete);
    let growing: Vec<bool> = complete.map(|(s, _)| validity::grows(s)).collect();
    if 2 * growing.iter().filter(|g| **g).count() < growing.len() {
        return Some(Note::NothingMeasurable("twice the passes do not take longer".to_owned()));
    }
    let Some(times) = times else {
        let admitted = &used.admitted;
        let has_none = !admitted.is_empty() && admitted.iter().all(|batch| batch.operations == 0);
        let why =
            if has_none { "operations() is 0" } else { "no batch has a time of an operation" };
        return Some(Note::NothingMeasurable(why.to_owned()));
    };
    let [low, high] = times.confidence_interval;
    (low <= 0.0).then(|| {
        Note::NothingMeasurable(format!(
            "benchmark and dummy take the same time ({} to {} ns an operation apart)",
            number(low),
            number(high)
        ))
    })
}

/// The step of the clock as a share of the time by which a batch exceeds its dummy.
fn relative_clock_step(benchmark: &Benchmark, batches: &[&Batch]) -> Option<f64> {
    let step = benchmark.environment.clock.as_ref()?.resolution_ns?;
    let apart: Vec<f64> = batches.iter().map(|i| i.ns - i.dummy_ns).collect();
    let share = step / median(&apart)?;
    (share.is_finite() && share >= 0.0).then_some(share)
}

/// A batch exceeds its dummy by at most one step of the clock: then the steps determine the figure,
/// not the benchmark.
fn below_the_clock(benchmark: &Benchmark, used: &Used<'_>) -> Option<Note> {
    let step = benchmark.environment.clock.as_ref()?.resolution_ns?;
    let apart: Vec<f64> = used.admitted.iter().map(|i| i.ns - i.dummy_ns).collect();
    let apart = median(&apart)?;
    (apart <= step).then(|| {
        Note::NothingMeasurable(format!(
            "a batch takes {} ns longer than its dummy, and the clock steps by {} ns",
            number(apart),
            number(step)
        ))
    })
}

fn physics(benchmark: &Benchmark, figures: &Figures) -> Vec<String> {
    let (Some(samples), Some(times)) = (figures.samples, figures.times) else {
        return Vec::new();
    };
    // The cycle length of the chain that is more favourable to the figure.
    let other = 1.0 / figures.second_opinion.map_or(1.0, |s| s.ratio);
    let excused = |[low, high]: [f64; 2]| [low * other.min(1.0), high * other.max(1.0)];
    let in_cycles = figures.cycles.map(|e| excused(e.confidence_interval));
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let (interval, times) = (samples.confidence_interval, times.confidence_interval);
    let each = benchmark.declaration.bounds.iter();
    each.filter_map(|b| validity::breaks(b, unit, interval, times, in_cycles)).collect()
}
