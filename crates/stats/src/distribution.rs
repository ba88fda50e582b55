//! Distribution functions and quantiles: the `statrs` crate, with replacements where it is
//! inaccurate; the bound of a share, and checks of values.

use statrs::distribution::{Beta, ChiSquared, ContinuousCDF, Normal, StudentsT};

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

/// The upper end of the one-sided interval of a share, of which `count` were observed in `of`
/// independent trials: C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits
/// Illustrated in the Case of the Binomial", Biometrika 26 (1934) 404-413. It is the share `q` for
/// which `count` or fewer have the probability `1 - confidence`, that is, the quantile of
/// Beta(count + 1, of - count). For a count of 0 it is `1 - (1 - confidence)^(1 / of)`. `None`
/// without trials, for a count above the number of trials, and for a confidence that is not between
/// 0 and 1.
pub fn share_at_most(count: u64, of: u64, confidence: f64) -> Option<f64> {
    let is_defined = of > 0 && count <= of && confidence > 0.0 && confidence < 1.0;
    if !is_defined {
        return None;
    }
    if count == of {
        return Some(1.0);
    }
    let beta = Beta::new(count as f64 + 1.0, (of - count) as f64).ok()?;
    upper_end(1.0 - confidence, |share| beta.sf(share))
}

/// Whether there is at least one value and all are finite.
pub(crate) fn finite(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|x| x.is_finite())
}

/// The number if it is finite. `None` after an overflow.
pub(crate) fn defined(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At exactly these shares, counts this low have a probability of 5 % or 2.5 %, computed by
    /// summation of binomial probabilities.
    #[test]
    fn bound_matches_binomial_sums() {
        for (count, of, confidence, share) in [
            (0, 5, 0.95, 0.450_720),
            (0, 20, 0.95, 0.139_108),
            (10, 100, 0.975, 0.176_223),
            (0, 10, 0.975, 0.308_497),
        ] {
            let found = share_at_most(count, of, confidence).unwrap();
            assert!((found - share).abs() < 1e-5, "{count} of {of}: {found}");
        }
        // A count of 0 has a closed form.
        let none = share_at_most(0, 299, 0.95).unwrap();
        assert!((none - (1.0 - 0.05_f64.powf(1.0 / 299.0))).abs() < 1e-12);
        assert_eq!(share_at_most(3, 3, 0.95), Some(1.0));
    }

    #[test]
    fn invalid_counts_have_no_bound() {
        for (count, of, confidence) in [(0, 0, 0.95), (2, 1, 0.95), (0, 5, 1.0), (0, 5, f64::NAN)] {
            assert_eq!(share_at_most(count, of, confidence), None);
        }
    }
}
