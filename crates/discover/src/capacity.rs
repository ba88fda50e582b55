//! The capacity of a memory whose entries are visited at random.

use yamba_stats::linear_regression;

use super::curve::Points;

/// The candidates of an octave.
const CANDIDATES: i32 = 64;
/// The points at each end that a capacity leaves: fewer say nothing of the level or of the rise.
const FEWEST: usize = 4;
/// A capacity this close to an end of the candidates may lie beyond.
const END: f64 = 1.02;
/// The fit explains at least this share of the variance, and the time rises by at least this share.
const LEAST_EXPLAINED: f64 = 0.9;
const LEAST_RISE: f64 = 0.05;

/// The capacity C of a memory, if `x` entries are visited at random: an access finds its entry with
/// the probability `C / x`, whatever the memory replaces, so that the time is `a` up to C and
/// `a + b (1 - C / x)` beyond. C has the least squares over a geometric grid, a and b for each C.
///
/// # Errors
/// The reason, if the times do not follow the formula.
pub(crate) fn capacity(points: &Points) -> Result<f64, String> {
    let n = points.x.len();
    if n < 3 * FEWEST {
        return Err(format!("the curve has only {n} points"));
    }
    let (least, most) = (points.x[FEWEST], points.x[n - 1 - FEWEST]);
    let octaves = (most / least).log2();
    let count = (octaves * f64::from(CANDIDATES)) as i32;
    let candidates = (0..=count).map(|i| least * (f64::from(i) / f64::from(CANDIDATES)).exp2());
    let fits = candidates.filter_map(|capacity| Fit::of(points, capacity));
    let best = fits.min_by(|a, b| a.squares.total_cmp(&b.squares));
    let mean = points.y.iter().sum::<f64>() / n as f64;
    let all: f64 = points.y.iter().map(|y| (y - mean).powi(2)).sum();
    match best {
        Some(fit)
            if fit.capacity > END * least
                && fit.capacity * END < most
                && fit.squares <= (1.0 - LEAST_EXPLAINED) * all
                && fit.rise >= LEAST_RISE * fit.level =>
        {
            Ok(fit.capacity)
        }
        _ => {
            Err(format!("the time does not rise as the share of misses up to {}", points.x[n - 1]))
        }
    }
}

/// The formula with one capacity.
struct Fit {
    capacity: f64,
    level: f64,
    rise: f64,
    /// The sum of squared distances.
    squares: f64,
}

impl Fit {
    fn of(points: &Points, capacity: f64) -> Option<Fit> {
        let misses = points.x.iter().map(|x| (1.0 - capacity / x).max(0.0));
        let misses: Vec<(f64, f64)> = misses.zip(points.y.iter().copied()).collect();
        let line = linear_regression(&misses)?;
        let distances = misses.iter().map(|(x, y)| y - line.intercept - line.slope * x);
        let squares = distances.map(|d| d * d).sum();
        Some(Fit { capacity, level: line.intercept, rise: line.slope, squares })
    }
}
