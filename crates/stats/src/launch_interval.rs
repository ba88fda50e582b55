//! The confidence interval of a figure between launches.

use crate::median_interval::{MedianInterval, median_interval};

/// The order-statistic interval of the launches' medians, and its coverage.
///
/// The unit of observation is the launch, not the timed batch. Address-space layout and page
/// placement are drawn once per process, so the values inside one are correlated; pooling them
/// would give an interval that is too narrow for the next run (T. Kalibera and R. Jones, "Rigorous
/// Benchmarking in Reasonable Time", ISMM 2013). So each launch counts once, with its median. An
/// order-statistic interval only requires independent launches: the range of six contains the true
/// median of medians in `1 - 2 / 2^6` = 96.9 % of cases, whatever the distribution. Five would give
/// 93.8 %, so six are the fewest for 95 %. With fewer the interval is their range, with its actual
/// `coverage`.
pub fn launch_interval(medians: &[f64], confidence: f64) -> Option<MedianInterval> {
    median_interval(medians, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_launches_give_their_range() {
        let got = launch_interval(&[12.0, 10.0, 11.0, 15.0, 13.0, 14.0], 0.95).unwrap();
        assert_eq!((got.low, got.high, got.rank), (10.0, 15.0, 1));
        assert!((got.coverage - 0.96875).abs() < 1e-15);
    }

    #[test]
    fn fewer_launches_have_lower_coverage() {
        let got = launch_interval(&[2.0, 1.0, 3.0, 4.0, 5.0], 0.95).unwrap();
        assert!((got.coverage - 0.9375).abs() < 1e-15);
        assert_eq!(launch_interval(&[2.0, 1.0], 0.95).unwrap().coverage, 0.5);
        assert_eq!(launch_interval(&[], 0.95), None);
    }

    /// The checkpoints of a run: 9 and 12 launches exclude one and two at each end.
    #[test]
    fn more_launches_narrow_interval() {
        let medians: Vec<f64> = (1..=12).map(f64::from).collect();
        let nine = launch_interval(&medians[..9], 0.95).unwrap();
        assert_eq!((nine.low, nine.high), (2.0, 8.0));
        let twelve = launch_interval(&medians, 0.95).unwrap();
        assert_eq!((twelve.low, twelve.high), (3.0, 10.0));
    }
}
