//! Compares expected with measured results. All functions are pure.

use serde::Serialize;
use yamba_record::{Benchmark, Note, Status};

/// Relative tolerance of a latency in cycles.
const CYCLES: f64 = 0.003;

/// Relative uncertainty of the length of a cycle.
const KNOWN_TO: f64 = 0.001;

/// An interval with a greater relative half width is inconclusive.
const WIDE: f64 = 0.01;

/// Relative tolerance of a duration: NTP may steer the system clock by up to 0.05 %.
const TIME: f64 = 0.002;

/// Greatest relative change of a figure under disturbance; beyond it, the figure has to be marked.
const UNMOVED: f64 = 0.01;

/// A benchmark with more than 1/`DISCARDED` of its batches discarded counts as disturbed.
const DISCARDED: u64 = 4;

/// One check with its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Check {
    pub name: String,
    /// The expected result, in words.
    pub expected: String,
    /// The measured result, in words.
    pub measured: String,
    pub outcome: Outcome,
    /// The source of the expectation, or why there is no result.
    pub note: Option<String>,
    /// The number of measurements; 2 if the first did not pass.
    pub measurements: u64,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The result is the expected one.
    Passed,
    /// The result was wrong twice, while nothing disturbed the measurement.
    Failed,
    /// There is no clear result; `note` says why. A later measurement may give one.
    Unknown,
    /// The check cannot be made on this system; `note` says why.
    Skipped,
}

/// One measurement of a check.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attempt {
    pub check: Check,
    /// The disturbance of the machine during the measurement, in words.
    pub disturbance: Option<String>,
}

/// Whether figures of this machine can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub enum Trust {
    /// All checks passed.
    #[serde(rename = "yes")]
    Yes,
    /// A check failed twice while nothing disturbed it.
    #[serde(rename = "no")]
    No,
    /// At least one check has no clear result now.
    #[serde(rename = "cannot tell now")]
    CannotTell,
}

/// The result of all checks.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Answer {
    /// Whether figures can be trusted.
    pub result: Trust,
    /// The reasons for the result.
    pub reasons: Vec<String>,
    /// Advice to the user; `None` if the result is yes.
    pub help: Option<String>,
}

fn passed(holds: bool) -> Outcome {
    if holds { Outcome::Passed } else { Outcome::Failed }
}

fn check(name: &str, expected: String, measured: String, outcome: Outcome) -> Check {
    Check { name: name.to_owned(), expected, measured, outcome, note: None, measurements: 1 }
}

/// The outcome of a check from its first measurement and, if that did not pass, from its second.
///
/// A check fails only if it fails twice while nothing disturbs the machine.
pub(super) fn settle(first: Attempt, second: Option<Attempt>) -> Check {
    let Some(second) = second else {
        return first.check;
    };
    let outcomes = (first.check.outcome, second.check.outcome);
    let disturbance = first.disturbance.or(second.disturbance);
    let outcome = match outcomes {
        (Outcome::Failed, Outcome::Failed) if disturbance.is_none() => Outcome::Failed,
        (Outcome::Failed, _) | (_, Outcome::Failed) => Outcome::Unknown,
        (_, last) => last,
    };
    let mut check = second.check;
    if outcome == Outcome::Unknown {
        let was = said(outcomes.0, &first.check.measured);
        let is = said(outcomes.1, &check.measured);
        let disturbed = disturbance.map(|what| format!("the machine was disturbed: {what}"));
        let own = check.note.take().filter(|_| outcomes.1 == Outcome::Unknown);
        let both = format!("first it {was}, then it {is}");
        let parts = std::iter::once(both).chain(disturbed).chain(own);
        check.note = Some(parts.collect::<Vec<_>>().join("; "));
    }
    check.outcome = outcome;
    check.measurements = 2;
    check
}

fn said(outcome: Outcome, measured: &str) -> String {
    match outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Failed => format!("failed with {measured}"),
        Outcome::Unknown | Outcome::Skipped => "had no answer".to_owned(),
    }
}

