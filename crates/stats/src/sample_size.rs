//! The number of values for an interval of a given width.

use crate::distribution::{normal_quantile, upper_tail};
use crate::finite::defined;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
