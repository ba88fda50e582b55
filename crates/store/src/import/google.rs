//! Google Benchmark's JSON (`--benchmark_format=json`), `json_schema_version` 1: <https://github.com/google/benchmark/blob/main/docs/user_guide.md>.
//!
//! A figure is the real time. For several repetitions, which run in one process, it is their median. If the file has no repetitions, it is the
//! aggregate `median`, or else `mean`.

use std::collections::BTreeMap;

use chrono::DateTime;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use yamba_record::machine::Details;
use yamba_record::machine::details::Cache;
use yamba_record::{Machine, Parameters, Run, Status};

use super::foreign::{Figure, Number, Results};
use super::{DocumentFault, fault, quoted};

/// Name of the format in messages.
const KIND: &str = "JSON of Google Benchmark";

#[derive(Deserialize)]
struct Document {
    context: Context,
    benchmarks: Vec<GoogleRow>,
}

#[derive(Deserialize)]
struct Context {
    date: Option<String>,
    num_cpus: Option<u64>,
    library_version: Option<String>,
    #[serde(default)]
    caches: Vec<KnownCache>,
    /// The id of a run, if Yamba exported the file.
    yamba_run: Option<String>,
}

#[derive(Deserialize)]
struct KnownCache {
    #[serde(rename = "type")]
    kind: String,
    level: u64,
    size: Option<u64>,
}

#[derive(Deserialize)]
struct GoogleRow {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    aggregate_name: Option<String>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    bytes_per_second: Option<f64>,
    items_per_second: Option<f64>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
    #[serde(default)]
    skipped: bool,
    skip_message: Option<String>,
}

/// Parses the file. `name` is its file name.
///
/// # Errors
/// If it is truncated, has another format, was exported by Yamba, or contains no figure or too many.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Run, DocumentFault> {
    let document: Document = serde_json::from_slice(bytes).map_err(|e| fault(&e, KIND))?;
    if let Some(id) = &document.context.yamba_run {
        let message = format!(
            "is the run {} of Yamba in Google Benchmark's form, without what shows its errors",
            quoted(id)
        );
        return Err((
            message,
            Some("import its document instead: `yamba export RUN --format json` writes it"),
        ));
    }
    let mut results = Results::new("google-benchmark", name, rows_alone(bytes)?);
    results.machine = machine(&document.context);
    let version = document.context.library_version.unwrap_or_default();
    results.producer = format!("Google Benchmark {version}").trim_end().to_owned();
    let date = document
        .context
        .date
        .and_then(|d| DateTime::parse_from_rfc3339(&d).ok());
    results.started_unix_s = date.map(|d| d.timestamp() as f64);
    for rows in families(&document.benchmarks) {
        let numbers = numbers(&rows);
        if numbers.is_empty() {
            results.leave_out(&quoted(&rows[0].name), "no time in it");
        }
        numbers.into_iter().try_for_each(|n| results.push(n))?;
    }
    results.run()
}

/// The text of the rows, without the context, which names the machine and its owner.
fn rows_alone(bytes: &[u8]) -> Result<String, DocumentFault> {
    #[derive(Deserialize)]
    struct Rows<'a> {
        #[serde(borrow)]
        benchmarks: &'a RawValue,
    }
    let rows: Rows<'_> = serde_json::from_slice(bytes).map_err(|e| fault(&e, KIND))?;
    Ok(format!("{{\"benchmarks\": {}}}\n", rows.benchmarks.get()))
}

fn machine(context: &Context) -> Machine {
    let cache = |c: &KnownCache| Cache {
        level: c.level,
        kind: c.kind.to_lowercase(),
        bytes: c.size,
        ..Cache::default()
    };
    let details = Details {
        caches: context.caches.iter().map(cache).collect(),
        ..Details::default()
    };
    Machine {
        cpus: context.num_cpus.unwrap_or(0),
        details: (!details.caches.is_empty()).then(|| Box::new(details)),
        ..Machine::default()
    }
}

