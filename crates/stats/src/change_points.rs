//! Change points of a series.

use fastrand::Rng;

use crate::distribution::finite;
use crate::quantile::median;

/// Number of permutations per test. The least possible p-value is 1 / (this + 1).
const PERMUTATIONS: usize = 499;

/// Minimum length of a segment. Fewer values may be outliers.
const LEAST_SEGMENT: usize = 3;

/// A change of level in the series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub index: usize,
    /// Median from the previous change point, or the beginning, to this one.
    pub before: f64,
    /// Median from this change point to the next, or the end.
    pub after: f64,
    /// The p-value of the hypothesis that there is no change here: at least 1 / 500, since 499
    /// permutations are drawn.
    pub p: f64,
}

/// Finds change points with E-divisive means. In a segment, the candidate is the split with the
/// greatest energy distance between its parts, `Q = m n / (m + n) * (2 mean |x_i - y_j| - mean |x_i
/// - x_k| - mean |y_j - y_k|)`. It is a change if at most the share `significance` of permutations
/// within the current segments has a greater distance anywhere. The search continues in the parts
/// until it finds no further change. It assumes no distribution, and a single outlier is no change,
/// because a segment has at least three values. Finally, changes of the median by less than
/// `least`, in the unit of the values, are removed, the smallest first.
///
/// D. S. Matteson and N. A. James, "A Nonparametric Approach for Multiple Change Point Analysis of
/// Multivariate Data", Journal of the American Statistical Association 109 (2014) 334-345, with
/// exponent 1 and binary splits as in D. Daly et al., "The Use of Change Point Detection to
/// Identify Software Performance Regressions in a Continuous Integration System", ICPE 2020. `None`
/// for no values or non-finite ones.
pub fn change_points(
    values: &[f64],
    significance: f64,
    least: f64,
    seed: u64,
) -> Option<Vec<ChangePoint>> {
    if !finite(values) {
        return None;
    }
    let mut random = Rng::with_seed(seed);
    let mut found: Vec<(usize, f64)> = Vec::new();
    while let Some((index, energy)) = best(values, &found) {
        let p = p_value(values, &found, energy, &mut random);
        if p > significance {
            break;
        }
        found.push((index, p));
        found.sort_by_key(|(index, _)| *index);
    }
    loop {
        let levels = levels(values, &found);
        let step = |i: &usize| (levels[i + 1] - levels[*i]).abs();
        let smallest = (0..found.len()).min_by(|i, j| step(i).total_cmp(&step(j)));
        match smallest.filter(|i| step(i) < least) {
            Some(i) => found.remove(i),
            None => return Some(change_point_list(&found, &levels)),
        };
    }
}

fn change_point_list(found: &[(usize, f64)], levels: &[f64]) -> Vec<ChangePoint> {
    found
        .iter()
        .zip(levels.windows(2))
        .map(|((index, p), level)| ChangePoint {
            index: *index,
            before: level[0],
            after: level[1],
            p: *p,
        })
        .collect()
}

/// The first index of each segment, and the end.
fn bounds(length: usize, found: &[(usize, f64)]) -> Vec<usize> {
    let inner = found.iter().map(|(index, _)| *index);
    [0].into_iter().chain(inner).chain([length]).collect()
}

/// The median of each segment.
fn levels(values: &[f64], found: &[(usize, f64)]) -> Vec<f64> {
    let bounds = bounds(values.len(), found);
    let segments = bounds.windows(2).map(|w| &values[w[0]..w[1]]);
    segments.filter_map(median).collect()
}

/// The split with the greatest energy in any segment.
fn best(values: &[f64], found: &[(usize, f64)]) -> Option<(usize, f64)> {
    let bounds = bounds(values.len(), found);
    let of_segment = |w: &[usize]| {
        let (place, energy) = split(&values[w[0]..w[1]])?;
        Some((w[0] + place, energy))
    };
    let all = bounds.windows(2).filter_map(of_segment);
    all.max_by(|(_, x), (_, y)| x.total_cmp(y))
}

/// The p-value of a split: the share of permutations within segments, the original order included,
/// with at least this energy.
fn p_value(values: &[f64], found: &[(usize, f64)], energy: f64, random: &mut Rng) -> f64 {
    let mut permuted = values.to_vec();
    let bounds = bounds(values.len(), found);
    let mut as_good = 1;
    for _ in 0..PERMUTATIONS {
        for w in bounds.windows(2) {
            random.shuffle(&mut permuted[w[0]..w[1]]);
        }
        as_good += usize::from(best(&permuted, found).is_some_and(|(_, e)| e >= energy));
    }
    as_good as f64 / (PERMUTATIONS + 1) as f64
}

