//! Times in core cycles: each interval by the length of a cycle around it. Pure.

use yamba_record::Interval;
use yamba_stats::{NORMAL_SCALE, median, median_absolute_deviation};

use super::estimate::Estimate;

/// What a note begins with that says why there are no cycles.
pub(super) const UNKNOWN: &str = "cycles are unknown";

/// By how much the two chains may differ: one of them is not what it should be beyond that.
const AGREE: f64 = 0.002;

/// Cycles an operation. The benchmark and its dummy each by the cycle of their own moment.
pub(super) fn of(interval: &Interval) -> Option<f64> {
    let length = interval.cycle_ns.filter(|c| *c > 0.0)?;
    let dummy_length = interval.dummy_cycle_ns.filter(|c| *c > 0.0);
    let stretch = interval.ns / length - interval.dummy_ns / dummy_length.unwrap_or(length);
    let cycles = stretch / interval.operations as f64;
    cycles.is_finite().then_some(cycles)
}

/// The length of a cycle is itself known to a thousandth: a clock advances in steps, and a stretch has a beginning and an end that the
/// chain has not. Launches share this error, so that their agreement cannot show it; known delays of 1 to 100 cycles come out
/// within 0.08 %.
const OWN_ERROR: f64 = 0.001;

/// An interval that allows for what a cycle is known to.
pub(super) fn with_own_error(mut cycles: Estimate) -> Estimate {
    let [low, high] = cycles.interval;
    let error = OWN_ERROR * cycles.median.abs();
    cycles.interval = [low - error, high + error];
    cycles
}

/// What the second chain says a cycle is, as a multiple of what the first one says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SecondOpinion {
    /// The median of the readings' ratios.
    pub ratio: f64,
    /// What the median of so many readings is known to: two standard errors, from their absolute deviations.
    pub error: f64,
}

/// None if the second chain was never asked. Only readings of the same moment are compared, since the clock rate moves: the second
/// chain runs right after the dummy's stretch.
pub(super) fn second_opinion(intervals: &[&Interval]) -> Option<SecondOpinion> {
    let both = intervals
        .iter()
        .filter_map(|i| Some(i.check_cycle_ns? / i.dummy_cycle_ns.or(i.cycle_ns)?));
    let ratios: Vec<f64> = both.filter(|r| r.is_finite()).collect();
    let deviation = NORMAL_SCALE * median_absolute_deviation(&ratios)?;
    // The median of normal values has a variance of pi / 2 times that of their mean.
    let of_median = (std::f64::consts::FRAC_PI_2 / ratios.len() as f64).sqrt();
    Some(SecondOpinion {
        ratio: median(&ratios)?,
        error: 2.0 * deviation * of_median,
    })
}

/// What speaks against giving cycles, in words: the chains differ by more than readings so few and so scattered explain.
pub(super) fn doubt(second: SecondOpinion) -> Option<String> {
    let off = (second.ratio - 1.0).abs();
    (off > AGREE + second.error).then(|| {
        format!(
            "{UNKNOWN}: two chains of instructions disagree on their length by {:.1} %",
            off * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(cycle_ns: f64, check_cycle_ns: Option<f64>) -> Interval {
        Interval {
            operations: 100,
            ns: 4000.0,
            dummy_ns: 1000.0,
            cycle_ns: Some(cycle_ns),
            check_cycle_ns,
            ..Interval::default()
        }
    }

    #[test]
    fn each_stretch_by_its_own_cycle() {
        assert_eq!(of(&interval(0.25, None)), Some(120.0));
        let mut slower = interval(0.25, None);
        slower.dummy_cycle_ns = Some(0.5);
        assert_eq!(of(&slower), Some(140.0));
        assert_eq!(of(&interval(0.0, None)), None);
        assert_eq!(of(&Interval::default()), None);
    }

    #[test]
    fn only_what_both_chains_saw_is_compared() {
        let seen = [
            interval(0.25, Some(0.2501)),
            interval(0.5, None),
            interval(0.5, None),
        ];
        let seen: Vec<&Interval> = seen.iter().collect();
        let opinion = second_opinion(&seen).unwrap();
        assert!((opinion.ratio - 1.0004).abs() < 1e-12 && opinion.error == 0.0);
        assert_eq!(doubt(opinion), None);
        assert_eq!(second_opinion(&seen[1..]), None);
    }

    #[test]
    fn chains_that_disagree_are_not_believed() {
        let says = |ratio, error| doubt(SecondOpinion { ratio, error });
        assert_eq!(says(0.9981, 0.0), None);
        assert_eq!(
            says(1.005, 0.0).as_deref(),
            Some(
                "cycles are unknown: two chains of instructions disagree on their length by 0.5 %"
            )
        );
        // So few and scattered readings say nothing yet.
        assert_eq!(says(1.005, 0.004), None);
        let few: Vec<Interval> = [0.2480, 0.2520, 0.2515, 0.2475, 0.2560]
            .map(|c| interval(0.25, Some(c)))
            .to_vec();
        let many: Vec<Interval> = few.iter().cycle().take(500).cloned().collect();
        let ask = |all: &[Interval]| second_opinion(&all.iter().collect::<Vec<_>>()).unwrap();
        assert!((ask(&few).ratio - 1.006).abs() < 1e-12);
        assert_eq!(doubt(ask(&few)), None);
        assert!(doubt(ask(&many)).is_some());
    }
}
