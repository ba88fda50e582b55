//! Confidence intervals of the mean.

use crate::distribution::{normal_quantile, student_t_quantile, upper_tail};
use crate::finite::finite;
use crate::moments::{mean, standard_deviation};

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
