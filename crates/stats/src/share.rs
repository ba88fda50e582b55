//! What a count of some among many says of the share that it comes from.

use statrs::distribution::{Beta, ContinuousCDF};

/// Halvings of an interval of length 1 until it is shorter than a double tells apart.
const HALVINGS: usize = 60;

/// The upper end of the one-sided interval of a share, of which `count` were seen among `of` independent trials: C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the
/// Case of the Binomial", Biometrika 26 (1934) 404-413. It is the share `q` with which `count` or fewer have the probability `1 - confidence`, so the quantile of Beta(count + 1, of - count); of none seen,
/// `1 - (1 - confidence)^(1 / of)`. None without a trial, with more seen than there were, or a confidence that is not between 0 and 1.
pub fn share_at_most(count: u64, of: u64, confidence: f64) -> Option<f64> {
    let is_defined = of > 0 && count <= of && confidence > 0.0 && confidence < 1.0;
    if !is_defined {
        return None;
    }
    if count == of {
        return Some(1.0);
    }
    let beta = Beta::new(count as f64 + 1.0, (of - count) as f64).ok()?;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match beta.cdf(middle) < confidence {
            true => low = middle,
            false => high = middle,
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With exactly these shares so few are seen in one of twenty trials, or one of forty: summed up from the binomial probabilities themselves.
    #[test]
    fn sums_of_binomial_probabilities() {
        for (count, of, confidence, share) in [
            (0, 5, 0.95, 0.450_720),
            (0, 20, 0.95, 0.139_108),
            (10, 100, 0.975, 0.176_223),
            (0, 10, 0.975, 0.308_497),
        ] {
            let found = share_at_most(count, of, confidence).unwrap();
            assert!((found - share).abs() < 1e-5, "{count} of {of}: {found}");
        }
        // Of none seen it has a closed form.
        let none = share_at_most(0, 299, 0.95).unwrap();
        assert!((none - (1.0 - 0.05_f64.powf(1.0 / 299.0))).abs() < 1e-12);
        assert_eq!(share_at_most(3, 3, 0.95), Some(1.0));
    }

    #[test]
    fn nothing_says_nothing() {
        for (count, of, confidence) in [(0, 0, 0.95), (2, 1, 0.95), (0, 5, 1.0), (0, 5, f64::NAN)] {
            assert_eq!(share_at_most(count, of, confidence), None);
        }
    }
}
