//! Validity and kind of a figure, as all export formats need them.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use yamba_record::units::{bytes_a_second, nanoseconds};
use yamba_record::{Benchmark, Status};

/// The figure, if it is valid.
pub(super) fn good(entry: &Benchmark) -> Option<f64> {
    let is_good = entry.valid && entry.status == Status::Ok;
    entry.median.filter(|m| is_good && m.is_finite())
}

/// The interval of a valid figure, if it holds the value of an undisturbed machine and has two
/// ends.
pub(super) fn interval(entry: &Benchmark) -> Option<[f64; 2]> {
    let [low, high] = sound_ends(entry);
    Some([low?, high?])
}

/// The ends of such an interval, for a format with a field for each.
pub(super) fn sound_ends(entry: &Benchmark) -> [Option<f64>; 2] {
    if entry.has_sound_interval() { entry.known_ends() } else { [None; 2] }
}

/// Why the entry has no valid figure.
pub(super) fn reason(entry: &Benchmark) -> String {
    let word = match entry.status {
        Status::Ok => "without a figure",
        Status::Invalid => "invalid",
        Status::Crashed => "crashed",
        Status::Skipped | Status::NotStarted => "skipped",
    };
    match entry.reason() {
        Some(note) => format!("{word}: {note}"),
        None => word.to_owned(),
    }
}

/// The name of an entry with its parameters and the number of processes or threads above one:
/// `lat_ctx partners=2 P=4`. Control characters are spaces.
pub(super) fn label(entry: &Benchmark) -> String {
    entry.label().replace(char::is_control, " ")
}

/// The kind of a figure, with the size of its unit in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FigureKind {
    /// A time in seconds.
    Time(f64),
    /// A bandwidth in bytes per second.
    Bandwidth(f64),
    /// Any other unit, which is not converted.
    Value,
}

/// The kind of an entry's figure.
pub(super) fn kind(entry: &Benchmark) -> FigureKind {
    let unit = entry.unit.as_deref().unwrap_or_default();
    let known = match entry.declaration.figure.as_deref() {
        Some("bandwidth") => bytes_a_second(unit).map(FigureKind::Bandwidth),
        Some("value" | "rate") => None,
        _ => nanoseconds(unit).map(|ns| FigureKind::Time(ns / 1e9)),
    };
    known.unwrap_or(FigureKind::Value)
}

/// The serialised name of an enum value, such as `invalid`.
pub(super) fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value);
    let word = value.ok().and_then(|v| v.as_str().map(str::to_owned));
    word.unwrap_or_default()
}

/// Keeps the first of the rows that have the same value at `key`.
pub(super) fn keep_first(rows: &mut Vec<Value>, key: &str) {
    let mut known = BTreeSet::new();
    rows.retain(|row| known.insert(row[key].to_string()));
}
