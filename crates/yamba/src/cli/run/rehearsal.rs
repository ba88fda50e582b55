//! The output of `yamba run --dry-run`.

use std::collections::BTreeMap;

use yamba_record::number::{bytes, number};

use serde_json::{Value, json};
use yamba_lang::Analysis;

use super::skipped::by_reason;
use crate::cli::{Failure, Selection, output};
use yamba_harness::{Rehearsal, Rehearsed};

/// Formats the plan as text or, with `json`, as JSON.
pub(in crate::cli) fn text(
    plan: &Rehearsal,
    selection: &Selection,
    groups: &BTreeMap<String, String>,
    json: bool,
) -> Result<String, Failure> {
    let tags = tags(selection);
    if json {
        return document(plan, &tags, groups);
    }
    let mut out = String::new();
    for (group, benchmarks) in by_group(plan, groups) {
        if !group.is_empty() {
            out.push_str(&format!("{group}\n"));
        }
        let rows: Vec<Vec<String>> = benchmarks.iter().map(|b| row(b, &tags)).collect();
        out.push_str(&output::columns(&rows));
        if !group.is_empty() {
            out.push('\n');
        }
    }
    out.push_str(&left_out(plan));
    out.push_str(&sum(plan));
    Ok(out)
}

type Tags = BTreeMap<String, Vec<String>>;

fn tags(selection: &Selection) -> Tags {
    let analysis: &Analysis = &selection.analysis;
    let each = selection.chosen.iter();
    each.map(|c| {
        (
            analysis.class(c.class).name().to_owned(),
            analysis.tags(c.class),
        )
    })
    .collect()
}

/// The planned benchmarks with their entries in plan order, by group.
fn by_group<'a>(
    plan: &'a Rehearsal,
    groups: &'a BTreeMap<String, String>,
) -> Vec<(&'a str, Vec<Vec<&'a Rehearsed>>)> {
    let mut all: Vec<(&str, Vec<Vec<&Rehearsed>>)> = Vec::new();
    for entry in plan.benchmarks.iter().filter(|b| b.launches > 0) {
        let group = groups.get(&entry.name).map_or("", String::as_str);
        if all.last().is_none_or(|(last, _)| *last != group) {
            all.push((group, Vec::new()));
        }
        let Some((_, benchmarks)) = all.last_mut() else {
            continue;
        };
        match benchmarks.last_mut() {
            Some(points) if points[0].name == entry.name => points.push(entry),
            _ => benchmarks.push(vec![entry]),
        }
    }
    all
}

/// One benchmark's row: measured points of its sweeps, number of launches, time.
fn row(points: &[&Rehearsed], tags: &Tags) -> Vec<String> {
    let first = points[0];
    let launches: u64 = points.iter().map(|p| p.launches).sum();
    let time: f64 = points.iter().map(|p| p.time_s).sum();
    let tags = tags.get(&first.name).filter(|t| !t.is_empty());
    let notes = first.notes.iter().cloned();
    let tags = tags.map(|t| format!("[{}]", t.join(", ")));
    let rest: Vec<String> = swept(points).into_iter().chain(notes).chain(tags).collect();
    vec![
        format!("  {}", first.name),
        counted(points.len() as u64, "point"),
        counted(launches, "launch"),
        format!("{} s", number((time * 10.0).round() / 10.0)),
        rest.join("  "),
    ]
}

/// The values of the parameters that differ, and the numbers of processes.
fn swept(points: &[&Rehearsed]) -> Option<String> {
    let mut words = Vec::new();
    let names = points[0].parameters.0.iter().map(|(name, _)| name);
    for name in names {
        let values = points.iter().filter_map(|p| p.parameters.get(name));
        words.extend(several(name, values.map(yamba_record::parameters::plain)));
    }
    words.extend(several("P", points.iter().map(|p| p.processes.to_string())));
    (!words.is_empty()).then(|| words.join(" "))
}

fn several(name: &str, values: impl Iterator<Item = String>) -> Option<String> {
    let mut each: Vec<String> = Vec::new();
    for value in values {
        if !each.contains(&value) {
            each.push(value);
        }
    }
    (each.len() > 1).then(|| format!("{name}={}", each.join(",")))
}

/// The benchmarks that are not measured, one line per reason.
fn left_out(plan: &Rehearsal) -> String {
    let entries = plan.benchmarks.iter().filter(|b| b.launches == 0);
    let reasons = by_reason(entries.map(|entry| {
        let noted = entry.notes.first().map(String::as_str);
        let reason = entry.skipped.as_deref().or(noted);
        (entry.name.as_str(), reason.unwrap_or("unknown"))
    }));
    if reasons.is_empty() {
        return String::new();
    }
    let each = reasons.iter();
    let lines: Vec<String> = each
        .map(|(reason, names)| format!("  {}: {reason}\n", names.join(", ")))
        .collect();
    format!("Left out\n{}\n", lines.concat())
}

fn sum(plan: &Rehearsal) -> String {
    let measured = plan.benchmarks.iter().filter(|b| b.launches > 0);
    format!(
        "{}, {}, about {}; files take {} of disk at most. Nothing was measured. What a benchmark finds missing when it begins, such as a right or a server, is not known yet.\n",
        counted(measured.count() as u64, "figure"),
        counted(plan.launches, "launch"),
        minutes(plan.time_s),
        bytes(plan.disk_room),
    )
}

fn counted(n: u64, what: &str) -> String {
    let ending = match (n, what.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        _ => "s",
    };
    format!("{n} {what}{ending}")
}

fn minutes(seconds: f64) -> String {
    match seconds < 90.0 {
        true => format!("{seconds:.0} s"),
        false => format!("{:.1} min", seconds / 60.0),
    }
}

fn document(
    plan: &Rehearsal,
    tags: &Tags,
    groups: &BTreeMap<String, String>,
) -> Result<String, Failure> {
    let mut value = serde_json::to_value(plan).map_err(Failure::ours)?;
    let entries = value["benchmarks"].as_array_mut();
    for entry in entries.into_iter().flatten() {
        let name = entry["name"].as_str().unwrap_or_default().to_owned();
        entry["tags"] = json!(tags.get(&name));
        entry["group"] = groups.get(&name).map_or(Value::Null, |g| json!(g));
    }
    Ok(serde_json::to_string_pretty(&value).map_err(Failure::ours)? + "\n")
}
