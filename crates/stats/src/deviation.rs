//! A measure of spread that is robust against outliers.

use crate::quantile::median;

/// Factor from the median absolute deviation to the standard deviation of normal values:
/// `1 / quantile of the normal distribution at 3/4`.
pub const NORMAL_SCALE: f64 = 1.482602218505602;

/// The median absolute deviation, `median |x - median x|`, in the unit of the values, unscaled.
///
/// F. R. Hampel, "The Influence Curve and its Role in Robust Estimation", Journal of the American
/// Statistical Association 69 (1974) 383-393.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|x| (x - middle).abs()).collect();
    median(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(median_absolute_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert_eq!(median_absolute_deviation(&[5.0]), Some(0.0));
        assert_eq!(median_absolute_deviation(&[]), None);
    }

    #[test]
    fn scale_matches_normal_distribution() {
        let quarter = crate::normal_quantile(0.75).unwrap();
        assert!((NORMAL_SCALE * quarter - 1.0).abs() < 1e-14);
    }
}
