//! Comparison of the variances of several samples.

use statrs::function::beta::beta_reg;

use crate::distribution::{defined, finite};
use crate::moments::mean;
use crate::quantile::median;

/// The p-value of the hypothesis that all samples have the same variance: an analysis of variance
/// of `z = |x - median|`. With z_i the values of sample i, `F = (sum n_i (mean z_i - mean z)^2 /
/// (k - 1)) / (sum sum (z_ij - mean z_i)^2 / (n - k))`, with `k - 1` and `n - k` degrees of
/// freedom. It is robust where values are not normal.
///
/// M. B. Brown and A. B. Forsythe, "Robust Tests for the Equality of Variances", Journal of the
/// American Statistical Association 69 (1974) 364-367. `None` for fewer than two samples, for a
/// sample of fewer than two values, and where no sample has any spread.
pub fn brown_forsythe(samples: &[&[f64]]) -> Option<f64> {
    if samples.len() < 2 || samples.iter().any(|s| s.len() < 2 || !finite(s)) {
        return None;
    }
    let deviations: Vec<Vec<f64>> = samples.iter().map(|s| deviations(s)).collect::<Option<_>>()?;
    let all = mean(&deviations.concat())?;
    let (mut between, mut within) = (0.0, 0.0);
    for z in &deviations {
        let own = mean(z)?;
        between += z.len() as f64 * (own - all) * (own - all);
        within += z.iter().map(|z| (z - own) * (z - own)).sum::<f64>();
    }
    if all == 0.0 {
        return None;
    }
    let (k, n) = (samples.len() as f64, deviations.iter().map(Vec::len).sum::<usize>() as f64);
    if between == 0.0 || within == 0.0 {
        return Some(if between == 0.0 { 1.0 } else { 0.0 });
    }
    let f = defined(between / (k - 1.0) / (within / (n - k)))?;
    fisher_upper(f, k - 1.0, n - k)
}

/// `P(F > f)` of Fisher's distribution, by the incomplete beta function: the distribution of statrs
/// 0.18 panics for large f.
fn fisher_upper(f: f64, numerator: f64, denominator: f64) -> Option<f64> {
    let x = denominator / (denominator + numerator * f);
    defined(beta_reg(denominator / 2.0, numerator / 2.0, x))
}

fn deviations(sample: &[f64]) -> Option<Vec<f64>> {
    let middle = median(sample)?;
    Some(sample.iter().map(|x| (x - middle).abs()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SciPy 1.17: `scipy.stats.levene(..., center='median')`.
    #[test]
    fn matches_scipy() {
        let a = [1.0, 2.0, 3.0, 4.0, 10.0];
        let b = [2.0, 4.0, 4.5, 5.0];
        let c = [-9.0, 0.0, 2.0, 11.0, 30.0, 31.0];
        let got = brown_forsythe(&[&a, &b, &c]).unwrap();
        assert!((got - 0.01413511762088755).abs() < 1e-12, "{got}");
        let got = brown_forsythe(&[&a, &b]).unwrap();
        assert!((got - 0.3965044568551738).abs() < 1e-12, "{got}");
    }

    #[test]
    fn undefined() {
        assert_eq!(brown_forsythe(&[&[1.0, 2.0]]), None);
        assert_eq!(brown_forsythe(&[&[1.0, 2.0], &[1.0]]), None);
        assert_eq!(brown_forsythe(&[&[1.0, 1.0], &[2.0, 2.0]]), None);
        assert_eq!(brown_forsythe(&[&[1.0, 2.0], &[1.0, f64::NAN]]), None);
    }

    /// Deviations without spread of their own: the variances are known exactly.
    #[test]
    fn exact_deviations() {
        assert_eq!(brown_forsythe(&[&[0.0, 1.0], &[0.0, 3.0]]), Some(0.0));
        assert_eq!(brown_forsythe(&[&[0.0, 1.0], &[5.0, 6.0]]), Some(1.0));
    }
}
