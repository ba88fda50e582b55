//! JSON of nanobench (`ankerl::nanobench::render` with `templates::json()`):
//! <https://nanobench.ankerl.com>. The figure is the median of the times of an operation in all
//! epochs, which one process takes.

pub(super) mod table;

use serde_json::json;
use yamba_record::{Parameters, Run};
use yamba_stats::median;

use super::foreign::{Figure, Number, Results};
use super::members::Members;
use super::{DocumentFault, results_list};

/// Name of the format in messages.
const KIND: &str = "JSON of nanobench";

/// The median in a result.
pub(super) const MEDIAN: &str = "median(elapsed)";

/// The relative difference that rounding may make between the median in the file, which has 15
/// digits, and that of the epochs.
const ROUNDING: f64 = 1e-9;

/// The title of benchmarks without a title.
const NO_TITLE: &str = "benchmark";

/// The unit of benchmarks without a unit.
const OPERATION: &str = "op";

/// Parses the file. `name` is its file name.
///
/// # Errors
/// If it is truncated, has another format, or contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let mut results = Results::new("nanobench", name, text.to_owned());
    results_list::read(&mut results, text, KIND, "name", numbers)?;
    results.run()
}

/// The time of a unit, and the rate of units other than operations. The error says why there is
/// none.
fn numbers(name: &str, members: &Members) -> Result<Vec<Number>, String> {
    let number = |name: &str| members.number(name)?.ok_or_else(|| format!("no {name} in it"));
    let text = |name: &str| members.text(name)?.ok_or_else(|| format!("no {name} in it"));
    let (stated, batch) = (number(MEDIAN)?, number("batch")?);
    let epochs = members.count("epochs")?.ok_or("no epochs in it")?;
    let (title, unit) = (text("title")?, text("unit")?);
    let measurements = members.objects("measurements")?.ok_or("no measurements in it")?;
    let times = measurements.iter().map(|m| m.number("elapsed")?.ok_or("no elapsed in it".into()));
    let times = times.collect::<Result<Vec<f64>, String>>()?;
    if times.len() as u64 != epochs {
        return Err(format!("{} measurements, and it says {epochs}", times.len()));
    }
    let value = median(&times).ok_or("no measurements in it")?;
    if (value - stated).abs() > ROUNDING * stated.abs() {
        return Err(format!("its measurements have the median {value}, and it says {stated}"));
    }
    let complexity = members.number("complexityN")?.filter(|n| *n > 0.0);
    let parameters = |counter: Option<String>| {
        let title = (title != NO_TITLE).then(|| ("title", json!(title)));
        let complexity = complexity.map(|n| ("complexityN", json!(n)));
        let counter = counter.map(|counter| ("counter", json!(counter)));
        let all = title.into_iter().chain(complexity).chain(counter);
        Parameters(all.map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let mut notes = vec![format!("the median of {epochs} epochs in one process")];
    if unit != OPERATION {
        notes.push(format!("the time of one {unit}, of {batch} in an operation"));
    }
    let time = Number {
        parameters: parameters(None),
        samples: times.iter().map(|time| time / batch).collect(),
        notes: notes.clone(),
        ..Number::new(name, Figure::Latency, "s", Ok(value / batch))
    };
    if unit == OPERATION {
        return Ok(vec![time]);
    }
    let (figure, rate_unit) = rate_kind(unit);
    let rate = Number {
        parameters: parameters(Some(format!("{unit}/s"))),
        notes: vec![format!("{batch} in the median time of an operation")],
        ..Number::new(name, figure, &rate_unit, Ok(batch / value))
    };
    Ok(vec![time, rate])
}

/// The kind and unit of a rate of units.
fn rate_kind(unit: &str) -> (Figure, String) {
    match unit {
        "byte" | "B" => (Figure::Bandwidth, "B/s".to_owned()),
        other => (Figure::Rate, format!("{other}/s")),
    }
}

#[cfg(test)]
mod tests;
