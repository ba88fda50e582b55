//! Least squares with coefficients that cannot be negative.

/// Pivots below this share of the largest element belong to columns that are combinations of
/// others.
const SINGULAR: f64 = 1e-13;

/// The coefficients >= 0 that minimise `sum (weight (y - row . c))^2`. A weight of `1 / y` makes
/// errors relative. A column that is a combination of others may have the coefficient 0.
///
/// C. L. Lawson, R. J. Hanson, *Solving Least Squares Problems* (1974), chapter 23: the set of
/// positive coefficients grows by the one with the steepest descent.
pub fn non_negative(rows: &[Vec<f64>], ys: &[f64], weights: &[f64]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let scale: Vec<f64> = (0..width).map(|j| length(rows, weights, j)).collect();
    let column = |i: usize, j: usize| {
        let size = if scale[j] > 0.0 { scale[j] } else { 1.0 };
        rows[i][j] * weights[i] / size
    };
    let product =
        |j: usize, k: usize| -> f64 { (0..rows.len()).map(|i| column(i, j) * column(i, k)).sum() };
    let gram: Vec<Vec<f64>> =
        (0..width).map(|j| (0..width).map(|k| product(j, k)).collect()).collect();
    let right: Vec<f64> = (0..width)
        .map(|j| (0..rows.len()).map(|i| column(i, j) * ys[i] * weights[i]).sum())
        .collect();
    let solved = Active::new(&gram, &right).solved();
    let unscaled = solved.iter().zip(&scale);
    unscaled.map(|(c, s)| if *s > 0.0 { c / s } else { 0.0 }).collect()
}

/// A line `y = middle_y + slope (x - middle_x)`.
pub(crate) struct Line {
    middle: (f64, f64),
    slope: f64,
}

impl Line {
    /// The line through points by least squares, and the residual deviation. It rises: its slope is
    /// 1 if all points have the same x, and at least 0. There is at least one point.
    pub(crate) fn through(points: &[(f64, f64)]) -> (Self, f64) {
        let mean = |value: fn(&(f64, f64)) -> f64| {
            points.iter().map(value).sum::<f64>() / points.len() as f64
        };
        let middle = (mean(|p| p.0), mean(|p| p.1));
        let sum = |value: &dyn Fn(f64, f64) -> f64| -> f64 {
            let distances = points.iter().map(|p| (p.0 - middle.0, p.1 - middle.1));
            distances.map(|(x, y)| value(x, y)).sum()
        };
        let width = sum(&|x, _| x * x);
        let slope = if width > 0.0 { (sum(&|x, y| x * y) / width).max(0.0) } else { 1.0 };
        let squares = sum(&|x, y| (y - slope * x).powi(2));
        let deviation = (squares / points.len() as f64).sqrt();
        (Self { middle, slope }, deviation)
    }

    pub(crate) fn at(&self, x: f64) -> f64 {
        self.middle.1 + self.slope * (x - self.middle.0)
    }
}

fn length(rows: &[Vec<f64>], weights: &[f64], j: usize) -> f64 {
    let squares = rows.iter().zip(weights).map(|(row, w)| (row[j] * w).powi(2));
    squares.sum::<f64>().sqrt()
}

/// The normal equations `gram x = right`, whose columns have length 1, and the set of coefficients
/// that are above 0.
struct Active<'a> {
    gram: &'a [Vec<f64>],
    right: &'a [f64],
    x: Vec<f64>,
    positive: Vec<usize>,
}

impl<'a> Active<'a> {
    fn new(gram: &'a [Vec<f64>], right: &'a [f64]) -> Self {
        Active { gram, right, x: vec![0.0; right.len()], positive: Vec::new() }
    }

    fn solved(mut self) -> Vec<f64> {
        let mut refused = vec![false; self.x.len()];
        // Each set of coefficients occurs once at most; the bound only stops rounding errors from
        // going round in circles.
        for _ in 0..10 * self.x.len() {
            let Some(next) = self.steepest(&refused) else {
                break;
            };
            self.positive.push(next);
            if self.settle() {
                refused.fill(false);
            } else {
                self.positive.retain(|j| *j != next);
            }
            refused[next] = !self.positive.contains(&next);
        }
        self.x
    }

