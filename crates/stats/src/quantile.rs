//! Quantiles.

use crate::finite::{defined, finite};

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
}
