//! Units of measurement and their sizes.

/// Units of one kind. Each has its size in the base unit that the table's documentation names.
pub type Sizes = [(&'static str, f64)];

/// The names of a core cycle as a unit of bounds.
pub const CYCLES: &[&str] = &["cycle", "cycles"];

/// The unit of a bound on the figure's interval: its upper end divided by its lower end.
pub const SPREAD: &str = "spread";

/// Units of time, in ns.
pub const TIMES: &Sizes =
    &[("ps", 1e-3), ("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9)];

/// Units of frequency, in Hz.
pub const FREQUENCIES: &Sizes = &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];

/// Units of memory size, in bytes.
pub const AMOUNTS: &Sizes = &[
    ("bit", 0.125),
    ("kbit", 125.0),
    ("Mbit", 125e3),
    ("Gbit", 125e6),
    ("Tbit", 125e9),
    ("B", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

fn size(sizes: &Sizes, unit: &str) -> Option<f64> {
    let known = sizes.iter().find(|(name, _)| *name == unit);
    known.map(|(_, size)| *size)
}

/// Nanoseconds in a unit of time.
pub fn nanoseconds(unit: &str) -> Option<f64> {
    size(TIMES, unit)
}

/// Hertz in a unit of frequency.
pub fn hertz(unit: &str) -> Option<f64> {
    size(FREQUENCIES, unit)
}

/// Bytes in a unit of memory size.
pub fn bytes(unit: &str) -> Option<f64> {
    size(AMOUNTS, unit)
}

/// Bytes per second in a unit of bandwidth, such as `MB/s`.
pub fn bytes_a_second(unit: &str) -> Option<f64> {
    bytes(unit.strip_suffix("/s")?)
}

/// The factor that converts a number from one unit to another. `None` unless both are of the same
/// kind.
pub fn factor(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let kinds = [nanoseconds, hertz, bytes, bytes_a_second];
    kinds.iter().find_map(|size| Some(size(from)? / size(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_converts_units_of_one_kind() {
        for (from, to, expected) in [
            ("MB/s", "GB/s", Some(1e-3)),
            ("kB/s", "B/s", Some(1e3)),
            ("MiB/s", "MiB/s", Some(1.0)),
            ("us", "ps", Some(1e6)),
            ("GHz", "MHz", Some(1e3)),
            ("KiB", "bytes", Some(1024.0)),
            ("Gbit/s", "MB/s", Some(125.0)),
            ("pages", "pages", Some(1.0)),
            ("ns", "MB/s", None),
            ("MB", "MB/s", None),
            ("Mb", "MB", None),
        ] {
            assert_eq!(factor(from, to), expected, "{from} {to}");
        }
    }
}
