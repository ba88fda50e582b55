//! The mean without the extremes.

use crate::finite::finite;
use crate::moments::mean;
use crate::quantile::sorted;

/// The share that HBench-OS 1.0 takes off each end: it averages the middle 60 % (its `scripts/stats-full`, and
/// "Statistical analysis policies" in its `doc/interpreting-results`, 1997).
pub const HBENCH_SHARE: f64 = 0.2;

/// The mean of what is left when `floor(share n)` values are taken off each end, for `0 <= share < 1/2`.
///
/// The n %-trimmed mean of HBench-OS: sort, drop n % at the top and at the bottom, average the rest (A. B. Brown and M.
/// I. Seltzer, "Operating System Benchmarking in the Wake of Lmbench", SIGMETRICS 1997). Where the share is no whole
/// number of values, fewer are dropped, as HBench-OS does.
pub fn trimmed_mean(values: &[f64], share: f64) -> Option<f64> {
    if !finite(values) || !(0.0..0.5).contains(&share) {
        return None;
    }
    let ordered = sorted(values);
    // The product of a decimal share may fall just below the whole number meant: 0.29 x 100 is 28.999999999999996.
    let dropped = (share * ordered.len() as f64 * (1.0 + 4.0 * f64::EPSILON)).floor() as usize;
    let dropped = dropped.min((ordered.len() - 1) / 2);
    mean(&ordered[dropped..ordered.len() - dropped])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let values = [100.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -50.0];
        assert_eq!(trimmed_mean(&values, 0.1), Some(4.5));
        assert_eq!(trimmed_mean(&values, 0.19), Some(4.5));
        assert_eq!(trimmed_mean(&values[..3], 0.0), mean(&values[..3]));
        assert_eq!(trimmed_mean(&[7.0, 1.0], 0.49), Some(4.0));
    }

    /// HBench-OS keeps `int(0.2 n)` at each end out: 2 of 11.
    #[test]
    fn hbench() {
        let values = [90.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0, -50.0, 70.0];
        let middle = [2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 9.0];
        assert_eq!(trimmed_mean(&values, HBENCH_SHARE), mean(&middle));
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
