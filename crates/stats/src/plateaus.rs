//! Detection of plateaus in a curve and of the steps between them: cache sizes from latency against
//! working-set size.

use crate::distribution::finite;
use crate::quantile::{NORMAL_SCALE, median, median_absolute_deviation, sorted};

/// Minimum number of points of a plateau; two may lie on a slope.
const FEWEST: usize = 3;
/// A point farther from a plateau than this many standard deviations does not belong to it. Its
/// cost is capped at this distance.
const FAR: f64 = 3.0;

/// A stretch of the curve with one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Index of the first point.
    pub first: usize,
    /// Index of the last point. The capacity that ends the plateau lies between the sizes of this
    /// point and the next.
    pub last: usize,
    /// Median of the values.
    pub level: f64,
}

/// Finds the plateaus of a curve of positive `values`, ordered by size. Levels of neighbouring
/// plateaus differ by more than the share `least_step` (0.15: 15 %).
///
/// The logarithms are divided into stretches of constant level that minimise the total cost. A
/// point costs its squared distance from the median of its stretch, at most `(3 s)^2`; a stretch
/// costs `4 s^2 ln n`. The cap makes outliers harmless (P. Fearnhead and G. Rigaill, "Changepoint
/// Detection in the Presence of Outliers", Journal of the American Statistical Association 114
/// (2019) 169-183). Dynamic programming finds the optimal division (B. Jackson et al., "An
/// Algorithm for Optimal Partitioning of Data on an Interval", IEEE Signal Processing Letters 12
/// (2005) 105-108). The noise s is `1.4826 MAD` of the differences of neighbours over sqrt 2, which
/// is insensitive to steps. s is at least a quarter of the least step, since smaller steps are
/// irrelevant. A plateau has at least three points within 3 s of its median, which excludes the
/// slope between two levels.
///
/// The time is cubic in the number of points: suitable for hundreds of points, not for thousands.
/// `None` for an empty curve, for a value that is not positive, and if `least_step` is not
/// positive.
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

/// Standard deviation of the noise on a curve.
fn noise(curve: &[f64]) -> f64 {
    let differences: Vec<f64> = curve.windows(2).map(|w| w[1] - w[0]).collect();
    let spread = median_absolute_deviation(&differences).unwrap_or(0.0);
    NORMAL_SCALE * spread / std::f64::consts::SQRT_2
}

/// The optimal division, as half-open ranges.
fn stretches(curve: &[f64], noise: f64) -> Vec<(usize, usize)> {
    let n = curve.len();
    let price = 4.0 * noise * noise * (n as f64).ln();
    // For each prefix: its least cost, and the start of its last stretch.
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

/// The median of a stretch. For an even count it is the lower middle value, since the mean of both
/// may lie on no plateau.
fn middle(stretch: &[f64]) -> f64 {
    sorted(stretch)[(stretch.len() - 1) / 2]
}

fn cost(stretch: &[f64], noise: f64) -> f64 {
    let level = middle(stretch);
    let bound = FAR * noise;
    stretch.iter().map(|y| (y - level).abs().min(bound).powi(2)).sum()
}

/// The range from the first to the last point of a stretch that is on its level. `None` if too few
/// points are.
fn flat_part(curve: &[f64], from: usize, to: usize, noise: f64) -> Option<(usize, usize)> {
    let level = middle(&curve[from..to]);
    let on: Vec<usize> = (from..to).filter(|&i| (curve[i] - level).abs() <= FAR * noise).collect();
    (on.len() >= FEWEST).then(|| (on[0], on[on.len() - 1]))
}

/// Whether two consecutive flat parts form one plateau with outliers between them.
fn joins(curve: &[f64], before: (usize, usize), after: (usize, usize), least: f64) -> bool {
    let level = |(first, last): (usize, usize)| middle(&curve[first..=last]);
    (level(after) - level(before)).abs() <= least
}