    /// The coefficient at 0 along which the error falls fastest.
    fn steepest(&self, refused: &[bool]) -> Option<usize> {
        let slope = |j: usize| {
            let reached: f64 = self.gram[j].iter().zip(&self.x).map(|(g, x)| g * x).sum();
            self.right[j] - reached
        };
        let largest = self.right.iter().fold(0.0f64, |most, r| most.max(r.abs()));
        (0..self.x.len())
            .filter(|j| !self.positive.contains(j) && !refused[*j])
            .map(|j| (j, slope(j)))
            .filter(|(_, slope)| *slope > 1e-12 * largest)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(j, _)| j)
    }

    /// Solves for the positive coefficients. Those that would fall below 0 leave the set. False:
    /// the equations are singular.
    fn settle(&mut self) -> bool {
        loop {
            let Some(solution) = self.unconstrained() else {
                return false;
            };
            let steps = self.positive.iter().zip(&solution);
            let to_zero =
                |(j, s): (&usize, &f64)| (*s <= 0.0).then(|| self.x[*j] / (self.x[*j] - s));
            let step = steps.filter_map(to_zero).fold(1.0f64, f64::min);
            for (j, s) in self.positive.iter().zip(&solution) {
                self.x[*j] += step * (s - self.x[*j]);
            }
            if solution.iter().all(|s| *s > 0.0) {
                return true;
            }
            let left = self.positive.iter().zip(&solution);
            let (x, tiny) = (&self.x, f64::EPSILON);
            let stays: Vec<usize> = left
                .filter(|(j, s)| **s > 0.0 || x[**j] > tiny * s.abs())
                .map(|(j, _)| *j)
                .collect();
            (0..self.x.len()).filter(|j| !stays.contains(j)).for_each(|j| self.x[j] = 0.0);
            self.positive = stays;
        }
    }

    /// Gaussian elimination with pivots from the diagonal: the matrix is positive definite. `None`:
    /// it is singular.
    fn unconstrained(&self) -> Option<Vec<f64>> {
        let set = &self.positive;
        let row = |i: &usize| -> Vec<f64> {
            let coefficients = set.iter().map(|j| self.gram[*i][*j]);
            coefficients.chain([self.right[*i]]).collect()
        };
        let mut rows: Vec<Vec<f64>> = set.iter().map(row).collect();
        for k in 0..set.len() {
            let pivot = rows[k].clone();
            if pivot[k] < SINGULAR {
                return None;
            }
            for other in rows.iter_mut().skip(k + 1) {
                let factor = other[k] / pivot[k];
                other.iter_mut().zip(&pivot).for_each(|(o, p)| *o -= factor * p);
            }
        }
        let mut solution = vec![0.0; set.len()];
        for k in (0..set.len()).rev() {
            let known: f64 = (k + 1..set.len()).map(|j| rows[k][j] * solution[j]).sum();
            solution[k] = (rows[k][set.len()] - known) / rows[k][k];
        }
        Some(solution)
    }
}