/// The best split of a segment and its energy. `None` if the segment is too short. The loop moves
/// one value at a time from the right part to the left and updates the sums of distances.
fn split(segment: &[f64]) -> Option<(usize, f64)> {
    let n = segment.len();
    let (mut left, mut right, mut across) = (0.0, distances(segment), 0.0);
    let mut best: Option<(usize, f64)> = None;
    for (at, value) in segment.iter().enumerate() {
        let to = |others: &[f64]| others.iter().map(|x| (x - value).abs()).sum::<f64>();
        let (to_left, to_right) = (to(&segment[..at]), to(&segment[at + 1..]));
        left += to_left;
        right -= to_right;
        across += to_right - to_left;
        let (k, m) = (at + 1, n - at - 1);
        if k < LEAST_SEGMENT || m < LEAST_SEGMENT {
            continue;
        }
        let (x, y) = (k as f64, m as f64);
        let within = 2.0 * left / (x * (x - 1.0)) + 2.0 * right / (y * (y - 1.0));
        let energy = x * y / (x + y) * (2.0 * across / (x * y) - within);
        if best.is_none_or(|(_, e)| energy > e) {
            best = Some((k, energy));
        }
    }
    best
}

/// The sum of distances over all pairs.
fn distances(values: &[f64]) -> f64 {
    values
        .iter()
        .enumerate()
        .map(|(i, x)| values[..i].iter().map(|y| (x - y).abs()).sum::<f64>())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal_quantile;

    /// A series with these levels and normal noise of standard deviation 1.
    fn series(levels: &[(usize, f64)], seed: u64) -> Vec<f64> {
        let mut random = Rng::with_seed(seed);
        let mut draw =
            || normal_quantile(0.5 / 9007199254740992.0 + random.f64() * 0.999_999).unwrap();
        levels
            .iter()
            .flat_map(|(count, level)| (0..*count).map(|_| level + draw()).collect::<Vec<_>>())
            .collect()
    }

    fn places(values: &[f64], least: f64) -> Vec<usize> {
        let found = change_points(values, 0.01, least, 1).unwrap();
        found.iter().map(|c| c.index).collect()
    }

    /// Computed by hand: parts {0, 0, 0} and {1, 1, 1} have 9 / 6 * (2 * 1 - 0 - 0).
    #[test]
    fn energy_of_a_small_segment() {
        assert_eq!(split(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), Some((3, 3.0)));
        assert_eq!(split(&[0.0, 0.0, 0.0, 1.0, 1.0]), None);
        let mixed = [0.0, 2.0, 1.0, 4.0, 3.0, 5.0, 4.0];
        let brute = |k: usize| {
            let (x, y) = mixed.split_at(k);
            let mean = |a: &[f64], b: &[f64], pairs: f64| {
                let all = a.iter().flat_map(|i| b.iter().map(move |j| (i - j).abs()));
                all.sum::<f64>() / pairs
            };
            let (m, n) = (x.len() as f64, y.len() as f64);
            let within = mean(x, x, m * (m - 1.0)) + mean(y, y, n * (n - 1.0));
            m * n / (m + n) * (2.0 * mean(x, y, m * n) - within)
        };
        let (place, energy) = split(&mixed).unwrap();
        assert!((energy - brute(place)).abs() < 1e-12);
        assert!((3..=4).all(|k| brute(k) <= energy + 1e-12));
    }

    #[test]
    fn change_points_are_found_at_true_positions() {
        let (mut exact, mut near) = (0, 0);
        for seed in 0..20 {
            let found = places(&series(&[(20, 0.0), (20, 5.0), (20, 2.0)], seed), 0.0);
            exact += usize::from(found == [20, 40]);
            let is_near =
                found.len() == 2 && found[0].abs_diff(20) < 2 && found[1].abs_diff(40) < 4;
            near += usize::from(is_near);
        }
        assert!(near >= 17 && exact >= 10, "{near}, {exact} of 20");
    }

    /// At 1 %, 2 of 200 noise series are expected to show a change; eight have a probability of
    /// 0.001.
    #[test]
    fn noise_has_no_change_points() {
        let alarms = (0..200).filter(|seed| !places(&series(&[(30, 0.0)], *seed), 0.0).is_empty());
        let alarms = alarms.count();
        assert!(alarms < 8, "{alarms} of 200");
    }

    #[test]
    fn outlier_and_small_step_are_no_change_points() {
        let mut outlier = series(&[(30, 0.0)], 3);
        outlier[15] = 1e6;
        assert!(places(&outlier, 0.0).is_empty());
        let step = series(&[(30, 0.0), (30, 3.0)], 4);
        assert_eq!(places(&step, 1.0).len(), 1);
        assert!(places(&step, 10.0).is_empty());
    }

    #[test]
    fn levels_are_medians_of_segments() {
        let values = [1.0, 1.1, 0.9, 1.0, 1.0, 1.1, 2.0, 2.1, 1.9, 2.0, 2.0, 2.1];
        let [change] = change_points(&values, 0.01, 0.0, 1).unwrap()[..] else { panic!() };
        assert_eq!((change.index, change.before, change.after), (6, 1.0, 2.0));
        assert!(change.p <= 0.01);
        assert_eq!(change_points(&[], 0.01, 0.0, 1), None);
        assert_eq!(change_points(&[1.0, f64::NAN], 0.01, 0.0, 1), None);
        assert_eq!(change_points(&[1.0; 30], 0.01, 0.0, 1), Some(vec![]));
    }
}
