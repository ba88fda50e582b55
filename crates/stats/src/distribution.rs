//! Distribution functions and quantiles: the `statrs` crate, with replacements where it is
//! inaccurate.

use crate::finite::defined;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// Above this many degrees of freedom the expansion in `1 / nu` is exact to rounding, while the
/// incomplete beta function loses precision.
const MANY_DEGREES: f64 = 2000.0;
/// From this number on the normal distribution is used; statrs has low precision there (six digits
/// at 1e9).
const ENDLESS_DEGREES: f64 = 1e10;

/// `P(Z <= z)` of the standard normal distribution.
pub fn normal_cdf(z: f64) -> Option<f64> {
    let normal = Normal::new(0.0, 1.0).ok()?;
    defined(normal.cdf(z))
}

/// The `p`-quantile of the standard normal distribution, for `0 < p < 1`.
pub fn normal_quantile(p: f64) -> Option<f64> {
    let normal = Normal::new(0.0, 1.0).ok()?;
    inside(p).then(|| normal.inverse_cdf(p))
}

/// `P(T <= t)` of Student's t distribution with `degrees` >= 1 of freedom, not necessarily an
/// integer.
pub fn student_t_cdf(t: f64, degrees: f64) -> Option<f64> {
    let student = student(degrees)?;
    if t.is_nan() {
        return None;
    }
    if degrees > ENDLESS_DEGREES {
        return normal_cdf(t);
    }
    defined(student.cdf(t))
}

/// The `p`-quantile of Student's t distribution with `degrees` >= 1 of freedom, for `0 < p < 1`.
///
/// Many degrees use the expansion of M. Abramowitz and I. A. Stegun, *Handbook of Mathematical
/// Functions* (1964), 26.7.5. Otherwise bisection inverts the distribution function, because the
/// inversion of statrs 0.18 panics for some p and is off by 3e-4 at a million degrees.
pub fn student_t_quantile(p: f64, degrees: f64) -> Option<f64> {
    let student = student(degrees)?;
    if !inside(p) {
        return None;
    }
    if degrees > MANY_DEGREES {
        return Some(expanded_quantile(normal_quantile(p)?, degrees));
    }
    let distance = upper_end(p.min(1.0 - p), |t| student.cdf(-t))?;
    Some(if p < 0.5 { -distance } else { distance })
}

/// `P(X > x)` of the chi-squared distribution with `degrees` >= 1 of freedom.
pub fn chi_squared_upper(x: f64, degrees: f64) -> Option<f64> {
    if !(degrees >= 1.0 && degrees.is_finite()) {
        return None;
    }
    let chi_squared = ChiSquared::new(degrees).ok()?;
    if x == f64::INFINITY || x.is_nan() {
        return (!x.is_nan()).then_some(0.0);
    }
    defined(chi_squared.sf(x.max(0.0)))
}

/// The x with `P(X <= x) = p` of the chi-squared distribution.
pub fn chi_squared_quantile(p: f64, degrees: f64) -> Option<f64> {
    if !inside(p) || chi_squared_upper(0.0, degrees).is_none() {
        return None;
    }
    let chi_squared = ChiSquared::new(degrees).ok()?;
    upper_end(1.0 - p, |x| chi_squared.sf(x))
}

/// `P(|T| >= |t|)`, the two-sided p-value of a t statistic.
pub(crate) fn two_sided_t(t: f64, degrees: f64) -> Option<f64> {
    Some((2.0 * student_t_cdf(-t.abs(), degrees)?).min(1.0))
}

/// The p of the upper quantile of a two-sided interval. `None` unless `0 < confidence < 1`.
pub(crate) fn upper_tail(confidence: f64) -> Option<f64> {
    inside(confidence).then_some(0.5 + 0.5 * confidence)
}

fn student(degrees: f64) -> Option<StudentsT> {
    if !(degrees >= 1.0 && degrees.is_finite()) {
        return None;
    }
    StudentsT::new(0.0, 1.0, degrees).ok()
}

fn inside(p: f64) -> bool {
    p > 0.0 && p < 1.0
}

/// The t >= 0 with `tail(t) = p` for a decreasing `tail`, if `p <= tail(0)`.
pub(crate) fn upper_end(p: f64, tail: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (0.0, 1.0);
    while tail(high) > p {
        (low, high) = (high, 2.0 * high);
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return defined(middle);
        }
        if tail(middle) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

fn expanded_quantile(z: f64, degrees: f64) -> f64 {
    let s = z * z;
    let terms = [
        z,
        z * (s + 1.0) / 4.0,
        z * ((5.0 * s + 16.0) * s + 3.0) / 96.0,
        z * (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0,
        z * ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, t| sum / degrees + t)
}
