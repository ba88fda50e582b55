//! Axis labels for logarithmic axes: powers of ten, or of two for sizes in bytes and the like.

use serde::Serialize;

use crate::number::short;

/// Maximum number of labels of an axis.
const MOST: i32 = 8;

/// From this number of decades on, only powers of ten are labelled.
const WIDE: f64 = 2.0;

/// Maximum number of trailing zeros in a label without exponent.
const MOST_ZEROS: i32 = 6;

/// Relative tolerance for rounding errors when a value is compared with an end of the range.
const ROUNDING: f64 = 1e-9;

/// The range of a logarithmic axis, and its labels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogAxis {
    /// Low and high end: those of the values, widened if fewer than two labels would lie between
    /// them.
    pub range: [f64; 2],
    /// Labelled values with their labels, in ascending order.
    pub ticks: Vec<(f64, String)>,
}

impl LogAxis {
    /// An axis for positive numbers with labels at powers of ten. A narrow range also has labels at
    /// two and five times these.
    pub fn decimal(low: f64, high: f64) -> LogAxis {
        let axis = LogAxis::between(low, high, decimal_ticks);
        axis.unwrap_or_else(|| {
            let range = [decimal_below(low), decimal_above(high)];
            let ticks = decimal_ticks(range[0], range[1]);
            LogAxis { range, ticks }
        })
    }

    /// An axis with labels at powers of two.
    pub fn binary(low: f64, high: f64) -> LogAxis {
        let axis = LogAxis::between(low, high, binary_ticks);
        axis.unwrap_or_else(|| {
            let below = (low.log2() - ROUNDING).ceil() - 1.0;
            let above = (high.log2() + ROUNDING).floor() + 1.0;
            let range = [below.exp2(), above.exp2()];
            let ticks = binary_ticks(range[0], range[1]);
            LogAxis { range, ticks }
        })
    }

    /// An axis with the base that suits the values: two if all are powers of two, or if the
    /// greatest is a multiple of 1024, else ten.
    pub fn from_values(values: impl Iterator<Item = f64> + Clone) -> LogAxis {
        let (low, high) = ends(values.clone());
        let is_power = |v: f64| v >= 1.0 && v.log2().fract() == 0.0;
        if high % 1024.0 == 0.0 || values.clone().all(is_power) {
            LogAxis::binary(low, high)
        } else {
            LogAxis::decimal(low, high)
        }
    }

    /// An axis with exactly this range. `None` if it has fewer than two labels.
    fn between(low: f64, high: f64, ticks: fn(f64, f64) -> Vec<(f64, String)>) -> Option<LogAxis> {
        let ticks = ticks(low, high);
        let range = [low, high];
        (ticks.len() >= 2).then_some(LogAxis { range, ticks })
    }
}

/// The minimum and the maximum.
pub fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)))
}

/// `digit` times a power of ten, correctly rounded.
fn decimal(digit: u8, power: i32) -> f64 {
    let text = format!("{digit}e{power}");
    text.parse().unwrap_or(f64::INFINITY)
}

fn power_of(value: f64) -> i32 {
    value.log10().floor() as i32
}

fn is_inside(value: f64, low: f64, high: f64) -> bool {
    value >= low * (1.0 - ROUNDING) && value <= high * (1.0 + ROUNDING)
}

fn decimal_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let (first, last) = (power_of(low) - 1, power_of(high) + 1);
    let is_wide = high / low >= 10f64.powf(WIDE) * (1.0 - ROUNDING);
    let powers = last - first + 1;
    let (step, digits): (i32, &[u8]) =
        if is_wide { ((powers + MOST - 1) / MOST, &[1]) } else { (1, &[1, 2, 5]) };
    let powers = (first..=last).filter(|power| power % step == 0);
    let all = powers.flat_map(|power| digits.iter().map(move |digit| (*digit, power)));
    let is_here = |(digit, power): &(u8, i32)| is_inside(decimal(*digit, *power), low, high);
    let inside: Vec<(u8, i32)> = all.filter(is_here).collect();
    // All labels of an axis have the same notation.
    let is_long = inside.iter().any(|(_, power)| *power > MOST_ZEROS);
    let inside = inside.into_iter();
    inside.map(|(d, p)| (decimal(d, p), decimal_label(d, p, is_long))).collect()
}

/// A label such as 0.002, 50 or 100000. `is_long` selects exponents from 1000 on.
fn decimal_label(digit: u8, power: i32, is_long: bool) -> String {
    match power {
        0..=2 => format!("{digit}{}", "0".repeat(power as usize)),
        3..=MOST_ZEROS if !is_long => format!("{digit}{}", "0".repeat(power as usize)),
        -4..=-1 => format!("0.{}{digit}", "0".repeat((-1 - power) as usize)),
        _ => format!("{digit}e{power}"),
    }
}

/// The labels of a narrow range, from one decade below to one above a power of ten.
fn around(power: i32) -> impl DoubleEndedIterator<Item = f64> {
    (power - 1..=power + 1).flat_map(|p| [1, 2, 5].map(|digit| decimal(digit, p)))
}

/// The greatest label below a value.
fn decimal_below(value: f64) -> f64 {
    let is_less = |v: &f64| *v < value * (1.0 - ROUNDING);
    around(power_of(value)).rfind(is_less).unwrap_or(value)
}

/// The least label above a value.
fn decimal_above(value: f64) -> f64 {
    let is_more = |v: &f64| *v > value * (1.0 + ROUNDING);
    around(power_of(value)).find(is_more).unwrap_or(value)
}

