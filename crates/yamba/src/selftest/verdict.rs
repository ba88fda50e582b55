//! What a check expected, what was measured, and whether the two agree. Pure.

use serde::Serialize;
use yamba_record::{Benchmark, Status};

/// A latency in cycles may be off by this much.
const CYCLES: f64 = 0.003;

/// To this a cycle's length is known.
const KNOWN_TO: f64 = 0.001;

/// An interval with a greater half width says nothing.
const WIDE: f64 = 0.01;

/// So may a stretch of time: the system's clock is steered by up to 0.05 %.
const TIME: f64 = 0.002;

/// A figure under disturbance may move by this much, or has to be marked.
const UNMOVED: f64 = 0.01;

/// One check with its answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What was done.
    pub name: String,
    /// What had to come out, in words.
    pub expected: String,
    /// What came out, in words.
    pub measured: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Where the expectation is from, or why there is no answer.
    pub note: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As it has to be.
    Passed,
    /// Not so: figures cannot be trusted here.
    Failed,
    /// Cannot be told here; `note` says why.
    Unknown,
}

fn passed(holds: bool) -> Outcome {
    if holds {
        Outcome::Passed
    } else {
        Outcome::Failed
    }
}

fn check(name: &str, expected: String, measured: String, outcome: Outcome) -> Check {
    Check {
        name: name.to_owned(),
        expected,
        measured,
        outcome,
        note: None,
    }
}

/// No figure: what its notes say instead.
fn no_figure(name: &str, expected: String, benchmark: &Benchmark) -> Check {
    let why = benchmark.notes.first().cloned();
    let outcome = match benchmark.status {
        Status::Skipped => Outcome::Unknown,
        _ => Outcome::Failed,
    };
    Check {
        note: why,
        ..check(name, expected, "no figure".to_owned(), outcome)
    }
}

/// A latency of a known number of cycles. `around` are the cycles of the chain that it stands in and that are subtracted: what a cycle is
/// known to counts for them, too.
pub(super) fn cycles(name: &str, expected: f64, around: f64, benchmark: &Benchmark) -> Check {
    let says = format!("{expected} cycles");
    let Some(cycles) = benchmark.cycles else {
        let mut check = no_figure(name, says, benchmark);
        if benchmark.status == Status::Ok {
            check.outcome = Outcome::Unknown;
        }
        return check;
    };
    let [low, high] = cycles.interval;
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

/// A stretch of time that another clock has measured.
pub(super) fn same_time(name: &str, expected_ns: f64, benchmark: &Benchmark) -> Check {
    let expected = format!("{} us", expected_ns / 1e3);
    let Some(median) = benchmark.median else {
        return no_figure(name, expected, benchmark);
    };
    let holds = (median / expected_ns - 1.0).abs() <= TIME && benchmark.status == Status::Ok;
    check(
        name,
        expected,
        format!("{:.3} us", median / 1e3),
        passed(holds),
    )
}

/// A sleep, which can take longer than asked but never less.
pub(super) fn at_least(name: &str, least_ns: f64, benchmark: &Benchmark) -> Check {
    let expected = format!("{} us or more", least_ns / 1e3);
    let Some([low, _]) = benchmark.interval else {
        return no_figure(name, expected, benchmark);
    };
    let median = benchmark.median.unwrap_or(low);
    let measured = format!("{:.1} us", median / 1e3);
    check(
        name,
        expected,
        measured,
        passed(low >= least_ns * (1.0 - TIME) && benchmark.status == Status::Ok),
    )
}

/// A fault in every pass, which the evidence has to catch.
pub(super) fn caught(name: &str, benchmark: &Benchmark) -> Check {
    let total = benchmark.intervals.len() as u64;
    let outside = benchmark
        .evidence
        .values()
        .any(|e| 2 * e.outside > total && total > 0);
    let measured = match benchmark.status {
        Status::Invalid if outside => "invalid, by its evidence".to_owned(),
        Status::Invalid => "invalid, for another reason".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    let holds = benchmark.status == Status::Invalid && outside;
    check(name, "invalid".to_owned(), measured, passed(holds))
}

/// A competing process on the same processor: seen, and the figure unmoved or marked.
pub(super) fn disturbed(name: &str, quiet: &Benchmark, benchmark: &Benchmark) -> Check {
    let expected = "seen; the figure unmoved or marked".to_owned();
    let (Some(before), Some(after)) = (quiet.median, benchmark.median) else {
        return no_figure(name, expected, benchmark);
    };
    let seen = benchmark.set_aside + benchmark.disturbed.values().sum::<u64>();
    let moved = after / before - 1.0;
    let is_marked = benchmark.is_disturbed;
    let is_figure = matches!(benchmark.status, Status::Ok | Status::Invalid);
    let measured = format!(
        "{} intervals disturbed, {} set aside; {:+.2} %{}",
        benchmark.disturbed.values().max().copied().unwrap_or(0),
        benchmark.set_aside,
        moved * 100.0,
        if is_marked { ", marked" } else { "" },
    );
    let holds = is_figure && seen > 0 && (moved.abs() <= UNMOVED || is_marked);
    check(name, expected, measured, passed(holds))
}

/// A check that cannot be made here.
pub(super) fn unknown(name: &str, why: &str) -> Check {
    Check {
        note: Some(why.to_owned()),
        ..check(name, String::new(), String::new(), Outcome::Unknown)
    }
}

#[cfg(test)]
mod tests;
