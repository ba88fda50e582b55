//! Estimates one figure with its confidence interval from the samples of several launches. Pure.

use yamba_record::run::IntervalScope;
use yamba_stats::{MedianInterval, launch_interval, median, median_interval};

/// Confidence level of every interval.
pub(super) const CONFIDENCE: f64 = 0.95;

/// With at least this number of launches, the range of their medians holds the true median of
/// medians with more than [`CONFIDENCE`].
pub(super) const ENOUGH_LAUNCHES: usize = 6;

/// Relative drift between runs. The rates of the core and of the clock differ by parts in ten
/// thousand from run to run. All launches of a run share them, so that their agreement cannot show
/// it. Without this share, the interval holds the figure of the next run in 85 % of cases, and with
/// it in 94 % (docs/notes/lmbench.md).
const DRIFT: f64 = 0.0005;

/// A median with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub median: f64,
    pub confidence_interval: [f64; 2],
    pub kind: IntervalScope,
}

impl Estimate {
    /// Widens an interval between launches to at least [`DRIFT`] on each side of the median.
    pub(super) fn with_drift(mut self) -> Estimate {
        if self.kind == IntervalScope::BetweenLaunches {
            let drift = DRIFT * self.median.abs();
            let [low, high] = self.confidence_interval;
            self.confidence_interval =
                [low.min(self.median - drift), high.max(self.median + drift)];
        }
        self
    }

    /// Multiplies the ends of the interval by these factors, of which the first is at most 1 and
    /// the second at least 1.
    pub(super) fn scaled(mut self, [low, high]: [f64; 2]) -> Estimate {
        let [from, to] = self.confidence_interval;
        // An end below 0 moves away from the median by the other factor.
        let end = |end: f64, near: f64, far: f64| end * if end < 0.0 { far } else { near };
        self.confidence_interval = [end(from, low, high), end(to, high, low)];
        self
    }

    /// Widens the interval to at least a step of the clock on each side of the median. `step` is
    /// relative to the time of a batch.
    ///
    /// A clock that advances in steps gives a short batch one of two times. The batches then agree
    /// on a time that can be wrong by almost a step, so that their agreement does not show the
    /// error.
    pub(super) fn with_clock_step(mut self, step: f64, quantity: Quantity) -> Estimate {
        let (shorter, longer) = (1.0 - step, 1.0 + step);
        if shorter <= 0.0 {
            // The clock does not resolve the time at all, which makes the figure invalid.
            return self;
        }
        let [one, other] = match quantity {
            Quantity::Time => [self.median * shorter, self.median * longer],
            Quantity::Rate => [self.median / longer, self.median / shorter],
        };
        let [low, high] = self.confidence_interval;
        self.confidence_interval = [low.min(one).min(other), high.max(one).max(other)];
        self
    }
}

/// Whether a figure grows or falls with the time of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity {
    Time,
    Rate,
}

/// Estimates the figure from the samples of each launch. With enough launches the unit of
/// observation is the launch: the median of their medians, with a distribution-free interval. With
/// fewer, all samples are pooled, which does not predict the next process.
pub(super) fn estimate(launches: &[Vec<f64>]) -> Option<Estimate> {
    let medians: Vec<f64> = launches.iter().filter_map(|s| median(s)).collect();
    if medians.len() >= ENOUGH_LAUNCHES {
        let interval = launch_interval(&medians, CONFIDENCE)?;
        with_interval(&medians, interval, IntervalScope::BetweenLaunches)
    } else {
        let samples = launches.concat();
        let interval = median_interval(&samples, CONFIDENCE)?;
        with_interval(&samples, interval, IntervalScope::WithinLaunches)
    }
}

