//! Divides a curve into stretches, each with a line of its own or each with one level.

use yamba_stats::median;

/// A smaller step, as a share, is irrelevant.
pub(crate) const LEAST_STEP: f64 = 0.15;

/// The shape of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trend {
    /// One level.
    Level,
    /// A line over `x`.
    Line,
}

/// The stretches of a curve of logarithms, as half-open ranges, without those of fewer than
/// `fewest` points: such points lie on the climb between two stretches.
///
/// The division has the least total of squared distances from the trend of the stretch, plus `price
/// s^2 ln n` for each stretch (B. Jackson et al., "An Algorithm for Optimal Partitioning of Data on
/// an Interval", IEEE Signal Processing Letters 12 (2005) 105-108). `yamba_stats::plateaus` divides
/// by medians instead, in cubic time, which is too slow for each part of a launch. The noise s is
/// by the median difference of neighbours, which is insensitive to steps, and at least a quarter of
/// the least step: smaller steps are irrelevant.
pub(crate) fn stretches(
    x: &[f64],
    logarithms: &[f64],
    trend: Trend,
    price: f64,
    fewest: usize,
) -> Vec<(usize, usize)> {
    let noise = noise(logarithms);
    let price = price * noise * noise * (logarithms.len() as f64).ln();
    let mut found = divisions(x, logarithms, trend, price);
    found.retain(|(from, to)| to - from >= fewest);
    found
}

fn noise(logarithms: &[f64]) -> f64 {
    let differences: Vec<f64> = logarithms.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    // The median of |a - b| of two normal values is 0.954 s.
    let noise = median(&differences).unwrap_or(0.0) / 0.954;
    noise.max(0.25 * LEAST_STEP.ln_1p())
}

/// The division of least cost. The time is quadratic in the number of points.
fn divisions(x: &[f64], y: &[f64], trend: Trend, price: f64) -> Vec<(usize, usize)> {
    let sums = Sums::of(x, y);
    // For each prefix: its least cost, and the start of its last stretch.
    let mut best = vec![(0.0, 0)];
    for to in 1..=y.len() {
        let options = (0..to).map(|from| (best[from].0 + sums.cost(from, to, trend) + price, from));
        let least = options.min_by(|a, b| a.0.total_cmp(&b.0));
        best.extend(least);
    }
    let mut ranges = Vec::new();
    let mut to = y.len();
    while to > 0 {
        let from = best[to].1;
        ranges.push((from, to));
        to = from;
    }
    ranges.reverse();
    ranges
}

/// Sums over the first points of x, y, their squares and their product.
struct Sums(Vec<[f64; 5]>);

impl Sums {
    fn of(x: &[f64], y: &[f64]) -> Sums {
        let mut sums = vec![[0.0; 5]];
        let mut sum = [0.0; 5];
        for (x, y) in x.iter().zip(y) {
            for (sum, term) in sum.iter_mut().zip([*x, *y, x * x, x * y, y * y]) {
                *sum += term;
            }
            sums.push(sum);
        }
        Sums(sums)
    }

    /// The total of squared distances from the trend.
    fn cost(&self, from: usize, to: usize, trend: Trend) -> f64 {
        let [x, y, xx, xy, yy]: [f64; 5] = std::array::from_fn(|i| self.0[to][i] - self.0[from][i]);
        let n = (to - from) as f64;
        let (xx, xy, yy) = (xx - x * x / n, xy - x * y / n, yy - y * y / n);
        // A line through two points would explain everything.
        let is_explained = trend == Trend::Line && to - from > 2 && xx > 0.0;
        let explained = if is_explained { xy * xy / xx } else { 0.0 };
        (yy - explained).max(0.0)
    }
}