/// Describes the disturbance of a benchmark, if any: another program on its processor, or a
/// hypervisor that takes the processor away.
pub(super) fn disturbance(benchmark: &Benchmark, others_running: u64) -> Option<String> {
    // Without a figure, a crash is not the fault of other programs.
    benchmark.median?;
    let batches = benchmark.records.count() as u64;
    let is_often = DISCARDED * benchmark.interference.discarded > batches;
    if benchmark.interference.is_disturbed || is_often {
        let kinds = benchmark.interference.disturbed.iter();
        let kinds = kinds.map(|(kind, count)| format!("{count} {kind}"));
        let kinds = kinds.collect::<Vec<String>>().join(", ");
        return Some(format!("{batches} batches with {kinds}"));
    }
    match others_running {
        0 => None,
        1 => Some("1 other thread was running".to_owned()),
        n => Some(format!("{n} other threads were running")),
    }
}

/// Summarises the completed checks.
pub fn answer(checks: &[Check], is_stopped: bool) -> Answer {
    let with = |outcome| checks.iter().filter(move |c| c.outcome == outcome);
    let said = |check: &Check, verb: &str| {
        let note = check.note.as_ref().map(|note| format!(": {note}"));
        format!("{} {verb}{}", check.name, note.unwrap_or_default())
    };
    if with(Outcome::Failed).count() > 0 {
        let failed = |c: &Check| format!("{} is {} instead of {}", c.name, c.measured, c.expected);
        return Answer {
            result: Trust::No,
            reasons: with(Outcome::Failed).map(failed).collect(),
            help: Some(
                "`yamba machine` lists what falsifies measurements here and what helps; take no figures from this machine until the checks pass"
                    .to_owned(),
            ),
        };
    }
    let mut reasons: Vec<String> = with(Outcome::Unknown).map(|c| said(c, "is unknown")).collect();
    if is_stopped {
        reasons.push("stopped before all was checked".to_owned());
    }
    if with(Outcome::Passed).count() == 0 && reasons.is_empty() {
        reasons.push("no check could be made".to_owned());
    }
    if reasons.is_empty() {
        let passed = with(Outcome::Passed).count();
        return Answer {
            result: Trust::Yes,
            reasons: vec![format!("{passed} checks passed")],
            help: None,
        };
    }
    Answer {
        result: Trust::CannotTell,
        reasons,
        help: Some(
            "stop other programs (`yamba machine` names what disturbs; in a virtual machine it may be a neighbour), wait until the machine is idle, and run `yamba selftest` again"
                .to_owned(),
        ),
    }
}

/// A check of a benchmark without a figure. Its note is the benchmark's first note.
fn no_figure(name: &str, expected: String, benchmark: &Benchmark) -> Check {
    let outcome = match benchmark.status {
        Status::Skipped | Status::NotStarted => Outcome::Unknown,
        _ => Outcome::Failed,
    };
    Check {
        note: benchmark.reason().map(Note::to_string),
        ..check(name, expected, "no figure".to_owned(), outcome)
    }
}

/// Checks a latency in cycles. `around` is the length of the surrounding dependency chain, which is
/// measured and subtracted: the uncertainty of the cycle length applies to it, too.
pub(super) fn cycles(name: &str, expected: f64, around: f64, benchmark: &Benchmark) -> Check {
    let says = format!("{expected} cycles");
    let Some(cycles) = benchmark.details.cycles else {
        let mut check = no_figure(name, says, benchmark);
        if benchmark.status == Status::Ok {
            check.outcome = Outcome::Unknown;
        }
        return check;
    };
    let [low, high] = cycles.confidence_interval;
    let slack = expected * CYCLES + around * KNOWN_TO;
    let holds = low <= expected + slack && high >= expected - slack;
    let measured = format!("{:.4} cycles [{low:.4}, {high:.4}]", cycles.median);
    let is_wide = (high - low) / 2.0 > WIDE * (expected + around);
    let outcome = match (benchmark.status, holds && is_wide) {
        (Status::Ok, true) => Outcome::Unknown,
        (Status::Ok, false) => passed(holds),
        _ => Outcome::Failed,
    };
    let mut check = check(name, says, measured, outcome);
    if outcome == Outcome::Unknown {
        let why = "the machine is too busy: the interval is too wide to tell";
        check.note = Some(why.to_owned());
    }
    check
}