fn binary_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let first = (low.log2() - ROUNDING).ceil() as i32;
    let last = (high.log2() + ROUNDING).floor() as i32;
    let step = ((last - first) / MOST + 1).max(1);
    let powers = (first..=last).filter(|power| power % step == 0);
    powers.map(|power| (f64::from(power).exp2(), binary_label(power))).collect()
}

/// A label such as 512 or 64Ki.
fn binary_label(power: i32) -> String {
    match power {
        0..=62 => short(1 << power),
        _ => format!("2^{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &LogAxis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    /// Checks properties that every axis has.
    #[track_caller]
    fn holds(axis: &LogAxis, low: f64, high: f64, is_labelled: impl Fn(f64) -> bool) {
        let [from, to] = axis.range;
        assert!(from <= low && high <= to && from < to, "{low}..{high}: {axis:?}");
        let count = axis.ticks.len();
        assert!((2..=8).contains(&count), "{low}..{high}: {axis:?}");
        assert!(axis.ticks.windows(2).all(|t| t[0].0 < t[1].0), "{axis:?}");
        for (value, _) in &axis.ticks {
            assert!(is_inside(*value, from, to), "{value} outside {axis:?}");
            assert!(is_labelled(*value), "{value} of {axis:?}");
        }
    }

    /// Whether a value is 1, 2 or 5 times a power of ten, by its decimal digits.
    fn is_round(value: f64) -> bool {
        let text = format!("{value:e}");
        let (digits, _) = text.split_once('e').unwrap();
        matches!(digits, "1" | "2" | "5")
    }

    fn is_power_of_two(value: f64) -> bool {
        value.to_bits().trailing_zeros() >= 52
    }

    /// Low ends of many magnitudes, each with several high ends.
    fn ranges() -> impl Iterator<Item = (f64, f64)> {
        let lows = (-120..=120).map(|n| 1.37f64.powi(n)).chain((-9..=9).map(|n| 10f64.powi(n)));
        let lows = lows.chain((0..40).map(|n| f64::from(n).exp2()));
        let ratios = [
            1.0,
            1.0 + 1e-12,
            1.003,
            1.01,
            1.5,
            2.0,
            2.5,
            9.9,
            10.0,
            19.0,
            99.0,
            100.0,
            101.0,
            1e3,
            1e7,
            1e9,
            1e13,
            1e30,
        ];
        lows.flat_map(move |low| ratios.map(|ratio| (low, low * ratio)))
    }

    #[test]
    fn labels_are_round_and_few_for_any_range() {
        for (low, high) in ranges() {
            holds(&LogAxis::decimal(low, high), low, high, is_round);
            holds(&LogAxis::binary(low, high), low, high, is_power_of_two);
        }
    }

    #[test]
    fn wide_decimal_axes_have_powers_of_ten_only() {
        for (low, high) in ranges().filter(|(low, high)| high / low >= 100.0) {
            let axis = LogAxis::decimal(low, high);
            let is_power = |v: f64| format!("{v:e}").starts_with("1e");
            assert!(axis.ticks.iter().all(|(v, _)| is_power(*v)), "{axis:?}");
        }
    }

    #[test]
    fn labels_are_written_as_expected() {
        let axis = LogAxis::decimal(10_300.0, 1_030_000.0);
        assert_eq!(labels(&axis), ["100000", "1000000"]);
        assert_eq!(axis.range, [10_300.0, 1_030_000.0]);
        let axis = LogAxis::decimal(10_300.0, 103_000.0);
        assert_eq!(labels(&axis), ["20000", "50000", "100000"]);
        let axis = LogAxis::decimal(10_300.0, 10_300.0);
        assert_eq!((axis.range, labels(&axis)), ([10_000.0, 20_000.0], vec!["10000", "20000"]));
        assert_eq!(labels(&LogAxis::decimal(0.002, 0.02)), ["0.002", "0.005", "0.01", "0.02"]);
        assert_eq!(labels(&LogAxis::decimal(1e6, 1e9)), ["1e6", "1e7", "1e8", "1e9"]);
        assert_eq!(
            labels(&LogAxis::binary(16384.0, 67_108_864.0)),
            ["16Ki", "64Ki", "256Ki", "1Mi", "4Mi", "16Mi", "64Mi"]
        );
        assert_eq!(labels(&LogAxis::binary(5000.0, 5000.0)), ["4Ki", "8Ki"]);
        assert_eq!(labels(&LogAxis::binary(4096.0, 4096.0)), ["2Ki", "4Ki", "8Ki"]);
    }

    /// A label of a decimal axis parses to its value.
    #[test]
    fn decimal_labels_parse_to_values() {
        for (low, high) in ranges() {
            for (value, label) in LogAxis::decimal(low, high).ticks {
                assert_eq!(label.parse::<f64>(), Ok(value));
            }
        }
    }

    #[test]
    fn values_determine_base_of_axis() {
        let of = |values: &[f64]| labels(&LogAxis::from_values(values.iter().copied())).join(" ");
        assert_eq!(of(&[512.0, 724.0, 4096.0]), "512 1Ki 2Ki 4Ki");
        assert_eq!(of(&[1.0, 2.0, 4.0, 16.0]), "1 2 4 8 16");
        assert_eq!(of(&[10.0, 100.0, 1000.0]), "10 100 1000");
        assert_eq!(of(&[10_000.0, 100_000.0]), "10000 20000 50000 100000");
        assert_eq!(of(&[0.5, 8.0]), "0.5 1 2 5");
    }
}
