//! Hartigan's dip: how far values are from having one mode.

use crate::finite::finite;
use crate::quantile::sorted;
use crate::random::Random;

/// From this size on the distribution of `sqrt n dip` no longer changes noticeably, and larger samples are not
/// simulated.
const LARGE: usize = 1000;

/// The dip and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DipTest {
    /// The dip, between `1 / 2n` and 1/4.
    pub dip: f64,
    /// The p-value of the values having one mode.
    pub p: f64,
}

/// The dip test of unimodality. p is the share of `simulations` uniform samples of the same size, drawn with `seed`,
/// whose dip is as great, the sample itself counted in: of all distributions with one mode the uniform one has the
/// greatest dip in the limit.
///
/// J. A. Hartigan and P. M. Hartigan, "The Dip Test of Unimodality", The Annals of Statistics 13 (1985) 70-84. Beyond
/// 1000 values p is from the limiting distribution of `sqrt n dip`, taken at 1000. Values that a coarse clock rounds
/// have steps, which the test takes for modes: see `modes`.
pub fn dip_test(values: &[f64], simulations: usize, seed: u64) -> Option<DipTest> {
    let dip = dip(values)?;
    let n = values.len().min(LARGE);
    let scaled = dip * (values.len() as f64 / n as f64).sqrt();
    let mut random = Random::new(seed);
    let mut sample = vec![0.0; n];
    let mut as_great = 1;
    for _ in 0..simulations {
        sample.fill_with(|| random.uniform());
        sample.sort_unstable_by(f64::total_cmp);
        as_great += usize::from(of_sorted(&sample) >= scaled);
    }
    Some(DipTest {
        dip,
        p: as_great as f64 / (simulations + 1) as f64,
    })
}

/// The dip: the least distance, over all distributions with one mode, of the greatest difference between the values'
/// distribution function and theirs.
pub fn dip(values: &[f64]) -> Option<f64> {
    finite(values).then(|| of_sorted(&sorted(values)))
}

/// After P. M. Hartigan, Algorithm AS 217, Applied Statistics 34 (1985) 320-325. A distribution with one mode is convex
/// before and concave after it. So in the interval that may hold the mode, at first everything, the greatest convex
/// function below and the least concave one above the steps are put; where they are farthest apart, the mode's interval
/// ends; what of the steps is outside it, differs from them by at least the dip. That is repeated while the gap is the
/// greater.
///
/// Distances are counted in steps here (n of them make 1), and are twice the dip.
fn of_sorted(x: &[f64]) -> f64 {
    let n = x.len();
    let (mut low, mut high) = (0, n - 1);
    let mut twice = 1.0f64;
    while x[low] < x[high] {
        let convex = hull(x, low, high, |turn| turn > 0.0);
        let concave = hull(x, low, high, |turn| turn < 0.0);
        let gap = widest_gap(x, &convex, &concave);
        if gap.width < twice {
            break;
        }
        let below = convex.iter().filter(|&&i| i <= gap.low);
        let above = concave.iter().filter(|&&i| i >= gap.high);
        twice = twice
            .max(deviation(x, below, |over| over + 1.0))
            .max(deviation(x, above, |over| 1.0 - over));
        if (gap.low, gap.high) == (low, high) {
            break;
        }
        (low, high) = (gap.low, gap.high);
    }
    twice / (2 * n) as f64
}

/// The corners of the hull of the points `(x[i], i)` from low to high that turns as it should at each.
fn hull(x: &[f64], low: usize, high: usize, turns: impl Fn(f64) -> bool) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for i in low..=high {
        while let [.., a, b] = corners[..] {
            let turn = (x[b] - x[a]) * (i - b) as f64 - (x[i] - x[b]) * (b - a) as f64;
            if turns(turn) {
                break;
            }
            corners.pop();
        }
        corners.push(i);
    }
    corners
}

/// The widest gap between the two hulls, and the interval of the mode that it leaves.
struct Gap {
    width: f64,
    low: usize,
    high: usize,
}

fn widest_gap(x: &[f64], convex: &[usize], concave: &[usize]) -> Gap {
    let mut widest = Gap {
        width: 0.0,
        low: convex[0],
        high: convex[convex.len() - 1],
    };
    // The gap is widest at a corner. Where the corner is one of the convex hull, the mode is sought from it on to the
    // next corner of the concave one, and the other way round.
    for &i in convex {
        let j = concave.partition_point(|&c| c < i);
        let width = height(x, concave, j, i) - i as f64 + 1.0;
        if i != concave[j] && width > widest.width {
            widest = Gap {
                width,
                low: i,
                high: concave[j],
            };
        }
    }
    for &i in concave {
        let j = convex.partition_point(|&c| c < i);
        let width = i as f64 - height(x, convex, j, i) + 1.0;
        if i != convex[j] && width > widest.width {
            widest = Gap {
                width,
                low: convex[j - 1],
                high: i,
            };
        }
    }
    widest
}

/// The height at `x[i]` of the hull's edge that ends at its corner j.
fn height(x: &[f64], corners: &[usize], j: usize, i: usize) -> f64 {
    if corners[j] == i {
        return i as f64;
    }
    let (a, b) = (corners[j - 1], corners[j]);
    between(x, a, b, i)
}

/// The height at `x[i]` of the line from point a to point b. The quotient comes first, since a slope may overflow.
fn between(x: &[f64], a: usize, b: usize, i: usize) -> f64 {
    a as f64 + (x[i] - x[a]) / (x[b] - x[a]) * (b - a) as f64
}

/// The greatest distance of the steps from the edges between these corners; `step` says from which end of a step it
/// counts.
fn deviation<'a>(
    x: &[f64],
    corners: impl Iterator<Item = &'a usize>,
    step: impl Fn(f64) -> f64,
) -> f64 {
    let corners: Vec<usize> = corners.copied().collect();
    let mut most = 0.0f64;
    for edge in corners.windows(2) {
        let (a, b) = (edge[0], edge[1]);
        if x[b] > x[a] {
            for i in a..=b {
                most = most.max(step(i as f64 - between(x, a, b, i)));
            }
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evenly spread values differ from the uniform distribution by half a step, two heaps from any with one mode by a
    /// quarter.
    #[test]
    fn bounds() {
        let even: Vec<f64> = (0..20).map(f64::from).collect();
        assert!((dip(&even).unwrap() - 1.0 / 40.0).abs() < 1e-15);
        let heaps = [vec![0.0; 10], vec![1.0; 10]].concat();
        assert!((dip(&heaps).unwrap() - 0.25).abs() < 1e-15);
    }

    #[test]
    fn edges() {
        assert_eq!(dip(&[]), None);
        assert_eq!(dip(&[1.0, f64::NAN]), None);
        assert_eq!(dip(&[1.0]), Some(0.5));
        assert_eq!(dip_test(&[3.0; 30], 100, 1).unwrap().p, 1.0);
        assert_eq!(dip_test(&[3.0; 30], 0, 1).unwrap().p, 1.0);
    }

    #[test]
    fn large_samples_are_scaled() {
        let mut random = Random::new(7);
        let values: Vec<f64> = (0..4000).map(|_| random.uniform()).collect();
        assert!(dip_test(&values, 100, 1).unwrap().p > 0.05);
        let apart: Vec<f64> = values.iter().map(|x| x + (x * 2.0).floor()).collect();
        assert!(dip_test(&apart, 100, 1).unwrap().p < 0.01);
    }
}
