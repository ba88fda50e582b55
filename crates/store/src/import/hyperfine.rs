//! JSON of hyperfine (`--export-json`): <https://github.com/sharkdp/hyperfine>. Each command is a
//! benchmark, and each of its runs a sample in seconds.

use yamba_record::{Parameters, Run, Status};
use yamba_stats::median;

use super::foreign::{Figure, Number, Results};
use super::members::Members;
use super::{DocumentFault, results_list};

/// Name of the format in messages.
const KIND: &str = "JSON of hyperfine";

/// The relative difference that rounding may make between a median in the file and that of the
/// times.
const ROUNDING: f64 = 1e-9;

/// Parses the file. `name` is its file name.
///
/// # Errors
/// If it is truncated, has another format, or contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let mut results = Results::new("hyperfine", name, text.to_owned());
    results_list::read(&mut results, text, KIND, "command", |command, members| {
        Ok(vec![number(command, members)?])
    })?;
    results.run()
}

/// The figure of a command. The error says why it has none.
fn number(command: &str, members: &Members) -> Result<Number, String> {
    let samples = members.numbers("times")?.unwrap_or_default();
    let value = median(&samples).ok_or("no times in it")?;
    let stated = members.number("median")?.ok_or("no median in it")?;
    if (value / stated - 1.0).abs() > ROUNDING || (stated == 0.0 && value != 0.0) {
        return Err(format!("its times have the median {value}, and it says {stated}"));
    }
    let codes = exit_codes(members)?;
    if !codes.is_empty() && codes.len() != samples.len() {
        return Err(format!("{} times and {} exit codes", samples.len(), codes.len()));
    }
    let value = match codes.iter().find(|code| code.as_str() != "0") {
        Some(code) => Err((Status::Crashed, format!("the command ended with {code}"))),
        None => Ok(value),
    };
    let mut notes = vec![format!("the median of {} runs", samples.len())];
    if codes.is_empty() {
        notes.push("the file does not say whether the command failed".to_owned());
    }
    Ok(Number {
        parameters: parameters(members)?,
        samples: if value.is_ok() { samples } else { Vec::new() },
        notes,
        ..Number::new(command, Figure::Latency, "s", value)
    })
}

/// The exit codes as text: a command that a signal ended has `null`. Older versions have none.
fn exit_codes(members: &Members) -> Result<Vec<String>, String> {
    let Some(codes) = members.value("exit_codes")? else {
        return Ok(Vec::new());
    };
    let codes = codes.as_array().ok_or("exit_codes is no list")?;
    let text = |code: &serde_json::Value| match code {
        serde_json::Value::Null => "a signal".to_owned(),
        code => code.to_string(),
    };
    Ok(codes.iter().map(text).collect())
}

fn parameters(members: &Members) -> Result<Parameters, String> {
    let Some(parameters) = members.value("parameters")? else {
        return Ok(Parameters::default());
    };
    let parameters = parameters.as_object().ok_or("parameters is no object")?;
    let each = parameters.iter();
    Ok(Parameters(each.map(|(name, value)| (name.clone(), value.clone())).collect()))
}
