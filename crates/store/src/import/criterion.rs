//! The folder of criterion, usually `target/criterion`:
//! <https://bheisler.github.io/criterion.rs/book>. `GROUP/FUNCTION/VALUE/new` has the latest
//! results of a benchmark.
//!
//! The figure is the median of the times of an iteration in all samples, which one process takes.
//! A throughput becomes another figure.

mod folder;

use serde_json::{Value, json};
use yamba_record::{Parameters, Run};
use yamba_stats::median;

use super::foreign::{Figure, Number, Results};
use super::members::Members;
use super::{DocumentFault, quoted};
pub(super) use folder::{Files, read as find};

/// The relative difference that rounding may make between the median in the file and that of the
/// samples.
const ROUNDING: f64 = 1e-9;

/// Parses the files of all benchmarks. `name` is the name of the folder.
///
/// # Errors
/// If there is no figure, or if there are too many.
pub(super) fn read(name: &str, files: &[Files]) -> Result<Run, DocumentFault> {
    let mut results = Results::new("criterion", name, String::new());
    let mut kept = Vec::new();
    for files in files {
        let benchmark = match Benchmark::read(files) {
            Ok(benchmark) => benchmark,
            Err(reason) => {
                results.leave_out(&files.place, &reason);
                continue;
            }
        };
        kept.push(benchmark.shown());
        let time = benchmark.time;
        results.push(benchmark.number())?;
        match benchmark.throughput {
            Ok(rates) => {
                for rate in rates {
                    results.push(rate.number(&benchmark.name, time))?;
                }
            }
            Err(reason) => results.leave_out(&quoted(&benchmark.name), &reason),
        }
    }
    results.set_text(format!("[{}]\n", kept.join(",\n")));
    results.run()
}

/// A benchmark with its times in nanoseconds.
struct Benchmark {
    name: String,
    time: f64,
    samples: Vec<f64>,
    throughput: Result<Vec<Rate>, String>,
}

/// The work of an iteration, such as a number of bytes.
struct Rate {
    amount: u64,
    counter: &'static str,
    figure: Figure,
    unit: &'static str,
}

impl Benchmark {
    /// The error says why there is no figure.
    fn read(files: &Files) -> Result<Benchmark, String> {
        let about = members(files.benchmark.as_deref(), "benchmark.json")?;
        let sample = members(files.sample.as_deref(), "sample.json")?;
        let estimates = members(files.estimates.as_deref(), "estimates.json")?;
        let name = name(&about)?;
        let list = |name: &str| sample.numbers(name)?.ok_or_else(|| format!("no {name} in it"));
        let (iterations, times) = (list("iters")?, list("times")?);
        if iterations.len() != times.len() {
            return Err(format!("{} iters and {} times", iterations.len(), times.len()));
        }
        if let Some(odd) = iterations.iter().find(|n| **n < 1.0 || n.fract() != 0.0) {
            return Err(format!("{odd} is no number of iterations"));
        }
        let samples: Vec<f64> = times.iter().zip(&iterations).map(|(time, n)| time / n).collect();
        let time = median(&samples).ok_or("no times in it")?;
        let stated = estimates.object("median")?.ok_or("no median in it")?;
        let stated = stated.number("point_estimate")?.ok_or("no point_estimate in it")?;
        if (time - stated).abs() > ROUNDING * stated.abs() {
            return Err(format!("its times have the median {time}, and it says {stated}"));
        }
        Ok(Benchmark { name, time, samples, throughput: throughput(&about) })
    }

    fn number(&self) -> Number {
        Number {
            samples: self.samples.clone(),
            notes: vec![format!("the median of {} samples in one process", self.samples.len())],
            ..Number::new(&self.name, Figure::Latency, "ns", Ok(self.time))
        }
    }

    /// The part of the files behind the figure.
    fn shown(&self) -> String {
        json!({"full_id": self.name, "ns": self.samples}).to_string()
    }
}

impl Rate {
    /// The rate at which the work is done in `time` nanoseconds.
    fn number(&self, name: &str, time: f64) -> Number {
        let rate = self.amount as f64 / (time * 1e-9);
        Number {
            parameters: Parameters(vec![("counter".to_owned(), json!(self.counter))]),
            notes: vec![format!("{} in the median time", self.amount)],
            ..Number::new(name, self.figure, self.unit, Ok(rate))
        }
    }
}

fn members(text: Option<&str>, file: &str) -> Result<Members, String> {
    let text = text.ok_or_else(|| format!("no {file} in it"))?;
    let text = text.trim_start_matches('\u{feff}');
    Members::read(text).ok_or_else(|| format!("{file} is damaged"))
}

/// The name, which is made of those of group, function and value.
fn name(about: &Members) -> Result<String, String> {
    let name = about.text("full_id")?.ok_or("no full_id in it")?;
    let parts = ["group_id", "function_id", "value_str"].map(|part| about.text(part));
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    if parts.join("/") != name {
        return Err(format!("its full_id {} is another than its parts", quoted(name)));
    }
    Ok(name.to_owned())
}

/// The work of an iteration. Empty if the benchmark states none.
fn throughput(about: &Members) -> Result<Vec<Rate>, String> {
    if !about.has("throughput") {
        return Err("no throughput in it".to_owned());
    }
    let unknown = |value: &Value| format!("its throughput {value} is not known");
    let value = about.value("throughput")?.unwrap_or_default();
    let kinds = match &value {
        Value::Null => return Ok(Vec::new()),
        Value::Object(kinds) => kinds,
        other => return Err(unknown(other)),
    };
    let both = kinds.get("ElementsAndBytes").and_then(Value::as_object);
    let rates = both.unwrap_or(kinds).iter().map(|(kind, amount)| {
        let (counter, figure, unit) = match kind.as_str() {
            "Bytes" | "BytesDecimal" | "bytes" => ("bytes_per_second", Figure::Bandwidth, "B/s"),
            "Elements" | "elements" => ("elements_per_second", Figure::Rate, "elements/s"),
            "Bits" => ("bits_per_second", Figure::Rate, "bits/s"),
            _ => return None,
        };
        Some(Rate { amount: amount.as_u64()?, counter, figure, unit })
    });
    let rates: Option<Vec<Rate>> = rates.collect();
    let expected = if both.is_some() { 2 } else { 1 };
    rates.filter(|rates| rates.len() == expected).ok_or_else(|| unknown(&value))
}

#[cfg(test)]
mod tests;
