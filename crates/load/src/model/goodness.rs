//! How well a distribution describes a log: the test of Kolmogorov and Smirnov, where the
//! parameters were fitted to the same values.

use serde::{Deserialize, Serialize};
use yamba_stats::{kolmogorov_p_value, kolmogorov_scale};

/// A distribution passes if its p-value is at least this.
pub const LEVEL: f64 = 0.01;

/// How far the mean of a family may be from that of the log, as a factor. Rates and pauses follow
/// from the mean, and the test hardly sees it: it may depend on values that are rarer than one in
/// all of the log.
const MOST_MEAN_RATIO: f64 = 1.25;

/// Number of simulated samples: the smallest p-value then is 0.005.
pub(crate) const REPLICATES: usize = 199;

/// The most values of a simulated sample. The scaled distance hardly depends on the number of
/// values.
pub(crate) const MOST_VALUES: usize = 4000;

/// A distribution that was compared with the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Compared {
    pub family: String,
    /// The greatest distance between the distribution and that of the log, from 0 to 1.
    pub distance: f64,
    /// The probability of such a distance if the log came from this family. The parameters are
    /// fitted to each simulated sample, as they were to the log.
    pub p_value: f64,
    /// The mean of the family divided by that of the log. `None`: it is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ratio: Option<f64>,
}

impl Compared {
    /// Whether the test at 1 % does not reject the family, and its mean is near that of the log.
    pub fn passes(&self) -> bool {
        self.p_value >= LEVEL && self.has_mean_of_log()
    }

    /// Whether the mean is near that of the log. True if they are not compared.
    pub fn has_mean_of_log(&self) -> bool {
        let near = 1.0 / MOST_MEAN_RATIO..=MOST_MEAN_RATIO;
        self.mean_ratio.is_none_or(|ratio| near.contains(&ratio))
    }

    /// The values themselves.
    pub(crate) fn empirical() -> Compared {
        Compared { family: "empirical".to_owned(), distance: 0.0, p_value: 1.0, mean_ratio: None }
    }

    /// Tests a family whose fit has this distance from the log. If the p-value is below `hopeless`
    /// without an account of the fit, it needs no simulation: the account makes it smaller still.
    /// The other arguments are those of [`bootstrap_p_value`].
    pub(crate) fn test(
        family: &str,
        distance: f64,
        hopeless: f64,
        count: f64,
        simulated: usize,
        simulate: impl FnMut() -> Option<f64>,
    ) -> Option<Compared> {
        let mut p_value = kolmogorov_p_value(distance, count)?;
        if p_value >= hopeless {
            p_value = bootstrap_p_value(distance, count, simulated, simulate);
        }
        Some(Compared { family: family.to_owned(), distance, p_value, mean_ratio: None })
    }
}

/// The chosen distribution, and all that were compared.
pub(crate) struct Chosen<T> {
    pub distribution: T,
    /// Its comparison with the log.
    pub compared: Compared,
    /// The comparisons of all families, in their order.
    pub candidates: Vec<Compared>,
}

/// Chooses the fit if it passes, else the values themselves.
pub(crate) fn fitted_or<T>(fitted: Option<(T, Compared)>, values: impl FnOnce() -> T) -> Chosen<T> {
    let candidates = fitted.iter().map(|(_, compared)| compared.clone()).collect();
    let (distribution, compared) = fitted
        .filter(|(_, compared)| compared.passes())
        .unwrap_or_else(|| (values(), Compared::empirical()));
    Chosen { distribution, compared, candidates }
}

/// The share of simulated samples with a distance of at least `distance`: A. Clauset, C. R. Shalizi
/// and M. E. J. Newman, "Power-Law Distributions in Empirical Data", SIAM Review 51 (2009) 661-703,
/// section 4.1. `simulate` fits the family to a sample of its own, and returns its distance. The
/// log has `count` values, and a simulated sample `simulated`.
fn bootstrap_p_value(
    distance: f64,
    count: f64,
    simulated: usize,
    mut simulate: impl FnMut() -> Option<f64>,
) -> f64 {
    let observed = kolmogorov_scale(distance, count);
    let mut farther = 0;
    let mut done = 0;
    for _ in 0..REPLICATES {
        let Some(found) = simulate() else { continue };
        done += 1;
        farther += usize::from(kolmogorov_scale(found, simulated as f64) >= observed);
    }
    (farther + 1) as f64 / (done + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::distribution::{Distribution, exponential};
    use yamba_stats::kolmogorov_distance;

    fn distance(values: &mut [f64]) -> Option<f64> {
        values.sort_by(f64::total_cmp);
        let fitted = exponential(values)?;
        kolmogorov_distance(values, |x| fitted.cdf(x))
    }

    /// H. W. Lilliefors (1969): with 30 values and a fitted mean, 1 % of the distances exceed
    /// 0.2257 (without fitting: 0.290).
    #[test]
    fn p_value_accounts_for_fitted_parameters() {
        let mut random = fastrand::Rng::with_seed(3);
        let truth = Distribution::Exponential { mean: 1.0 };
        let mut p_value = |observed: f64| {
            bootstrap_p_value(observed, 30.0, 30, || {
                let mut values: Vec<f64> = (0..30).map(|_| truth.sample(&mut random)).collect();
                distance(&mut values)
            })
        };
        assert!(p_value(0.25) < 0.015);
        assert!(p_value(0.17) > 0.03);
    }
}
