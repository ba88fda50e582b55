//! Linear regression on several variables.

use crate::distribution::{student_t_quantile, upper_tail};
use crate::finite::{defined, finite};
use crate::moments::mean;

/// Relative tolerance below which a column counts as linearly dependent on the columns before it.
const DEPENDENT: f64 = 1e-12;

/// One coefficient, in the unit of y per unit of its variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Its t interval.
    pub interval: (f64, f64),
}

/// `y = c0 + c1 x1 + c2 x2 + ...`
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// c0 (y where all variables are 0), then one for each variable.
    pub coefficients: Vec<Coefficient>,
    /// Standard deviation of the residuals, in the unit of y.
    pub residual_deviation: f64,
    /// The coefficient of determination, `1 - sum residual^2 / sum (y - mean y)^2`. `None` if all y
    /// are equal.
    pub r_squared: Option<f64>,
}

/// Ordinary least squares with an intercept, by a QR decomposition with Householder reflections.
/// The standard errors are the roots of the diagonal of `s^2 (R'R)^-1`. The degrees of freedom of t
/// are n minus the number of coefficients. Row i of `rows` holds the variables of observation i.
///
/// G. H. Golub and C. F. Van Loan, *Matrix Computations*, 3rd ed. (1996), section 5.3. `None`
/// unless there are more observations than coefficients, for rows of different lengths, and if a
/// variable depends linearly on the others.
///
/// The cost of a garbage collection in HBench:JGC (X. Zhang's thesis, section 5.2.1.2, equation 1)
/// is such a sum: `T = C_fixed(heap size) + C_live(size) N_live + C_dead N_dead`. The thesis fits a
/// line for each variable with the other two fixed. With rows of `[heap size, N_live, N_dead]` one
/// fit gives all three coefficients and their errors from any mixture of runs.
pub fn least_squares(rows: &[&[f64]], ys: &[f64], confidence: f64) -> Option<Fit> {
    let n = rows.len();
    let width = rows.first()?.len() + 1;
    let sound = |row: &&[f64]| row.len() + 1 == width && row.iter().all(|x| x.is_finite());
    if n != ys.len() || n <= width || !finite(ys) || !rows.iter().all(sound) {
        return None;
    }
    let mut columns = vec![vec![1.0; n]];
    columns.extend((0..width - 1).map(|j| rows.iter().map(|row| row[j]).collect()));
    let mut rotated = ys.to_vec();
    let diagonal = decompose(&mut columns, &mut rotated)?;
    let values = solve(&columns, &diagonal, &rotated);
    let degrees = (n - width) as f64;
    let squares: f64 = rotated[width..].iter().map(|y| y * y).sum();
    let deviation = (squares / degrees).sqrt();
    let t = student_t_quantile(upper_tail(confidence)?, degrees)?;
    let coefficients = values.iter().zip(inverse_lengths(&columns, &diagonal));
    let coefficients = coefficients.map(|(&value, length)| {
        let error = deviation * length;
        let (low, high) = (value - t * error, value + t * error);
        Some(Coefficient { value, error, interval: (defined(low)?, defined(high)?) })
    });
    let middle = mean(ys)?;
    let spread: f64 = ys.iter().map(|y| (y - middle) * (y - middle)).sum();
    Some(Fit {
        coefficients: coefficients.collect::<Option<_>>()?,
        residual_deviation: deviation,
        r_squared: defined(1.0 - squares / spread),
    })
}

/// Reflects each column onto its axis, and the observations with it. Afterwards the columns hold R
/// above its diagonal, and the result is the diagonal.
fn decompose(columns: &mut [Vec<f64>], ys: &mut [f64]) -> Option<Vec<f64>> {
    let lengths: Vec<f64> = columns.iter().map(|column| length(column)).collect();
    let mut diagonal = Vec::with_capacity(columns.len());
    for k in 0..columns.len() {
        let (before, after) = columns.split_at_mut(k + 1);
        let mirror = &mut before[k][k..];
        let to = -length(mirror).copysign(mirror[0]);
        if to.abs().partial_cmp(&(DEPENDENT * lengths[k]))? != std::cmp::Ordering::Greater {
            return None;
        }
        mirror[0] -= to;
        let squared: f64 = mirror.iter().map(|v| v * v).sum();
        for column in after.iter_mut() {
            reflect(mirror, squared, &mut column[k..]);
        }
        reflect(mirror, squared, &mut ys[k..]);
        diagonal.push(to);
    }
    Some(diagonal)
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn reflect(mirror: &[f64], squared: f64, vector: &mut [f64]) {
    let product: f64 = mirror.iter().zip(&*vector).map(|(m, v)| m * v).sum();
    let twice = 2.0 * product / squared;
    for (v, m) in vector.iter_mut().zip(mirror) {
        *v -= twice * m;
    }
}

/// Solves `R x = right` by back substitution.
fn solve(columns: &[Vec<f64>], diagonal: &[f64], right: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; diagonal.len()];
    for i in (0..x.len()).rev() {
        let known: f64 = (i + 1..x.len()).map(|j| columns[j][i] * x[j]).sum();
        x[i] = (right[i] - known) / diagonal[i];
    }
    x
}

/// The Euclidean lengths of the rows of the inverse of R.
fn inverse_lengths(columns: &[Vec<f64>], diagonal: &[f64]) -> Vec<f64> {
    let mut squares = vec![0.0; diagonal.len()];
    for j in 0..diagonal.len() {
        let mut unit = vec![0.0; diagonal.len()];
        unit[j] = 1.0;
        for (sum, x) in squares.iter_mut().zip(solve(columns, diagonal, &unit)) {
            *sum += x * x;
        }
    }
    squares.iter().map(|sum: &f64| sum.sqrt()).collect()
}
