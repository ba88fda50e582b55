//! The steps of a curve whose values may rise steadily between them.

use super::curve::Points;
use super::levels::{LEAST_STEP, Step, noise};
use super::partition::{Line, Trend, divisions, line};

/// The fewest points of a stretch. Fewer may lie on the climb between two.
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
    let noise = noise(&logarithms);
    let price = 6.0 * noise * noise * (logarithms.len() as f64).ln();
    let found = divisions(&points.x, &logarithms, Trend::Line, price);
    let wide = found.into_iter().filter(|(from, to)| to - from >= FEWEST);
    let stretches: Vec<Stretch> = wide
        .map(|(from, to)| Stretch {
            first: from,
            last: to - 1,
            line: line(&points.x[from..to], &logarithms[from..to]),
        })
        .collect();
    stretches.windows(2).filter_map(|w| jump(points, &logarithms, &w[0], &w[1])).collect()
}

/// The step between two stretches, if there is one.
fn jump(points: &Points, logarithms: &[f64], low: &Stretch, high: &Stretch) -> Option<Step> {
    let middle = (points.x[low.last] + points.x[high.first]) / 2.0;
    let (from, to) = (low.line.at(middle), high.line.at(middle));
    if to - from < LEAST_JUMP.max(LEAST_STEP).ln_1p() {
        return None;
    }
    let half = (from + to) / 2.0;
    let below = (low.last..high.first).rev().find(|place| logarithms[*place] < half);
    let below = below.unwrap_or(low.last);
    Some(Step {
        at: points.x[below],
        between: [points.x[low.last].min(points.x[below]), points.x[high.first]],
    })
}
