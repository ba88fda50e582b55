//! Number formatting for tables, charts and pages.

use std::fmt::Display;

use crate::units::nanoseconds;

/// Units of combined throughput, in powers of 1000.
const RATES: [(&str, f64); 4] = [
    ("operations/s", 1.0),
    ("k operations/s", 1e3),
    ("M operations/s", 1e6),
    ("G operations/s", 1e9),
];

/// Bytes in powers of 1024.
const BYTES: [(&str, f64); 5] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", (1 << 20) as f64),
    ("GiB", (1 << 30) as f64),
    ("TiB", (1u64 << 40) as f64),
];

/// The factor and unit for a short number. Only times, bytes and operations per second change their
/// unit.
pub fn scale(value: f64, unit: &str) -> (f64, &str) {
    const SHOWN: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    for units in [&RATES[..], &BYTES] {
        if unit == units[0].0 {
            let fits = units.iter().rev().find(|(_, size)| value.abs() >= *size);
            let (name, size) = fits.unwrap_or(&units[0]);
            return (1.0 / size, name);
        }
    }
    let Some(base) = nanoseconds(unit) else {
        return (1.0, unit);
    };
    let ns = value.abs() * base;
    let fits = SHOWN.iter().rev().find(|(_, size)| ns >= *size);
    let (name, size) = fits.unwrap_or(&SHOWN[0]);
    (base / size, name)
}

/// Formats a number of bytes: `32 KiB`, `2.75 MiB`.
pub fn bytes(count: u64) -> String {
    let (factor, unit) = scale(count as f64, "B");
    format!("{} {unit}", number(count as f64 * factor))
}

/// The nearest number with this many significant digits.
pub fn rounded(value: f64, digits: usize) -> f64 {
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    let near = text.parse().ok().filter(|near: &f64| near.is_finite());
    near.unwrap_or(value)
}

/// Formats a number with four significant digits and without trailing zeros.
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

/// A count with its noun: `1 entry`, `2 entries`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// Lists names, at most `most` of them: `a, b and 3 more`.
pub fn listed<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let mut text = shown.join(", ");
    if names.len() > most {
        text.push_str(&format!(" and {} more", names.len() - most));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_number_has_given_significant_digits() {
        for (value, near) in
            [(0.0, 0.0), (123.4567, 123.46), (-9.99999e-7, -1e-6), (f64::MAX, f64::MAX)]
        {
            assert_eq!(rounded(value, 5), near);
        }
    }

    #[test]
    fn number_has_four_significant_digits() {
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
    fn one_has_the_noun_of_its_own() {
        let texts = [0_u64, 1, 2].map(|count| counted(count, "entry", "entries"));
        assert_eq!(texts, ["0 entries", "1 entry", "2 entries"]);
    }

    #[test]
    fn bytes_use_largest_fitting_unit() {
        for (count, text) in [
            (0, "0 B"),
            (1000, "1000 B"),
            (32768, "32 KiB"),
            (2_883_584, "2.75 MiB"),
            (25_276_502_016, "23.54 GiB"),
            (5 << 50, "5120 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn scale_uses_largest_fitting_unit() {
        assert_eq!(scale(1500.0, "ns"), (1e-3, "us"));
        assert_eq!(scale(0.2, "ns"), (1.0, "ns"));
        assert_eq!(scale(2500.0, "us"), (1e-3, "ms"));
        assert_eq!(scale(-3e9, "ns"), (1e-9, "s"));
        assert_eq!(scale(0.5, "min"), (60.0, "s"));
        assert_eq!(scale(5.0, "MB/s"), (1.0, "MB/s"));
        assert_eq!(scale(1000.0, "B"), (1.0, "B"));
        assert_eq!(scale(-98304.0, "B"), (1.0 / 1024.0, "KiB"));
        assert_eq!(scale(3.2e7, "B"), (1.0 / 1048576.0, "MiB"));
        assert_eq!(scale(1.2e9, "operations/s"), (1e-9, "G operations/s"));
        assert_eq!(scale(0.5, "operations/s"), (1.0, "operations/s"));
    }
}
