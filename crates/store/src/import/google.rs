//! Google Benchmark's JSON (`--benchmark_format=json`), `json_schema_version` 1, and files of older
//! versions without one:
//! <https://github.com/google/benchmark/blob/main/docs/user_guide.md>.
//!
//! A figure is the real time. For several repetitions, which run in one process, it is their
//! median. If the file has no repetitions, it is the aggregate `median`, or else `mean`.

mod rows;

use chrono::DateTime;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use yamba_record::machine::Details;
use yamba_record::machine::details::Cache;
use yamba_record::{Machine, Parameters, Run, Status};

use super::foreign::{Figure, Number, Results, own_export};
use super::members::Members;
use super::{DocumentFault, fault, quoted};
use rows::{Family, Row, TIME, families, mark_old_aggregates};

/// Name of the format in messages.
const KIND: &str = "JSON of Google Benchmark";

/// The version of the form that is read.
const SCHEMA_VERSION: u64 = 1;

/// Maximum number of rows. Each takes about thirty times the memory of its shortest text.
const MOST_ROWS: usize = 200_000;

#[derive(Deserialize)]
struct Document<'a> {
    context: Members,
    #[serde(borrow)]
    benchmarks: &'a RawValue,
}

#[derive(Deserialize)]
struct KnownCache {
    #[serde(rename = "type")]
    kind: String,
    level: u64,
    size: Option<u64>,
}

/// Parses the file. `name` is its file name.
///
/// # Errors
/// If it is truncated, has another format, was exported by Yamba, or contains no figure or too
/// many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    let document: Document<'_> = serde_json::from_str(text).map_err(|e| fault(&e, KIND))?;
    let context = &document.context;
    check(context)?;
    let rows: Vec<&RawValue> =
        serde_json::from_str(document.benchmarks.get()).map_err(|e| fault(&e, KIND))?;
    // The context is not kept: it names the machine and its owner.
    let kept = format!("{{\"benchmarks\": {}}}\n", document.benchmarks.get());
    let mut results = Results::new("google-benchmark", name, kept);
    results.machine = machine(context);
    let version = context.text("library_version").ok().flatten();
    results.producer = format!("Google Benchmark {}", version.unwrap_or_default());
    results.producer.truncate(results.producer.trim_end().len());
    let date = context.text("date").ok().flatten();
    let date = date.and_then(|d| DateTime::parse_from_rfc3339(d).ok());
    results.started_unix_s = date.map(|d| d.timestamp() as f64);
    if rows.len() > MOST_ROWS {
        let message = format!("has more than {MOST_ROWS} rows");
        return Err((message, Some("divide it into several files")));
    }
    let rows = rows.iter().enumerate().map(|(index, row)| {
        let row = Members::read(row.get()).and_then(Row::read);
        row.ok_or_else(|| nameless(index))
    });
    let mut read = rows.collect::<Result<Vec<Row>, DocumentFault>>()?;
    mark_old_aggregates(&mut read);
    for family in families(&read) {
        add(&family, &mut results)?;
    }
    results.run()
}

/// A row without a name could be a part of any benchmark.
fn nameless(index: usize) -> DocumentFault {
    let message = format!("is no {KIND}: benchmarks[{index}] is no row with a name");
    (message, Some("it was changed by hand or is damaged; get it again"))
}

fn check(context: &Members) -> Result<(), DocumentFault> {
    if let Ok(Some(id)) = context.text("yamba_run") {
        return Err(own_export(&format!("the run {}", quoted(id)), "Google Benchmark"));
    }
    let found = match context.count("json_schema_version") {
        Ok(None | Some(SCHEMA_VERSION)) => return Ok(()),
        Ok(Some(other)) => other.to_string(),
        Err(fault) => fault,
    };
    let message = format!(
        "is {KIND} of another form: its json_schema_version is {found}, and this version reads {SCHEMA_VERSION}"
    );
    Err((message, Some("use a newer Yamba, or an older Google Benchmark")))
}

fn machine(context: &Members) -> Machine {
    let caches = context.value("caches").ok().flatten().unwrap_or_default();
    let caches = caches.as_array().into_iter().flatten();
    let cache = |cache: &serde_json::Value| {
        let known = KnownCache::deserialize(cache).ok()?;
        Some(Cache {
            level: known.level,
            kind: known.kind.to_lowercase(),
            bytes: known.size,
            ..Cache::default()
        })
    };
    let details = Details { caches: caches.filter_map(cache).collect(), ..Details::default() };
    Machine {
        cpus: context.count("num_cpus").ok().flatten().unwrap_or(0),
        details: (!details.caches.is_empty()).then(|| Box::new(details)),
        ..Machine::default()
    }
}

/// Rates that are figures: the name, the kind and the unit. Other counters have no unit.
const RATES: [(&str, Figure, &str); 2] =
    [("bytes_per_second", Figure::Bandwidth, "B/s"), ("items_per_second", Figure::Rate, "items/s")];

/// Adds the time of a benchmark, and the rates that it reports.
fn add(family: &Family<'_>, results: &mut Results) -> Result<(), DocumentFault> {
    let name = family.name;
    if let Some(reason) = family.failure() {
        return results.push(number(name, None, Figure::Latency, "ns", Err(reason)));
    }
    if let Some(reason) = family.fault() {
        results.leave_out(&quoted(name), &reason);
        return Ok(());
    }
    for row in &family.rows {
        for reason in row.non_numbers(&[TIME, RATES[0].0, RATES[1].0]) {
            results.leave_out(&quoted(row.name()), &reason);
        }
    }
    match family.time_unit().and_then(|unit| Ok((unit, family.figure(TIME)?))) {
        Ok((unit, Some(time))) => {
            let mut number = number(name, None, Figure::Latency, unit, Ok(time.value));
            number.notes.extend(time.note);
            if let [row] = family.rows[..]
                && let Ok(Some(cpu)) = row.members.number("cpu_time")
            {
                number.notes.push(format!("processor time {cpu} {unit}"));
            }
            number.samples = time.samples;
            results.push(number)?;
        }
        Ok((_, None)) => results.leave_out(&quoted(name), "no time in it"),
        Err(reason) => results.leave_out(&quoted(name), &reason),
    }
    for (counter, figure, unit) in RATES {
        match family.figure(counter) {
            Ok(Some(rate)) => {
                let mut number = number(name, Some(counter), figure, unit, Ok(rate.value));
                number.samples = rate.samples;
                number.notes.extend(rate.note);
                results.push(number)?;
            }
            Ok(None) => {}
            Err(reason) => results.leave_out(&quoted(name), &reason),
        }
    }
    Ok(())
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
        parameters: Parameters(parameters.into_iter().collect()),
        ..Number::new(name, figure, unit, value)
    }
}
