//! From raw intervals to samples, and from numbers to what a person reads.

use yamba_record::event::RawInterval;

/// Nanoseconds in a unit of time.
pub(super) fn nanoseconds(unit: &str) -> Option<f64> {
    match unit {
        "ps" => Some(1e-3),
        "ns" => Some(1.0),
        "us" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

fn hertz(unit: &str) -> Option<f64> {
    match unit {
        "Hz" => Some(1.0),
        "kHz" => Some(1e3),
        "MHz" => Some(1e6),
        "GHz" => Some(1e9),
        _ => None,
    }
}

fn bytes(unit: &str) -> Option<f64> {
    match unit {
        "B" | "bytes" => Some(1.0),
        "kB" | "KB" => Some(1e3),
        "MB" => Some(1e6),
        "GB" => Some(1e9),
        "TB" => Some(1e12),
        "KiB" => Some(1024.0),
        "MiB" => Some(1_048_576.0),
        "GiB" => Some(1_073_741_824.0),
        "TiB" => Some(1_099_511_627_776.0),
        _ => None,
    }
}

fn bytes_a_second(unit: &str) -> Option<f64> {
    bytes(unit.strip_suffix("/s")?)
}

/// What a number in one unit is to be multiplied with to be one in another of the same kind.
pub(super) fn factor(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let kinds = [nanoseconds, hertz, bytes, bytes_a_second];
    kinds.iter().find_map(|size| Some(size(from)? / size(to)?))
}

/// T(P) = (M(benchmark) - M(benchmark_dummy)) / operations, in ns.
pub(super) fn time_per_operation(raw: &RawInterval) -> Option<f64> {
    let time = (raw.ns - raw.dummy_ns) / raw.operations as f64;
    time.is_finite().then_some(time)
}

/// What one interval amounts to, in the benchmark's unit.
pub(super) fn sample(figure: &str, unit: &str, raw: &RawInterval) -> Option<f64> {
    let sample = match figure {
        "value" => raw.value?,
        // An operation is a byte.
        "bandwidth" => 1e9 / time_per_operation(raw)? / bytes_a_second(unit).unwrap_or(1.0),
        _ => time_per_operation(raw)? / nanoseconds(unit).unwrap_or(1.0),
    };
    sample.is_finite().then_some(sample)
}

/// A factor and a unit that give a number of a convenient length.
pub fn scale(value: f64, unit: &str) -> (f64, String) {
    const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let Some(base) = nanoseconds(unit) else {
        return (1.0, unit.to_owned());
    };
    let ns = value.abs() * base;
    let fits = TIMES.iter().rev().find(|(_, size)| ns >= *size);
    let (name, size) = fits.unwrap_or(&TIMES[0]);
    (base / size, (*name).to_owned())
}

/// A number with four digits that count, as a person would write it.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..15).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.*}", (3 - magnitude).max(0) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(operations: u64, ns: f64, dummy_ns: f64) -> RawInterval {
        RawInterval {
            operations,
            ns,
            dummy_ns,
            value: Some(42.0),
            ..RawInterval::default()
        }
    }

    #[test]
    fn samples_in_their_unit() {
        assert_eq!(sample("latency", "ns", &raw(4, 100.0, 20.0)), Some(20.0));
        assert_eq!(sample("latency", "us", &raw(1, 5000.0, 0.0)), Some(5.0));
        let copied = raw(1_000_000, 100_000.0, 0.0);
        assert_eq!(sample("bandwidth", "MB/s", &copied), Some(10_000.0));
        assert_eq!(sample("bandwidth", "GB/s", &copied), Some(10.0));
        assert_eq!(sample("bandwidth", "MB/s", &raw(1, 5.0, 5.0)), None);
        assert_eq!(sample("latency", "ns", &raw(0, 5.0, 1.0)), None);
        assert_eq!(sample("value", "Hz", &raw(0, 5.0, 1.0)), Some(42.0));
    }

    #[test]
    fn units_of_one_kind_are_converted() {
        for (from, to, expected) in [
            ("MB/s", "GB/s", Some(1e-3)),
            ("kB/s", "B/s", Some(1e3)),
            ("MiB/s", "MiB/s", Some(1.0)),
            ("us", "ps", Some(1e6)),
            ("GHz", "MHz", Some(1e3)),
            ("KiB", "bytes", Some(1024.0)),
            ("pages", "pages", Some(1.0)),
            ("ns", "MB/s", None),
            ("MB", "MB/s", None),
        ] {
            assert_eq!(factor(from, to), expected, "{from} {to}");
        }
        assert_eq!(sample("bandwidth", "kB/s", &raw(1, 1e6, 0.0)), Some(1.0));
    }

    #[test]
    fn numbers_as_a_person_writes_them() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.99996, "1"),
            (12.3456, "12.35"),
            (123456.7, "123457"),
            (-0.01234567, "-0.01235"),
            (1e-9, "1.000e-9"),
            (3e20, "3.000e20"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn times_are_scaled() {
        assert_eq!(scale(1500.0, "ns"), (1e-3, "us".to_owned()));
        assert_eq!(scale(0.2, "ns"), (1.0, "ns".to_owned()));
        assert_eq!(scale(2500.0, "us"), (1e-3, "ms".to_owned()));
        assert_eq!(scale(-3e9, "ns"), (1e-9, "s".to_owned()));
        assert_eq!(scale(5.0, "MB/s"), (1.0, "MB/s".to_owned()));
    }
}
