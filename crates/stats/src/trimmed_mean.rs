//! The mean without the extremes.

use crate::finite::finite;
use crate::moments::mean;
use crate::quantile::sorted;

/// The share that HBench:OS takes off each end: its results are 10 %-trimmed means.
pub const HBENCH_SHARE: f64 = 0.1;

/// The mean of what is left when `floor(share n)` values are taken off each end, for `0 <= share < 1/2`.
///
/// The n%-trimmed mean of HBench:OS: sort, drop the best and the worst n %, average the rest. A. B. Brown and M. I.
/// Seltzer, "Operating System Benchmarking in the Wake of Lmbench", SIGMETRICS 1997. Where the share is no whole number
/// of values, fewer are dropped, so that at most that share is.
pub fn trimmed_mean(values: &[f64], share: f64) -> Option<f64> {
    if !finite(values) || !(0.0..0.5).contains(&share) {
        return None;
    }
    let ordered = sorted(values);
    // The product of a decimal share may fall just below the whole number meant: 0.07 x 100 is 7.000000000000001, 0.29
    // x 100 is 28.999999999999996.
    let dropped = (share * ordered.len() as f64 * (1.0 + 4.0 * f64::EPSILON)).floor() as usize;
    mean(&ordered[dropped..ordered.len() - dropped])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let values = [100.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -50.0];
        assert_eq!(trimmed_mean(&values, HBENCH_SHARE), Some(4.5));
        assert_eq!(trimmed_mean(&values, 0.19), Some(4.5));
        assert_eq!(trimmed_mean(&values[..3], 0.0), mean(&values[..3]));
        assert_eq!(trimmed_mean(&[7.0, 1.0], 0.49), Some(4.0));
    }

    /// A share that is a whole number of values drops that many, whatever its binary rounding.
    #[test]
    fn whole_shares() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i)).collect();
        for percent in 0..50usize {
            let got = trimmed_mean(&values, percent as f64 / 100.0);
            assert_eq!(got, mean(&values[percent..100 - percent]), "{percent} %");
        }
    }

    #[test]
    fn undefined() {
        assert_eq!(trimmed_mean(&[], 0.1), None);
        assert_eq!(trimmed_mean(&[1.0, f64::NAN], 0.1), None);
        assert_eq!(trimmed_mean(&[1.0], 0.5), None);
        assert_eq!(trimmed_mean(&[1.0], f64::NAN), None);
    }
}
