//! The steps of a curve whose values may rise steadily between them.

use yamba_stats::{Line, linear_regression};

use super::curve::Points;
use super::levels::Step;
use super::partition::{Trend, stretches};

/// The price of a stretch, and its fewest points: see [`stretches`].
const PRICE: f64 = 6.0;
const FEWEST: usize = 4;

/// A step of a buffer doubles a time that two misses shared: a smaller jump is a kink of the curve.
const LEAST_JUMP: f64 = 0.2;

/// A stretch of the curve with a line through the logarithms of its values.
struct Stretch {
    first: usize,
    last: usize,
    line: Line,
}

/// The jumps upwards between stretches. The jump is the distance of both lines in the middle
/// between the stretches.
pub(crate) fn steps(points: &Points) -> Vec<Step> {
    let logarithms: Vec<f64> = points.y.iter().map(|y| y.ln()).collect();
    let ranges = stretches(&points.x, &logarithms, Trend::Line, PRICE, FEWEST);
    let stretch = |(from, to): (usize, usize)| {
        let places = from..to;
        let part: Vec<(f64, f64)> = places.map(|i| (points.x[i], logarithms[i])).collect();
        Some(Stretch { first: from, last: to - 1, line: linear_regression(&part)? })
    };
    let found: Vec<Stretch> = ranges.into_iter().filter_map(stretch).collect();
    found.windows(2).filter_map(|w| jump(points, &logarithms, &w[0], &w[1])).collect()
}

/// The step between two stretches, if there is one.
fn jump(points: &Points, logarithms: &[f64], low: &Stretch, high: &Stretch) -> Option<Step> {
    let middle = (points.x[low.last] + points.x[high.first]) / 2.0;
    let [from, to] = [low, high].map(|s| s.line.intercept + s.line.slope * middle);
    if to - from < LEAST_JUMP.ln_1p() {
        return None;
    }
    let half = (from + to) / 2.0;
    let below = (low.last..high.first).rev().find(|place| logarithms[*place] < half);
    Some(Step {
        at: points.x[below.unwrap_or(low.last)],
        between: [points.x[low.last], points.x[high.first]],
    })
}
