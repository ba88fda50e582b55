//! Distribution-free confidence intervals of the median.

use crate::finite::finite;
use crate::quantile::sorted;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