/// The coefficients >= 0 that minimise `sum weight |y - row . c|`: a few disturbed rows have little
/// weight. Least squares with weights `1 / |residual|`, repeated.
pub fn least_absolute(rows: &[Vec<f64>], ys: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut current = weights.to_vec();
    let mut found = Vec::new();
    for _ in 0..12 {
        found = non_negative(rows, ys, &current);
        let residual = |i: usize| {
            let fitted: f64 = rows[i].iter().zip(&found).map(|(x, c)| x * c).sum();
            (ys[i] - fitted).abs() * weights[i]
        };
        let residuals: Vec<f64> = (0..rows.len()).map(residual).collect();
        let typical = residuals.iter().sum::<f64>() / rows.len().max(1) as f64;
        for i in 0..rows.len() {
            current[i] = weights[i] / residuals[i].max(typical * 0.01).max(1e-300).sqrt();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_data_give_the_exact_coefficients() {
        let rows: Vec<Vec<f64>> =
            (0..8).map(|i| vec![1.0, f64::from(i), f64::from(i * i)]).collect();
        let ys: Vec<f64> = rows.iter().map(|r| 3.0 + 2.0 * r[1] + 0.5 * r[2]).collect();
        let found = non_negative(&rows, &ys, &[1.0; 8]);
        for (found, expected) in found.iter().zip([3.0, 2.0, 0.5]) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }

    /// Two columns whose ratio differs by at most four parts in a thousand.
    #[test]
    fn nearly_proportional_columns_are_told_apart() {
        let rows: Vec<Vec<f64>> = (1..40)
            .map(|i| {
                let bytes = f64::from(i) * 1e6;
                vec![1.0, bytes, bytes * (1.0 + 1e-3 * f64::from(i % 5))]
            })
            .collect();
        let ys: Vec<f64> = rows.iter().map(|r| 5e4 + r[1] + 0.5 * r[2]).collect();
        let weights: Vec<f64> = ys.iter().map(|y| 1.0 / y).collect();
        let found = non_negative(&rows, &ys, &weights);
        for (found, expected) in found.iter().zip([5e4, 1.0, 0.5]) {
            assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
        }
        // The same column twice: one of them has the whole cost.
        let twice: Vec<Vec<f64>> = (1..9).map(|i| vec![f64::from(i); 2]).collect();
        let ys: Vec<f64> = twice.iter().map(|r| 3.0 * r[0]).collect();
        let found = non_negative(&twice, &ys, &[1.0; 8]);
        assert!((found[0] + found[1] - 3.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_coefficient_that_would_be_negative_is_zero() {
        let rows = vec![vec![1.0, 0.0], vec![1.0, 1.0], vec![1.0, 2.0]];
        let found = non_negative(&rows, &[3.0, 2.0, 1.0], &[1.0; 3]);
        assert_eq!(found[1], 0.0);
        assert!((found[0] - 2.0).abs() < 1e-6);
    }

    #[test]
    fn one_disturbed_row_hardly_changes_the_least_absolute_fit() {
        let rows: Vec<Vec<f64>> = (0..20).map(|i| vec![1.0, f64::from(i)]).collect();
        let mut ys: Vec<f64> = rows.iter().map(|r| 5.0 + 2.0 * r[1]).collect();
        ys[10] = 1000.0;
        let found = least_absolute(&rows, &ys, &[1.0; 20]);
        assert!((found[0] - 5.0).abs() < 0.5 && (found[1] - 2.0).abs() < 0.1, "{found:?}");
    }

    /// Figures of the HBench thesis, section 5.4.2, in ms: 3.75 a megabyte of the heap, 229.1 for
    /// 512 x 512 live objects, 108.6 for as many dead ones.
    #[test]
    fn thesis_coefficients_follow_from_its_three_measurements() {
        let objects = 512.0 * 512.0;
        let mut rows = Vec::new();
        let mut ys = Vec::new();
        for heap in [16.0, 32.0, 48.0, 64.0] {
            for (live, dead, ms) in [(0.0, 0.0, 0.0), (objects, 0.0, 229.1), (0.0, objects, 108.6)]
            {
                rows.push(vec![heap, live, dead]);
                ys.push(3.75e6 * heap + ms * 1e6);
            }
        }
        let weights: Vec<f64> = ys.iter().map(|y| 1.0 / y).collect();
        let found = non_negative(&rows, &ys, &weights);
        assert_eq!((found[0] / 1e4).round(), 375.0);
        assert_eq!((found[1].round(), found[2].round()), (874.0, 414.0));
    }

    #[test]
    fn line_through_points() {
        // y = 1 + 2 x, with residuals of 0.5 that cancel.
        let (line, deviation) = Line::through(&[(0.0, 1.5), (0.0, 0.5), (2.0, 5.5), (2.0, 4.5)]);
        assert_eq!((line.at(0.0), line.at(3.0), deviation), (1.0, 7.0, 0.5));
        let (one, _) = Line::through(&[(2.0, 3.0)]);
        assert_eq!(one.at(5.0), 6.0);
        let (falling, _) = Line::through(&[(0.0, 3.0), (1.0, 1.0)]);
        assert_eq!(falling.at(9.0), 2.0);
    }
}
