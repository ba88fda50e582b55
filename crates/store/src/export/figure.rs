//! What all formats ask of an entry: is its figure good, and what is its unit in seconds or bytes a second.

use yamba_record::{Benchmark, Status};

/// The figure, if it is what its name says.
pub(super) fn good(entry: &Benchmark) -> Option<f64> {
    let is_good = entry.valid && entry.status == Status::Ok;
    entry.median.filter(|m| is_good && m.is_finite())
}

/// Why there is no good figure.
pub(super) fn reason(entry: &Benchmark) -> String {
    let word = match entry.status {
        Status::Ok => "without a figure",
        Status::Invalid => "invalid",
        Status::Crashed => "crashed",
        Status::Skipped => "skipped",
    };
    match entry.notes.first() {
        Some(note) => format!("{word}: {note}"),
        None => word.to_owned(),
    }
}

/// What a figure's unit measures, with the size of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Seconds.
    Time(f64),
    /// Bytes a second.
    Bandwidth(f64),
    /// A unit that nothing is computed with.
    Value,
}

/// The kind of an entry's figure.
pub(super) fn kind(entry: &Benchmark) -> Kind {
    let unit = entry.unit.as_deref().unwrap_or_default();
    let known = match entry.figure.as_deref() {
        Some("bandwidth") => unit.strip_suffix("/s").and_then(bytes).map(Kind::Bandwidth),
        Some("value") => None,
        _ => seconds(unit).map(Kind::Time),
    };
    known.unwrap_or(Kind::Value)
}

fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1e-12,
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => return None,
    })
}

fn bytes(unit: &str) -> Option<f64> {
    let (prefix, size) = match (unit.strip_suffix("bit"), unit.strip_suffix('B')) {
        (Some(prefix), _) => (prefix, 0.125),
        (_, Some(prefix)) => (prefix, 1.0),
        _ if unit == "bytes" => ("", 1.0),
        _ => return None,
    };
    let times = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(size * times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_bandwidths() {
        assert_eq!(bytes("MB"), Some(1e6));
        assert_eq!(bytes("bytes"), Some(1.0));
        assert_eq!(bytes("kbit"), Some(125.0));
        assert_eq!(bytes("MiB"), Some(1_048_576.0));
        assert_eq!(bytes("Mb"), None);
    }
}
