//! Google Benchmark's JSON, `json_schema_version` 1. Each launch is a repetition, and the figure is
//! the aggregate `median`.
//!
//! Quantities that Yamba does not measure are omitted: `real_time` for figures other than times,
//! and `cpu_time` where the processor time of the measuring thread is unknown. Google's
//! `compare.py` shows rows that have `real_time`, `cpu_time` and `time_unit`, and pairs rows by
//! name. It needs `time_unit` in each row, and both times in each repetition.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use yamba_record::machine::details::Cache;
use yamba_record::{Batch, Benchmark, Machine, Run, Status};

use super::figure::{self, FigureKind};

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    let entries: Vec<Value> = run.benchmarks.iter().enumerate().flat_map(rows).collect();
    let document = json!({"context": context(run), "benchmarks": entries});
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")?;
    Ok(run.benchmarks.len())
}

fn context(run: &Run) -> Value {
    let machine = &run.machine;
    let mut context = json!({
        "json_schema_version": 1,
        "executable": "yamba",
        "library_version": run.producer.version,
        "num_cpus": machine.cpus,
        "caches": caches(machine),
        "isa": machine.isa,
        "system": machine.system,
        "kernel": machine.kernel,
        "yamba_run": run.id,
        "cpu_time": "real_time times the part of the timed batches in which their thread had a processor",
    });
    if let Some(cpu) = &machine.cpu {
        context["cpu"] = json!(cpu);
    }
    if let Some(started) = run.started_unix_s {
        context["started_unix_s"] = json!(started);
    }
    context
}

fn caches(machine: &Machine) -> Vec<Value> {
    let all = machine.details.iter().flat_map(|d| &d.caches);
    all.filter_map(|c| {
        let mut letters = c.kind.chars();
        let kind: String = letters.next()?.to_uppercase().chain(letters).collect();
        Some(json!({"type": kind, "level": c.level, "size": c.bytes?, "num_sharing": sharing(c)?}))
    })
    .collect()
}

/// Number of processors in a list such as `0-3,8`.
fn sharing(cache: &Cache) -> Option<u64> {
    let mut count = 0;
    for range in cache.shared_by.as_deref()?.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count += last.checked_sub(first)?.checked_add(1)?;
    }
    Some(count)
}

/// The rows of an entry: its launches and their median, or one row with the reason why there is no
/// figure.
fn rows((family, entry): (usize, &Benchmark)) -> Vec<Value> {
    let mut base = common(family, entry);
    let Some(median) = figure::good(entry) else {
        base.extend(failure(entry));
        base.extend(aggregate("median"));
        return vec![Value::Object(base)];
    };
    let shares = ProcessorShares::new(entry);
    let launches = entry.launches.iter().zip(0..);
    let launches: Vec<(u64, u64, f64)> = launches
        .filter_map(|(l, place)| Some((place, l.samples, l.median.filter(|m| m.is_finite())?)))
        .collect();
    base.insert("repetitions".to_owned(), json!(launches.len()));
    let mut rows = Vec::new();
    for (index, (place, samples, launch)) in launches.iter().enumerate() {
        let mut row = base.clone();
        row.insert("repetition_index".to_owned(), json!(index));
        row.insert("iterations".to_owned(), json!(samples));
        let share = shares.median(|batch| batch.launch == *place);
        row.extend(measured(entry, *launch, share));
        if !row.contains_key("cpu_time") {
            row.extend(aggregate("launch"));
        }
        rows.push(Value::Object(row));
    }
    base.insert("name".to_owned(), json!(format!("{}_median", name(entry))));
    base.extend(aggregate("median"));
    base.insert("aggregate_unit".to_owned(), json!("time"));
    base.insert("iterations".to_owned(), json!(launches.len()));
    base.extend(measured(entry, median, shares.median(|_| true)));
    rows.push(Value::Object(base));
    rows
}

/// The fields of a row that is not a repetition. Readers expect both times in each repetition.
fn aggregate(name: &str) -> Map<String, Value> {
    object(json!({"run_type": "aggregate", "aggregate_name": name}))
}

/// The shares of time in which the measuring thread had a processor, by the system's accounting.
struct ProcessorShares {
    /// The valid batches of the entry. Empty for a measuring circle, whose figure combines several
    /// tests, and for a disturbed figure: readers compare medians, and the format has no interval.
    batches: Vec<Batch>,
}

