//! A lognormal distribution up to a cut, and a Pareto distribution above it: P. Barford and M.
//! Crovella, "Generating Representative Web Workloads for Network and Server Performance
//! Evaluation", SIGMETRICS 1998.

use serde::{Deserialize, Serialize};
use yamba_stats::{normal_cdf, normal_quantile};

/// The least share of the values on either side of a cut.
const LEAST_SIDE: f64 = 0.005;

/// Number of cuts that are compared.
const CUTS: usize = 120;

/// Parameters of body and tail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BodyTail {
    /// Mean of the natural logarithm of the size in bytes, without the cut.
    pub mu: f64,
    /// Standard deviation of the natural logarithm of the size in bytes, without the cut.
    pub sigma: f64,
    /// Share of the objects below the cut, from 0 to 1. 1: there is no tail.
    pub body_share: f64,
    /// The size where the tail begins, in bytes: of 120 quantiles from 50 % on, the one with the
    /// greatest likelihood. `None`: there is no tail, because none makes the likelihood greater by
    /// Schwarz' criterion.
    pub cut_bytes: Option<f64>,
    /// Exponent of the tail: the share of objects above x falls as `x^-exponent`.
    pub tail_exponent: Option<f64>,
}

impl BodyTail {
    /// Fits ascending positive values by maximum likelihood. `None` for fewer than three, and for
    /// equal ones.
    pub(crate) fn fit(sorted: &[f64]) -> Option<BodyTail> {
        let sums = Sums::new(sorted);
        let all = sums.body(sorted.len())?;
        let mut best = (all.likelihood, all.fitted(1.0, None));
        for index in cuts(sorted) {
            let cut = sorted[index];
            let (Some(body), Some(exponent)) =
                (sums.truncated(index, cut.ln()), sums.tail(index, cut))
            else {
                continue;
            };
            let count = sorted.len() as f64;
            let share = index as f64 / count;
            let tail = (count - index as f64) * (exponent.ln() + (1.0 - share).ln() - cut.ln())
                - (exponent + 1.0) * (sums.logs_from(index) - (count - index as f64) * cut.ln());
            let likelihood = body.likelihood + index as f64 * share.ln() + tail;
            // Share, cut and exponent are three parameters more.
            let price = 1.5 * count.ln();
            let known = best.0 + if best.1.cut_bytes.is_none() { price } else { 0.0 };
            if likelihood > known {
                best = (likelihood, body.fitted(share, Some((cut, exponent))));
            }
        }
        Some(best.1)
    }

    /// The probability of a size of at most `x` bytes.
    pub fn cdf(&self, x: f64) -> f64 {
        let below = |x: f64| phi((x.max(0.0).ln() - self.mu) / self.sigma);
        match (self.cut_bytes, self.tail_exponent) {
            (Some(cut), Some(exponent)) if x >= cut => {
                1.0 - (1.0 - self.body_share) * (cut / x).powf(exponent)
            }
            (Some(cut), _) => self.body_share * below(x) / below(cut),
            _ => below(x),
        }
    }

    /// The size below which the share `p` of the objects lies, in bytes.
    pub fn quantile(&self, p: f64) -> f64 {
        let log = |p: f64| {
            self.mu + self.sigma * normal_quantile(p.clamp(1e-15, 1.0 - 1e-15)).unwrap_or(0.0)
        };
        match (self.cut_bytes, self.tail_exponent) {
            (Some(cut), Some(exponent)) if p >= self.body_share => {
                let left = (1.0 - p).max(1e-12) / (1.0 - self.body_share);
                cut * left.powf(-1.0 / exponent)
            }
            (Some(cut), _) => {
                let below = phi((cut.ln() - self.mu) / self.sigma);
                log(p / self.body_share * below).exp()
            }
            _ => log(p).exp(),
        }
    }