/// Checks a duration that the benchmark measures with another clock.
pub(super) fn same_time(name: &str, expected_ns: f64, benchmark: &Benchmark) -> Check {
    let expected = format!("{} us", expected_ns / 1e3);
    let Some(median) = benchmark.median else {
        return no_figure(name, expected, benchmark);
    };
    let holds = (median / expected_ns - 1.0).abs() <= TIME && benchmark.status == Status::Ok;
    let measured = format!("{:.3} us", median / 1e3);
    check(name, expected, measured, passed(holds))
}

/// Checks a sleep, which may take longer than requested but never less.
pub(super) fn at_least(name: &str, least_ns: f64, benchmark: &Benchmark) -> Check {
    let expected = format!("{} us or more", least_ns / 1e3);
    let Some(median) = benchmark.median else {
        return no_figure(name, expected, benchmark);
    };
    let medians = benchmark.launches.iter().filter_map(|l| l.median);
    let low = medians.fold(median, f64::min);
    let measured = format!("{:.1} us", median / 1e3);
    let holds = low >= least_ns * (1.0 - TIME) && benchmark.status == Status::Ok;
    check(name, expected, measured, passed(holds))
}

/// Checks that the evidence detects a page fault in every pass.
pub(super) fn caught(name: &str, benchmark: &Benchmark) -> Check {
    // Discarded batches do not count as evidence.
    let discarded = benchmark.interference.discarded;
    let total = (benchmark.records.count() as u64).saturating_sub(discarded);
    let mut evidence = benchmark.details.evidence.values();
    let outside = evidence.any(|e| 2 * e.outside > total && total > 0);
    let measured = match benchmark.status {
        Status::Invalid if outside => "invalid, by its evidence".to_owned(),
        Status::Invalid => "invalid, for another reason".to_owned(),
        Status::Ok => "valid".to_owned(),
        Status::Crashed => "crashed".to_owned(),
        Status::Skipped | Status::NotStarted => "skipped".to_owned(),
    };
    let holds = benchmark.status == Status::Invalid && outside;
    check(name, "invalid".to_owned(), measured, passed(holds))
}

/// Checks that a competing process is detected, and that the figure stays the same or is marked as
/// disturbed.
pub(super) fn disturbed(name: &str, quiet: &Benchmark, benchmark: &Benchmark) -> Check {
    let expected = "seen; the figure unmoved or marked".to_owned();
    let (Some(before), Some(after)) = (quiet.median, benchmark.median) else {
        return no_figure(name, expected, benchmark);
    };
    let seen =
        benchmark.interference.discarded + benchmark.interference.disturbed.values().sum::<u64>();
    let moved = after / before - 1.0;
    let is_marked = benchmark.interference.is_disturbed;
    let is_figure = matches!(benchmark.status, Status::Ok | Status::Invalid);
    let measured = format!(
        "{} batches disturbed, {} discarded; {:+.2} %{}",
        benchmark.interference.disturbed.values().max().copied().unwrap_or(0),
        benchmark.interference.discarded,
        moved * 100.0,
        if is_marked { ", marked" } else { "" },
    );
    let holds = is_figure && seen > 0 && (moved.abs() <= UNMOVED || is_marked);
    check(name, expected, measured, passed(holds))
}

/// A check that cannot be made on this system.
pub(super) fn skipped(name: &str, why: &str) -> Check {
    Check {
        note: Some(why.to_owned()),
        ..check(name, String::new(), String::new(), Outcome::Skipped)
    }
}

#[cfg(test)]
mod tests;
