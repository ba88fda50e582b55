//! Simple linear regression.

use crate::distribution::{defined, finite, normal_quantile, student_t_quantile, upper_tail};
use crate::moments::mean;

/// `y = slope x + intercept`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The slope.
    pub slope: f64,
    /// The value of y at x = 0.
    pub intercept: f64,
    /// The coefficient of determination, R^2. `None` if all y are equal.
    pub r_squared: Option<f64>,
}

/// Ordinary least squares: `slope = Sxy / Sxx`, `intercept = mean y - slope mean x`, `R^2 = Sxy^2 /
/// (Sxx Syy)`, with the sums taken about the means.
///
/// N. R. Draper and H. Smith, *Applied Regression Analysis*, 3rd ed. (1998), chapter 1. `None`
/// without two different x.
pub fn linear_regression(points: &[(f64, f64)]) -> Option<Line> {
    let sums = Sums::new(points)?;
    let slope = defined(sums.xy / sums.xx)?;
    Some(Line {
        slope,
        intercept: defined(sums.mean_y - slope * sums.mean_x)?,
        r_squared: defined(sums.xy * sums.xy / (sums.xx * sums.yy)),
    })
}

/// Uncertainty of a regression line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineErrors {
    /// Standard deviation of the residuals, in the unit of y.
    pub residual_deviation: f64,
    /// The standard error of the slope.
    pub slope_error: f64,
    /// The standard error of the intercept.
    pub intercept_error: f64,
    /// The interval of the slope.
    pub slope: (f64, f64),
    /// The interval of the intercept.
    pub intercept: (f64, f64),
}

/// Standard errors and t intervals of the regression line: `s^2 = sum (y - slope x - intercept)^2 /
/// (n - 2)`, `e(slope)^2 = s^2 / Sxx`, `e(intercept)^2 = s^2 (1 / n + (mean x)^2 / Sxx)`, t with `n
/// - 2` degrees of freedom.
///
/// Draper and Smith (1998), section 1.4. `None` for fewer than three points. The points are assumed
/// to be independent with the same variance everywhere.
pub fn line_errors(points: &[(f64, f64)], confidence: f64) -> Option<LineErrors> {
    let line = linear_regression(points)?;
    let sums = Sums::new(points)?;
    let n = points.len() as f64;
    let t = student_t_quantile(upper_tail(confidence)?, n - 2.0)?;
    let squares = points.iter().map(|&(x, y)| {
        // Computed about the means, which loses less precision than with the intercept.
        let residual = (y - sums.mean_y) - line.slope * (x - sums.mean_x);
        residual * residual
    });
    let deviation = (squares.sum::<f64>() / (n - 2.0)).sqrt();
    let slope_error = deviation / sums.xx.sqrt();
    let intercept_error = deviation * (1.0 / n + sums.mean_x * sums.mean_x / sums.xx).sqrt();
    let about = |estimate: f64, error: f64| {
        let half = t * error;
        Some((defined(estimate - half)?, defined(estimate + half)?))
    };
    Some(LineErrors {
        residual_deviation: deviation,
        slope_error,
        intercept_error,
        slope: about(line.slope, slope_error)?,
        intercept: about(line.intercept, intercept_error)?,
    })
}

/// The interval of R^2 by Fisher's transformation: `z = atanh sqrt(R^2)` is nearly normal with the
/// standard error `1 / sqrt(n - 3)`; an end of z below 0 is an R^2 of 0.
///
/// R. A. Fisher, "On the 'Probable Error' of a Coefficient of Correlation Deduced from a Small
/// Sample", Metron 1 (1921) 3-32, for normal x and y. If x is chosen, the variance of z is nearer
/// to `(1 - R^2 / 2) / n`, and the interval is wider than necessary. Values above 1, from rounding,
/// count as 1. `None` for fewer than four points or a negative R^2.
pub fn r_squared_interval(r_squared: f64, points: usize, confidence: f64) -> Option<(f64, f64)> {
    if points < 4 || r_squared.is_nan() || r_squared < 0.0 {
        return None;
    }
    let half = normal_quantile(upper_tail(confidence)?)? / ((points - 3) as f64).sqrt();
    let z = r_squared.min(1.0).sqrt().atanh();
    let square = |z: f64| z.max(0.0).tanh().powi(2);
    Some((square(z - half), square(z + half)))
}

/// Means, and sums of products about them.
struct Sums {
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Sums {
    /// The sums. `None` without two different x.
    fn new(points: &[(f64, f64)]) -> Option<Sums> {
        let xs: Vec<f64> = points.iter().map(|p| p.0).collect();
        let ys: Vec<f64> = points.iter().map(|p| p.1).collect();
        if !(finite(&xs) && finite(&ys)) {
            return None;
        }
        let (mean_x, mean_y) = (mean(&xs)?, mean(&ys)?);
        let sum = |f: fn(f64, f64) -> f64| -> f64 {
            points.iter().map(|p| f(p.0 - mean_x, p.1 - mean_y)).sum()
        };
        let (xx, xy, yy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
        (xx > 0.0 && xx.is_finite()).then_some(Sums { mean_x, mean_y, xx, xy, yy })
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    #[test]
    fn fishers_interval() {
        // r = 0.8 of 28 points: z = 1.0986 with the standard error 0.2.
        let (low, high) = r_squared_interval(0.64, 28, 0.95).unwrap();
        assert!((low.sqrt() - 0.6085).abs() < 1e-4, "{low}");
        assert!((high.sqrt() - 0.9034).abs() < 1e-4, "{high}");
        assert_eq!(r_squared_interval(1.0 + 1e-15, 9, 0.95), Some((1.0, 1.0)));
        assert_eq!(r_squared_interval(0.01, 9, 0.95).unwrap().0, 0.0);
        for (r_squared, points) in [(0.5, 3), (-0.1, 9), (f64::NAN, 9)] {
            assert_eq!(r_squared_interval(r_squared, points, 0.95), None);
        }
    }

    /// If x is fixed, not random, the interval contains the R^2 of the true line at least as often
    /// as its confidence level states.
    #[test]
    fn r_squared_interval_has_stated_coverage() {
        let mut random = Rng::with_seed(8);
        let mut normal = || normal_quantile(random.f64().clamp(1e-9, 1.0 - 1e-9)).unwrap();
        let xs = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let mean_x = mean(&xs).unwrap();
        let spread = xs.iter().map(|x| (x - mean_x) * (x - mean_x)).sum::<f64>() / 6.0;
        for slope in [0.03, 0.1, 0.5] {
            let signal = slope * slope * spread;
            let truth = signal / (signal + 1.0);
            let holds = (0..1000).filter(|_| {
                let points = xs.map(|x| (x, 60.0 + slope * x + normal()));
                let found = linear_regression(&points).unwrap().r_squared.unwrap();
                let (low, high) = r_squared_interval(found, points.len(), 0.95).unwrap();
                low <= truth && truth <= high
            });
            let share = holds.count();
            assert!(share >= 935, "{share} of 1000 at R^2 {truth}");
        }
    }
}
