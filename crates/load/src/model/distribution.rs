//! Continuous distributions of positive values: their functions, and their parameters by maximum
//! likelihood.

use serde::{Deserialize, Serialize};
use yamba_stats::{normal_cdf, normal_quantile, quantile_of_sorted};

/// The most quantiles of an empirical distribution: its distance to the log then is at most 1 in
/// this number.
const MOST_QUANTILES: usize = 2001;

/// A distribution of positive values, in the unit of its place in the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "family", rename_all = "lowercase")]
pub enum Distribution {
    /// `1 - exp(-x / mean)`.
    Exponential { mean: f64 },
    /// The logarithm of the value is normal.
    Lognormal {
        /// Mean of the natural logarithm.
        mu: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// `1 - exp(-(x / scale)^shape)`.
    Weibull {
        /// The shape: 1 is exponential, less has a longer tail.
        shape: f64,
        /// The scale, in the unit of the values.
        scale: f64,
    },
    /// The values of the log, since no family fits.
    Empirical {
        /// Quantiles at equal steps of probability from 0 to 1, with straight lines between.
        quantiles: Vec<f64>,
    },
}

impl Distribution {
    /// The name of the family.
    pub fn family(&self) -> &'static str {
        match self {
            Distribution::Exponential { .. } => "exponential",
            Distribution::Lognormal { .. } => "lognormal",
            Distribution::Weibull { .. } => "weibull",
            Distribution::Empirical { .. } => "empirical",
        }
    }

    /// The probability of a value of at most `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        if x.is_nan() || x < 0.0 {
            return 0.0;
        }
        match self {
            Distribution::Exponential { mean } => -(-x / mean).exp_m1(),
            Distribution::Lognormal { mu, sigma } => phi((x.ln() - mu) / sigma),
            Distribution::Weibull { shape, scale } => -(-(x / scale).powf(*shape)).exp_m1(),
            Distribution::Empirical { quantiles } => table_cdf(quantiles, x),
        }
    }

    /// The value below which the share `p` of the values lies, for `0 <= p < 1`.
    pub fn quantile(&self, p: f64) -> f64 {
        match self {
            Distribution::Exponential { mean } => -mean * (-p).ln_1p(),
            Distribution::Lognormal { mu, sigma } => (mu + sigma * normal(p)).exp(),
            Distribution::Weibull { shape, scale } => scale * (-(-p).ln_1p()).powf(1.0 / shape),
            Distribution::Empirical { quantiles } => {
                quantile_of_sorted(quantiles, p.clamp(0.0, 1.0))
            }
        }
    }

    /// A random value.
    pub fn sample(&self, random: &mut fastrand::Rng) -> f64 {
        self.quantile(random.f64())
    }

    /// The distribution whose parameters differ from these as those of `to` differ from those of
    /// `from`. `None` for another family.
    pub(crate) fn moved(&self, from: &Distribution, to: &Distribution) -> Option<Distribution> {
        use Distribution::{Exponential, Lognormal, Weibull};
        match (self, from, to) {
            (Exponential { mean }, Exponential { mean: a }, Exponential { mean: b }) => {
                Some(Exponential { mean: mean * b / a })
            }
            (
                Lognormal { mu, sigma },
                Lognormal { mu: m, sigma: s },
                Lognormal { mu: n, sigma: t },
            ) => Some(Lognormal { mu: mu + n - m, sigma: sigma * t / s }),
            (
                Weibull { shape, scale },
                Weibull { shape: h, scale: s },
                Weibull { shape: i, scale: t },
            ) => Some(Weibull { shape: shape * i / h, scale: scale * t / s }),
            _ => None,
        }
    }

    /// The mean of all values.
    pub fn mean(&self) -> f64 {
        const STEPS: usize = 10_000;
        match self {
            Distribution::Exponential { mean } => *mean,
            Distribution::Lognormal { mu, sigma } => (mu + sigma * sigma / 2.0).exp(),
            _ => {
                let middle = |i: usize| (i as f64 + 0.5) / STEPS as f64;
                let sum: f64 = (0..STEPS).map(|i| self.quantile(middle(i))).sum();
                sum / STEPS as f64
            }
        }
    }

    /// The family and its parameters as text.
    pub fn text(&self) -> String {
        match self {
            Distribution::Exponential { mean } => format!("exponential, mean {}", short(*mean)),
            Distribution::Lognormal { mu, sigma } => {
                format!("lognormal, mu {}, sigma {}", short(*mu), short(*sigma))
            }
            Distribution::Weibull { shape, scale } => {
                format!("weibull, shape {}, scale {}", short(*shape), short(*scale))
            }
            Distribution::Empirical { quantiles } => {
                format!("empirical, {} quantiles", quantiles.len())
            }
        }
    }

    /// Checks the parameters of a document. The error names the fault.
    pub fn check(&self) -> Result<(), String> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(format!("{name}: it must be a positive number, not {value}"))
            }
        };
        match self {
            Distribution::Exponential { mean } => positive("mean", *mean),
            Distribution::Lognormal { mu, sigma } if mu.is_finite() => positive("sigma", *sigma),
            Distribution::Lognormal { mu, .. } => Err(format!("mu: it must be finite, not {mu}")),
            Distribution::Weibull { shape, scale } => {
                positive("shape", *shape)?;
                positive("scale", *scale)
            }
            Distribution::Empirical { quantiles } => {
                let is_ascending = quantiles.windows(2).all(|pair| pair[0] <= pair[1]);
                let is_valid = quantiles.iter().all(|q| *q >= 0.0 && q.is_finite());
                if quantiles.len() >= 2 && is_ascending && is_valid {
                    Ok(())
                } else {
                    Err("quantiles: they must be two or more ascending numbers of 0 or more"
                        .to_owned())
                }
            }
        }
    }
}

