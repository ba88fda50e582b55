//! The levels of a curve, and the steps between them.

use yamba_stats::median;

use super::curve::Points;
use super::partition::{Trend, divisions};

/// A smaller step is irrelevant.
pub(crate) const LEAST_STEP: f64 = 0.15;
/// The next level takes at least this many times as long. Smaller steps are those of another
/// resource: where a host gives the memory in small pages, a miss of the first level of
/// translations adds less than half to the latency of the second cache.
const NEXT_LEVEL: f64 = 1.5;
/// The fewest points of a level. Fewer may lie on the climb between two levels.
const FEWEST: usize = 3;
/// The step lies between the points where this share of it is climbed, and where all but this share
/// is.
const FOOT: f64 = 0.1;

/// A step from one level to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// The largest point before the climb.
    pub at: f64,
    /// The points between which the step lies.
    pub between: [f64; 2],
}

/// The levels of a curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Levels {
    /// The time on each level, ascending.
    pub level: Vec<f64>,
    /// The step after each level but the last.
    pub steps: Vec<Step>,
}

/// Points with one level: from the first to the last place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    first: usize,
    last: usize,
    level: f64,
}

/// The ascending levels of a curve. A stretch that is not much higher than the level before is no
/// level of its own.
pub(crate) fn levels(points: &Points) -> Levels {
    let mut levels = Levels::default();
    let mut low: Option<Stretch> = None;
    for high in stretches(points) {
        match low {
            Some(before) if high.level < NEXT_LEVEL * before.level => continue,
            Some(before) => levels.steps.push(step(points, before, high)),
            None => {}
        }
        levels.level.push(high.level);
        low = Some(high);
    }
    levels
}

/// The step from one stretch to the next.
fn step(points: &Points, low: Stretch, high: Stretch) -> Step {
    let limit = |share: f64| low.level + share * (high.level - low.level);
    let between = low.last..high.first;
    let foot = between.clone().rev().find(|place| points.y[*place] < limit(FOOT));
    let foot = foot.unwrap_or(low.last);
    let is_climbed = |place: &usize| points.y[*place] > limit(1.0 - FOOT);
    let after = (foot + 1..=high.first).find(is_climbed).unwrap_or(high.first);
    Step { at: points.x[foot], between: [points.x[foot], points.x[after]] }
}

/// Divides positive values into stretches of constant level, and leaves out those of fewer than
/// three points.
fn stretches(points: &Points) -> Vec<Stretch> {
    let logarithms: Vec<f64> = points.y.iter().map(|y| y.ln()).collect();
    let noise = noise(&logarithms);
    let price = 4.0 * noise * noise * (logarithms.len() as f64).ln();
    let found = divisions(&points.x, &logarithms, Trend::Level, price);
    let wide = found.into_iter().filter(|(from, to)| to - from >= FEWEST);
    let stretch = |(from, to): (usize, usize)| {
        let level = median(&points.y[from..to])?;
        Some(Stretch { first: from, last: to - 1, level })
    };
    wide.filter_map(stretch).collect()
}

/// The noise of a curve of logarithms, by the median difference of neighbours, which is insensitive
/// to steps. At least a quarter of the least step: smaller steps are irrelevant.
pub(crate) fn noise(logarithms: &[f64]) -> f64 {
    let differences: Vec<f64> = logarithms.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    // The median of |a - b| of two normal values is 0.954 s.
    let noise = median(&differences).unwrap_or(0.0) / 0.954;
    noise.max(0.25 * LEAST_STEP.ln_1p())
}
