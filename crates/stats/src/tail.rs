//! How heavy the tails of some distributions are, and probabilities with that tail.

use std::sync::LazyLock;

use crate::distribution::{student_t_cdf, upper_end};

/// Width and number of the bins. Values beyond the last bin do not count, because they may be
/// outliers of another kind.
const WIDTH: f64 = 0.1;
const BINS: usize = 45;

/// Number of candidate tails.
const TAILS: usize = 12;

/// Degrees of freedom of the candidates, from the lightest tail, which is that of the normal
/// distribution; and the scale at which the robust standard deviation [`qn`](crate::qn) of such
/// values is 1, computed from 20 million pairs each.
const CANDIDATES: [(f64, f64); TAILS] = [
    (1e11, 1.0),
    (100.0, 0.994),
    (50.0, 0.987),
    (30.0, 0.979),
    (20.0, 0.968),
    (15.0, 0.958),
    (10.0, 0.938),
    (8.0, 0.923),
    (6.0, 0.899),
    (5.0, 0.880),
    (4.0, 0.852),
    (3.0, 0.809),
];

/// The probability of the normal distribution before the values are seen. The other candidates
/// share the rest.
const NORMAL_PRIOR: f64 = 0.9;

/// Steps of the iteration that finds how frequent each candidate is.
const STEPS: usize = 50;

/// A candidate with less weight does not count.
const LEAST_WEIGHT: f64 = 1e-12;

/// The tail of a distribution: how probable each candidate is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail([f64; TAILS]);

impl Tail {
    /// The probability of a value of at least `t`, in units of the robust standard deviation, which
    /// is itself as uncertain as one with `degrees` degrees of freedom.
    pub fn upper(&self, t: f64, degrees: f64) -> f64 {
        let each = self.0.iter().zip(CANDIDATES);
        let weighty = each.filter(|(weight, _)| **weight > LEAST_WEIGHT);
        let terms = weighty.map(|(weight, (own, scale))| {
            let both = (1.0 / (1.0 / own + 1.0 / degrees)).max(1.0);
            weight * student_t_cdf(-t / scale, both).unwrap_or(1.0)
        });
        terms.sum::<f64>().min(1.0)
    }

    /// The `t` at which [`upper`](Tail::upper) is `p`. `None` unless `0 < p < 1/2`.
    pub fn upper_quantile(&self, p: f64, degrees: f64) -> Option<f64> {
        let is_upper = p > 0.0 && p < 0.5;
        is_upper.then(|| upper_end(p, |t| self.upper(t, degrees)))?
    }
}

/// The logarithms of the bins' probabilities for each candidate.
static LOGARITHMS: LazyLock<[[f64; BINS]; TAILS]> = LazyLock::new(|| {
    CANDIDATES.map(|(degrees, scale)| {
        let cdf = |edge: usize| student_t_cdf(WIDTH * edge as f64 / scale, degrees).unwrap_or(1.0);
        let whole = (cdf(BINS) - 0.5).ln();
        std::array::from_fn(|bin| (cdf(bin + 1) - cdf(bin)).max(1e-300).ln() - whole)
    })
});

/// Estimates the upper tail of each of some samples. The values are distances from the sample's
/// median in units of its robust standard deviation; negative ones, and those beyond 4.5, do not
/// count.
///
/// The candidates are t distributions with 3 to 100 degrees of freedom and the normal distribution.
/// The weight of a candidate is its posterior probability, so a small sample, which cannot exclude
/// a heavy tail, keeps one; this is Bayesian model averaging (J. A. Hoeting et al., Statistical
/// Science 14 (1999) 382-417). The prior is that of empirical Bayes: how frequent each candidate is
/// among all samples (B. Efron and C. Morris, Journal of the American Statistical Association 68
/// (1973) 117-130), with one further sample that has the probability 0.9 for the normal
/// distribution. The likelihood is that of values truncated at 4.5, in bins of 0.1, so outliers of
/// another kind have no influence.
pub fn upper_tails<'a>(samples: impl Iterator<Item = &'a [f64]>) -> Vec<Tail> {
    let likelihoods: Vec<[f64; TAILS]> = samples.map(likelihoods).collect();
    let other = (1.0 - NORMAL_PRIOR) / (TAILS - 1) as f64;
    let first: [f64; TAILS] = std::array::from_fn(|k| if k == 0 { NORMAL_PRIOR } else { other });
    let mut prior = first;
    for _ in 0..STEPS {
        let mut sum = first;
        for likelihood in &likelihoods {
            let own = posterior(likelihood, &prior);
            sum.iter_mut().zip(own.0).for_each(|(s, w)| *s += w);
        }
        prior = sum.map(|s| s / (likelihoods.len() + 1) as f64);
    }
    likelihoods.iter().map(|likelihood| posterior(likelihood, &prior)).collect()
}