/// Three significant digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 12);
    let text = format!("{value:.*}", digits as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn phi(z: f64) -> f64 {
    normal_cdf(z).unwrap_or(if z > 0.0 { 1.0 } else { 0.0 })
}

/// The quantile of the normal distribution; at the ends that of the nearest number.
fn normal(p: f64) -> f64 {
    normal_quantile(p.clamp(1e-16, 1.0 - 1e-16)).unwrap_or(0.0)
}

fn table_cdf(quantiles: &[f64], x: f64) -> f64 {
    let steps = (quantiles.len() - 1) as f64;
    // The number of quantiles up to x.
    let up_to = quantiles.partition_point(|q| *q <= x);
    if up_to == 0 || up_to == quantiles.len() {
        return if up_to == 0 { 0.0 } else { 1.0 };
    }
    let (low, high) = (quantiles[up_to - 1], quantiles[up_to]);
    ((up_to - 1) as f64 + (x - low) / (high - low)) / steps
}

/// The exponential distribution of these positive values.
pub(crate) fn exponential(values: &[f64]) -> Option<Distribution> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean > 0.0 && mean.is_finite()).then_some(Distribution::Exponential { mean })
}

/// The lognormal distribution of these positive values.
pub(crate) fn lognormal(values: &[f64]) -> Option<Distribution> {
    let count = values.len() as f64;
    let mu = values.iter().map(|x| x.ln()).sum::<f64>() / count;
    let square = values.iter().map(|x| (x.ln() - mu).powi(2)).sum::<f64>();
    let sigma = (square / count).sqrt();
    (mu.is_finite() && sigma > 0.0).then_some(Distribution::Lognormal { mu, sigma })
}

/// The Weibull distribution of these positive values. Newton's method finds the root of the
/// likelihood's derivative by the shape: N. L. Johnson, S. Kotz and N. Balakrishnan, *Continuous
/// Univariate Distributions* 1 (1994), chapter 21.
pub(crate) fn weibull(values: &[f64]) -> Option<Distribution> {
    const MOST_STEPS: usize = 60;
    let count = values.len() as f64;
    let logs: Vec<f64> = values.iter().map(|x| x.ln()).collect();
    let mean_log = logs.iter().sum::<f64>() / count;
    let deviation = (logs.iter().map(|l| (l - mean_log).powi(2)).sum::<f64>() / count).sqrt();
    // The standard deviation of the logarithm is pi / (sqrt(6) shape).
    let mut shape = 1.282_55 / deviation;
    for _ in 0..MOST_STEPS {
        let (mut powers, mut first, mut second) = (0.0, 0.0, 0.0);
        for log in &logs {
            // Relative to the mean, so that no power overflows.
            let log = log - mean_log;
            let power = (shape * log).exp();
            powers += power;
            first += power * log;
            second += power * log * log;
        }
        let ratio = first / powers;
        let slope = second / powers - ratio * ratio + 1.0 / (shape * shape);
        let step = (ratio - 1.0 / shape) / slope;
        shape = (shape - step).max(shape / 4.0);
        if step.abs() < 1e-10 * shape {
            break;
        }
    }
    let powers = logs.iter().map(|l| (shape * (l - mean_log)).exp()).sum::<f64>();
    let scale = mean_log.exp() * (powers / count).powf(1.0 / shape);
    let is_valid = shape > 0.0 && scale > 0.0 && shape.is_finite() && scale.is_finite();
    is_valid.then_some(Distribution::Weibull { shape, scale })
}

