//! Two modes are reported as two, not averaged.

use crate::dip::dip_test;
use crate::finite::finite;
use crate::quantile::{median, sorted};
use crate::random::Random;

/// The least share of the values that makes a mode: what is rarer is outliers.
const LEAST_SHARE: f64 = 0.05;
/// The fewest values that make a mode.
const FEWEST: usize = 4;
/// Uniform samples behind each p-value; they resolve a significance of 0.001.
const SIMULATIONS: usize = 1999;

/// One of the values that a figure takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median of the values about it.
    pub center: f64,
    /// The least of them.
    pub low: f64,
    /// The greatest of them.
    pub high: f64,
    /// Their number as a share of all values.
    pub share: f64,
}

/// The modes, ascending; one if nothing speaks against one.
///
/// While Hartigan's dip test rejects a single mode at `significance`, the values are split in two where the sum of the
/// distances from each side's median is least (W. D. Fisher, "On Grouping for Maximum Homogeneity", Journal of the American
/// Statistical Association 53 (1958) 789-798, with absolute distances, so that an outlier makes no group), and each side is
/// looked at again. No side is smaller than 5 % of the values or than 4 of them. A mode that holds less than some 10 % may be
/// too small for the dip test to see.
///
/// `resolution` is the distance of neighbouring values that the clock can tell apart, in the values' unit, 0 if it is fine:
/// each value is first moved within it, at random by `seed`, lest its steps be taken for modes.
pub fn modes(values: &[f64], resolution: f64, significance: f64, seed: u64) -> Option<Vec<Mode>> {
    if !(finite(values) && resolution >= 0.0 && resolution.is_finite()) {
        return None;
    }
    if !(0.0..1.0).contains(&significance) {
        return None;
    }
    let ordered = sorted(values);
    let mut random = Random::new(seed);
    let moved = ordered
        .iter()
        .map(|x| x + resolution * (random.uniform() - 0.5));
    let moved = sorted(&moved.collect::<Vec<_>>());
    let fewest = FEWEST.max((LEAST_SHARE * values.len() as f64).ceil() as usize);
    let mut found = Vec::new();
    // The rightmost part is on top, so that modes are found in ascending order.
    let mut parts = vec![(0, moved.len())];
    while let Some((from, to)) = parts.pop() {
        match split(&moved[from..to], fewest, significance, seed)? {
            Some(place) => parts.extend([(from + place, to), (from, from + place)]),
            None => found.push(mode(&ordered, from, to)?),
        }
    }
    Some(found)
}

fn mode(ordered: &[f64], from: usize, to: usize) -> Option<Mode> {
    Some(Mode {
        center: median(&ordered[from..to])?,
        low: ordered[from],
        high: ordered[to - 1],
        share: (to - from) as f64 / ordered.len() as f64,
    })
}

/// Where to split, if there is more than one mode.
fn split(ordered: &[f64], fewest: usize, significance: f64, seed: u64) -> Option<Option<usize>> {
    if ordered.len() < 2 * fewest {
        return Some(None);
    }
    let single = dip_test(ordered, SIMULATIONS, seed)?.p > significance;
    Some((!single).then(|| best_split(ordered, fewest)))
}

fn best_split(ordered: &[f64], fewest: usize) -> usize {
    // About the middle value, so that the sums stay exact.
    let middle = ordered[ordered.len() / 2];
    let mut sums = vec![0.0];
    for x in ordered {
        sums.push(sums[sums.len() - 1] + (x - middle));
    }
    // The distances from the median are the upper half's sum less the lower half's.
    let distances = |from: usize, to: usize| {
        let half = (to - from) / 2;
        (sums[to] - sums[to - half]) - (sums[from + half] - sums[from])
    };
    let cost = |&place: &usize| distances(0, place) + distances(place, ordered.len());
    (fewest..=ordered.len() - fewest)
        .min_by(|a, b| cost(a).total_cmp(&cost(b)))
        .unwrap_or(fewest)
}
