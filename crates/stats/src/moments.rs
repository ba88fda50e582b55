//! Mean and spread, their confidence intervals, and the number of values for an interval of a given
//! width.

use crate::distribution::{
    chi_squared_quantile, defined, finite, normal_quantile, student_t_quantile, upper_tail,
};

/// The arithmetic mean in two passes: `m = sum x / n`, then `m + sum (x - m) / n`, which corrects
/// the rounding error.
///
/// T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for Computing the Sample Variance", The
/// American Statistician 37 (1983) 242-247.
pub fn mean(values: &[f64]) -> Option<f64> {
    if !finite(values) {
        return None;
    }
    let n = values.len() as f64;
    let rough = values.iter().sum::<f64>() / n;
    let mean = rough + values.iter().map(|x| x - rough).sum::<f64>() / n;
    defined(mean)
}

/// The sample variance, `sum (x - m)^2 / (n - 1)`, in the square of the values' unit, by the
/// corrected two-pass algorithm of Chan, Golub and LeVeque (1983): `sum (x - m)^2 - (sum (x - m))^2
/// / n`.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let m = mean(values)?;
    let squares = values.iter().map(|x| (x - m) * (x - m)).sum::<f64>();
    let rest = values.iter().map(|x| x - m).sum::<f64>();
    // Checked before `max`, which would turn NaN into 0.
    defined((squares - rest * rest / n) / (n - 1.0)).map(|variance| variance.max(0.0))
}

/// The sample standard deviation, the root of the variance.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// The coefficient of variation, `s / |m|`. The Yamba paper's tables call it *variation*.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let (m, s) = (mean(values)?, standard_deviation(values)?);
    defined(s / m.abs())
}

/// A mean with its confidence interval, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl MeanInterval {
    fn about(mean: f64, half: f64) -> Option<MeanInterval> {
        let (low, high) = (mean - half, mean + half);
        (low.is_finite() && high.is_finite()).then_some(MeanInterval { mean, low, high })
    }
}

/// `m -+ t s / sqrt n`, with t the quantile of Student's distribution with `n - 1` degrees of
/// freedom: exact for independent normal values, good for the mean of many others. `None` for fewer
/// than two.
///
/// Student, "The Probable Error of a Mean", Biometrika 6 (1908) 1-25.
pub fn mean_t_interval(values: &[f64], confidence: f64) -> Option<MeanInterval> {
    let degrees = values.len() as f64 - 1.0;
    interval(values, || student_t_quantile(upper_tail(confidence)?, degrees))
}

/// `m -+ z s / sqrt n`, with z the quantile of the normal distribution: the limit of the t interval
/// for many values, and the interval in the Kanata Bench paper (Appendix 2). Too narrow for few
/// values. `None` for fewer than two.
pub fn mean_z_interval(values: &[f64], confidence: f64) -> Option<MeanInterval> {
    interval(values, || normal_quantile(upper_tail(confidence)?))
}

fn interval(values: &[f64], quantile: impl Fn() -> Option<f64>) -> Option<MeanInterval> {
    if !finite(values) || values.len() < 2 {
        return None;
    }
    let error = standard_deviation(values)? / (values.len() as f64).sqrt();
    MeanInterval::about(mean(values)?, quantile()? * error)
}

/// The number of independent values for which the interval of the mean has a half-width of `share`
/// of it: `S' = (s z / (m e))^2`, with s the standard deviation, m the mean, e the share and z the
/// two-sided normal quantile of the confidence.
///
/// Kanata Bench (N. Korovkina, 2022), equation 3.3, after S. Kounev et al., *Systems Benchmarking*
/// (2020). Not rounded, so that it can be divided between processes; round it up to measure.
pub fn samples_for_mean(
    mean: f64,
    standard_deviation: f64,
    share: f64,
    confidence: f64,
) -> Option<f64> {
    let z = normal_quantile(upper_tail(confidence)?)?;
    if !(share > 0.0 && standard_deviation >= 0.0) {
        return None;
    }
    let root = standard_deviation * z / (mean * share);
    let samples = root * root;
    defined(samples)
}

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
    use super::*;

    /// NIST Statistical Reference Datasets, univariate: NumAcc1 to NumAcc3 are designed to defeat
    /// naive formulas.
    #[test]
    fn nist_reference_values() {
        let steps = |base: f64| {
            let mut values = vec![base + 0.2];
            for _ in 0..500 {
                values.extend([base + 0.1, base + 0.3]);
            }
            values
        };
        let cases = [
            (vec![10000001.0, 10000003.0, 10000002.0], 10000002.0, 1.0),
            (steps(1.0), 1.2, 0.1),
            (steps(1000000.0), 1000000.2, 0.1),
        ];
        for (values, m, s) in cases {
            assert!((mean(&values).unwrap() - m).abs() <= 1e-14 * m);
            let got = standard_deviation(&values).unwrap();
            assert!((got - s).abs() < 1e-9, "{got} instead of {s}");
        }
    }

    #[test]
    fn undefined_for_too_few() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, f64::NAN]), None);
        assert_eq!(variance(&[1.0, f64::INFINITY]), None);
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(coefficient_of_variation(&[-1.0, 1.0]), None);
        assert_eq!(standard_deviation(&[5.0, 5.0, 5.0]), Some(0.0));
        let cv = coefficient_of_variation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((cv - (32.0f64 / 7.0).sqrt() / 5.0).abs() < 1e-15);
    }

    /// A standard deviation of a tenth of the mean, an interval of 1 %: (1.96 x 10)^2.
    #[test]
    fn by_hand() {
        let got = samples_for_mean(50.0, 5.0, 0.01, 0.95).unwrap();
        assert!((got - 384.1458820694124).abs() < 1e-8, "{got}");
        assert_eq!(samples_for_mean(50.0, 0.0, 0.01, 0.95), Some(0.0));
    }

    #[test]
    fn undefined() {
        assert_eq!(samples_for_mean(0.0, 1.0, 0.01, 0.95), None);
        assert_eq!(samples_for_mean(1.0, f64::NAN, 0.01, 0.95), None);
        assert_eq!(samples_for_mean(f64::INFINITY, f64::INFINITY, 0.01, 0.9), None);
        assert_eq!(samples_for_mean(1.0, 1.0, 0.0, 0.95), None);
        assert_eq!(samples_for_mean(1.0, 1.0, 0.01, 1.0), None);
    }

    use fastrand::Rng;

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