/// The table of ascending values. At least two are needed.
pub(crate) fn empirical(sorted: &[f64]) -> Option<Distribution> {
    let (first, count) = (sorted.first()?, sorted.len());
    let steps = count.clamp(2, MOST_QUANTILES) - 1;
    let quantile = |i: usize| {
        let at = i as f64 / steps as f64 * (count - 1) as f64;
        let index = (at as usize).min(count.saturating_sub(2));
        let next = sorted.get(index + 1).unwrap_or(first);
        sorted[index] + (next - sorted[index]) * (at - index as f64)
    };
    let quantiles = (0..=steps).map(quantile).collect();
    Some(Distribution::Empirical { quantiles })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Distribution> {
        vec![
            Distribution::Exponential { mean: 3.0 },
            Distribution::Lognormal { mu: 1.0, sigma: 0.7 },
            Distribution::Weibull { shape: 0.6, scale: 2.0 },
            Distribution::Empirical { quantiles: vec![1.0, 2.0, 4.0, 9.0] },
        ]
    }

    #[test]
    fn quantile_inverts_the_distribution_function() {
        for distribution in all() {
            for p in [0.01, 0.2, 0.5, 0.9, 0.999] {
                let back = distribution.cdf(distribution.quantile(p));
                assert!((back - p).abs() < 1e-6, "{distribution:?} {p}: {back}");
            }
            assert_eq!(distribution.cdf(-1.0), 0.0);
            distribution.check().unwrap();
        }
    }

    /// Known values: exp(-1), the normal distribution's 0.841345 at 1, and the definition of the
    /// Weibull distribution at its scale.
    #[test]
    fn functions_have_known_values() {
        let [exponential, lognormal, weibull, table] = all().try_into().unwrap();
        for (found, expected) in [
            (exponential.cdf(3.0), 1.0 - (-1.0_f64).exp()),
            (lognormal.cdf(1.7_f64.exp()), 0.841_345),
            (weibull.cdf(2.0), 1.0 - (-1.0_f64).exp()),
            (table.cdf(3.0), 0.5),
            (lognormal.mean(), (1.0 + 0.245_f64).exp()),
            // scale * gamma(1 + 1 / 0.6)
            (weibull.mean() / 3.0092, 1.0),
        ] {
            assert!((found - expected).abs() < 4e-3 * expected, "{found} {expected}");
        }
    }

    #[test]
    fn parameters_are_recovered() {
        let mut random = fastrand::Rng::with_seed(7);
        for truth in all().into_iter().take(3) {
            let values: Vec<f64> = (0..40_000).map(|_| truth.sample(&mut random)).collect();
            let found = match truth {
                Distribution::Exponential { .. } => exponential(&values),
                Distribution::Lognormal { .. } => lognormal(&values),
                _ => weibull(&values),
            };
            let found = found.unwrap();
            for p in [0.1, 0.5, 0.9] {
                let ratio = found.quantile(p) / truth.quantile(p);
                assert!((ratio - 1.0).abs() < 0.03, "{truth:?}: {found:?}");
            }
        }
    }

    #[test]
    fn equal_values_have_no_family_with_two_parameters() {
        assert_eq!(lognormal(&[2.0; 10]), None);
        assert_eq!(weibull(&[2.0; 10]), None);
        assert!(exponential(&[0.0; 10]).is_none() && empirical(&[]).is_none());
        let table = empirical(&[2.0, 2.0]).unwrap();
        assert_eq!((table.quantile(0.5), table.cdf(1.9), table.cdf(2.0)), (2.0, 0.0, 1.0));
    }

    #[test]
    fn wrong_parameters_of_a_document_are_refused() {
        for (json, fault) in [
            (
                r#"{"family": "exponential", "mean": 0}"#,
                "mean: it must be a positive number, not 0",
            ),
            (
                r#"{"family": "weibull", "shape": 1, "scale": -1}"#,
                "scale: it must be a positive number, not -1",
            ),
            (
                r#"{"family": "empirical", "quantiles": [2, 1]}"#,
                "quantiles: they must be two or more ascending numbers of 0 or more",
            ),
        ] {
            let distribution: Distribution = serde_json::from_str(json).unwrap();
            assert_eq!(distribution.check().unwrap_err(), fault);
        }
    }
}
