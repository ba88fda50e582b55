//! hyperfine's JSON (`--export-json`), times in seconds: <https://github.com/sharkdp/hyperfine>.
//! Each launch of a latency is a run. The format has no place for other figures, nor for the reason
//! why one is missing: such entries are omitted.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use yamba_record::command::CommandRuns;
use yamba_record::units::nanoseconds;
use yamba_record::{Benchmark, Run};
use yamba_stats::{mean, median, standard_deviation};

use super::figure::{self, FigureKind};

/// Writes a run in this format. Returns the number of entries that it contains.
///
/// # Errors
/// If the stream cannot be written.
pub fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    let mut results: Vec<Value> = run.benchmarks.iter().filter_map(result).collect();
    figure::keep_first(&mut results, "command");
    // hyperfine's own files name no program.
    let document = json!({ "results": results, "producer": run.producer.version });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")?;
    Ok(results.len())
}

fn result(entry: &Benchmark) -> Option<Value> {
    figure::good(entry)?;
    if !matches!(figure::kind(entry), FigureKind::Time(_)) {
        return None;
    }
    let ns = nanoseconds(entry.unit.as_deref()?)?;
    let launches = entry.launches.iter().filter_map(|launch| launch.median);
    let times: Vec<f64> = launches.filter(|time| time.is_finite()).map(|t| t * ns / 1e9).collect();
    let command = entry.details.command.as_ref();
    // The name of a command has its parameters.
    let name = if command.is_some() { entry.name.clone() } else { figure::label(entry) };
    let mut result = json!({
        "command": name,
        "mean": mean(&times)?,
        "stddev": standard_deviation(&times),
        "median": median(&times)?,
        "min": times.iter().copied().reduce(f64::min),
        "max": times.iter().copied().reduce(f64::max),
        "times": times,
    });
    let members = result.as_object_mut()?;
    if let Some(command) = command {
        members.extend(command_members(command, times.len()));
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parameters = entry.parameters.0.iter();
    let parameters: Map<String, Value> =
        parameters.map(|(name, value)| (name.clone(), text(value).into())).collect();
    if !parameters.is_empty() {
        members.insert("parameters".to_owned(), parameters.into());
    }
    if entry.interference.is_disturbed {
        members.insert("disturbed".to_owned(), true.into());
    }
    Some(result)
}

/// The members that only a whole command has. A run that a signal ended has the exit code null.
fn command_members(command: &CommandRuns, runs: usize) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert("user".to_owned(), json!(command.user_ns / 1e9));
    members.insert("system".to_owned(), json!(command.system_ns / 1e9));
    let statuses =
        if command.statuses.is_empty() { vec![Some(0); runs] } else { command.statuses.clone() };
    if statuses.len() == runs {
        members.insert("exit_codes".to_owned(), json!(statuses));
    }
    members
}
