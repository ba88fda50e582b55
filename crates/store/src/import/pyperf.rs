//! JSON of pyperf (`-o`): <https://pyperf.readthedocs.io>. A run of pyperf is a process, and so a
//! launch: its figure is the median of its values.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use yamba_record::{Machine, Run};
use yamba_stats::median;

use super::foreign::{Figure, Number, Results, note_on_processes};
use super::members::Members;
use super::{DocumentFault, fault, quoted};

/// Name of the format in messages.
const KIND: &str = "JSON of pyperf";

/// The version of the form that is read.
const VERSION: &str = "1.0";

/// The metadata of a run without values: it finds the number of loops or of warmups.
const CALIBRATIONS: [&str; 4] =
    ["calibrate_loops", "recalibrate_loops", "calibrate_warmups", "recalibrate_warmups"];

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    benchmarks: Vec<&'a RawValue>,
    #[serde(default)]
    metadata: Members,
    version: String,
}

/// Parses the file. `name` is its file name.
///
/// # Errors
/// If it is truncated, has another format, or contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let document: Document<'_> = serde_json::from_str(text).map_err(|e| fault(&e, KIND))?;
    if document.version != VERSION {
        let found = quoted(&document.version);
        let message =
            format!("is {KIND} of another form: its version is {found}, and {VERSION} is read");
        return Err((message, Some("use a newer Yamba, or another pyperf")));
    }
    let mut results = Results::new("pyperf", name, String::new());
    let shared = &document.metadata;
    let text = |name: &str| shared.text(name).ok().flatten();
    results.producer = format!("pyperf {}", text("perf_version").unwrap_or_default());
    results.producer.truncate(results.producer.trim_end().len());
    results.machine = Machine {
        cpu: text("cpu_model_name").map(str::to_owned),
        cpus: shared.count("cpu_count").ok().flatten().unwrap_or(0),
        system: text("platform")
            .and_then(|p| p.split('-').next())
            .unwrap_or_default()
            .to_lowercase(),
        ..Machine::default()
    };
    let mut kept = Vec::new();
    for (index, row) in document.benchmarks.iter().enumerate() {
        let place = format!("benchmarks[{index}]");
        let Some(members) = Members::read(row.get()) else {
            results.leave_out(&place, "is no object");
            continue;
        };
        let benchmark = Benchmark::read(members, shared);
        let place = match &benchmark {
            Ok(Benchmark { name, .. }) => quoted(name),
            Err(_) => place,
        };
        match benchmark.and_then(|benchmark| Ok((benchmark.number()?, benchmark))) {
            Ok((number, benchmark)) => {
                kept.push(benchmark.shown());
                results.push(number)?;
            }
            Err(reason) => results.leave_out(&place, &reason),
        }
    }
    // The rest names the machine, its owner and the program.
    results.set_text(format!("[{}]\n", kept.join(",\n")));
    results.run()
}

/// A benchmark and its metadata. Those that all benchmarks of a file share stand outside.
struct Benchmark {
    name: String,
    unit: String,
    python: Option<String>,
    /// The values of each run, without those that only calibrate.
    runs: Vec<Vec<f64>>,
}

impl Benchmark {
    fn read(members: Members, shared: &Members) -> Result<Benchmark, String> {
        let own = members.object("metadata")?.unwrap_or_default();
        let text = |name: &str| -> Result<Option<String>, String> {
            let text = if own.has(name) { own.text(name) } else { shared.text(name) };
            Ok(text?.map(str::to_owned))
        };
        let runs = members.objects("runs")?.ok_or("no runs in it")?;
        Ok(Benchmark {
            name: text("name")?.ok_or("no name in it")?,
            unit: text("unit")?.ok_or("no unit in it")?,
            python: text("python_version").ok().flatten(),
            runs: values(&runs)?,
        })
    }

    /// The figure with the medians of the runs as launches.
    fn number(&self) -> Result<Number, String> {
        let (figure, unit) = match self.unit.as_str() {
            "second" => (Figure::Latency, "s"),
            "byte" => (Figure::Value, "bytes"),
            "integer" => (Figure::Value, ""),
            other => return Err(format!("its unit {} is not known", quoted(other))),
        };
        let launches: Vec<f64> = self.runs.iter().filter_map(|run| median(run)).collect();
        let value = median(&launches).ok_or("no value in it")?;
        let mut notes = vec![note_on_processes(launches.len())];
        notes.extend(self.python.as_ref().map(|version| format!("Python {version}")));
        Ok(Number {
            samples: self.runs.concat(),
            launches,
            notes,
            ..Number::new(&self.name, figure, unit, Ok(value))
        })
    }

    /// The part of the file behind the figure.
    fn shown(&self) -> String {
        let (name, unit) = (&self.name, &self.unit);
        serde_json::json!({"name": name, "unit": unit, "values": self.runs}).to_string()
    }
}

/// The values of each run. All runs of a benchmark have the same number of them.
fn values(runs: &[Members]) -> Result<Vec<Vec<f64>>, String> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    let mut dates = BTreeSet::new();
    for run in runs {
        let facts = run.object("metadata")?.unwrap_or_default();
        if facts.text("date")?.is_some_and(|date| !dates.insert(date.to_owned())) {
            return Err("a run stands twice".to_owned());
        }
        match run.numbers("values")? {
            Some(values) => all.push(values),
            None if CALIBRATIONS.iter().any(|name| facts.has(name)) => {}
            None => return Err("a run without values".to_owned()),
        }
    }
    let expected = all.first().map_or(0, Vec::len);
    match all.iter().find(|values| values.len() != expected || values.is_empty()) {
        Some(odd) => Err(format!("{} values in a run, and {expected} in the first", odd.len())),
        None => Ok(all),
    }
}

#[cfg(test)]
mod tests;