    /// Checks the parameters of a document. The error names the fault.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_positive = |value: Option<f64>| value.is_none_or(|v| v > 0.0 && v.is_finite());
        let is_valid = self.mu.is_finite()
            && is_positive(Some(self.sigma))
            && is_positive(Some(self.body_share))
            && self.body_share <= 1.0
            && is_positive(self.cut_bytes)
            && is_positive(self.tail_exponent)
            && self.cut_bytes.is_some() == self.tail_exponent.is_some();
        if is_valid {
            Ok(())
        } else {
            Err("sizes: sigma, body_share, cut_bytes and tail_exponent must be positive, and a tail needs both of the last".to_owned())
        }
    }
}

/// The indices of the cuts that are compared: each the first of its value.
fn cuts(sorted: &[f64]) -> impl Iterator<Item = usize> {
    let count = sorted.len() as f64;
    let share = |i: usize| 0.5 + (0.5 - LEAST_SIDE) * i as f64 / (CUTS - 1) as f64;
    let index = move |i: usize| {
        let value = sorted[((share(i) * count) as usize).min(sorted.len() - 1)];
        sorted.partition_point(|x| *x < value)
    };
    let is_inside = move |index: &usize| {
        let part = *index as f64 / count;
        part > LEAST_SIDE && part < 1.0 - LEAST_SIDE / 2.0
    };
    (0..CUTS).map(index).filter(is_inside)
}

fn phi(z: f64) -> f64 {
    normal_cdf(z).unwrap_or(if z > 0.0 { 1.0 } else { 0.0 })
}

fn density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Sums of the logarithms up to each value, relative to their mean, so that squares lose no digits.
struct Sums {
    logs: Vec<f64>,
    squares: Vec<f64>,
    mean: f64,
}

/// A fitted lognormal distribution.
struct Body {
    mu: f64,
    sigma: f64,
    likelihood: f64,
}

impl Body {
    fn fitted(&self, body_share: f64, tail: Option<(f64, f64)>) -> BodyTail {
        BodyTail {
            mu: self.mu,
            sigma: self.sigma,
            body_share,
            cut_bytes: tail.map(|t| t.0),
            tail_exponent: tail.map(|t| t.1),
        }
    }
}

impl Sums {
    fn new(sorted: &[f64]) -> Sums {
        let mean = sorted.iter().map(|x| x.ln()).sum::<f64>() / sorted.len() as f64;
        let (mut logs, mut squares) = (vec![0.0], vec![0.0]);
        for value in sorted {
            let log = value.ln() - mean;
            logs.push(logs.last().unwrap_or(&0.0) + log);
            squares.push(squares.last().unwrap_or(&0.0) + log * log);
        }
        Sums { logs, squares, mean }
    }

    /// The sum of the logarithms from a value on.
    fn logs_from(&self, index: usize) -> f64 {
        let count = self.logs.len() - 1;
        self.logs[count] - self.logs[index] + (count - index) as f64 * self.mean
    }

    /// The lognormal distribution of the first `count` values.
    fn body(&self, count: usize) -> Option<Body> {
        let n = count as f64;
        let mean = self.logs[count] / n;
        let variance = self.squares[count] / n - mean * mean;
        if count < 3 || variance.is_nan() || variance <= 1e-12 {
            return None;
        }
        Some(self.with(count, mean, variance.sqrt(), 1.0))
    }

    /// The likelihood of parameters relative to the mean. `below` is the probability below the cut.
    fn with(&self, count: usize, mean: f64, sigma: f64, below: f64) -> Body {
        let n = count as f64;
        let square = self.squares[count] - 2.0 * mean * self.logs[count] + n * mean * mean;
        let constant = sigma.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln() + below.ln();
        let of_logs = self.logs[count] + n * self.mean;
        Body {
            mu: mean + self.mean,
            sigma,
            likelihood: -square / (2.0 * sigma * sigma) - n * constant - of_logs,
        }
    }

