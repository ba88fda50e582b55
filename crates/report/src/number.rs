//! Numbers as a person reads them, as in the table that `yamba run` prints.

/// Units of time, in ns.
const TIMES: [(&str, f64); 6] = [
    ("ps", 1e-3),
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
];

/// A factor and a unit that give a number of a convenient length. Only times are told in another unit.
pub fn scale(value: f64, unit: &str) -> (f64, &str) {
    let Some((_, base)) = TIMES.iter().find(|(name, _)| *name == unit) else {
        return (1.0, unit);
    };
    let shown = &TIMES[1..5];
    let ns = value.abs() * base;
    let fits = shown.iter().rev().find(|(_, size)| ns >= *size);
    let (name, size) = fits.unwrap_or(&shown[0]);
    (base / size, name)
}

/// A number with four digits that count.
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

/// A number of bytes, in powers of 1024.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", number(value), UNITS[unit])
}

/// `66 samples`, `1 sample`.
pub fn counted(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_in_a_convenient_unit() {
        assert_eq!(number(0.27067), "0.2707");
        assert_eq!(number(123456.7), "123457");
        assert_eq!(number(1e-9), "1.000e-9");
        assert_eq!(scale(2500.0, "ns"), (1e-3, "us"));
        assert_eq!(scale(2500.0, "MB/s"), (1.0, "MB/s"));
        assert_eq!(bytes(32768), "32 KiB");
        assert_eq!(counted(1, "sample"), "1 sample");
    }
}
