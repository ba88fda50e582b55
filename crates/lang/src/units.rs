//! The units in which a bound can be written.

/// Of the length of a core cycle.
pub const CYCLES: &[&str] = &["cycle", "cycles"];

/// How far apart the ends of the figure's interval lie: the larger divided by the smaller.
pub const SPREAD: &str = "spread";

/// Of time.
pub const TIMES: &[&str] = &["ps", "ns", "us", "ms", "s", "min"];

/// Of frequency.
pub const FREQUENCIES: &[&str] = &["Hz", "kHz", "MHz", "GHz"];

/// Of amounts of data, and with `/s` behind them of bandwidth.
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
