//! Distribution-free confidence intervals of any quantile.

use crate::distribution::upper_tail;
use crate::finite::finite;
use crate::quantile::{quantile, sorted};

/// A quantile and an interval between two order statistics, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileInterval {
    /// The sample's quantile, by `quantile`.
    pub estimate: f64,
    /// The lower end. `None` if there are too few values for one.
    pub low: Option<f64>,
    /// The upper end. `None` if there are too few values for one.
    pub high: Option<f64>,
    /// The probability that the interval, unbounded where an end is missing, contains the true
    /// quantile.
    pub coverage: f64,
}

/// The interval `[x(l), x(u)]` for the `p`-quantile, `0 < p < 1`. The error probability on either
/// side is at most `(1 - confidence) / 2`.
///
/// The number B of independent values below the quantile is binomial, `B(n, p)`. So l is the
/// greatest rank with `P(B <= l - 1) <= (1 - confidence) / 2`, and u the least with `P(B >= u)` no
/// more than that. W. J. Conover, *Practical Nonparametric Statistics*, 3rd ed. (1999), section
/// 3.2. Extreme quantiles of few values have no such rank: 100 values give no upper bound for the
/// 99 % quantile.
pub fn quantile_interval(values: &[f64], p: f64, confidence: f64) -> Option<QuantileInterval> {
    let tail = 1.0 - upper_tail(confidence)?;
    if !(finite(values) && p > 0.0 && p < 1.0) {
        return None;
    }
    let ordered = sorted(values);
    let n = ordered.len();
    // Logarithms, since 1 - p may round to 1, and the first term of the sum may underflow.
    let (below, above) = (p.ln(), (-p).ln_1p());
    let (lower_rank, missed_below) = rank(n, below, above, tail);
    // By symmetry, the number of values above the quantile is binomial too.
    let (upper_rank, missed_above) = rank(n, above, below, tail);
    Some(QuantileInterval {
        estimate: quantile(&ordered, p)?,
        low: (lower_rank > 0).then(|| ordered[lower_rank - 1]),
        high: (upper_rank > 0).then(|| ordered[n - upper_rank]),
        coverage: 1.0 - missed_below - missed_above,
    })
}

/// The greatest k with `P(B(n, p) <= k - 1) <= tail`, and that probability; 0 if no k satisfies it.
/// The arguments are the logarithms of p and of 1 - p.
fn rank(n: usize, ln_p: f64, ln_rest: f64, tail: f64) -> (usize, f64) {
    let mut logarithm = n as f64 * ln_rest;
    let odds = ln_p - ln_rest;
    let mut below = 0.0;
    for k in 1..=n {
        let more = below + logarithm.exp();
        if more > tail {
            return (k - 1, below);
        }
        below = more;
        logarithm += ((n + 1 - k) as f64 / k as f64).ln() + odds;
    }
    (n, below)
}
