//! A straight line through points of which some are only known within bounds.

use crate::distribution::{defined, finite, student_t_quantile, upper_tail};
use crate::regression::{line_errors, linear_regression, r_squared_interval};

/// Steps of the bisection for the scatter: enough for all digits of a number.
const STEPS: usize = 200;

/// The least scatter beside bounds, relative to the largest bound. A few points without bounds may
/// agree by chance, and would determine the line alone. So no point has more than 17 times the
/// weight of another.
const LEAST_SCATTER: f64 = 0.25;

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedPoint {
    /// The x value.
    pub x: f64,
    /// The y value, in the middle of its bounds.
    pub y: f64,
    /// The true value lies within `y - bound` and `y + bound`. 0 if y is known.
    pub bound: f64,
}

impl BoundedPoint {
    /// A point whose y is known.
    pub fn exact(x: f64, y: f64) -> BoundedPoint {
        BoundedPoint { x, y, bound: 0.0 }
    }

    /// The point in the middle of an interval.
    pub fn within(x: f64, [low, high]: [f64; 2]) -> BoundedPoint {
        BoundedPoint { x, y: low.midpoint(high), bound: (high - low).abs() / 2.0 }
    }
}

/// A line with its intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedLine {
    /// The slope.
    pub slope: f64,
    /// The interval of the slope.
    pub slope_interval: (f64, f64),
    /// The value of y at x = 0.
    pub intercept: f64,
    /// The interval of the intercept.
    pub intercept_interval: (f64, f64),
    /// The coefficient of determination, R^2. `None` if all y are equal.
    pub r_squared: Option<f64>,
    /// The interval of R^2. `None` for fewer than four points.
    pub r_squared_interval: Option<(f64, f64)>,
}

/// Fits a line by least squares.
///
/// Without bounds this is ordinary least squares with the intervals of [`line_errors`] and
/// [`r_squared_interval`]. With bounds `b`, the weight of a point is `1 / (s^2 + b^2)`. The scatter
/// `s` about the line is the one for which `sum r^2 / (s^2 + b^2) = n - 2`, with the residuals `r`,
/// but at least a quarter of the largest bound. R. C. Paule and J. Mandel, "Consensus Values and
/// Weighting Factors", Journal of Research of the National Bureau of Standards 87 (1982) 377-385.
///
/// Slope and intercept are sums `sum c y`. Their intervals add two parts: the usual t interval from
/// the weighted residuals, and `sum |c| b`, all that the bounds allow, however the errors of the
/// points depend on each other. C. F. Manski and E. Tamer, "Inference on Regressions with Interval
/// Data on a Regressor or Outcome", Econometrica 70 (2002) 519-546.
///
/// The lower end of R^2 is Fisher's for the least R^2 within the bounds, which is at least `1 / (1
/// + (e + m)^2 / (g^2 Sxx))`: `e^2` is the weighted sum of squared residuals, `m^2 = sum w b^2`,
/// and `g` the slope nearest to 0 that the bounds allow. Its upper end is 1.
///
/// `None` for fewer than three points, without two different x, and for a negative bound.
pub fn bounded_line(points: &[BoundedPoint], confidence: f64) -> Option<BoundedLine> {
    let values: Vec<f64> = points.iter().flat_map(|p| [p.x, p.y, p.bound]).collect();
    if !finite(&values) || points.iter().any(|p| p.bound < 0.0) || points.len() < 3 {
        return None;
    }
    if points.iter().all(|p| p.bound == 0.0) {
        return exact(points, confidence);
    }
    let scatter = scatter(points)?;
    let fit = Weighted::new(points, scatter)?;
    let t = student_t_quantile(upper_tail(confidence)?, points.len() as f64 - 2.0)?;
    let of_residuals = fit.residuals / (points.len() as f64 - 2.0);
    let half = |coefficients: &[f64]| {
        let each = coefficients.iter().zip(&fit.weights);
        let squares: f64 = each.map(|(c, weight)| c * c / weight).sum();
        t * (of_residuals * squares).sqrt() + reach(coefficients, points)
    };
    let about =
        |estimate: f64, half: f64| Some((defined(estimate - half)?, defined(estimate + half)?));
    let least = fit.least_r_squared(points);
    let lowest = r_squared_interval(least, points.len(), confidence);
    Some(BoundedLine {
        slope: fit.slope,
        slope_interval: about(fit.slope, half(&fit.of_slope))?,
        intercept: fit.intercept,
        intercept_interval: about(fit.intercept, half(&fit.intercept_weights()))?,
        r_squared: fit.r_squared(),
        r_squared_interval: lowest.map(|(low, _)| (low, 1.0)),
    })
}

