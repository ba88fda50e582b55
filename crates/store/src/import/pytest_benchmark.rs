//! JSON of pytest-benchmark (`--benchmark-json`, `--benchmark-save`):
//! <https://pytest-benchmark.readthedocs.io>. Each test is a benchmark. The figure is the median of
//! its rounds, which are samples if the file has them.

use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use yamba_record::{Machine, Parameters, Run};
use yamba_stats::median;

use super::foreign::{Figure, Number, Results};
use super::members::Members;
use super::{DocumentFault, fault, quoted};

/// Name of the format in messages.
const KIND: &str = "JSON of pytest-benchmark";

/// The relative difference that rounding may make between the median in the file and that of the
/// rounds.
const ROUNDING: f64 = 1e-9;

/// The clock that pytest-benchmark uses unless it is set.
const CLOCK: &str = "perf_counter";

#[derive(Deserialize)]
struct Document<'a> {
    machine_info: Members,
    #[serde(borrow)]
    benchmarks: &'a RawValue,
    datetime: Option<Value>,
    version: Option<Value>,
}

/// Parses the file. `name` is its file name.
///
/// # Errors
/// If it is truncated, has another format, or contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let document: Document<'_> = serde_json::from_str(text).map_err(|e| fault(&e, KIND))?;
    let rows: Vec<&RawValue> =
        serde_json::from_str(document.benchmarks.get()).map_err(|e| fault(&e, KIND))?;
    // The rest names the machine and its owner.
    let kept = format!("{{\"benchmarks\": {}}}\n", document.benchmarks.get());
    let mut results = Results::new("pytest-benchmark", name, kept);
    results.machine = machine(&document.machine_info);
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    let version = text(&document.version).unwrap_or_default();
    results.producer = format!("pytest-benchmark {version}").trim_end().to_owned();
    let date = text(&document.datetime).and_then(|d| DateTime::parse_from_rfc3339(&d).ok());
    results.started_unix_s = date.map(|date| date.timestamp() as f64);
    let python = python(&document.machine_info);
    for (index, row) in rows.iter().enumerate() {
        let members = Members::read(row.get());
        let test = members.as_ref().and_then(|m| m.text("fullname").ok()?);
        let (Some(members), Some(test)) = (&members, test) else {
            results.leave_out(&format!("benchmarks[{index}]"), "no fullname in it");
            continue;
        };
        match number(test, members) {
            Ok(mut number) => {
                number.notes.extend(python.clone());
                results.push(number)?;
            }
            Err(reason) => results.leave_out(&quoted(test), &reason),
        }
    }
    results.run()
}

/// The figure of a test. The error says why it has none.
fn number(test: &str, members: &Members) -> Result<Number, String> {
    let stats = members.object("stats")?.ok_or("no stats in it")?;
    let value = stats.number("median")?.ok_or("no median in it")?;
    let rounds = stats.count("rounds")?.ok_or("no rounds in it")?;
    let bound = |name: &str| stats.number(name)?.ok_or(format!("no {name} in it"));
    let (min, max) = (bound("min")?, bound("max")?);
    if !(min..=max).contains(&value) {
        return Err(format!("its median {value} does not lie between {min} and {max}"));
    }
    let samples = stats.numbers("data")?;
    if let Some(samples) = &samples {
        check(samples, value, rounds)?;
    }
    let mut notes = vec![format!("the median of {rounds} rounds in one process")];
    let options = members.object("options").ok().flatten();
    let clock = options.as_ref().and_then(|options| options.text("timer").ok()?);
    notes
        .extend(clock.filter(|clock| *clock != CLOCK).map(|clock| format!("its clock is {clock}")));
    Ok(Number {
        parameters: parameters(members)?,
        samples: samples.unwrap_or_default(),
        notes,
        ..Number::new(test, Figure::Latency, "s", Ok(value))
    })
}

/// Whether the rounds belong to the other values.
fn check(samples: &[f64], value: f64, rounds: u64) -> Result<(), String> {
    if samples.len() as u64 != rounds {
        return Err(format!("data of {} rounds, and it says {rounds}", samples.len()));
    }
    match median(samples) {
        Some(median) if (median - value).abs() <= ROUNDING * value.abs() => Ok(()),
        Some(median) => Err(format!("its data have the median {median}, and it says {value}")),
        None => Err("no data in it".to_owned()),
    }
}

/// The parameters of the test. They stand in its name, too.
fn parameters(members: &Members) -> Result<Parameters, String> {
    let Some(parameters) = members.value("params")? else {
        return Ok(Parameters::default());
    };
    let parameters = parameters.as_object().ok_or("params is no object")?;
    let value = |value: &Value| match value {
        Value::Array(_) | Value::Object(_) => Value::from(value.to_string()),
        scalar => scalar.clone(),
    };
    Ok(Parameters(parameters.iter().map(|(name, v)| (name.clone(), value(v))).collect()))
}

fn machine(info: &Members) -> Machine {
    let text = |name: &str| info.text(name).ok().flatten().unwrap_or_default().to_owned();
    let cpu = info.object("cpu").ok().flatten().unwrap_or_default();
    let model = ["brand_raw", "brand"].iter().find_map(|name| cpu.text(name).ok()?);
    Machine {
        isa: text("machine"),
        system: text("system").to_lowercase(),
        kernel: text("release"),
        cpu: model.map(str::to_owned),
        cpus: cpu.count("count").ok().flatten().unwrap_or(0),
        ..Machine::default()
    }
}

/// The interpreter: `CPython 3.11.7`.
fn python(info: &Members) -> Option<String> {
    let version = info.text("python_version").ok()??;
    let implementation = info.text("python_implementation").ok().flatten().unwrap_or("Python");
    Some(format!("{implementation} {version}"))
}

#[cfg(test)]
mod tests;