/// Estimates the figure of several concurrent processes: the median of all samples of all launches.
/// With enough launches the confidence interval is still that of the launches' medians.
pub(super) fn loaded_estimate(launches: &[Vec<f64>]) -> Option<Estimate> {
    let mut all = estimate(launches)?;
    all.median = median(&launches.concat())?;
    // The median of all samples differs a little from the median of medians: the interval must hold
    // it, too.
    let [low, high] = all.confidence_interval;
    all.confidence_interval = [low.min(all.median), high.max(all.median)];
    Some(all)
}

fn with_interval(
    values: &[f64],
    interval: MedianInterval,
    kind: IntervalScope,
) -> Option<Estimate> {
    Some(Estimate {
        median: median(values)?,
        confidence_interval: [interval.low, interval.high],
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launches(medians: &[f64]) -> Vec<Vec<f64>> {
        let each = medians.iter();
        each.map(|m| vec![m - 1.0, *m, m + 1.0, m + 50.0, m - 50.0]).collect()
    }

    #[test]
    fn six_launches_give_interval_between_launches() {
        let e = estimate(&launches(&[10.0, 12.0, 11.0, 13.0, 15.0, 14.0])).unwrap();
        assert_eq!((e.median, e.confidence_interval), (12.5, [10.0, 15.0]));
        assert_eq!(e.kind, IntervalScope::BetweenLaunches);
        // For nine medians, the interval goes from the second smallest to the second largest.
        let nine = [10.0, 12.0, 11.0, 13.0, 15.0, 14.0, 16.0, 9.0, 99.0];
        assert_eq!(estimate(&launches(&nine)).unwrap().confidence_interval, [10.0, 16.0]);
    }

    #[test]
    fn interval_between_launches_has_at_least_the_drift_between_runs() {
        let narrow = [9_999.0, 10_000.0, 10_000.0, 10_000.0, 10_000.0, 10_007.0];
        let e = estimate(&launches(&narrow)).unwrap().with_drift();
        assert_eq!(e.confidence_interval, [9_995.0, 10_007.0]);
        let within = estimate(&launches(&narrow[..5])).unwrap();
        assert_eq!(within.with_drift(), within);
    }

    #[test]
    fn interval_reaches_a_step_of_the_clock_each_way() {
        // Ten launches whose batches all take 110.4 ns: the clock steps by 10 ns.
        let e = estimate(&vec![vec![110.4; 5]; 10]).unwrap();
        assert_eq!(e.confidence_interval, [110.4; 2]);
        let near = |found: [f64; 2], expected: [f64; 2]| {
            let apart = |i: usize| (found[i] - expected[i]).abs();
            assert!(apart(0) < 1e-9 && apart(1) < 1e-9, "{found:?}");
        };
        let time = e.with_clock_step(10.0 / 110.4, Quantity::Time);
        near(time.confidence_interval, [100.4, 120.4]);
        // 110.4 bytes in 110.4 ns.
        let rate = estimate(&vec![vec![1.0; 5]; 10]).unwrap();
        let rate = rate.with_clock_step(10.0 / 110.4, Quantity::Rate);
        near(rate.confidence_interval, [110.4 / 120.4, 110.4 / 100.4]);
        assert_eq!(e.with_clock_step(1.0, Quantity::Rate), e);
    }

    #[test]
    fn fewer_launches_give_interval_within_launches() {
        let e = estimate(&[vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]]).unwrap();
        assert_eq!((e.median, e.confidence_interval), (3.5, [1.0, 6.0]));
        assert_eq!(e.kind, IntervalScope::WithinLaunches);
        // A launch without samples does not count.
        let mut six = launches(&[1.0; 6]);
        six[3].clear();
        assert_eq!(estimate(&six).unwrap().kind, IntervalScope::WithinLaunches);
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[Vec::new()]), None);
    }

    #[test]
    fn median_under_load_is_of_all_samples() {
        let mut six = launches(&[10.0, 12.0, 11.0, 13.0, 15.0, 14.0]);
        six[0].extend([30.0; 9]);
        let e = loaded_estimate(&six).unwrap();
        assert_eq!((e.median, e.confidence_interval), (14.0, [11.0, 30.0]));
    }
}