/// The likelihood of each candidate, in units of the greatest.
fn likelihoods(values: &[f64]) -> [f64; TAILS] {
    let mut counts = [0_u32; BINS];
    for value in values.iter().filter(|value| **value >= 0.0) {
        if let Some(count) = counts.get_mut((value / WIDTH) as usize) {
            *count += 1;
        }
    }
    let logarithms = LOGARITHMS.each_ref().map(|bins| -> f64 {
        let terms = bins.iter().zip(&counts);
        terms.map(|(log, count)| log * f64::from(*count)).sum()
    });
    let most = logarithms.iter().copied().fold(f64::MIN, f64::max);
    logarithms.map(|l| (l - most).exp())
}

fn posterior(likelihood: &[f64; TAILS], prior: &[f64; TAILS]) -> Tail {
    let joint: [f64; TAILS] = std::array::from_fn(|k| likelihood[k] * prior[k]);
    let sum: f64 = joint.iter().sum();
    Tail(joint.map(|j| j / sum))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::{median, qn, student_t_quantile};

    /// Distances of t values, of which some are slower by eight.
    fn distances(degrees: f64, count: usize, slow: usize, random: &mut Rng) -> Vec<f64> {
        let draw = |random: &mut Rng| {
            student_t_quantile(random.f64().clamp(1e-12, 1.0 - 1e-12), degrees).unwrap()
        };
        let mut values: Vec<f64> = (0..count).map(|_| draw(random)).collect();
        values[..slow].iter_mut().for_each(|x| *x += 8.0);
        let (middle, spread) = (median(&values).unwrap(), qn(&values).unwrap());
        values.iter().map(|x| (x - middle) / spread).collect()
    }

    fn tails(degrees: f64, samples: usize, count: usize, random: &mut Rng) -> Vec<Tail> {
        let all: Vec<Vec<f64>> =
            (0..samples).map(|_| distances(degrees, count, count / 100, random)).collect();
        upper_tails(all.iter().map(Vec::as_slice))
    }

    #[test]
    fn many_normal_values_have_a_nearly_normal_tail() {
        let mut random = Rng::with_seed(1);
        for tail in tails(1e11, 20, 1000, &mut random) {
            let found = tail.upper_quantile(1e-6, 1e6).unwrap();
            // The normal quantile is 4.75.
            assert!((4.7..6.0).contains(&found), "{found}");
        }
    }

    #[test]
    fn heavy_and_few_values_have_a_heavy_tail() {
        let mut random = Rng::with_seed(2);
        for degrees in [3.0, 5.0] {
            let exact = student_t_quantile(1.0 - 1e-6, degrees).unwrap();
            for tail in tails(degrees, 20, 1000, &mut random) {
                let scale = CANDIDATES.iter().find(|(own, _)| *own == degrees).unwrap().1;
                let found = tail.upper_quantile(1e-6, 1e6).unwrap() / scale;
                assert!(found > 0.6 * exact && found < 2.0 * exact, "{found} {exact}");
            }
        }
        let few = tails(1e11, 1, 20, &mut random);
        assert!(few[0].upper_quantile(1e-6, 1e6).unwrap() > 8.0);
    }

    #[test]
    fn no_values_keep_the_prior() {
        let [tail] = upper_tails([&[-1.0, 77.0][..]].into_iter())[..] else { panic!() };
        assert!(
            (tail.0[0] - NORMAL_PRIOR).abs() < 1e-9
                && (tail.0.iter().sum::<f64>() - 1.0).abs() < 1e-9
        );
        assert!((tail.upper(0.0, 1e6) - 0.5).abs() < 1e-9);
        assert_eq!(tail.upper_quantile(0.0, 10.0), None);
    }
}
