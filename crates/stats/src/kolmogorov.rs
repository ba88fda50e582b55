//! The tests of Kolmogorov and Smirnov: how far apart two distributions are.

use std::f64::consts::PI;

/// The greatest distance between the distribution of ascending values and `cdf`: F. J. Massey, "The
/// Kolmogorov-Smirnov Test for Goodness of Fit", Journal of the American Statistical Association 46
/// (1951) 68-78. For values with ties it is the distance at the distinct values, from both sides,
/// so `cdf` must be continuous.
pub fn kolmogorov_distance(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> Option<f64> {
    let count = sorted.len() as f64;
    let mut greatest: Option<f64> = None;
    for (index, value) in sorted.iter().enumerate() {
        let at = cdf(*value);
        let (below, up_to) = (index as f64 / count, (index + 1) as f64 / count);
        let here = (at - below).max(up_to - at);
        if !here.is_finite() {
            return None;
        }
        greatest = Some(greatest.map_or(here, |g| g.max(here)));
    }
    greatest
}

/// The greatest distance between the distributions of two samples, both ascending.
pub fn smirnov_distance(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (mut i, mut j, mut greatest) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        let apart = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
        greatest = greatest.max(apart.abs());
    }
    Some(greatest)
}

/// The distance of `count` values in the scale of the limiting distribution: M. A. Stephens, "Use
/// of the Kolmogorov-Smirnov, Cramer-Von Mises and Related Statistics Without Extensive Tables",
/// Journal of the Royal Statistical Society B 32 (1970) 115-122. For two samples, `count` is `n m /
/// (n + m)`.
pub fn kolmogorov_scale(distance: f64, count: f64) -> f64 {
    let root = count.sqrt();
    (root + 0.12 + 0.11 / root) * distance
}

/// The probability of a distance of at least `distance` between `count` values and the continuous
/// distribution from which they are drawn. The distribution must not have been fitted to the
/// values.
pub fn kolmogorov_p_value(distance: f64, count: f64) -> Option<f64> {
    if !(distance >= 0.0 && count >= 1.0 && count.is_finite()) {
        return None;
    }
    let x = kolmogorov_scale(distance, count);
    // Either series converges fast on its side of 1.
    if x < 0.2 {
        return Some(1.0);
    }
    if x < 1.0 {
        let term = |k: i32| (-f64::from(2 * k - 1).powi(2) * PI * PI / (8.0 * x * x)).exp();
        let sum: f64 = (1..=5).map(term).sum();
        return Some((1.0 - (2.0 * PI).sqrt() / x * sum).clamp(0.0, 1.0));
    }
    let term = |k: i32| {
        f64::from(if k % 2 == 1 { 1 } else { -1 }) * (-2.0 * f64::from(k * k) * x * x).exp()
    };
    let sum: f64 = (1..=5).map(term).sum();
    Some((2.0 * sum).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_to_a_known_distribution() {
        // By hand: the values of a uniform distribution are farthest from it at 0.4, where 1 of 3
        // values lies below 0.9.
        let distance = kolmogorov_distance(&[0.1, 0.9, 0.95], |x| x).unwrap();
        assert!((distance - (0.9 - 1.0 / 3.0)).abs() < 1e-12, "{distance}");
        assert_eq!(kolmogorov_distance(&[], |x| x), None);
        assert_eq!(kolmogorov_distance(&[0.5], |_| f64::NAN), None);
    }

    #[test]
    fn distance_of_two_samples_with_ties() {
        assert_eq!(smirnov_distance(&[1.0, 1.0, 2.0, 3.0], &[1.0, 1.0, 2.0, 3.0]), Some(0.0));
        assert_eq!(smirnov_distance(&[1.0, 1.0, 1.0, 2.0], &[1.0, 2.0, 2.0, 2.0]), Some(0.5));
        assert_eq!(smirnov_distance(&[1.0], &[]), None);
    }

    /// Limiting distribution: N. Smirnov, "Table for Estimating the Goodness of Fit of Empirical
    /// Distributions" (1948).
    #[test]
    fn probabilities_match_smirnovs_table() {
        for (x, p) in [
            (0.5, 0.963_945),
            (0.83, 0.496_191),
            (1.0, 0.270_000),
            (1.36, 0.049_486),
            (1.63, 0.009_846),
        ] {
            let count = 1e12;
            let found = kolmogorov_p_value(x / f64::sqrt(count), count).unwrap();
            assert!((found - p).abs() < 2e-5, "{x}: {found}");
        }
        // Massey's table: with 20 values, 1 % of distances exceed 0.356.
        let small = kolmogorov_p_value(0.356, 20.0).unwrap();
        assert!((small - 0.01).abs() < 0.002, "{small}");
        assert_eq!(kolmogorov_p_value(f64::NAN, 20.0), None);
    }
}
