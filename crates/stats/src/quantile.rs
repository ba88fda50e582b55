//! Quantiles, the interval of the median, and the median absolute deviation.

use crate::distribution::{defined, finite};

/// A sorted copy of the values.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut ordered = values.to_vec();
    ordered.sort_by(f64::total_cmp);
    ordered
}

/// The median; for an even count the mean of the two middle values.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `p`-quantile, by linear interpolation between the order statistics around `h = (n - 1) p`:
/// `x[floor h] + (h - floor h) (x[floor h + 1] - x[floor h])`.
///
/// Definition 7 of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The
/// American Statistician 50 (1996) 361-365; the default of R and NumPy.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    if !finite(values) || !(0.0..=1.0).contains(&p) {
        return None;
    }
    defined(quantile_of_sorted(&sorted(values), p))
}

/// The `p`-quantile of ascending values, as [`quantile`] defines it. `values` is not empty, and `0
/// <= p <= 1`.
pub fn quantile_of_sorted(values: &[f64], p: f64) -> f64 {
    let place = (values.len() - 1) as f64 * p;
    let below = place.floor() as usize;
    let above = (below + 1).min(values.len() - 1);
    let (low, high) = (values[below], values[above]);
    low + (place - below as f64) * (high - low)
}

/// An interval between two order statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The rank of the lower end from below, and of the upper end from above; 1 is the extreme.
    pub rank: usize,
    /// The probability that the interval contains the true median.
    pub coverage: f64,
}

/// The narrowest symmetric interval `[x(k), x(n + 1 - k)]` that contains the median with at least
/// `confidence`.
///
/// Independent values are each below the median with probability 1/2, so their number is binomial.
/// The interval misses with probability `2 P(B(n, 1/2) <= k - 1)`, whatever the distribution. W. J.
/// Conover, *Practical Nonparametric Statistics*, 3rd ed. (1999), section 3.2; W. R. Thompson,
/// Annals of Mathematical Statistics 7 (1936) 122-128. With too few values for the confidence, the
/// interval is their whole range, with its actual `coverage`.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<MedianInterval> {
    if !finite(values) {
        return None;
    }
    let ordered = sorted(values);
    let (rank, coverage) = rank(ordered.len(), confidence);
    Some(MedianInterval {
        low: ordered[rank - 1],
        high: ordered[ordered.len() - rank],
        rank,
        coverage,
    })
}

/// The greatest rank with sufficient coverage, and that coverage.
fn rank(n: usize, confidence: f64) -> (usize, f64) {
    let most = n.div_ceil(2);
    let mut below = 0.0; // P(B(n, 1/2) <= k - 1)
    let mut best = (1, 1.0);
    // Logarithms, since 2^-n underflows for n > 1074.
    let mut logarithm = -(n as f64) * std::f64::consts::LN_2;
    for k in 1..=most {
        below += logarithm.exp();
        let coverage = (1.0 - 2.0 * below).max(0.0);
        if k > 1 && coverage < confidence {
            break;
        }
        best = (k, coverage);
        logarithm += ((n + 1 - k) as f64 / k as f64).ln();
    }
    best
}

/// Factor from the median absolute deviation to the standard deviation of normal values:
/// `1 / quantile of the normal distribution at 3/4`.
pub const NORMAL_SCALE: f64 = 1.482602218505602;

/// The median absolute deviation, `median |x - median x|`, in the unit of the values, unscaled.
///
/// F. R. Hampel, "The Influence Curve and its Role in Robust Estimation", Journal of the American
/// Statistical Association 69 (1974) 383-393.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|x| (x - middle).abs()).collect();
    median(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_few() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, f64::INFINITY, f64::INFINITY]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }

    #[test]
    fn minimum_of_few() {
        assert_eq!(quantile(&[], 0.0), None);
        assert_eq!(quantile(&[2.0, -3.0, 5.0], 0.0), Some(-3.0));
    }

    /// R: `quantile(c(15, 20, 35, 40, 50), c(.05, .3, .4, .5, 1), type = 7)`.
    #[test]
    fn quantiles_match_r() {
        let values = [15.0, 20.0, 35.0, 40.0, 50.0];
        for (p, expected) in
            [(0.0, 15.0), (0.05, 16.0), (0.3, 23.0), (0.4, 29.0), (0.5, 35.0), (1.0, 50.0)]
        {
            let got = quantile(&values, p).unwrap();
            assert!((got - expected).abs() < 1e-12, "{p}: {got}");
        }
        assert_eq!(quantile(&values, 1.5), None);
    }

    /// Ranks and coverages as tabulated (Dixon and Massey, *Introduction to Statistical Analysis*,
    /// table A-25; the binomial tables of Conover).
    #[test]
    fn tabulated_ranks() {
        for (n, k, coverage) in [
            (6, 1, 0.969),
            (8, 1, 0.992),
            (9, 2, 0.961),
            (10, 2, 0.979),
            (11, 2, 0.988),
            (15, 4, 0.965),
            (20, 6, 0.959),
            (25, 8, 0.957),
            (30, 10, 0.957),
            (50, 18, 0.967),
        ] {
            let got = rank(n, 0.95);
            assert_eq!(got.0, k, "n = {n}");
            assert!((got.1 - coverage).abs() < 0.0005, "n = {n}: {}", got.1);
        }
    }

    #[test]
    fn too_few_values_give_range_with_coverage() {
        let got = median_interval(&[3.0, 1.0, 2.0], 0.95).unwrap();
        assert_eq!((got.low, got.high, got.rank), (1.0, 3.0, 1));
        assert!((got.coverage - 0.75).abs() < 1e-15);
        assert_eq!(median_interval(&[7.0], 0.95).unwrap().coverage, 0.0);
        assert_eq!(median_interval(&[], 0.95), None);
        assert_eq!(median_interval(&[1.0, f64::NAN], 0.95), None);
    }

    /// For many values the ranks are those of the normal approximation, `n/2 - 1.96 sqrt(n)/2`,
    /// within one.
    #[test]
    fn many_values() {
        for n in [1000usize, 5000, 20000] {
            let (k, coverage) = rank(n, 0.95);
            let approximation = n as f64 / 2.0 - 1.959964 * (n as f64).sqrt() / 2.0;
            assert!((k as f64 - approximation).abs() < 1.5, "n = {n}: {k}");
            assert!((0.95..0.955).contains(&coverage), "{coverage}");
        }
    }

    /// Counts every subset of signs of a small sample.
    #[test]
    fn coverage_is_exact() {
        for n in 6..=14usize {
            let (k, coverage) = rank(n, 0.95);
            let held = (0u32..1 << n).filter(|signs| {
                let below = signs.count_ones() as usize;
                below >= k && below <= n - k
            });
            let exact = held.count() as f64 / f64::from(1u32 << n);
            assert!((coverage - exact).abs() < 1e-12, "n = {n}");
        }
    }

    #[test]
    fn by_hand() {
        assert_eq!(median_absolute_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert_eq!(median_absolute_deviation(&[5.0]), Some(0.0));
        assert_eq!(median_absolute_deviation(&[]), None);
    }

    #[test]
    fn scale_matches_normal_distribution() {
        let quarter = crate::normal_quantile(0.75).unwrap();
        assert!((NORMAL_SCALE * quarter - 1.0).abs() < 1e-14);
    }
}
