//! The JSON that sel4bench prints, seL4's suite of benchmarks: <https://github.com/seL4/sel4bench>.
//! It is a list of sets, each with the rows of one benchmark, or a log of the console with that
//! list between two lines.
//!
//! The figure is the mean, as seL4 publishes it: not every row has a median. Each iteration of a
//! benchmark is a process, and so a launch.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use yamba_record::{Parameters, Run};
use yamba_stats::{mean, median};

use super::foreign::{Figure, Number, Results};
use super::members::Members;
use super::{DocumentFault, fault, quoted};

/// Name of the format in messages.
const KIND: &str = "JSON of sel4bench";

/// The lines around the list in a log.
const BEGIN: &str = "JSON OUTPUT";
const END: &str = "END JSON OUTPUT";

/// The statistics of a row. The other members say what was measured.
const STATISTICS: [&str; 11] = [
    "Min",
    "Max",
    "Mean",
    "Stddev",
    "Variance",
    "Mode",
    "Median",
    "1st quantile",
    "3rd quantile",
    "Samples",
    "Raw results",
];

/// The member that names a hardware counter, and the value for which the numbers are cycles.
const EVENT: &str = "Event";
const CYCLES: &str = "Cycle counter";

/// The set whose numbers are operations, of P processors with a delay.
const OPERATIONS: &str = "SMP Benchmark";

/// The relative difference that rounding may make between a mean in the file and that of the raw
/// results: sixteen digits are printed.
const ROUNDING: f64 = 1e-9;

/// Whether a JSON text is such a list.
pub(super) fn is_it(text: &str) -> bool {
    let has = |name: &str| text.contains(&format!("\"{name}\""));
    text.trim_start().starts_with('[') && has("Benchmark") && has("Results") && has("Stddev")
}

/// Whether a text is a log with such a list.
pub(super) fn is_log(head: &str) -> bool {
    head.lines().any(|line| line.trim_end() == BEGIN)
}

/// Parses the list in a log.
///
/// # Errors
/// If the list is truncated, has another format, or contains no figure or too many.
pub(super) fn read_log(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let lines = text.split_inclusive('\n');
    let before = lines.take_while(|line| line.trim_end() != BEGIN).map(str::len).sum::<usize>();
    let list = text[before..].trim_start().strip_prefix(BEGIN).unwrap_or_default();
    let Some((list, _)) = list.split_once(END) else {
        let message = format!("ends before the line \"{END}\"");
        return Err((message, Some("it was cut short; get it again")));
    };
    read(name, list)
}

/// Parses the list. `name` is the name of the file.
///
/// # Errors
/// If it is truncated, has another format, or contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let sets: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| fault(&e, KIND))?;
    let mut results = Results::new("sel4bench", name, text.to_owned());
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    let mut iterations = 0;
    for (index, set) in sets.iter().enumerate() {
        let place = format!("set {index}");
        let Some(members) = Members::read(set.get()) else {
            results.leave_out(&place, "is no object");
            continue;
        };
        let rows = match Row::all(&members) {
            Ok(rows) => rows,
            Err(reason) => {
                results.leave_out(&place, &reason);
                continue;
            }
        };
        iterations = iterations.max(iteration(&members).map_or(0, |number| number + 1));
        let columns = rows.iter().flatten().next().map(Row::columns);
        for (at, row) in rows.into_iter().enumerate() {
            let known = row.and_then(|row| match &columns {
                Some(columns) if *columns != row.columns() => {
                    Err("its members are not those of the first row".to_owned())
                }
                _ => Ok(row),
            });
            if let Err(reason) = known.and_then(|row| add(&mut benchmarks, row)) {
                results.leave_out(&format!("{place}, row {at}"), &reason);
            }
        }
    }
    // All benchmarks have the same number of iterations, and these the same rows.
    for benchmark in &benchmarks {
        let has = benchmark.rows.len() as u64;
        if has < iterations {
            let reason = format!("a row stands in {has} of {iterations} iterations");
            results.leave_out(&benchmark.rows[0].name, &reason);
        } else {
            results.push(benchmark.number())?;
        }
    }
    results.run()
}

/// A row with its benchmark.
struct Row {
    name: String,
    parameters: Vec<(String, Value)>,
    iteration: u64,
    mean: f64,
    deviation: f64,
    samples: u64,
    raw: Vec<f64>,
}

impl Row {
    /// The rows of a set. The outer error concerns all of them.
    fn all(set: &Members) -> Result<Vec<Result<Row, String>>, String> {
        let name = set.text("Benchmark")?.ok_or("no Benchmark in it")?;
        let iteration = iteration(set)?;
        let rows = set.objects("Results")?.ok_or("no Results in it")?;
        let read = |row: &Members| Row::read(name, iteration, row);
        Ok(rows.iter().map(read).collect())
    }