impl ProcessorShares {
    fn new(entry: &Benchmark) -> ProcessorShares {
        if entry.interference.is_disturbed || entry.details.circles.is_some() {
            return ProcessorShares { batches: Vec::new() };
        }
        let mut batches = entry.records.batches();
        batches.retain(|batch| {
            let is_calm = entry.workers().are_several() || batch.disturbed.is_empty();
            is_calm && batch.sample.is_some() && batch.outside.is_empty()
        });
        ProcessorShares { batches }
    }

    /// The median share over these batches. `None` where it is unknown.
    fn median(&self, is_wanted: impl Fn(&Batch) -> bool) -> Option<f64> {
        let batches = || self.batches.iter().filter(|batch| is_wanted(batch));
        // Two clocks that are read one after the other never agree exactly. If all differences are
        // 0, the system keeps no account.
        let is_known = batches().any(|batch| batch.disturbance.stolen_ns != 0.0);
        let shares = batches().map(|batch| {
            let share = 1.0 - batch.disturbance.stolen_ns / (batch.ns - batch.dummy_ns);
            share.clamp(0.0, 1.0)
        });
        let shares: Vec<f64> = shares.filter(|s| s.is_finite() && is_known).collect();
        yamba_stats::median(&shares)
    }
}

fn common(family: usize, entry: &Benchmark) -> Map<String, Value> {
    let name = name(entry);
    object(json!({
        "name": name,
        "family_index": family,
        "per_family_instance_index": 0,
        "run_name": name,
        "run_type": "iteration",
        "threads": entry.workers().count(),
    }))
}

/// A row without a unit, so that no valid row of the same name is paired with it.
fn failure(entry: &Benchmark) -> Map<String, Value> {
    let reason = figure::reason(entry);
    object(match entry.status {
        Status::Skipped | Status::NotStarted => {
            json!({"skipped": true, "skip_message": reason, "time_unit": ""})
        }
        _ => json!({"error_occurred": true, "error_message": reason, "time_unit": ""}),
    })
}

/// The time fields of a row. A latency is per operation. A bandwidth gives the time per pass, or
/// per byte if the length of a pass is unknown. `share` is the share of time on a processor.
fn measured(entry: &Benchmark, figure: f64, share: Option<f64>) -> Map<String, Value> {
    let unit = entry.unit.as_deref().unwrap_or_default();
    let mut labels = Vec::new();
    let mut row = object(match figure::kind(entry) {
        FigureKind::Time(size) => {
            let (unit, factor) = match unit {
                "us" | "ms" | "s" => (unit, 1.0),
                _ => ("ns", size / 1e-9),
            };
            json!({"real_time": figure * factor, "time_unit": unit})
        }
        FigureKind::Bandwidth(size) => {
            let bytes = entry.details.operations.filter(|o| *o >= 1.0).unwrap_or(1.0);
            let rate = figure * size;
            labels.push(format!("real_time is of {bytes} bytes"));
            json!({
                "real_time": bytes / rate * 1e9,
                "time_unit": "ns",
                "bytes_per_second": rate,
            })
        }
        FigureKind::Value => {
            labels.push(format!("value in {unit}; no time"));
            json!({"value": figure, "time_unit": ""})
        }
    });
    if let (Some(share), Some(time)) = (share, row.get("real_time").and_then(Value::as_f64)) {
        row.insert("cpu_time".to_owned(), json!(time * share));
    }
    if entry.interference.is_disturbed {
        labels.push("disturbed: this format has no interval".to_owned());
        row.insert("disturbed".to_owned(), json!(true));
    }
    if !labels.is_empty() {
        row.insert("label".to_owned(), json!(labels.join("; ")));
    }
    row
}

/// The row's name: `lat_ctx/partners=2/placement=same`. A disturbed figure gets a suffix, so that
/// comparisons by name do not pair it.
fn name(entry: &Benchmark) -> String {
    let mut name = entry.name.clone();
    for (key, value) in &entry.parameters.0 {
        name.push_str(&format!("/{key}={}", yamba_record::parameters::plain(value)));
    }
    if entry.environment.processes > 1 {
        name.push_str(&format!("/processes={}", entry.environment.processes));
    }
    if entry.environment.threads > 1 {
        name.push_str(&format!("/threads={}", entry.environment.threads));
    }
    if entry.interference.is_disturbed && figure::good(entry).is_some() {
        name.push_str("/disturbed");
    }
    name
}

/// The object's fields except null.
fn object(value: Value) -> Map<String, Value> {
    let Value::Object(mut map) = value else {
        return Map::new();
    };
    map.retain(|_, v| !v.is_null());
    map
}
