//! Divides a curve into stretches, each with a line of its own or each with one level.

/// What the values of a stretch follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trend {
    /// One level.
    Level,
    /// A line over `x`.
    Line,
}

/// A line of a stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// The mean of `x`, and of the values.
    centre: [f64; 2],
    slope: f64,
}

impl Line {
    /// The value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.centre[1] + self.slope * (x - self.centre[0])
    }
}

/// The division of least cost, as half-open ranges: the total of squared distances from the trend
/// of the stretch, plus `price` for each stretch (B. Jackson et al., "An Algorithm for Optimal
/// Partitioning of Data on an Interval", IEEE Signal Processing Letters 12 (2005) 105-108). The
/// time is quadratic in the number of points.
pub(crate) fn divisions(x: &[f64], y: &[f64], trend: Trend, price: f64) -> Vec<(usize, usize)> {
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

/// The least-squares line through these points.
pub(crate) fn line(x: &[f64], y: &[f64]) -> Line {
    let moments = Sums::of(x, y).moments(0, y.len());
    Line { centre: moments.centre, slope: moments.slope() }
}

/// Sums over the first points of x, y, their squares and their product.
struct Sums(Vec<[f64; 5]>);

/// Means, and sums of products of the distances from them.
struct Moments {
    centre: [f64; 2],
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Moments {
    fn slope(&self) -> f64 {
        if self.xx > 0.0 { self.xy / self.xx } else { 0.0 }
    }
}

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

    fn moments(&self, from: usize, to: usize) -> Moments {
        let [x, y, xx, xy, yy]: [f64; 5] = std::array::from_fn(|i| self.0[to][i] - self.0[from][i]);
        let n = (to - from) as f64;
        Moments {
            centre: [x / n, y / n],
            xx: xx - x * x / n,
            xy: xy - x * y / n,
            yy: yy - y * y / n,
        }
    }

    /// The total of squared distances from the trend.
    fn cost(&self, from: usize, to: usize, trend: Trend) -> f64 {
        let moments = self.moments(from, to);
        let explained = match trend {
            Trend::Line if to - from > 2 => moments.slope() * moments.xy,
            // A line through two points would explain everything.
            _ => 0.0,
        };
        (moments.yy - explained).max(0.0)
    }
}
