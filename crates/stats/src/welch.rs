//! Comparison of two means without the assumption of equal variances.

use crate::distribution::{student_t_quantile, two_sided_t, upper_tail};
use crate::finite::finite;
use crate::moments::{mean, variance};

/// The difference of two means, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// `mean b - mean a`.
    pub estimate: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The two-sided p-value of the hypothesis that the means are equal.
    pub p: f64,
    /// The degrees of freedom of the t distribution used.
    pub degrees: f64,
}

/// Welch's t test and interval: `t = (m_b - m_a) / e`, `e^2 = s_a^2 / n_a + s_b^2 / n_b`, with
/// `e^4 / (s_a^4 / (n_a^2 (n_a - 1)) + s_b^4 / (n_b^2 (n_b - 1)))` degrees of freedom.
///
/// B. L. Welch, Biometrika 34 (1947) 28-35. `None` for fewer than two values on a side, or if
/// neither side has any spread.
pub fn welch_t(a: &[f64], b: &[f64], confidence: f64) -> Option<Difference> {
    if !(finite(a) && finite(b)) {
        return None;
    }
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    let share_a = variance(a)? / n_a;
    let share_b = variance(b)? / n_b;
    let squared_error = share_a + share_b;
    // Uses shares of the variances, because squared variances may underflow.
    let (part_a, part_b) = (share_a / squared_error, share_b / squared_error);
    let degrees = 1.0 / (part_a * part_a / (n_a - 1.0) + part_b * part_b / (n_b - 1.0));
    // The degrees of freedom are at least those of the smaller side; this corrects rounding.
    let degrees = degrees.max(n_a.min(n_b) - 1.0);
    let estimate = mean(b)? - mean(a)?;
    let error = squared_error.sqrt();
    let half = student_t_quantile(upper_tail(confidence)?, degrees)? * error;
    let (low, high) = (estimate - half, estimate + half);
    (error > 0.0 && low.is_finite() && high.is_finite()).then_some(Difference {
        estimate,
        low,
        high,
        p: two_sided_t(estimate / error, degrees)?,
        degrees,
    })
}
