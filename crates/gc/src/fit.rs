//! Least squares with coefficients that cannot be negative.

const SWEEPS: usize = 20_000;

/// The coefficients >= 0 that minimise `sum (weight (y - row . c))^2`, by coordinate descent. A weight of `1 / y` makes errors relative.
///
/// V. Franc, V. Hlavac, M. Navara, *Sequential coordinate-wise algorithm for the non-negative least squares problem* (2005).
pub fn non_negative(rows: &[Vec<f64>], ys: &[f64], weights: &[f64]) -> Vec<f64> {
    let width = rows.first().map_or(0, Vec::len);
    let scale: Vec<f64> = (0..width).map(|j| length(rows, weights, j)).collect();
    let column = |i: usize, j: usize| {
        let size = if scale[j] > 0.0 { scale[j] } else { 1.0 };
        rows[i][j] * weights[i] / size
    };
    let product =
        |j: usize, k: usize| -> f64 { (0..rows.len()).map(|i| column(i, j) * column(i, k)).sum() };
    let gram: Vec<Vec<f64>> = (0..width)
        .map(|j| (0..width).map(|k| product(j, k)).collect())
        .collect();
    let right: Vec<f64> = (0..width)
        .map(|j| {
            (0..rows.len())
                .map(|i| column(i, j) * ys[i] * weights[i])
                .sum()
        })
        .collect();
    let solved = descend(&gram, &right);
    let unscaled = solved.iter().zip(&scale);
    unscaled
        .map(|(c, s)| if *s > 0.0 { c / s } else { 0.0 })
        .collect()
}

fn length(rows: &[Vec<f64>], weights: &[f64], j: usize) -> f64 {
    let squares = rows
        .iter()
        .zip(weights)
        .map(|(row, w)| (row[j] * w).powi(2));
    squares.sum::<f64>().sqrt()
}

fn descend(gram: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; right.len()];
    for _ in 0..SWEEPS {
        let mut largest = 0.0f64;
        for j in 0..x.len() {
            if gram[j][j] <= 0.0 {
                continue;
            }
            let sum: f64 = gram[j].iter().zip(&x).map(|(g, x)| g * x).sum();
            let next = (x[j] + (right[j] - sum) / gram[j][j]).max(0.0);
            largest = largest.max((next - x[j]).abs() / (next.abs() + 1e-300));
            x[j] = next;
        }
        if largest < 1e-10 {
            break;
        }
    }
    x
}

/// The coefficients >= 0 that minimise `sum weight |y - row . c|`: a few disturbed rows have little weight. Least squares with weights `1 / |residual|`, repeated.
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
        let rows: Vec<Vec<f64>> = (0..8)
            .map(|i| vec![1.0, f64::from(i), f64::from(i * i)])
            .collect();
        let ys: Vec<f64> = rows.iter().map(|r| 3.0 + 2.0 * r[1] + 0.5 * r[2]).collect();
        let found = non_negative(&rows, &ys, &[1.0; 8]);
        for (found, expected) in found.iter().zip([3.0, 2.0, 0.5]) {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
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
        assert!(
            (found[0] - 5.0).abs() < 0.5 && (found[1] - 2.0).abs() < 0.1,
            "{found:?}"
        );
    }

    /// Figures of the HBench thesis, section 5.4.2, in ms: 3.75 a megabyte of the heap, 229.1 for 512 x 512 live objects, 108.6 for as many dead ones.
    #[test]
    fn thesis_coefficients_follow_from_its_three_measurements() {
        let objects = 512.0 * 512.0;
        let mut rows = Vec::new();
        let mut ys = Vec::new();
        for heap in [16.0, 32.0, 48.0, 64.0] {
            for (live, dead, ms) in [
                (0.0, 0.0, 0.0),
                (objects, 0.0, 229.1),
                (0.0, objects, 108.6),
            ] {
                rows.push(vec![heap, live, dead]);
                ys.push(3.75e6 * heap + ms * 1e6);
            }
        }
        let weights: Vec<f64> = ys.iter().map(|y| 1.0 / y).collect();
        let found = non_negative(&rows, &ys, &weights);
        assert_eq!((found[0] / 1e4).round(), 375.0);
        assert_eq!((found[1].round(), found[2].round()), (874.0, 414.0));
    }
}
