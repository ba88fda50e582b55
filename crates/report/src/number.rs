//! Formatting of figures and sizes.

use yamba_record::number::{number, scale};

/// A figure in a convenient unit: `4.096 us`.
pub fn figure(value: f64, unit: &str) -> String {
    let (factor, unit) = scale(value, unit);
    let text = format!("{} {unit}", number(value * factor));
    text.trim_end().to_owned()
}

/// The interval of a figure, in the unit in which the figure is shown: `[3.686, 4.506]`.
pub fn interval(ends: [f64; 2], value: f64, unit: &str) -> String {
    let (factor, _) = scale(value, unit);
    let end = |end: f64| {
        if end.is_finite() { number(end * factor) } else { "unknown".to_owned() }
    };
    let [low, high] = ends.map(end);
    format!("[{low}, {high}]")
}

/// Formats a count, in powers of 1024 if it is a multiple of one: `64Mi`.
pub fn short(count: u64) -> String {
    const UNITS: [(&str, u32); 3] = [("Gi", 30), ("Mi", 20), ("Ki", 10)];
    let fits = UNITS.iter().find(|(_, bits)| count > 0 && count.trailing_zeros() >= *bits);
    fits.map_or(count.to_string(), |(name, bits)| format!("{}{name}", count >> bits))
}

/// A label with short numbers after each `=`: `size=64Mi` instead of `size=67108864`.
pub fn short_label(label: &str) -> String {
    let words = label.split(' ').map(|word| {
        let setting = word.split_once('=');
        match setting.and_then(|(name, value)| Some((name, value.parse().ok()?))) {
            Some((name, count)) => format!("{name}={}", short(count)),
            None => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A number of the x axis: 64Mi instead of 67108864.
pub fn axis_number(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
        short(value as u64)
    } else {
        number(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_uses_binary_units() {
        assert_eq!(
            [0, 1000, 1024, 67108864, 3 << 30].map(short),
            ["0", "1000", "1Ki", "64Mi", "3Gi"]
        );
        assert_eq!(
            short_label("copy size=65536 from=a word=1000 P=4"),
            "copy size=64Ki from=a word=1000 P=4"
        );
    }
}
