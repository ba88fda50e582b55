//! Mean and spread.

use crate::finite::{defined, finite};

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
}