    /// The names of the members that say what was measured.
    fn columns(&self) -> Vec<String> {
        self.parameters.iter().map(|(name, _)| name.clone()).collect()
    }

    fn read(name: &str, iteration: u64, row: &Members) -> Result<Row, String> {
        row.text(EVENT)?;
        let number = |name: &str| -> Result<f64, String> {
            row.number(name)?.ok_or_else(|| format!("no {name} in it"))
        };
        let stated = number("Mean")?;
        if stated < 0.0 {
            return Err(format!("its mean {stated} is below 0"));
        }
        let samples = row.count("Samples")?.filter(|n| *n > 0).ok_or("no Samples in it")?;
        let raw = row.numbers("Raw results")?.unwrap_or_default();
        if !raw.is_empty() {
            let own = mean(&raw).ok_or("no mean of its raw results")?;
            if (own - stated).abs() > ROUNDING * stated.abs() {
                return Err(format!("its raw results have the mean {own}, and it says {stated}"));
            }
            if raw.len() as u64 != samples {
                return Err(format!("{} raw results, and it says {samples}", raw.len()));
            }
        }
        Ok(Row {
            name: name.to_owned(),
            parameters: parameters(row)?,
            iteration,
            mean: stated,
            deviation: number("Stddev")?,
            samples,
            raw,
        })
    }
}

/// The number of a set's iteration, from 0. Old versions have one, and do not number it.
fn iteration(set: &Members) -> Result<u64, String> {
    let number = set.count("Iteration")?.unwrap_or(0);
    if number < 1000 { Ok(number) } else { Err(format!("iteration {number} is too large")) }
}

/// The members that say what was measured, in the order of the file.
fn parameters(row: &Members) -> Result<Vec<(String, Value)>, String> {
    let mut parameters = Vec::new();
    for name in row.names().filter(|name| !STATISTICS.contains(name)) {
        let value = row.value(name)?.unwrap_or(Value::Null);
        if value.is_array() || value.is_object() {
            return Err(format!("{name} is a list or an object"));
        }
        parameters.push((name.to_owned(), value));
    }
    Ok(parameters)
}

/// The rows of a benchmark, one for each iteration.
struct Benchmark {
    rows: Vec<Row>,
}

/// Adds a row to its benchmark. The error says that its iteration stands in the file already.
fn add(benchmarks: &mut Vec<Benchmark>, row: Row) -> Result<(), String> {
    let is_same = |other: &Benchmark| {
        let first = &other.rows[0];
        first.name == row.name && first.parameters == row.parameters
    };
    let Some(known) = benchmarks.iter_mut().find(|other| is_same(other)) else {
        benchmarks.push(Benchmark { rows: vec![row] });
        return Ok(());
    };
    if known.rows.iter().any(|other| other.iteration == row.iteration) {
        return Err(format!("{} stands in the file again; the first counts", quoted(&row.name)));
    }
    known.rows.push(row);
    Ok(())
}

impl Benchmark {
    fn number(&self) -> Number {
        let first = &self.rows[0];
        let means: Vec<f64> = self.rows.iter().map(|row| row.mean).collect();
        let value = median(&means).expect("a benchmark has a row");
        let mut notes = vec![match &self.rows[..] {
            [row] => {
                let (samples, deviation) = (row.samples, row.deviation);
                format!("the mean of {samples} samples, standard deviation {deviation}")
            }
            rows => format!("the median of the means of {} iterations", rows.len()),
        }];
        notes.extend((!self.is_in_cycles()).then(|| "the file does not say the unit".to_owned()));
        Number {
            parameters: Parameters(first.parameters.clone()),
            samples: self.rows.iter().flat_map(|row| row.raw.iter().copied()).collect(),
            is_mean: true,
            launches: if means.len() > 1 { means } else { Vec::new() },
            notes,
            ..Number::new(&first.name, Figure::Value, self.unit(), Ok(value))
        }
    }

    /// Whether the numbers are cycles, as the suite documents for all but counters of events and
    /// operations of several processors.
    fn is_in_cycles(&self) -> bool {
        let first = &self.rows[0];
        let mut others = first.parameters.iter().filter(|(name, _)| name == EVENT);
        first.name != OPERATIONS && others.all(|(_, event)| *event == json!(CYCLES))
    }

    fn unit(&self) -> &'static str {
        if self.is_in_cycles() { "cycles" } else { "" }
    }
}

#[cfg(test)]
mod tests;
