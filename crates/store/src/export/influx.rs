//! InfluxDB's line protocol, in base units: seconds and bytes per second. Each entry is one point
//! at the time when the run began.
//!
//! Tags identify the series: points with equal tags and times replace each other. So the outcome is
//! in fields, which may differ between runs.

use std::io::{self, Write};

use yamba_record::{Benchmark, Machine, Run};

use super::figure::{self, FigureKind};
use super::series::{self, Labels};

pub(super) fn write(run: &Run, out: &mut (dyn Write + Send)) -> io::Result<usize> {
    let machine = tags(&machine_labels(&run.machine));
    let time = match run.started_unix_s {
        Some(seconds) => format!(" {}", (seconds * 1e9).round() as i64),
        None => String::new(),
    };
    let all = series::distinct(run, tags);
    let written = all.len();
    for (entry, labels) in all {
        let fields: Vec<String> =
            fields(run, entry).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (labels, fields) = (tags(&labels), fields.join(","));
        writeln!(out, "yamba{labels}{machine} {fields}{time}")?;
    }
    Ok(written)
}

/// Machines differ in these, a machine's upgrades do not: an upgrade continues the series.
fn machine_labels(machine: &Machine) -> Labels {
    [
        ("isa", machine.isa.as_str()),
        ("system", &machine.system),
        ("cpu", machine.cpu.as_deref().unwrap_or_default()),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// Names and written values. A field has the same type in every point.
fn fields(run: &Run, entry: &Benchmark) -> Vec<(String, String)> {
    let mut fields = vec![
        ("run".to_owned(), text(&run.id)),
        ("version".to_owned(), text(&run.producer.version)),
        ("kernel".to_owned(), text(&run.machine.kernel)),
        ("status".to_owned(), text(&figure::word(&entry.status))),
    ];
    let figure = figure::good(entry);
    if !entry.status.is_skipped() {
        fields.push(("valid".to_owned(), figure.is_some().to_string()));
    }
    let Some(figure) = figure else {
        fields.push(("reason".to_owned(), text(&figure::reason(entry))));
        return fields;
    };
    fields.push(("disturbed".to_owned(), entry.interference.is_disturbed.to_string()));
    fields.push(("sound_interval".to_owned(), entry.has_sound_interval().to_string()));
    let (name, size) = match figure::kind(entry) {
        FigureKind::Time(size) => ("latency_seconds", size),
        FigureKind::Bandwidth(size) => ("bandwidth_bytes_per_second", size),
        FigureKind::Value => ("value", 1.0),
    };
    let [low, high] = entry.known_ends();
    let numbers = [("", Some(figure)), ("_low", low), ("_high", high)];
    for (end, number) in numbers {
        let number = number.map(|n| n * size).filter(|n| n.is_finite());
        fields.extend(number.map(|n| (format!("{name}{end}"), n.to_string())));
    }
    let scope = entry.interval_scope.map(|s| text(&figure::word(&s)));
    fields.extend(scope.map(|s| ("interval_scope".to_owned(), s)));
    fields
}

/// `,name=value` for each tag. The format has no empty tag.
fn tags(labels: &Labels) -> String {
    labels
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!(",{name}={}", tag(value)))
        .collect()
}

/// Escapes a tag's value. A backslash becomes `/`, because no escape makes every reader take one at
/// the end of a value.
fn tag(value: &str) -> String {
    line(value).replace('\\', "/").replace(',', "\\,").replace('=', "\\=").replace(' ', "\\ ")
}

/// A field's text.
fn text(value: &str) -> String {
    let value = line(value).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{value}\"")
}

/// Replaces control characters: a line end would end the point.
fn line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
