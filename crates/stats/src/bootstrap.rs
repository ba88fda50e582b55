//! Bootstrap intervals of a ratio.

use fastrand::Rng;

use crate::distribution::{normal_cdf, normal_quantile, upper_tail};
use crate::finite::{defined, finite};
use crate::moments::mean;
use crate::quantile::quantile_of_sorted;

/// A ratio and its bootstrap intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapRatio {
    /// The statistic of b divided by that of a.
    pub ratio: f64,
    /// The percentile interval: simple, but inaccurate if the ratio is biased or skewed.
    pub percentile: (f64, f64),
    /// The bias-corrected and accelerated interval. `None` if all resamples lie on one side of the
    /// ratio.
    pub accelerated: Option<(f64, f64)>,
}

/// The interval of `statistic(b) / statistic(a)` from `resamples` pairs of samples drawn with
/// replacement from a and from b.
///
/// The percentile interval lies between the resamples' quantiles at `(1 -+ confidence) / 2`. The
/// accelerated one (BCa) uses the quantiles at `Phi(z0 + (z0 + z) / (1 - a (z0 + z)))`. z0 corrects
/// bias: it is the normal quantile of the share of resamples below the ratio, with equal ones
/// counted half. a corrects skew: it is `sum d^3 / (6 (sum d^2)^(3/2))` over the jackknife
/// influences d. B. Efron, "Better Bootstrap Confidence Intervals", Journal of the American
/// Statistical Association 82 (1987) 171-185; for two samples B. Efron and R. J. Tibshirani, *An
/// Introduction to the Bootstrap* (1993), chapter 14.
///
/// For medians the acceleration is crude, since leaving out a value moves a median by one step or
/// not at all. Use the percentile interval there.
///
/// The same `seed` gives the same interval. `None` if the ratio, or that of a resample, is
/// undefined.
pub fn bootstrap_ratio(
    a: &[f64],
    b: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<BootstrapRatio> {
    let upper = upper_tail(confidence)?;
    if !(finite(a) && finite(b)) {
        return None;
    }
    let ratio_of = |a: &[f64], b: &[f64]| defined(statistic(b)? / statistic(a)?);
    let ratio = ratio_of(a, b)?;
    let mut random = Rng::with_seed(seed);
    let (mut drawn_a, mut drawn_b) = (a.to_vec(), b.to_vec());
    let mut ratios = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        draw(a, &mut drawn_a, &mut random);
        draw(b, &mut drawn_b, &mut random);
        ratios.push(ratio_of(&drawn_a, &drawn_b)?);
    }
    if ratios.is_empty() {
        return None;
    }
    ratios.sort_by(f64::total_cmp);
    let between = |low, high| (quantile_of_sorted(&ratios, low), quantile_of_sorted(&ratios, high));
    let accelerated = || {
        let bias = bias(&ratios, ratio)?;
        let acceleration = acceleration(
            &influences(a, |left| ratio_of(left, b))?,
            &influences(b, |left| ratio_of(a, left))?,
        );
        let z = normal_quantile(upper)?;
        let place = |z: f64| normal_cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
        Some(between(place(-z)?, place(z)?))
    };
    Some(BootstrapRatio {
        ratio,
        percentile: between(1.0 - upper, upper),
        accelerated: accelerated(),
    })
}

fn draw(from: &[f64], into: &mut [f64], random: &mut Rng) {
    for value in into {
        *value = from[random.usize(..from.len())];
    }
}

/// The bias correction z0. `None` if all resamples lie on one side.
fn bias(ratios: &[f64], ratio: f64) -> Option<f64> {
    let below = ratios.partition_point(|&r| r < ratio);
    let to = ratios.partition_point(|&r| r <= ratio);
    normal_quantile((below + to) as f64 / (2 * ratios.len()) as f64)
}

/// The jackknife influence of each value: how much the ratio decreases if the value is left out,
/// relative to the others.
fn influences(values: &[f64], ratio_without: impl Fn(&[f64]) -> Option<f64>) -> Option<Vec<f64>> {
    let mut left = values.to_vec();
    let mut ratios = Vec::with_capacity(values.len());
    for i in 0..values.len() {
        let value = left.remove(i);
        ratios.push(ratio_without(&left)?);
        left.insert(i, value);
    }
    let middle = mean(&ratios)?;
    let n = values.len() as f64;
    Some(ratios.iter().map(|r| (n - 1.0) / n * (middle - r)).collect())
}

fn acceleration(of_a: &[f64], of_b: &[f64]) -> f64 {
    let sum = |power| of_a.iter().chain(of_b).map(|d| d.powi(power)).sum::<f64>();
    let squares = sum(2);
    if squares > 0.0 { sum(3) / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_interval() {
        let (a, b) = ([1.0, 2.0, 3.0, 5.0, 8.0], [2.0, 3.0, 3.0, 6.0]);
        let with = |seed| bootstrap_ratio(&a, &b, mean, 0.9, 200, seed).unwrap();
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
    }

    #[test]
    fn constant_samples() {
        let got = bootstrap_ratio(&[2.0; 4], &[3.0; 4], mean, 0.95, 100, 1).unwrap();
        assert_eq!(got.percentile, (1.5, 1.5));
        assert_eq!(got.accelerated, Some((1.5, 1.5)));
    }

    #[test]
    fn undefined() {
        let ratio = |a: &[f64], b: &[f64]| bootstrap_ratio(a, b, mean, 0.95, 100, 1);
        assert_eq!(ratio(&[], &[1.0]), None);
        assert_eq!(ratio(&[0.0], &[1.0]), None);
        assert_eq!(ratio(&[1.0], &[f64::NAN]), None);
        assert_eq!(ratio(&[0.0, 1.0], &[1.0]), None);
        let one = ratio(&[2.0], &[1.0]).unwrap();
        assert_eq!((one.percentile, one.accelerated), ((0.5, 0.5), None));
        assert_eq!(bootstrap_ratio(&[1.0], &[1.0], mean, 0.95, 0, 1), None);
    }
}
