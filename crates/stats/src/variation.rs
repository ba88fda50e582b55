//! The confidence interval of a coefficient of variation.

use crate::distribution::{chi_squared_quantile, upper_tail};
use crate::finite::defined;
use crate::moments::coefficient_of_variation;

/// The confidence interval of the coefficient of variation K of normally distributed values, by the
/// modified method of McKay. Its ends are `K / sqrt(((u + 2) / n - 1) K^2 + u / (n - 1))`, where u
/// is the upper quantile of chi-squared with `n - 1` degrees of freedom for the low end and the
/// lower quantile for the high end. Valid for K up to about a third. `None` for fewer than two
/// values, and if K is so large that the interval has no high end.
///
/// M. G. Vangel, "Confidence Intervals for a Normal Coefficient of Variation", The American
/// Statistician 50 (1996) 21-26.
pub fn variation_interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let k = coefficient_of_variation(values)?;
    let n = values.len() as f64;
    let p = upper_tail(confidence)?;
    let end = |p: f64| {
        let u = chi_squared_quantile(p, n - 1.0)?;
        let square = ((u + 2.0) / n - 1.0) * k * k + u / (n - 1.0);
        defined(k / square.sqrt())
    };
    Some((end(p)?, end(1.0 - p)?))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// Uses chi-squared quantiles from tables: 16.0128 and 1.68987 with 7 degrees of freedom.
    #[test]
    fn ends_match_formula() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let (low, high) = variation_interval(&values, 0.95).unwrap();
        assert!((low - 0.269567).abs() < 1e-5, "{low}");
        assert!((high - 1.131230).abs() < 1e-4, "{high}");
    }

    #[test]
    fn coverage_matches_confidence() {
        let mut random = Rng::with_seed(3);
        let mut normal = || {
            let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
            radius * (std::f64::consts::TAU * random.f64()).cos()
        };
        for (n, truth) in [(6, 0.02), (6, 0.2), (31, 0.1)] {
            let holds = |_: &usize| {
                let values: Vec<f64> = (0..n).map(|_| 1.0 + truth * normal()).collect();
                let interval = variation_interval(&values, 0.95);
                interval.is_some_and(|(low, high)| (low..=high).contains(&truth))
            };
            let held = (0..4000).filter(holds).count();
            // Four standard errors on each side.
            assert!((3745..=3855).contains(&held), "{n}, {truth}: {held}");
        }
    }

    #[test]
    fn too_few_values_or_unbounded_interval_is_undefined() {
        assert_eq!(variation_interval(&[1.0], 0.95), None);
        assert_eq!(variation_interval(&[1.0, 2.0], 1.0), None);
        assert_eq!(variation_interval(&[1.0, 100.0, 1.0, 1.0], 0.95), None);
        assert_eq!(variation_interval(&[3.0, 3.0], 0.95), Some((0.0, 0.0)));
    }
}
