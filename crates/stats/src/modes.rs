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
/// While Hartigan's dip test rejects a single mode at `significance`, the values are split in the deepest valley of
/// their density, and each side is looked at again. The density is that of the nearest neighbours (B. W. Silverman,
/// *Density Estimation for Statistics and Data Analysis* (1986), section 5.2), 5 % of the values on each side, at least
/// 4. No side is smaller than that, so that outliers make no mode.
///
/// The test is made to be safe for every distribution with one mode, so it errs far less than `significance` for most,
/// and sees little in few values. At 0.05, the recommended one, of a thousand samples of 66 values no normal, 5
/// exponential and 57 uniform ones show two modes; a second mode with a quarter of the values, six standard deviations
/// off, is found in a third of samples of 66 values and in five sixths of 132.
///
/// `resolution` is the distance of neighbouring values that the clock can tell apart, in the values' unit, 0 if it is
/// fine: each value is first moved within it, at random by `seed`, lest its steps be taken for modes.
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
    Some((!single).then(|| deepest_valley(ordered, fewest)))
}

/// The deepest valley: the place whose window of neighbours on both sides is wider by most than the narrowest window on
/// either side of it; and within it the widest gap.
fn deepest_valley(ordered: &[f64], window: usize) -> usize {
    let n = ordered.len();
    let widths: Vec<f64> = (window..=n - window)
        .map(|place| ordered[place + window - 1] - ordered[place - window])
        .collect();
    let narrowest = |width: &mut f64, next: &f64| {
        *width = width.min(*next);
        Some(*width)
    };
    let left: Vec<f64> = widths.iter().scan(f64::INFINITY, narrowest).collect();
    let right: Vec<f64> = widths.iter().rev().scan(f64::INFINITY, narrowest).collect();
    // A tail is as wide, but has no narrower window beyond it.
    let depth = |i: usize| widths[i] - left[i].max(right[widths.len() - 1 - i]);
    let gap = |place: usize| ordered[place] - ordered[place - 1];
    let valley = (0..widths.len()).max_by(|&i, &j| depth(i).total_cmp(&depth(j)));
    let center = valley.unwrap_or(0) + window;
    let near =
        center.saturating_sub(window - 1).max(window)..=(center + window - 1).min(n - window);
    near.max_by(|&i, &j| gap(i).total_cmp(&gap(j)))
        .unwrap_or(center)
}
