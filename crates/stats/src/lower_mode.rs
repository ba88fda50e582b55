//! The lower mode of a distribution: the level that repeated readings have when nothing lengthens
//! them.

use crate::distribution::finite;
use crate::quantile::sorted;

/// The lower mode of positive values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerMode {
    /// The middle of the stretch, in the unit of the values.
    pub level: f64,
    /// Share of the values in the stretch.
    pub share: f64,
    /// Share of the values in the stretch among those in a stretch ten times as wide around it. It
    /// is 0.1 for values that are spread evenly, and near 1 for a sharp mode.
    pub sharpness: f64,
}

/// Finds the lower mode of positive `values`: the lowest stretch of the relative `width` that has
/// at least `fewest` values and at least this `sharpness`. A stretch is moved to the densest place
/// that overlaps it before it is judged.
///
/// The densest stretch alone is the wrong one if most values are lengthened alike. The half-sample
/// mode (D. R. Bickel and R. Fruehwirth, "On a fast, robust estimator of the mode", Computational
/// Statistics & Data Analysis 50 (2006) 3500-3530) has the same weakness.
///
/// `None` if there is no such stretch, for a value that is not positive, and if `width` is not
/// positive.
pub fn lower_mode(values: &[f64], width: f64, fewest: usize, sharpness: f64) -> Option<LowerMode> {
    let logarithms: Vec<f64> = sorted(values).iter().map(|x| x.ln()).collect();
    if !(finite(&logarithms) && width > 0.0 && width.is_finite()) {
        return None;
    }
    let width = width.ln_1p();
    let counts = counts(&logarithms, width);
    let mut start = 0;
    loop {
        let lowest = start + counts[start..].iter().position(|count| *count >= fewest)?;
        let overlapping = logarithms.partition_point(|x| *x <= logarithms[lowest] + width);
        let first = (lowest..overlapping).max_by_key(|i| (counts[*i], usize::MAX - i))?;
        let mode = mode(&logarithms, first, counts[first], width);
        if mode.sharpness >= sharpness {
            return Some(mode);
        }
        start = overlapping;
    }
}

/// The mode of the stretch of `count` values from `first` on.
fn mode(logarithms: &[f64], first: usize, count: usize, width: f64) -> LowerMode {
    let middle = f64::midpoint(logarithms[first], logarithms[first + count - 1]);
    let around = 10.0 * width / 2.0;
    let near = logarithms.partition_point(|x| *x <= middle + around)
        - logarithms.partition_point(|x| *x < middle - around);
    LowerMode {
        level: middle.exp(),
        share: count as f64 / logarithms.len() as f64,
        sharpness: count as f64 / near as f64,
    }
}

/// For each of the ascending `values`, the number of values from it to `width` above it.
fn counts(values: &[f64], width: f64) -> Vec<usize> {
    let mut end = 0;
    let mut count = |(start, value): (usize, &f64)| {
        while values.get(end).is_some_and(|x| *x <= value + width) {
            end += 1;
        }
        end - start
    };
    values.iter().enumerate().map(&mut count).collect()
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn sharp_mode_below_a_broad_one_is_found() {
        let mut random = Rng::with_seed(5);
        for quiet in [0.01, 0.1, 0.5, 0.97] {
            let mut value = |_| {
                if random.f64() < quiet {
                    1700.0 + random.f64() * 4.0
                } else {
                    2400.0 + random.f64() * 1200.0
                }
            };
            let values: Vec<f64> = (0..20_000).map(&mut value).collect();
            let mode = lower_mode(&values, 0.01, 100, 0.5).unwrap();
            assert!((mode.level - 1702.0).abs() < 2.0, "{quiet}: {mode:?}");
            assert!((mode.share - quiet).abs() < 0.01, "{quiet}: {mode:?}");
            assert!(mode.sharpness > 0.99, "{quiet}: {mode:?}");
        }
    }

    #[test]
    fn evenly_spread_values_have_no_sharp_mode() {
        let mut random = Rng::with_seed(6);
        let values: Vec<f64> = (0..20_000).map(|_| 2400.0 + random.f64() * 1200.0).collect();
        assert_eq!(lower_mode(&values, 0.01, 100, 0.25), None);
    }

    #[test]
    fn single_low_readings_are_no_mode() {
        let mut values = vec![1000.0; 100];
        values.extend([500.0, 501.0, 900.0, 2000.0]);
        let mode = lower_mode(&values, 0.01, 10, 0.5).unwrap();
        assert_eq!(mode.level.round(), 1000.0);
    }

    /// A twentieth of quiet readings beside a neighbour whose level is as sharp as theirs.
    #[test]
    fn rare_mode_below_a_frequent_one_is_found() {
        let mut random = Rng::with_seed(7);
        let mut value = |i: usize| {
            let level = if i.is_multiple_of(20) { 953.0 } else { 1739.0 };
            level * (1.0 + 0.004 * random.f64())
        };
        let values: Vec<f64> = (0..1000).map(&mut value).collect();
        let mode = lower_mode(&values, 0.01, 30, 0.5).unwrap();
        assert!((mode.level - 955.0).abs() < 2.0, "{mode:?}");
        assert!((mode.share - 0.05).abs() < 1e-9, "{mode:?}");
    }

    #[test]
    fn undefined_without_positive_values() {
        let mode = |values: &[f64], width| lower_mode(values, width, 1, 0.5);
        assert_eq!(mode(&[], 0.01), None);
        assert_eq!(mode(&[1.0, 0.0], 0.01), None);
        assert_eq!(mode(&[1.0, f64::NAN], 0.01), None);
        assert_eq!(mode(&[1.0], 0.0), None);
        assert_eq!(lower_mode(&[1.0], 0.01, 2, 0.5), None);
        let one = mode(&[3.0], 0.01).unwrap();
        assert!((one.level - 3.0).abs() < 1e-12);
        assert_eq!((one.share, one.sharpness), (1.0, 1.0));
    }
}
