//! Correction for multiple tests.

/// Adjusts the p-values of a family of tests by Holm's method. Rejecting all below alpha makes any
/// error with a probability of at most alpha, whatever the dependence between the tests. In
/// ascending order the i-th of m, from 0, is multiplied by `m - i`, raised to at least the previous
/// one, and capped at 1. The result has the order of the input.
///
/// S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of
/// Statistics 6 (1979) 65-70. `None` if a value is not a probability.
pub fn holm(p_values: &[f64]) -> Option<Vec<f64>> {
    if !p_values.iter().all(|p| (0.0..=1.0).contains(p)) {
        return None;
    }
    let m = p_values.len();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut adjusted = vec![0.0; m];
    let mut least: f64 = 0.0;
    for (place, &i) in order.iter().enumerate() {
        least = least.max(((m - place) as f64 * p_values[i]).min(1.0));
        adjusted[i] = least;
    }
    Some(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
    #[test]
    fn matches_r() {
        let got = holm(&[0.01, 0.04, 0.03, 0.005]).unwrap();
        for (got, expected) in got.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - expected).abs() < 1e-15, "{got}");
        }
    }

    #[test]
    fn edges() {
        assert_eq!(holm(&[]), Some(vec![]));
        assert_eq!(holm(&[0.2]), Some(vec![0.2]));
        assert_eq!(holm(&[0.9, 0.8]), Some(vec![1.0, 1.0]));
        assert_eq!(holm(&[0.5, f64::NAN]), None);
        assert_eq!(holm(&[1.1]), None);
    }
}
