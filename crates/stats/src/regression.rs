//! Simple linear regression.

use crate::moments::mean;

/// `y = slope x + intercept`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The change of y with x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
    /// The coefficient of determination, R^2; none if all y are equal.
    pub r_squared: Option<f64>,
}

/// Ordinary least squares: `slope = Sxy / Sxx`, `intercept = mean y - slope mean x`, `R^2 = Sxy^2 / (Sxx Syy)`, with the
/// sums taken about the means.
///
/// N. R. Draper and H. Smith, *Applied Regression Analysis*, 3rd ed. (1998), chapter 1. None without two different x.
pub fn linear_regression(points: &[(f64, f64)]) -> Option<Line> {
    let xs: Vec<f64> = points.iter().map(|p| p.0).collect();
    let ys: Vec<f64> = points.iter().map(|p| p.1).collect();
    let (mean_x, mean_y) = (mean(&xs)?, mean(&ys)?);
    let sum = |f: fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|p| f(p.0 - mean_x, p.1 - mean_y)).sum()
    };
    let (sxx, sxy, syy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
    if sxx == 0.0 {
        return None;
    }
    let slope = sxy / sxx;
    Some(Line {
        slope,
        intercept: mean_y - slope * mean_x,
        r_squared: (syy > 0.0).then(|| sxy * sxy / (sxx * syy)),
    })
}
