//! Tests nodes against their class: p-values with the tail that the nodes show.

use yamba_stats::{Tail, normal_cdf, normal_quantile, upper_tails};

use crate::slow_nodes::column::{Column, Distance};

/// The efficiency of the robust spread: it is as exact as a standard deviation of this share of the
/// nodes.
const EFFICIENCY: f64 = 0.82;

/// With fewer launches, a single figure names no node: two slow launches are too often chance.
const FEWEST_LAUNCHES: usize = 3;

/// One of this many launches of a node may be as fast as those of other nodes.
const TOLERANCE: usize = 6;

/// Up to this many deviations the p-value is that of the normal distribution, since no test depends
/// on it.
const NEAR: f64 = 2.0;

/// The tails of some columns.
pub fn tails(columns: &[&Column]) -> Vec<Tail> {
    let distances: Vec<Vec<f64>> = columns.iter().map(|c| standardised(c)).collect();
    upper_tails(distances.iter().map(Vec::as_slice))
}

fn standardised(column: &Column) -> Vec<f64> {
    let each = column.distances.iter().filter(|d| d.own_deviation > 0.0);
    each.map(|d| d.residual / d.own_deviation).collect()
}

/// Degrees of freedom of the mode's spread.
fn degrees(distance: &Distance, column: &Column) -> f64 {
    (EFFICIENCY * (column.modes[distance.mode].count as f64 - 1.0)).max(1.0)
}

/// The probability that a node of the class is at least this slow: with the spread and the tail
/// that the nodes show, and not less than that of a normal distribution with the least deviation
/// that is assumed.
pub fn p_value(distance: &Distance, column: &Column, tail: &Tail) -> f64 {
    let t = distance.residual / distance.deviation;
    let least = normal_cdf(-t).unwrap_or(1.0);
    if t < NEAR || distance.own_deviation == 0.0 {
        return least;
    }
    let t = distance.residual / distance.own_deviation;
    tail.upper(t, degrees(distance, column)).max(least)
}

/// The residual from which on [`p_value`] is at most `p`.
pub fn critical(distance: &Distance, column: &Column, tail: &Tail, p: f64) -> Option<f64> {
    let t = tail.upper_quantile(p, degrees(distance, column))?;
    let least = distance.deviation * normal_quantile(1.0 - p)?;
    Some(least.max(t * distance.own_deviation))
}

/// The probability that the launches of one node, `own`, are this slow if each is an independent
/// draw from `all`, the launches of all nodes. Both are ascending.
///
/// It is the binomial probability that all but one in six launches reach the slowness that all but
/// one in six reach here. The share of other launches that reach it is counted, and one is added to
/// it. No distribution is assumed: a figure of which every tenth launch takes half as long again on
/// any node names no node.
pub fn p_of_launches(own: &[f64], all: &[f64]) -> f64 {
    let spared = own.len() / TOLERANCE;
    let Some(least) = own.get(spared).filter(|_| own.len() >= FEWEST_LAUNCHES) else {
        return 1.0;
    };
    let count = |launches: &[f64]| launches.len() - launches.partition_point(|x| x < least);
    let others = all.len() - own.len();
    let share = (count(all) - count(own) + 1) as f64 / (others + 1) as f64;
    at_least(own.len() - spared, own.len(), share)
}

/// The probability of at least `k` successes in `n` trials with the probability `share` each.
fn at_least(k: usize, n: usize, share: f64) -> f64 {
    let mut combinations = 1.0;
    let mut sum = 0.0;
    for failures in 0..=n - k {
        sum +=
            combinations * share.powi((n - failures) as i32) * (1.0 - share).powi(failures as i32);
        combinations *= (n - failures) as f64 / (failures + 1) as f64;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_that_are_rare_elsewhere_are_significant() {
        // Ten nodes with six launches; one of six is slow on each node, and all of one node.
        let mut all: Vec<f64> = (0..54).map(|i| if i % 6 == 0 { 0.4 } else { 0.0 }).collect();
        let own = [0.4; 6];
        all.extend(own);
        all.sort_by(f64::total_cmp);
        let share: f64 = 10.0 / 55.0;
        let exact = share.powi(6) + 6.0 * share.powi(5) * (1.0 - share);
        assert!((p_of_launches(&own, &all) - exact).abs() < 1e-12);
        // Faster than all others.
        assert_eq!(p_of_launches(&[-1.0; 6], &[all.clone(), vec![-1.0; 6]].concat()), 1.0);
        assert_eq!(p_of_launches(&[], &all), 1.0);
    }
}