    /// The lognormal distribution of the first `count` values, which was cut at the logarithm
    /// `cut`: its mean and mean square below the cut equal those of the values, which is the
    /// condition of the greatest likelihood. Found by expectation and maximisation: A. P. Dempster,
    /// N. M. Laird and D. B. Rubin (1977).
    fn truncated(&self, count: usize, cut: f64) -> Option<Body> {
        const MOST_STEPS: usize = 400;
        let cut = cut - self.mean;
        let start = self.body(count)?;
        let (mut mean, mut sigma) = (start.mu - self.mean, start.sigma);
        let n = count as f64;
        let mut below = 1.0;
        for _ in 0..MOST_STEPS {
            let z = (cut - mean) / sigma;
            below = phi(z);
            if below < 0.05 {
                // The cut hides most of such a body, so its parameters mean nothing.
                return None;
            }
            let above = (1.0 - below).max(1e-300);
            let hidden = n * above / below;
            let hazard = density(z) / above;
            let hidden_mean = mean + sigma * hazard;
            let hidden_square =
                sigma * sigma * (1.0 + z * hazard) + 2.0 * mean * hidden_mean - mean * mean;
            let all = n + hidden;
            let next = (self.logs[count] + hidden * hidden_mean) / all;
            let square = (self.squares[count] + hidden * hidden_square) / all - next * next;
            let next_sigma = square.max(1e-12).sqrt();
            let change = (next - mean).abs() + (next_sigma - sigma).abs();
            (mean, sigma) = (next, next_sigma);
            if change < 1e-7 * sigma {
                break;
            }
        }
        Some(self.with(count, mean, sigma, below))
    }

    /// The exponent of the values from `index` on: B. M. Hill (1975).
    fn tail(&self, index: usize, cut: f64) -> Option<f64> {
        let count = (self.logs.len() - 1 - index) as f64;
        let sum = self.logs_from(index) - count * cut.ln();
        (count >= 3.0 && sum > 0.0).then_some(count / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(truth: &BodyTail, count: usize, seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut values: Vec<f64> = (0..count).map(|_| truth.quantile(random.f64())).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    #[test]
    fn parameters_are_recovered() {
        for (mu, sigma, body_share, cut, exponent) in
            [(9.0, 1.2, 0.75, 30_000.0, 1.4), (8.0, 0.8, 0.7, 8_000.0, 1.5)]
        {
            let truth = BodyTail {
                mu,
                sigma,
                body_share,
                cut_bytes: Some(cut),
                tail_exponent: Some(exponent),
            };
            let found = BodyTail::fit(&drawn(&truth, 60_000, 6)).unwrap();
            for (found, expected) in [
                (found.mu, mu),
                (found.sigma, sigma),
                (found.body_share, body_share),
                (found.cut_bytes.unwrap(), cut),
                (found.tail_exponent.unwrap(), exponent),
            ] {
                assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
            }
        }
    }

    #[test]
    fn lognormal_values_have_no_tail() {
        let truth =
            BodyTail { mu: 7.0, sigma: 1.0, body_share: 1.0, cut_bytes: None, tail_exponent: None };
        let found = BodyTail::fit(&drawn(&truth, 5_000, 8)).unwrap();
        assert_eq!(found.cut_bytes, None);
        assert!((found.mu / 7.0 - 1.0).abs() < 0.01 && (found.sigma - 1.0).abs() < 0.05);
    }

    #[test]
    fn quantile_inverts_the_distribution_function() {
        let fitted = BodyTail {
            mu: 9.0,
            sigma: 1.2,
            body_share: 0.85,
            cut_bytes: Some(30_000.0),
            tail_exponent: Some(1.1),
        };
        for p in [0.01, 0.5, 0.84, 0.86, 0.999] {
            assert!((fitted.cdf(fitted.quantile(p)) - p).abs() < 1e-6, "{p}");
        }
        assert!((fitted.cdf(30_000.0) - 0.85).abs() < 1e-12);
        assert!(fitted.check().is_ok());
        assert!(BodyTail { sigma: 0.0, ..fitted }.check().is_err());
        assert_eq!(BodyTail::fit(&[5.0; 9]), None);
    }
}
