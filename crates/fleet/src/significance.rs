//! Tests nodes against their class: p-values with the tail that the nodes show.

use yamba_stats::{Tail, student_t_cdf, student_t_quantile, upper_half_tail};

use crate::column::{Column, Distance};

/// The efficiency of the robust spread: it is as exact as a standard deviation of this share of the nodes.
const EFFICIENCY: f64 = 0.82;

/// The tails of some columns, each at least as heavy as that of all together.
pub fn tails(columns: &[&Column]) -> Vec<Tail> {
    let distances: Vec<Vec<f64>> = columns.iter().map(|c| standardised(c)).collect();
    let pooled = tail(distances.iter().flatten());
    let own = distances.iter().map(|distances| tail(distances.iter()));
    let heavier = |own: Tail| {
        if own.degrees < pooled.degrees {
            own
        } else {
            pooled
        }
    };
    own.map(heavier).collect()
}

/// The robust spread is that of a normal distribution already.
fn tail<'a>(distances: impl Iterator<Item = &'a f64>) -> Tail {
    let found = upper_half_tail(distances);
    if found.degrees == Tail::NORMAL.degrees {
        Tail::NORMAL
    } else {
        found
    }
}

fn standardised(column: &Column) -> Vec<f64> {
    let each = column.distances.iter();
    each.map(|d| d.residual / d.deviation).collect()
}

/// Degrees of freedom of a distance: those of the tail and of the estimated spread together.
fn degrees(tail: Tail, nodes: usize) -> f64 {
    let of_spread = EFFICIENCY * (nodes as f64 - 1.0);
    (1.0 / (1.0 / tail.degrees + 1.0 / of_spread)).max(1.0)
}

/// The probability that a node of the class is at least this slow.
pub fn p_value(distance: &Distance, column: &Column, tail: Tail) -> f64 {
    let degrees = degrees(tail, column.modes[distance.mode].count);
    let t = distance.residual / (distance.deviation * tail.scale);
    student_t_cdf(-t, degrees).unwrap_or(1.0)
}

/// The residual from which on `p_value` is at most `p`.
pub fn critical(distance: &Distance, column: &Column, tail: Tail, p: f64) -> Option<f64> {
    let degrees = degrees(tail, column.modes[distance.mode].count);
    let t = student_t_quantile(1.0 - p, degrees)?;
    Some(t * distance.deviation * tail.scale)
}
