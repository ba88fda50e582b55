//! The levels of a curve, and the steps between them.

use yamba_stats::median;

use super::curve::Points;
use super::partition::{Trend, stretches};

/// The next level takes at least this many times as long. Smaller steps are those of another
/// resource: where a host gives the memory in small pages, a miss of the first level of
/// translations adds less than half to the latency of the second cache.
const NEXT_LEVEL: f64 = 1.5;
/// The price of a level, and its fewest points: see [`stretches`].
const PRICE: f64 = 4.0;
const FEWEST: usize = 3;
/// The step lies between the last point before this share of it is climbed, and the first point
/// from which on all but this share is.
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
    for high in plateaus(points) {
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
    let is_low = |place: &usize| points.y[*place] < limit(FOOT);
    let foot = (low.last..high.first).take_while(is_low).last().unwrap_or(low.last);
    let is_climbed = |place: &usize| points.y[*place] > limit(1.0 - FOOT);
    let after = (foot + 1..=high.first).rev().take_while(is_climbed).last().unwrap_or(high.first);
    Step { at: points.x[foot], between: [points.x[foot], points.x[after]] }
}

/// The stretches of constant level.
fn plateaus(points: &Points) -> Vec<Stretch> {
    let logarithms: Vec<f64> = points.y.iter().map(|y| y.ln()).collect();
    let ranges = stretches(&points.x, &logarithms, Trend::Level, PRICE, FEWEST);
    let stretch = |(from, to): (usize, usize)| {
        let level = median(&points.y[from..to])?;
        Some(Stretch { first: from, last: to - 1, level })
    };
    ranges.into_iter().filter_map(stretch).collect()
}
