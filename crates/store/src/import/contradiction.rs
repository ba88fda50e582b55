//! Contradictions in an entry of a run document, which no version of Yamba writes.

use yamba_record::hardware::HardwareParameter;
use yamba_record::units::{bytes_a_second, nanoseconds};
use yamba_record::{Benchmark, Status};

use super::quoted;

/// The relative distance by which rounding may move a median out of its interval.
const ROUNDING: f64 = 1e-9;

/// How the entry contradicts itself. The figure of an entry that is not `ok` may be anything.
pub(super) fn find(entry: &Benchmark) -> Option<String> {
    if entry.environment.processes == 0 || entry.environment.threads == 0 {
        return Some("it was measured by no process or thread".to_owned());
    }
    let mut parameters = entry.details.hardware.iter();
    if let Some(fault) = parameters.find_map(HardwareParameter::contradiction) {
        return Some(fault);
    }
    let is_good = entry.status == Status::Ok;
    let median = entry.median.filter(|_| is_good);
    if entry.valid != is_good || (is_good && median.is_none()) {
        return Some("`status`, `valid` and `median` contradict each other".to_owned());
    }
    median.and_then(|median| {
        interval(median, entry.confidence_interval).or_else(|| {
            figure(entry.declaration.figure.as_deref()?, median, entry.unit.as_deref()?)
        })
    })
}

/// The message about the entry at `place`.
pub(super) fn message(place: usize, name: &str, fault: &str) -> String {
    format!("benchmarks[{place}], {}: {fault}", quoted(name))
}

fn interval(median: f64, interval: Option<[f64; 2]>) -> Option<String> {
    let [low, high] = interval?;
    let slack = ROUNDING * median.abs();
    let holds_median = low - slack <= median && median <= high + slack;
    (!holds_median).then(|| {
        format!("its median {median:?} is outside its confidence interval [{low:?}, {high:?}]")
    })
}

/// Why no figure of this kind has this number and unit. A `value` may be below 0, and in any unit.
fn figure(kind: &str, median: f64, unit: &str) -> Option<String> {
    let is_unit = match kind {
        "latency" => nanoseconds(unit).is_some(),
        "bandwidth" => bytes_a_second(unit).is_some(),
        "rate" => true,
        _ => return None,
    };
    if !is_unit {
        return Some(format!("{} is no unit of a {kind}", quoted(unit)));
    }
    (median < 0.0).then(|| format!("a {kind} of {median:?} {unit} is below 0"))
}
