//! Google Benchmark's JSON, `json_schema_version` 1: each launch is a repetition, the figure is their aggregate `median`.
//!
//! What Yamba does not measure is not there: no `cpu_time`, and no `real_time` of what is no time.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use yamba_record::machine::details::Cache;
use yamba_record::{Benchmark, Machine, Run, Status};

use super::figure::{self, Kind};

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let entries: Vec<Value> = run.benchmarks.iter().enumerate().flat_map(rows).collect();
    let document = json!({"context": context(run), "benchmarks": entries});
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
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
        "cpu_time": "not measured, and left out",
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

/// How many processors a list such as `0-3,8` names.
fn sharing(cache: &Cache) -> Option<u64> {
    let mut count = 0;
    for range in cache.shared_by.as_deref()?.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count += last.checked_sub(first)?.checked_add(1)?;
    }
    Some(count)
}

/// What an entry becomes: its launches and their median, or one row that says why there is none.
fn rows((family, entry): (usize, &Benchmark)) -> Vec<Value> {
    let launches: Vec<(u64, f64)> = entry
        .launches
        .iter()
        .filter_map(|l| Some((l.samples, l.median.filter(|m| m.is_finite())?)))
        .collect();
    let mut base = common(family, entry);
    let Some(median) = figure::good(entry) else {
        base.extend(failure(entry));
        return vec![Value::Object(base)];
    };
    base.insert("repetitions".to_owned(), json!(launches.len()));
    let mut rows = Vec::new();
    for (index, (samples, launch)) in launches.iter().enumerate() {
        let mut row = base.clone();
        row.insert("repetition_index".to_owned(), json!(index));
        row.insert("iterations".to_owned(), json!(samples));
        row.extend(measured(entry, *launch));
        rows.push(Value::Object(row));
    }
    base.insert("name".to_owned(), json!(format!("{}_median", name(entry))));
    base.insert("run_type".to_owned(), json!("aggregate"));
    base.insert("aggregate_name".to_owned(), json!("median"));
    base.insert("aggregate_unit".to_owned(), json!("time"));
    base.insert("iterations".to_owned(), json!(launches.len()));
    base.extend(measured(entry, median));
    rows.push(Value::Object(base));
    rows
}

fn common(family: usize, entry: &Benchmark) -> Map<String, Value> {
    let name = name(entry);
    object(json!({
        "name": name,
        "family_index": family,
        "per_family_instance_index": 0,
        "run_name": name,
        "run_type": "iteration",
        "threads": entry.processes,
    }))
}

fn failure(entry: &Benchmark) -> Map<String, Value> {
    let reason = figure::reason(entry);
    object(match entry.status {
        Status::Skipped => json!({"skipped": true, "skip_message": reason}),
        _ => json!({"error_occurred": true, "error_message": reason}),
    })
}

/// A time is that of one operation. Of a bandwidth it is that of one pass, or of one byte where the length of a pass is not known.
fn measured(entry: &Benchmark, figure: f64) -> Map<String, Value> {
    let unit = entry.unit.as_deref().unwrap_or_default();
    object(match figure::kind(entry) {
        Kind::Time(size) => {
            let (unit, factor) = match unit {
                "us" | "ms" | "s" => (unit, 1.0),
                _ => ("ns", size / 1e-9),
            };
            json!({"real_time": figure * factor, "time_unit": unit})
        }
        Kind::Bandwidth(size) => {
            let bytes = entry.operations.filter(|o| *o >= 1.0).unwrap_or(1.0);
            let rate = figure * size;
            json!({
                "real_time": bytes / rate * 1e9,
                "time_unit": "ns",
                "bytes_per_second": rate,
                "label": format!("real_time is of {bytes} bytes"),
            })
        }
        Kind::Value => json!({"value": figure, "label": format!("value in {unit}; no time")}),
    })
}

/// `lat_ctx/partners=2/placement=same`.
fn name(entry: &Benchmark) -> String {
    let mut name = entry.name.clone();
    for (key, value) in &entry.parameters.0 {
        name.push_str(&format!(
            "/{key}={}",
            yamba_record::parameters::plain(value)
        ));
    }
    if entry.processes > 1 {
        name.push_str(&format!("/processes={}", entry.processes));
    }
    name
}

/// Without what is no number.
fn object(value: Value) -> Map<String, Value> {
    let Value::Object(mut map) = value else {
        return Map::new();
    };
    map.retain(|_, v| !v.is_null());
    map
}
