//! Times in core cycles: each interval by the length of a cycle around it. Pure.

use yamba_record::Interval;
use yamba_stats::median;

use super::estimate::Estimate;

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

/// What the second chain says a cycle is, as a multiple of what the first one says; none if it was never asked. Only readings
/// of the same moment are compared, since the clock rate moves: the second chain runs right after the dummy's stretch.
pub(super) fn second_opinion(intervals: &[&Interval]) -> Option<f64> {
    let both = intervals
        .iter()
        .filter_map(|i| Some((i.dummy_cycle_ns.or(i.cycle_ns)?, i.check_cycle_ns?)));
    let (first, second): (Vec<f64>, Vec<f64>) = both.unzip();
    let ratio = median(&second)? / median(&first)?;
    ratio.is_finite().then_some(ratio)
}

/// What speaks against giving cycles, in words.
pub(super) fn doubt(second_opinion: f64) -> Option<String> {
    let off = (second_opinion - 1.0).abs();
    (off > AGREE).then(|| {
        format!(
            "cycles are unknown: two chains of instructions disagree on their length by {:.1} %",
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
        assert!((opinion - 1.0004).abs() < 1e-12);
        assert_eq!(doubt(opinion), None);
        assert_eq!(second_opinion(&seen[1..]), None);
        assert_eq!(doubt(0.9981), None);
        assert_eq!(
            doubt(1.005).as_deref(),
            Some(
                "cycles are unknown: two chains of instructions disagree on their length by 0.5 %"
            )
        );
    }
}
