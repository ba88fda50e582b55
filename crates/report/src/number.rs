//! Formatting of figures, sizes and percentiles.

use yamba_record::distribution::{Distribution, Percentile};
use yamba_record::number::{counted, number, scale};

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

/// Characters of a name that are printed.
const LONGEST_LABEL: usize = 200;

/// A name as it is printed, with its beginning and its end if it is long.
pub fn short_name(name: &str) -> String {
    let left_out = name.chars().count().saturating_sub(LONGEST_LABEL);
    if left_out == 0 {
        return name.to_owned();
    }
    let beginning: String = name.chars().take(LONGEST_LABEL / 2).collect();
    let end: String = name.chars().skip(LONGEST_LABEL / 2 + left_out).collect();
    format!("{beginning}...{end}")
}

/// A label with short numbers after each `=`: `size=64Mi` instead of `size=67108864`. A long one is
/// cut in the middle.
pub fn short_label(label: &str) -> String {
    let words = label.split(' ').map(|word| {
        let setting = word.split_once('=');
        match setting.and_then(|(name, value)| Some((name, value.parse().ok()?))) {
            Some((name, count)) => format!("{name}={}", short(count)),
            None => word.to_owned(),
        }
    });
    short_name(&words.collect::<Vec<_>>().join(" "))
}

/// A number of the x axis: 64Mi instead of 67108864.
pub fn axis_number(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
        short(value as u64)
    } else {
        number(value)
    }
}

/// `each operation alone: p50 1.02 us, p90 1.05 us, ..., longest 85 us; 60000 operations,
/// interruptions included, less 25 ns for the clock`. Without a subtracted cost, they are the
/// requests of a load: `p50 1.02 ms, ..., longest 85 ms; 60000 requests`. A percentile that differs
/// from launch to launch by more than a tenth shows the range over the launches.
#[must_use]
pub fn percentiles(distribution: &Distribution) -> String {
    let each = distribution.percentiles.iter().map(percentile);
    let longest = format!("longest {}", figure(distribution.max_ns, "ns"));
    let all: Vec<String> = each.chain([longest]).collect();
    // The responses of a load: no clock is subtracted.
    if distribution.cost_ns == 0.0 {
        let responses = counted(distribution.count, "response", "responses");
        return format!("{}; {responses}", all.join(", "));
    }
    format!(
        "each operation alone: {}; {} operations, interruptions included, less {} ns for the clock",
        all.join(", "),
        distribution.count,
        number(distribution.cost_ns)
    )
}

fn percentile(of: &Percentile) -> String {
    let name = format!("p{} {}", of.percent, figure(of.ns, "ns"));
    match of.launches {
        Some([low, high]) if high - low > of.ns / 10.0 => {
            let [low, high] = [low, high].map(|ns| figure(ns, "ns"));
            format!("{name} ({low} to {high} in single launches)")
        }
        _ => name,
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

    #[test]
    fn line_has_percentiles_count_and_cost() {
        let percentile = |percent, ns, launches| Percentile { percent, ns, launches };
        let distribution = Distribution {
            count: 60_000,
            cost_ns: 24.5,
            percentiles: vec![
                percentile(50.0, 1020.0, Some([1015.0, 1025.0])),
                percentile(99.9, 11_000.0, Some([9000.0, 45_000.0])),
            ],
            max_ns: 85_000.0,
            histogram: Vec::new(),
        };
        assert_eq!(
            percentiles(&distribution),
            "each operation alone: p50 1.02 us, p99.9 11 us (9 us to 45 us in single launches), longest 85 us; \
             60000 operations, interruptions included, less 24.5 ns for the clock"
        );
        let load = Distribution { count: 1, max_ns: 2e6, ..Distribution::default() };
        assert_eq!(percentiles(&load), "longest 2 ms; 1 response");
    }
}
