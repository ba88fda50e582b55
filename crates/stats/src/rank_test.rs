//! A rank test of whether the values of one side tend to be greater.

use crate::distribution::{finite, normal_cdf};

/// Up to this total number of values, p is computed exactly: all counts of arrangements are
/// integers that a double represents, and quick to compute.
const MOST_COUNTED: usize = 50;

/// The Mann-Whitney U test of two independent samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Number of pairs in which the value of a is greater, with ties counted half.
    pub u: f64,
    /// U as a share of all pairs: estimates the probability that a value of a is greater than one
    /// of b.
    pub superiority: f64,
    /// The two-sided p-value of the hypothesis that neither side tends to be greater.
    pub p: f64,
    /// Whether p is exact rather than approximated.
    pub exact: bool,
}

/// Mann-Whitney U test. Without ties and with at most 50 values in total, p is exact, twice the
/// smaller tail. Otherwise it is from the normal approximation with corrections for continuity and
/// ties: `z = (|U - mn/2| - 1/2) / s`, `s^2 = mn / 12 (m + n + 1
/// - sum (t^3 - t) / ((m + n) (m + n - 1)))`, where t are the sizes of the groups of equal values.
///
/// H. B. Mann and D. R. Whitney, Annals of Mathematical Statistics 18 (1947) 50-60; M. Hollander,
/// D. A. Wolfe and E. Chicken, *Nonparametric Statistical Methods*, 3rd ed. (2014), section 4.1. If
/// all values are equal, p is 1.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    if !(finite(a) && finite(b)) {
        return None;
    }
    let (m, n) = (a.len(), b.len());
    let (u, ties) = statistic(a, b);
    let exact = ties == 0.0 && m + n <= MOST_COUNTED;
    Some(MannWhitney {
        u,
        superiority: u / (m as f64 * n as f64),
        p: if exact { exact_p(u as usize, m, n) } else { normal_p(u, ties, m as f64, n as f64)? },
        exact,
    })
}

/// U, and the sum of `t^3 - t` over the groups of equal values.
fn statistic(a: &[f64], b: &[f64]) -> (f64, f64) {
    let mut all: Vec<(f64, bool)> = a.iter().map(|&x| (x, true)).collect();
    all.extend(b.iter().map(|&x| (x, false)));
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (mut u, mut ties, mut of_b_below) = (0.0, 0.0, 0.0);
    // Compares as numbers, since -0 and 0 are equal.
    for group in all.chunk_by(|x, y| x.0 == y.0) {
        let t = group.len() as f64;
        let of_a = group.iter().filter(|x| x.1).count() as f64;
        u += of_a * (of_b_below + 0.5 * (t - of_a));
        of_b_below += t - of_a;
        ties += t * t * t - t;
    }
    (u, ties)
}

fn exact_p(u: usize, m: usize, n: usize) -> f64 {
    let counts = arrangements(m, n);
    let all: f64 = counts.iter().sum();
    let tail: f64 = counts[..=u.min(m * n - u)].iter().sum();
    (2.0 * tail / all).min(1.0)
}

/// The number of orders of m and n values with U = 0, 1, ... mn: the coefficients of the Gaussian
/// binomial `prod (1 - q^(n + i)) / (1 - q^i)`, i from 1 to m.
fn arrangements(m: usize, n: usize) -> Vec<f64> {
    let mut counts = vec![0.0; m * n + 1];
    counts[0] = 1.0;
    for i in 1..=m {
        for k in (n + i..counts.len()).rev() {
            counts[k] -= counts[k - n - i];
        }
        for k in i..counts.len() {
            counts[k] += counts[k - i];
        }
    }
    counts
}

fn normal_p(u: f64, ties: f64, m: f64, n: f64) -> Option<f64> {
    let all = m + n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return Some(1.0);
    }
    let z = ((u - 0.5 * m * n).abs() - 0.5).max(0.0) / variance.sqrt();
    Some((2.0 * normal_cdf(-z)?).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts every order of a few values.
    #[test]
    fn arrangements_are_counted() {
        for (m, n) in [(1, 1), (2, 3), (4, 4), (5, 3)] {
            let mut counts = vec![0.0; m * n + 1];
            for order in 0u32..1 << (m + n) {
                if order.count_ones() as usize != m {
                    continue;
                }
                let of_a = (0..m + n).filter(|i| order >> i & 1 == 1);
                let u: u32 = of_a.map(|i| i as u32 - (order & ((1 << i) - 1)).count_ones()).sum();
                counts[u as usize] += 1.0;
            }
            assert_eq!(arrangements(m, n), counts, "{m}, {n}");
        }
    }
}
