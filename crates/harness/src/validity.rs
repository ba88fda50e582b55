//! Checks whether a figure is valid: evidence, growth with the number of passes, and physical
//! bounds.

use yamba_record::event::{Purpose, Sizing};
use yamba_record::number::number;
use yamba_record::program::{Bound, Physical, Program, Side};
use yamba_record::units::{CYCLES, SPREAD, factor, nanoseconds};
use yamba_record::{Batch, Evidence};
use yamba_stats::{median, sorted};

/// Least ratio of the times at twice and at once the passes. Without growth the ratio is 1, with
/// growth near 2; a disturbed machine moves both.
const GROWTH: f64 = 1.25;

/// Tolerance for bounds: the precision of the clock and of the cycle length.
const SLACK: f64 = 0.01;

/// The evidence of a batch that is outside its bounds. A missing number counts as outside.
pub(super) fn outside(program: &Program, batch: &Batch) -> Vec<String> {
    let is_outside = |bound: &&Bound| {
        let value = batch.evidence.get(&bound.name).copied().flatten();
        let expects = bound.expects;
        expects.is_some_and(|expects| !value.is_some_and(|v| holds(expects, v)))
    };
    let outside = program.evidence.iter().filter(is_outside);
    outside.map(|bound| bound.name.clone()).collect()
}

fn holds(expects: [Option<f64>; 2], value: f64) -> bool {
    expects[0].is_none_or(|low| value >= low) && expects[1].is_none_or(|high| value <= high)
}

/// The message about batches whose evidence is outside its bounds.
pub(super) fn evidence_fails(name: &str, evidence: &Evidence, batches: usize) -> String {
    let side = |s: Option<f64>, open: &str| s.map_or(open.to_owned(), number);
    let expects = evidence.expects.unwrap_or_default();
    format!(
        "{name} is {} (median), expected [{}, {}]; outside in {} of {batches} batches",
        evidence.median.map_or("no number".to_owned(), number),
        side(expects[0], "-inf"),
        side(expects[1], "inf"),
        evidence.outside,
    )
}

/// Whether the benchmark takes longer at 2N than at N passes, measured alternately. Either of two
/// ratios may show it: that of the minima, which disturbances do not lengthen, or the median over
/// the pairs, whose two times a slow drift lengthens alike.
pub(super) fn grows(sizing: &[Sizing]) -> bool {
    let trials = || sizing.iter().filter(|s| s.purpose == Purpose::Growth);
    let Some(fewer) = trials().map(|s| s.passes).min() else {
        return true;
    };
    let times = |passes: u64| -> Vec<f64> {
        let of_size = trials().filter(|s| s.passes == passes);
        of_size.map(|s| s.ns).collect()
    };
    let (once, twice) = (times(fewer), times(2 * fewer));
    let least = |times: &[f64]| sorted(times).first().copied();
    let (Some(least_once), Some(least_twice)) = (least(&once), least(&twice)) else {
        return true;
    };
    let pairs: Vec<f64> = once.iter().zip(&twice).map(|(a, b)| b / a).collect();
    least_twice >= GROWTH * least_once || median(&pairs).is_some_and(|ratio| ratio >= GROWTH)
}

/// The message about a bound that the figure breaks. `interval` is in the figure's unit, `times` in
/// ns per operation, `cycles` in cycles per operation.
pub(super) fn breaks(
    bound: &Physical,
    unit: &str,
    interval: [f64; 2],
    times: [f64; 2],
    cycles: Option<[f64; 2]>,
) -> Option<String> {
    if bound.unit == SPREAD {
        return spreads(bound.value, unit, interval);
    }
    let own = match bound.unit.as_str() {
        "" => unit,
        own => own,
    };
    let is_cycles = CYCLES.contains(&bound.unit.as_str());
    let (low, high) = if is_cycles {
        cycles?.into()
    } else if let Some(factor) = factor(unit, own) {
        (interval[0] * factor, interval[1] * factor)
    } else {
        let ns = nanoseconds(own)?;
        (times[0] / ns, times[1] / ns)
    };
    let (broken, words) = match bound.kind {
        Side::AtLeast => (high < bound.value * (1.0 - SLACK), "less than"),
        Side::AtMost => (low > bound.value * (1.0 + SLACK), "more than"),
    };
    broken.then(|| {
        format!(
            "impossible: {} to {} {unit_name} is {words} {} {unit_name}",
            number(low),
            number(high),
            number(bound.value),
            unit_name = own,
        )
    })
}

/// The message about an interval whose ends are more than `most` times apart. An interval that
/// reaches below 0 has no ratio.
fn spreads(most: f64, unit: &str, [low, high]: [f64; 2]) -> Option<String> {
    let is_wide = low >= 0.0 && high > low * most * (1.0 + SLACK);
    is_wide.then(|| {
        let times = if low > 0.0 {
            format!("{} times", number(high / low))
        } else {
            "any number of times".to_owned()
        };
        format!(
            "not known: {} to {} {unit} are {times} apart, more than {}",
            number(low),
            number(high),
            number(most),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_with_wide_spread_is_invalid() {
        let message = |interval| {
            let bound = Physical { kind: Side::AtMost, value: 2.0, unit: "spread".to_owned() };
            breaks(&bound, "B", interval, [1.0; 2], None)
        };
        let mib = f64::from(1 << 20);
        assert_eq!(
            message([0.625 * mib, 4.0 * mib]).as_deref(),
            Some("not known: 655360 to 4194304 B are 6.4 times apart, more than 2")
        );
        assert_eq!(message([0.875 * mib, 1.75 * mib]), None);
        assert_eq!(message([0.0, 0.0]), None);
        assert!(message([0.0, mib]).is_some());
    }

    #[test]
    fn bound_without_unit_is_in_unit_of_figure() {
        let message = |kind, unit: &str| {
            let bound = Physical { kind, value: 10.0, unit: unit.to_owned() };
            breaks(&bound, "MB/s", [20.0, 30.0], [1.0; 2], None)
        };
        assert_eq!(
            message(Side::AtMost, "").as_deref(),
            Some("impossible: 20 to 30 MB/s is more than 10 MB/s")
        );
        assert_eq!(message(Side::AtLeast, ""), None);
        assert_eq!(
            message(Side::AtLeast, "GB/s").as_deref(),
            Some("impossible: 0.02 to 0.03 GB/s is less than 10 GB/s")
        );
    }
}