fn exact(points: &[BoundedPoint], confidence: f64) -> Option<BoundedLine> {
    let points: Vec<(f64, f64)> = points.iter().map(|p| (p.x, p.y)).collect();
    let line = linear_regression(&points)?;
    let errors = line_errors(&points, confidence)?;
    let interval = |r_squared| r_squared_interval(r_squared, points.len(), confidence);
    Some(BoundedLine {
        slope: line.slope,
        slope_interval: errors.slope,
        intercept: line.intercept,
        intercept_interval: errors.intercept,
        r_squared: line.r_squared,
        r_squared_interval: line.r_squared.and_then(interval),
    })
}

/// How far the bounds of the points can move a sum with these coefficients.
fn reach(coefficients: &[f64], points: &[BoundedPoint]) -> f64 {
    let each = coefficients.iter().zip(points);
    each.map(|(c, p)| c.abs() * p.bound).sum()
}

/// The squared scatter of the true values about the line.
fn scatter(points: &[BoundedPoint]) -> Option<f64> {
    let degrees = points.len() as f64 - 2.0;
    let largest = points.iter().map(|p| p.bound).fold(0.0, f64::max);
    let is_enough = |s: f64| Some(Weighted::new(points, s)?.residuals <= degrees);
    let (mut low, mut high) = ((LEAST_SCATTER * largest).powi(2), largest.powi(2));
    if is_enough(low)? {
        return Some(low);
    }
    while !is_enough(high)? {
        high *= 4.0;
    }
    for _ in 0..STEPS {
        let middle = low.midpoint(high);
        if is_enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// A line through weighted points.
struct Weighted {
    /// The weights.
    weights: Vec<f64>,
    /// The weighted mean of x.
    mean_x: f64,
    /// The weighted sum of squares of x about its mean.
    xx: f64,
    slope: f64,
    intercept: f64,
    /// The coefficients of the slope as a sum of the y.
    of_slope: Vec<f64>,
    /// The weighted sum of squared residuals.
    residuals: f64,
}

impl Weighted {
    /// `None` without two different x.
    fn new(points: &[BoundedPoint], scatter: f64) -> Option<Weighted> {
        let weights: Vec<f64> =
            points.iter().map(|p| 1.0 / (scatter + p.bound * p.bound)).collect();
        let all: f64 = weights.iter().sum();
        let sum = |value: &dyn Fn(&BoundedPoint) -> f64| -> f64 {
            let each = weights.iter().zip(points);
            each.map(|(w, p)| w * value(p)).sum()
        };
        let (mean_x, mean_y) = (sum(&|p| p.x) / all, sum(&|p| p.y) / all);
        let xx = sum(&|p| (p.x - mean_x).powi(2));
        let slope = defined(sum(&|p| (p.x - mean_x) * (p.y - mean_y)) / xx)?;
        // Computed about the means, which loses less precision than with the intercept.
        let residuals = sum(&|p| ((p.y - mean_y) - slope * (p.x - mean_x)).powi(2));
        let each = weights.iter().zip(points);
        Some(Weighted {
            mean_x,
            xx,
            slope,
            intercept: defined(mean_y - slope * mean_x)?,
            of_slope: each.map(|(w, p)| w * (p.x - mean_x) / xx).collect(),
            residuals: defined(residuals)?,
            weights,
        })
    }

    /// The coefficients of the intercept as a sum of the y.
    fn intercept_weights(&self) -> Vec<f64> {
        let all: f64 = self.weights.iter().sum();
        let each = self.weights.iter().zip(&self.of_slope);
        each.map(|(w, c)| w / all - self.mean_x * c).collect()
    }

    /// The weighted R^2. `None` if all y are equal.
    fn r_squared(&self) -> Option<f64> {
        let explained = self.slope * self.slope * self.xx;
        defined(explained / (explained + self.residuals))
    }

    /// A value that R^2 exceeds, wherever within their bounds the points lie.
    fn least_r_squared(&self, points: &[BoundedPoint]) -> f64 {
        let slope = (self.slope.abs() - reach(&self.of_slope, points)).max(0.0);
        let explained = slope * slope * self.xx;
        let each = self.weights.iter().zip(points);
        let moved: f64 = each.map(|(w, p)| w * p.bound * p.bound).sum();
        let residuals = (self.residuals.sqrt() + moved.sqrt()).powi(2);
        defined(explained / (explained + residuals)).unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::normal_quantile;

    const XS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

    fn points(bound: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> Vec<BoundedPoint> {
        let point = |x| BoundedPoint { x, y: y(x), bound: bound(x) };
        XS.map(point).to_vec()
    }

    #[test]
    fn line_without_bounds_is_that_of_ordinary_least_squares() {
        let bend = |x: f64| 60.0 + 4.0 * x + (x * 0.7).sin();
        let found = bounded_line(&points(|_| 0.0, bend), 0.95).unwrap();
        let plain = XS.map(|x| (x, bend(x)));
        let errors = line_errors(&plain, 0.95).unwrap();
        assert_eq!(found.slope_interval, errors.slope);
        assert_eq!(found.r_squared, linear_regression(&plain).unwrap().r_squared);
        // Bounds that are far smaller than the scatter change nothing.
        let narrow = bounded_line(&points(|_| 1e-7, bend), 0.95).unwrap();
        assert!((narrow.slope - found.slope).abs() < 1e-9);
        assert!((narrow.intercept_interval.0 - found.intercept_interval.0).abs() < 1e-4);
    }

    /// By hand: the points 0, 1, 2 with bounds of 1 have the coefficients -1/2, 0, 1/2 of the
    /// slope, and those of the intercept are 5/6, 1/3, -1/6.
    #[test]
    fn bounds_reach_as_far_as_the_sums_of_coefficients() {
        let point = |x| BoundedPoint::within(x, [3.0 * x, 3.0 * x + 2.0]);
        let found = bounded_line(&[0.0, 1.0, 2.0].map(point), 0.95).unwrap();
        let near = |(low, high): (f64, f64), expected: [f64; 2]| {
            let is_near = (low - expected[0]).abs() < 1e-4 && (high - expected[1]).abs() < 1e-4;
            assert!(is_near, "{low} {high}");
        };
        near(found.slope_interval, [2.0, 4.0]);
        near(found.intercept_interval, [1.0 - 4.0 / 3.0, 1.0 + 4.0 / 3.0]);
    }

    /// The least R^2 is compared with that of many true values within the bounds.
    #[test]
    fn least_r_squared_is_below_that_of_any_values_within_bounds() {
        let mut random = Rng::with_seed(4);
        let all = points(|x| 3.0 + 0.05 * x, |x| 60.0 + 4.0 * x + (x * 0.7).sin());
        let fit = Weighted::new(&all, scatter(&all).unwrap()).unwrap();
        let least = fit.least_r_squared(&all);
        assert!(least > 0.9, "{least}");
        for _ in 0..1000 {
            let mut moved = all.clone();
            for point in &mut moved {
                point.y += point.bound * [-1.0, 1.0][random.usize(..2)];
            }
            let found = Weighted::new(&moved, scatter(&all).unwrap()).unwrap();
            assert!(found.r_squared().unwrap() >= least);
        }
    }

    /// A neighbour adds between nothing and a given share to each time; the true values scatter
    /// about the line. The intervals hold the true line at least as often as they say.
    #[test]
    fn intervals_hold_the_line_of_undisturbed_values() {
        let mut random = Rng::with_seed(9);
        for (share, sigma) in [(0.02, 0.0), (0.3, 0.0), (0.02, 2.0), (0.3, 2.0), (0.02, 20.0)] {
            let mut held = [0; 2];
            for _ in 0..1000 {
                // The neighbour is as strong at all points, at each another, or stronger at large
                // x.
                let kind = random.usize(..3);
                let constant = random.f64();
                let point = |x: f64| {
                    let z = normal_quantile(random.f64().clamp(1e-9, 1.0 - 1e-9)).unwrap();
                    let quiet = 100.0 + 5.0 * x + sigma * z;
                    let strength = [constant, random.f64(), x / 32.0][kind];
                    let seen = quiet * (1.0 + share * strength);
                    BoundedPoint::within(x, [seen / (1.0 + share), seen])
                };
                let found = bounded_line(&XS.map(point), 0.95).unwrap();
                let holds = |(low, high), truth| low <= truth && truth <= high;
                held[0] += usize::from(holds(found.slope_interval, 5.0));
                held[1] += usize::from(holds(found.intercept_interval, 100.0));
            }
            assert!(held.iter().all(|h| *h >= 950), "{held:?} of 1000 with {share} and {sigma}");
        }
    }

    #[test]
    fn too_few_points_and_wrong_bounds_have_no_line() {
        let at = |x, bound| BoundedPoint { x, y: x, bound };
        assert_eq!(bounded_line(&[at(1.0, 0.1), at(2.0, 0.1)], 0.95), None);
        assert_eq!(bounded_line(&[at(1.0, 0.1); 3], 0.95), None);
        let negative = [at(1.0, 0.1), at(2.0, -0.1), at(3.0, 0.1)];
        assert_eq!(bounded_line(&negative, 0.95), None);
    }
}
