//! Plateaus of a curve, and the steps between them: cache sizes from latency against working set.

use crate::deviation::{NORMAL_SCALE, median_absolute_deviation};
use crate::finite::finite;
use crate::quantile::{median, sorted};

/// The fewest points that make a plateau; two may be a slope's.
const FEWEST: usize = 3;
/// Beyond this many standard deviations a point does not belong to a plateau, and costs no more than one just there.
const FAR: f64 = 3.0;

/// A stretch of the curve with one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// The first point on it, as an index into the curve.
    pub first: usize,
    /// The last point on it. The capacity that ends it lies between this point's size and the next point's.
    pub last: usize,
    /// The median of its values.
    pub level: f64,
}

/// The plateaus of a curve whose positive `values` are in the order of their sizes. Levels of neighbouring plateaus
/// differ by more than the share `least_step` (0.15: 15 %).
///
/// The logarithms are cut into stretches of constant level, so that the sum of their costs is least: for each point its
/// squared distance from its stretch's median, at most `(3 s)^2`, and for each stretch `4 s^2 ln n`. The bound makes
/// outliers harmless (P. Fearnhead and G. Rigaill, "Changepoint Detection in the Presence of Outliers", Journal of the
/// American Statistical Association 114 (2019) 169-183); the best cut of all is found by dynamic programming (B.
/// Jackson et al., "An Algorithm for Optimal Partitioning of Data on an Interval", IEEE Signal Processing Letters 12
/// (2005) 105-108). s is the noise, `1.4826 MAD` of the differences of neighbours over sqrt 2, which steps do not move;
/// at least a quarter of the least step, since what is less is of no interest. A plateau has at least three points
/// within 3 s of its median: the slope between two levels is none.
///
/// Work grows with the cube of the number of points: curves of hundreds, not of thousands. None for an empty curve or
/// one with a value that is not positive, and unless `least_step` is.
pub fn plateaus(values: &[f64], least_step: f64) -> Option<Vec<Plateau>> {
    let logarithms: Vec<f64> = values.iter().map(|x| x.ln()).collect();
    if !(finite(&logarithms) && least_step > 0.0 && least_step.is_finite()) {
        return None;
    }
    let least = least_step.ln_1p();
    let noise = noise(&logarithms).max(0.25 * least);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (from, to) in stretches(&logarithms, noise) {
        let Some(flat) = flat_part(&logarithms, from, to, noise) else {
            continue;
        };
        match found.last_mut() {
            Some(before) if joins(&logarithms, *before, flat, least) => before.1 = flat.1,
            _ => found.push(flat),
        }
    }
    let plateau = |&(first, last): &(usize, usize)| {
        let level = median(&values[first..=last])?;
        Some(Plateau { first, last, level })
    };
    found.iter().map(plateau).collect()
}

/// The standard deviation of the noise on a curve.
fn noise(curve: &[f64]) -> f64 {
    let differences: Vec<f64> = curve.windows(2).map(|w| w[1] - w[0]).collect();
    let spread = median_absolute_deviation(&differences).unwrap_or(0.0);
    NORMAL_SCALE * spread / std::f64::consts::SQRT_2
}

/// The best cut, as ranges from (included) to (excluded).
fn stretches(curve: &[f64], noise: f64) -> Vec<(usize, usize)> {
    let n = curve.len();
    let price = 4.0 * noise * noise * (n as f64).ln();
    // The least cost of what is before each point, and where its last stretch begins.
    let mut best = vec![(0.0, 0)];
    for to in 1..=n {
        let mut least = (f64::INFINITY, 0);
        for (from, before) in best.iter().enumerate() {
            let total = before.0 + price + cost(&curve[from..to], noise);
            if total < least.0 {
                least = (total, from);
            }
        }
        best.push(least);
    }
    let mut cuts = Vec::new();
    let mut to = n;
    while to > 0 {
        let from = best[to].1;
        cuts.push((from, to));
        to = from;
    }
    cuts.reverse();
    cuts
}

/// The middle of a stretch; of two middle values the lower, since their mean may lie on no plateau.
fn middle(stretch: &[f64]) -> f64 {
    sorted(stretch)[(stretch.len() - 1) / 2]
}

fn cost(stretch: &[f64], noise: f64) -> f64 {
    let level = middle(stretch);
    let bound = FAR * noise;
    stretch
        .iter()
        .map(|y| (y - level).abs().min(bound).powi(2))
        .sum()
}

/// From the first to the last point of a stretch that is on its level, if that is enough of them.
fn flat_part(curve: &[f64], from: usize, to: usize, noise: f64) -> Option<(usize, usize)> {
    let level = middle(&curve[from..to]);
    let on: Vec<usize> = (from..to)
        .filter(|&i| (curve[i] - level).abs() <= FAR * noise)
        .collect();
    (on.len() >= FEWEST).then(|| (on[0], on[on.len() - 1]))
}

/// Whether two flat parts that follow each other are one plateau, with outliers between them.
fn joins(curve: &[f64], before: (usize, usize), after: (usize, usize), least: f64) -> bool {
    let level = |(first, last): (usize, usize)| middle(&curve[first..=last]);
    (level(after) - level(before)).abs() <= least
}
