//! The output of `yamba run --dry-run`.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};
use yamba_lang::Analysis;
use yamba_record::number::{bytes, counted, number};

use super::skipped::by_reason;
use crate::cli::output;
use crate::cli::{Failure, Selection};
use yamba_harness::{DryRun, DryRunEntry};

/// The tags of each benchmark.
type Tags = BTreeMap<String, Vec<String>>;

/// The group of each benchmark; empty if there is only one group.
type Groups = BTreeMap<String, String>;

/// Prints the plan as text or, with `json`, as JSON.
pub(in crate::cli) fn print(
    plan: &DryRun,
    selection: &Selection,
    topics: &Groups,
    json: bool,
) -> Result<(), Failure> {
    let analysis: &Analysis = &selection.analysis;
    let chosen = selection.chosen.iter().map(|chosen| chosen.class);
    let tags = chosen.map(|id| (analysis.class(id).name().to_owned(), analysis.tags(id)));
    let tags: Tags = tags.collect();
    if json {
        return output::json(&document(plan, &tags, topics)?);
    }
    let group = |entry: &DryRunEntry| topics.get(&entry.name).map_or("", String::as_str);
    let measured = plan.benchmarks.iter().filter(|b| b.launches > 0);
    let measured: Vec<&DryRunEntry> = measured.collect();
    let mut out = String::new();
    for of_group in measured.chunk_by(|a, b| group(a) == group(b)) {
        let title = group(of_group[0]);
        let points = of_group.chunk_by(|a, b| a.name == b.name);
        let rows: Vec<Vec<String>> = points.map(|points| row(points, &tags)).collect();
        out += &match title {
            "" => output::columns(&rows),
            title => format!("{title}\n{}\n", output::columns(&rows)),
        };
    }
    out += &left_out(plan);
    out += &format!(
        "{}, {}, about {}; files take {} of disk at most. Nothing was measured. A benchmark may still be skipped when it begins, for example for lack of a right or a server.\n",
        counted(measured.len(), "figure", "figures"),
        counted(plan.launches, "launch", "launches"),
        minutes(plan.time_s),
        bytes(plan.disk_room),
    );
    output::result(&out)
}

/// One benchmark's row: measured points of its sweeps, number of launches, time.
fn row(points: &[&DryRunEntry], tags: &Tags) -> Vec<String> {
    let first = points[0];
    let launches: u64 = points.iter().map(|p| p.launches).sum();
    let time: f64 = points.iter().map(|p| p.time_s).sum();
    let tags = tags.get(&first.name).filter(|t| !t.is_empty());
    let notes = first.notes.iter().cloned();
    let tags = tags.map(|t| format!("[{}]", t.join(", ")));
    let rest: Vec<String> = swept(points).into_iter().chain(notes).chain(tags).collect();
    vec![
        format!("  {}", first.name),
        counted(points.len(), "point", "points"),
        counted(launches, "launch", "launches"),
        format!("{} s", number((time * 10.0).round() / 10.0)),
        rest.join("  "),
    ]
}

/// The values of the parameters that differ, and the numbers of processes and threads.
fn swept(points: &[&DryRunEntry]) -> Option<String> {
    let mut values: IndexMap<&str, IndexSet<String>> = IndexMap::new();
    for point in points {
        for (name, value) in &point.parameters.0 {
            let value = match value.as_u64() {
                Some(count) => yamba_report::short(count),
                None => yamba_record::parameters::plain(value),
            };
            values.entry(name).or_default().insert(value);
        }
    }
    let processes = points.iter().map(|p| p.workers.processes.to_string());
    values.insert("P", processes.collect());
    let threads = points.iter().map(|p| p.workers.threads.to_string());
    values.insert("T", threads.collect());
    values.retain(|_, values| values.len() > 1);
    let words = values.into_iter().map(|(name, values)| {
        let values: Vec<String> = values.into_iter().collect();
        format!("{name}={}", values.join(","))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The benchmarks that are not measured, one line per reason.
fn left_out(plan: &DryRun) -> String {
    let entries = plan.benchmarks.iter().filter(|b| b.launches == 0);
    let reasons = by_reason(
        entries.map(|entry| (entry.name.as_str(), entry.notes.first().map_or("unknown", |n| n))),
    );
    if reasons.is_empty() {
        return String::new();
    }
    let lines = reasons.iter().map(|(reason, names)| format!("  {names}: {reason}\n"));
    format!("Left out\n{}\n", lines.collect::<String>())
}

fn minutes(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.1} min", seconds / 60.0) }
}

fn document(plan: &DryRun, tags: &Tags, topics: &Groups) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(plan).map_err(Failure::ours)?;
    for entry in value["benchmarks"].as_array_mut().into_iter().flatten() {
        let name = entry["name"].as_str().unwrap_or_default().to_owned();
        entry["tags"] = json!(tags.get(&name));
        entry["topic"] = json!(topics.get(&name));
    }
    Ok(value)
}