/// Groups rows by benchmark, in order of first occurrence.
fn families(rows: &[GoogleRow]) -> Vec<Vec<&GoogleRow>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut families: Vec<Vec<&GoogleRow>> = Vec::new();
    for row in rows {
        let name = row.run_name.as_deref().unwrap_or(&row.name);
        let place = *places.entry(name).or_insert(families.len());
        if place == families.len() {
            families.push(Vec::new());
        }
        families[place].push(row);
    }
    families
}

/// The time of a benchmark, and the rates that it reports.
fn numbers(rows: &[&GoogleRow]) -> Vec<Number> {
    let first = rows[0];
    let name = first.run_name.as_ref().unwrap_or(&first.name);
    if let Some(reason) = rows.iter().find_map(|r| failure(r)) {
        return vec![number(name, None, Figure::Latency, "ns", Err(reason))];
    }
    let unit = first.time_unit.as_deref().unwrap_or("ns");
    let kinds = [
        (None, Figure::Latency, unit),
        (Some("bytes_per_second"), Figure::Bandwidth, "B/s"),
        (Some("items_per_second"), Figure::Value, "items/s"),
    ];
    kinds
        .iter()
        .filter(|(_, kind, unit)| {
            *kind != Figure::Latency || ["ns", "us", "ms", "s"].contains(unit)
        })
        .filter_map(|(counter, kind, unit)| {
            let value = |row: &GoogleRow| match counter {
                None => row.real_time,
                Some("bytes_per_second") => row.bytes_per_second,
                Some(_) => row.items_per_second,
            };
            let (figure, samples, how) = figure(rows, value)?;
            let mut number = number(name, *counter, *kind, unit, Ok(figure));
            number.samples = samples;
            number.notes.extend(how);
            if counter.is_none() {
                number.notes.extend(
                    first
                        .cpu_time
                        .filter(|_| rows.len() == 1)
                        .map(|t| format!("processor time {t} {unit}")),
                );
            }
            Some(number)
        })
        .collect()
}

fn failure(row: &GoogleRow) -> Option<(Status, String)> {
    let reason = |text: &Option<String>| {
        text.clone()
            .unwrap_or_else(|| "without a reason".to_owned())
    };
    if row.error_occurred {
        return Some((Status::Crashed, reason(&row.error_message)));
    }
    row.skipped
        .then(|| (Status::Skipped, reason(&row.skip_message)))
}

/// A figure with its repetitions, and a note on how it was computed.
fn figure(
    rows: &[&GoogleRow],
    value: impl Fn(&GoogleRow) -> Option<f64>,
) -> Option<(f64, Vec<f64>, Option<String>)> {
    let is_aggregate = |r: &&&GoogleRow| r.run_type.as_deref() == Some("aggregate");
    let samples: Vec<f64> = rows
        .iter()
        .filter(|r| !is_aggregate(r))
        .filter_map(|r| value(r))
        .collect();
    match samples[..] {
        [] => {}
        [only] => return Some((only, Vec::new(), None)),
        _ => {
            let how = format!("the median of {} repetitions in one process", samples.len());
            return Some((yamba_stats::median(&samples)?, samples, Some(how)));
        }
    }
    ["median", "mean"].iter().find_map(|name| {
        let mut named = rows
            .iter()
            .filter(|r| r.aggregate_name.as_deref() == Some(name));
        let figure = named.find_map(|r| value(r))?;
        Some((
            figure,
            Vec::new(),
            Some(format!("the {name} of repetitions in one process")),
        ))
    })
}

fn number(
    name: &str,
    counter: Option<&str>,
    figure: Figure,
    unit: &str,
    value: Result<f64, (Status, String)>,
) -> Number {
    let parameters = counter.map(|c| ("counter".to_owned(), json!(c)));
    Number {
        name: name.to_owned(),
        parameters: Parameters(parameters.into_iter().collect()),
        figure,
        unit: unit.to_owned(),
        value,
        samples: Vec::new(),
        notes: Vec::new(),
    }
}
