//! Whether the values of a series, in the order they were taken, are independent.

use crate::distribution::chi_squared_upper;
use crate::finite::{defined, finite};
use crate::moments::mean;

/// The autocorrelation at `lag`: `r_k = sum (x_t - m) (x_(t + k) - m) / sum (x_t - m)^2`.
///
/// G. E. P. Box, G. M. Jenkins and G. C. Reinsel, *Time Series Analysis*, 3rd ed. (1994), section 2.1.6. None where the
/// lag is not shorter than the series, or all values are equal.
pub fn autocorrelation(series: &[f64], lag: usize) -> Option<f64> {
    if !finite(series) || lag >= series.len() {
        return None;
    }
    let m = mean(series)?;
    let squares: f64 = series.iter().map(|x| (x - m) * (x - m)).sum();
    let products: f64 = series
        .iter()
        .zip(&series[lag..])
        .map(|(x, y)| (x - m) * (y - m))
        .sum();
    defined(products / squares)
}

/// How many independent values would fix the mean as well as the series does: `n / (1 + 2 sum r_k)`, never more than n.
///
/// The sum ends before the first pair `r_2k + r_(2k + 1)` that is not positive, since beyond it there is but noise: C.
/// J. Geyer, "Practical Markov Chain Monte Carlo", Statistical Science 7 (1992) 473-483, initial positive sequence.
/// None where all values are equal.
pub fn effective_sample_size(series: &[f64]) -> Option<f64> {
    if !finite(series) {
        return None;
    }
    let n = series.len();
    let mut sum = -1.0;
    for even in (0..n).step_by(2) {
        let odd = autocorrelation(series, even + 1).unwrap_or(0.0);
        let pair = autocorrelation(series, even)? + odd;
        if even > 0 && pair <= 0.0 {
            break;
        }
        sum += 2.0 * pair;
    }
    // Values that alternate would count for more than n, on the word of a few noisy correlations.
    Some(n as f64 / sum.max(1.0))
}

/// The Ljung-Box test of a series being independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LjungBox {
    /// The statistic Q.
    pub q: f64,
    /// The p-value of no correlation at any of the lags.
    pub p: f64,
}

/// `Q = n (n + 2) sum r_k^2 / (n - k)` over the lags 1 to `lags`, which is chi-squared with as many degrees of freedom
/// for independent values.
///
/// G. M. Ljung and G. E. P. Box, "On a Measure of Lack of Fit in Time Series Models", Biometrika 65 (1978) 297-303. As
/// many lags as `min(10, n / 5)` are usual. None with no lag, or not fewer than there are values.
pub fn ljung_box(series: &[f64], lags: usize) -> Option<LjungBox> {
    if lags == 0 {
        return None;
    }
    let n = series.len() as f64;
    let mut sum = 0.0;
    for lag in 1..=lags {
        let r = autocorrelation(series, lag)?;
        sum += r * r / (n - lag as f64);
    }
    let q = n * (n + 2.0) * sum;
    Some(LjungBox {
        q,
        p: chi_squared_upper(q, lags as f64)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deviations from 3 are -2, -1, 0, 1, 2.
    #[test]
    fn by_hand() {
        let series = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(autocorrelation(&series, 0), Some(1.0));
        assert!((autocorrelation(&series, 1).unwrap() - 0.4).abs() < 1e-15);
        assert!((autocorrelation(&series, 2).unwrap() + 0.1).abs() < 1e-15);
        assert_eq!(autocorrelation(&series, 5), None);
        assert_eq!(autocorrelation(&[2.0, 2.0], 1), None);
        // 1 + 2 x 0.4, then -0.1 - 0.4 ends the sum.
        assert!((effective_sample_size(&series).unwrap() - 5.0 / 1.8).abs() < 1e-12);
    }

    #[test]
    fn alternating_values_count_no_more_than_they_are() {
        let series: Vec<f64> = (0..50).map(|i| f64::from(i % 2)).collect();
        assert_eq!(effective_sample_size(&series), Some(50.0));
        assert!(ljung_box(&series, 5).unwrap().p < 1e-6);
    }

    #[test]
    fn undefined() {
        assert_eq!(effective_sample_size(&[]), None);
        assert_eq!(effective_sample_size(&[1.0]), None);
        assert_eq!(effective_sample_size(&[f64::INFINITY, 1.0]), None);
        assert_eq!(ljung_box(&[1.0, 2.0, 4.0], 3), None);
        assert_eq!(ljung_box(&[1.0, 2.0, 4.0], 0), None);
    }
}
