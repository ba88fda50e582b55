//! How much slower one side's launches are than the other's.

use crate::finite::defined;
use crate::welch::welch_t_with_floor;

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// What b is of a: 1.03 for 3 % more.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The two-sided p-value of the ratio being 1.
    pub p: f64,
}

/// The ratio b / a of the launches' medians (their geometric means), by Welch's t interval of the difference of their
/// natural logarithms, carried back with exp.
///
/// The logarithm makes a ratio a difference, equal in both directions, and the spread of times is nearer to constant in
/// it. `variance_floor` is the least variance that one launch's logarithm is held to have: 1e-6 for a standard
/// deviation of 0.1 %. Without one (0), six launches that agree by chance show differences that the next six do not.
/// None with fewer than two launches a side, with a median that is not positive, or where nothing spreads and no floor
/// is given.
pub fn launch_ratio(a: &[f64], b: &[f64], confidence: f64, variance_floor: f64) -> Option<Ratio> {
    let logarithms = |medians: &[f64]| medians.iter().map(|x| x.ln()).collect::<Vec<_>>();
    let difference =
        welch_t_with_floor(&logarithms(a), &logarithms(b), confidence, variance_floor)?;
    Some(Ratio {
        ratio: defined(difference.estimate.exp())?,
        low: difference.low.exp(),
        high: defined(difference.high.exp())?,
        p: difference.p,
    })
}
