//! The confidence bound of a share, from a count.

use statrs::distribution::{Beta, ContinuousCDF};

use crate::distribution::upper_end;

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
