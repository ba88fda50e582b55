//! Units of bounds.

/// Core cycles.
pub const CYCLES: &[&str] = &["cycle", "cycles"];

/// The ratio of the ends of the figure's confidence interval: the larger divided by the smaller.
pub const SPREAD: &str = "spread";

/// Units of time.
pub const TIMES: &[&str] = &["ps", "ns", "us", "ms", "s", "min"];

/// Units of frequency.
pub const FREQUENCIES: &[&str] = &["Hz", "kHz", "MHz", "GHz"];

/// Units of data size; with `/s` they are units of bandwidth.
pub const AMOUNTS: &[&str] = &[
    "bit", "kbit", "Mbit", "Gbit", "Tbit", "B", "bytes", "kB", "KB", "MB", "GB", "TB", "KiB",
    "MiB", "GiB", "TiB",
];

/// Whether a bound can be written in `unit`.
pub fn is_unit(unit: &str) -> bool {
    let amount = unit.strip_suffix("/s").unwrap_or(unit);
    AMOUNTS.contains(&amount)
        || unit == SPREAD
        || [CYCLES, TIMES, FREQUENCIES].concat().contains(&unit)
}
