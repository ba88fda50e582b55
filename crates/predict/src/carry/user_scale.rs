//! Scales user time from one machine to another by a figure that the user names.

use yamba_record::run::IntervalScope;
use yamba_record::units::{bytes_a_second, nanoseconds};
use yamba_record::{Benchmark, Run, Status};

use crate::costs::Cost;

/// User time on one machine divided by user time on another, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserScale {
    /// The ratio.
    pub ratio: f64,
    /// Its interval, from those of the figures. It does not cover a figure that the application
    /// does not follow.
    pub interval: [f64; 2],
    /// Whether an interval covers its own launches only.
    pub is_within_launches: bool,
}

/// The ratio of a benchmark's figure between two runs: that of the times, or the inverse one of the
/// bandwidths. Over several points it is their geometric mean, with the interval of the least
/// certain point.
///
/// # Errors
/// If no point has a valid figure of that kind in both runs. The text says so.
pub fn user_scale(benchmark: &str, from: &Run, to: &Run) -> Result<UserScale, String> {
    let is_it = |entry: &&Benchmark| entry.name == benchmark && entry.environment.processes == 1;
    let named = from.benchmarks.iter().filter(is_it);
    let points: Vec<UserScale> = named
        .filter_map(|entry| {
            let is_same = |other: &&Benchmark| other.parameters == entry.parameters;
            let twin = to.benchmarks.iter().filter(is_it).find(is_same)?;
            ratio(entry, twin)
        })
        .collect();
    if points.is_empty() {
        return Err(format!(
            "no point of {benchmark} has a valid latency or bandwidth in both runs"
        ));
    }
    Ok(mean(&points))
}

fn mean(points: &[UserScale]) -> UserScale {
    let count = points.len() as f64;
    let ratio = points.iter().map(|p| p.ratio.ln()).sum::<f64>() / count;
    let ratio = ratio.exp();
    let least = |end: usize| points.iter().map(move |p| p.interval[end] / p.ratio);
    let below = least(0).fold(1.0, f64::min);
    let above = least(1).fold(1.0, f64::max);
    UserScale {
        ratio,
        interval: [ratio * below, ratio * above],
        is_within_launches: points.iter().any(|p| p.is_within_launches),
    }
}

/// The ratio of one point.
fn ratio(from: &Benchmark, to: &Benchmark) -> Option<UserScale> {
    let (here, there) = (speed(from)?, speed(to)?);
    if from.declaration.figure != to.declaration.figure {
        return None;
    }
    // More bandwidth is less time.
    let (upper, lower) = match from.declaration.figure.as_deref()? {
        "latency" => (there, here),
        "bandwidth" => (here, there),
        _ => return None,
    };
    let ratio = upper.ns / lower.ns;
    let ([below, above], [lower_below, lower_above]) = (upper.relative(), lower.relative());
    let is_short = |e: &Benchmark| !e.interval_scope.is_some_and(IntervalScope::covers_other_runs);
    Some(UserScale {
        ratio,
        interval: [
            ratio * (1.0 - below.hypot(lower_above)).max(0.0),
            ratio * (1.0 + above.hypot(lower_below)),
        ],
        is_within_launches: is_short(from) || is_short(to),
    })
}

/// A valid figure above 0, in ns or in bytes per second.
fn speed(entry: &Benchmark) -> Option<Cost> {
    if entry.status != Status::Ok || entry.interference.is_disturbed {
        return None;
    }
    let unit = entry.unit.as_deref()?;
    let unit = nanoseconds(unit).or_else(|| bytes_a_second(unit))?;
    let cost = Cost { ns: entry.median?, interval_ns: entry.confidence_interval? };
    (cost.ns > 0.0).then(|| cost.times(unit))
}
