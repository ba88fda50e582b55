//! Moderated variances: the variance of a group of few values, with what the other groups say about
//! it.

use crate::distribution::{defined, student_t_quantile, upper_tail};
use statrs::function::beta::{beta_reg, ln_beta};

/// Range of the prior's degrees of freedom. Below it a scale would say nothing of a group; above it
/// all groups are alike.
const DEGREES: [f64; 2] = [0.5, 200.0];

/// Steps of the golden-section search over the logarithm of the degrees of freedom: to a part in
/// ten thousand.
const SEARCH_STEPS: usize = 25;

/// Most steps of Fisher scoring, and the change at which it has converged.
const SCORING_STEPS: usize = 200;
const CONVERGED: f64 = 1e-9;

/// The sample variance of one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupVariance {
    /// The sample variance.
    pub variance: f64,
    /// Its degrees of freedom, more than 0.
    pub degrees: f64,
    /// The covariate: the logarithm of the true variance depends on it linearly.
    pub covariate: f64,
}

/// The distribution of the true variances of groups: `d0 s0^2 / sigma^2` is chi-squared with `d0`
/// degrees of freedom, where `ln s0^2 = intercept + slope * covariate`.
///
/// G. K. Smyth, "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in
/// Microarray Experiments", Statistical Applications in Genetics and Molecular Biology 3 (2004),
/// article 3; the trend is that of limma (C. W. Law and others, "voom", Genome Biology 15 (2014)
/// R29).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariancePrior {
    /// `ln s0^2` at a covariate of 0.
    pub intercept: f64,
    /// The change of `ln s0^2` with the covariate.
    pub slope: f64,
    /// The degrees of freedom `d0`.
    pub degrees: f64,
}

/// A variance with its degrees of freedom, not necessarily an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeratedVariance {
    /// The variance.
    pub variance: f64,
    /// The degrees of freedom.
    pub degrees: f64,
}

impl VariancePrior {
    /// The prior of maximum marginal likelihood. `s^2 / s0^2` of a group has the F distribution
    /// with `d` and `d0` degrees of freedom.
    ///
    /// limma matches the moments of `ln s^2` instead. With one degree of freedom, a single variance
    /// near 0 moves these by much, and the likelihood by little. `None` for fewer than three
    /// groups, or if all variances are 0.
    pub fn fit(groups: &[GroupVariance]) -> Option<VariancePrior> {
        let is_valid = |g: &GroupVariance| {
            g.variance >= 0.0
                && g.variance.is_finite()
                && g.degrees > 0.0
                && g.degrees.is_finite()
                && g.covariate.is_finite()
        };
        if groups.len() < 3 || !groups.iter().all(is_valid) {
            return None;
        }
        let mean = groups.iter().map(|g| g.variance).sum::<f64>() / groups.len() as f64;
        if mean <= 0.0 {
            return None;
        }
        let center = groups.iter().map(|g| g.covariate).sum::<f64>() / groups.len() as f64;
        let fit = |log_degrees: f64| Fit::at(groups, center, mean.ln(), log_degrees.exp());
        let best = golden_section(DEGREES.map(f64::ln), |x| fit(x).log_likelihood(groups));
        let found = fit(best);
        let intercept = defined(found.level - found.slope * center)?;
        Some(VariancePrior { intercept, slope: defined(found.slope)?, degrees: found.degrees })
    }

    /// The expected variance `s0^2` of a group.
    pub fn scale(&self, covariate: f64) -> f64 {
        (self.intercept + self.slope * covariate).exp()
    }

    /// `(d0 s0^2 + d s^2) / (d0 + d)` with `d0 + d` degrees of freedom (Smyth, equation 5). A group
    /// without own degrees has `s0^2`.
    pub fn moderate(&self, group: GroupVariance) -> ModeratedVariance {
        let degrees = self.degrees + group.degrees;
        let own = if group.degrees > 0.0 { group.degrees * group.variance } else { 0.0 };
        ModeratedVariance {
            variance: (self.degrees * self.scale(group.covariate) + own) / degrees,
            degrees,
        }
    }

    /// The probability that the variance of a group is at least as large as this one. `None`
    /// without degrees of freedom.
    ///
    /// `s^2 / s0^2` has the F distribution with `d` and `d0` degrees of freedom.
    pub fn upper_tail(&self, group: GroupVariance) -> Option<f64> {
        let (d, d0) = (group.degrees, self.degrees);
        let q = d * group.variance / (d0 * self.scale(group.covariate));
        (d > 0.0 && q >= 0.0).then(|| beta_reg(d0 / 2.0, d / 2.0, 1.0 / (1.0 + q)))
    }
}

impl ModeratedVariance {
    /// Half the width of the interval that holds a further value in `confidence` of cases, if its
    /// difference from the centre has `factor` times this variance: `t sqrt(factor variance)`.
    pub fn half_width(&self, factor: f64, confidence: f64) -> Option<f64> {
        let t = student_t_quantile(upper_tail(confidence)?, self.degrees.max(1.0))?;
        defined(t * (factor * self.variance).sqrt())
    }
}

/// The regression of greatest likelihood at fixed degrees of freedom.
struct Fit {
    degrees: f64,
    /// `ln s0^2` at the mean covariate.
    level: f64,
    slope: f64,
    center: f64,
}

impl Fit {
    /// Fisher scoring. The score of a group's `ln s0^2` is `(d0 q - d) / (2 (1 + q))` with `q = d
    /// s^2 / (d0 s0^2)`, its information `d d0 / (2 (d + d0 + 2))`.
    fn at(groups: &[GroupVariance], center: f64, start: f64, degrees: f64) -> Fit {
        let mut fit = Fit { degrees, level: start, slope: 0.0, center };
        for _ in 0..SCORING_STEPS {
            let (mut score, mut slope_score) = (0.0, 0.0);
            let (mut w, mut wx, mut wxx) = (0.0, 0.0, 0.0);
            for group in groups {
                let q = fit.ratio(group);
                let x = group.covariate - center;
                let d = group.degrees;
                let one = if q.is_finite() {
                    (degrees * q - d) / (2.0 * (1.0 + q))
                } else {
                    degrees / 2.0
                };
                let weight = d * degrees / (2.0 * (d + degrees + 2.0));
                score += one;
                slope_score += one * x;
                w += weight;
                wx += weight * x;
                wxx += weight * x * x;
            }
            let determinant = w * wxx - wx * wx;
            // Groups with one covariate have no slope.
            let is_flat = determinant <= 1e-12 * w * w;
            let [level, slope] = if is_flat {
                [score / w, 0.0]
            } else {
                [
                    (wxx * score - wx * slope_score) / determinant,
                    (w * slope_score - wx * score) / determinant,
                ]
            };
            fit.level += level;
            fit.slope += slope;
            if level.abs() + slope.abs() < CONVERGED {
                break;
            }
        }
        fit
    }

    fn ratio(&self, group: &GroupVariance) -> f64 {
        let log_scale = self.level + self.slope * (group.covariate - self.center);
        group.degrees * group.variance / self.degrees * (-log_scale).exp()
    }

    /// The logarithm of the density of `s` of each group, without terms that do not depend on the
    /// prior.
    fn log_likelihood(&self, groups: &[GroupVariance]) -> f64 {
        let of_group = |group: &GroupVariance| {
            let (d, d0) = (group.degrees, self.degrees);
            let log_scale = self.level + self.slope * (group.covariate - self.center);
            -d / 2.0 * (d0.ln() + log_scale)
                - (d + d0) / 2.0 * self.ratio(group).ln_1p()
                - ln_beta(d / 2.0, d0 / 2.0)
        };
        groups.iter().map(of_group).sum()
    }
}

/// The x between `low` and `high` with the greatest value.
fn golden_section([mut low, mut high]: [f64; 2], value: impl Fn(f64) -> f64) -> f64 {
    let share = (5f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - share * (high - low), low + share * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..SEARCH_STEPS {
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - share * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + share * (high - low);
            at_right = value(right);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{chi_squared_quantile, normal_quantile};

    fn group(variance: f64, degrees: f64, covariate: f64) -> GroupVariance {
        GroupVariance { variance, degrees, covariate }
    }

    /// A uniform number inside 0 to 1.
    fn uniform(random: &mut fastrand::Rng) -> f64 {
        (random.f64() + 1e-12).min(1.0 - 1e-12)
    }

    /// Groups whose true variances follow `prior`.
    fn drawn(
        prior: VariancePrior,
        degrees: f64,
        count: usize,
        random: &mut fastrand::Rng,
    ) -> Vec<GroupVariance> {
        let chi =
            |d: f64, random: &mut fastrand::Rng| chi_squared_quantile(uniform(random), d).unwrap();
        let one = |_| {
            let covariate = -12.0 + 8.0 * random.f64();
            let true_variance = prior.degrees * prior.scale(covariate) / chi(prior.degrees, random);
            group(true_variance * chi(degrees, random) / degrees, degrees, covariate)
        };
        (0..count).map(one).collect()
    }

    /// Smyth (2004), equation 5, by hand: (4 * 0.5 + 2 * 2) / (4 + 2).
    #[test]
    fn moderated_variance_is_the_weighted_mean() {
        let prior = VariancePrior { intercept: 0.5f64.ln(), slope: 0.0, degrees: 4.0 };
        let moderated = prior.moderate(group(2.0, 2.0, 7.0));
        assert!((moderated.variance - 1.0).abs() < 1e-12);
        assert_eq!(moderated.degrees, 6.0);
        let unknown = prior.moderate(group(f64::NAN, 0.0, 7.0));
        assert!((unknown.variance - 0.5).abs() < 1e-12);
        assert_eq!(unknown.degrees, 4.0);
        // t of 0.975 with 6 degrees of freedom is 2.4469 in printed tables.
        let half = moderated.half_width(2.0, 0.95).unwrap();
        assert!((half - 2.4469 * 2f64.sqrt()).abs() < 1e-3, "{half}");
        assert_eq!(moderated.half_width(2.0, 1.0), None);
    }

    /// Quantiles of the F distribution in printed tables: 5 % lie above 10.13 with 1 and 3 degrees
    /// of freedom, and above 6.94 with 2 and 4.
    #[test]
    fn tail_is_that_of_the_f_distribution() {
        let tail = |d: f64, d0: f64, ratio: f64| {
            let prior = VariancePrior { intercept: 4f64.ln(), slope: 0.0, degrees: d0 };
            prior.upper_tail(group(4.0 * ratio, d, 0.0))
        };
        assert!((tail(1.0, 3.0, 10.13).unwrap() - 0.05).abs() < 1e-4);
        assert!((tail(2.0, 4.0, 6.94).unwrap() - 0.05).abs() < 1e-4);
        assert_eq!(tail(1.0, 3.0, 0.0), Some(1.0));
        assert_eq!(tail(0.0, 3.0, 1.0), None);
    }

    #[test]
    fn fit_finds_the_parameters_of_simulated_groups() {
        let mut random = fastrand::Rng::with_seed(1);
        for (intercept, slope, degrees, own) in
            [(-0.7, 0.9, 1.5, 1.0), (0.3, 0.5, 6.0, 2.0), (-2.0, 0.0, 3.0, 5.0)]
        {
            let prior = VariancePrior { intercept, slope, degrees };
            let found = VariancePrior::fit(&drawn(prior, own, 2000, &mut random)).unwrap();
            assert!((found.slope - slope).abs() < 0.06, "{found:?}");
            assert!((found.degrees / degrees).ln().abs() < 0.4, "{found:?}");
            let ratio = found.scale(-8.0) / prior.scale(-8.0);
            assert!(ratio.ln().abs() < 0.15, "{found:?}");
        }
    }

    /// The likelihood of the fit is not exceeded by that of parameters nearby.
    #[test]
    fn fit_has_the_greatest_likelihood() {
        let mut random = fastrand::Rng::with_seed(2);
        let prior = VariancePrior { intercept: -1.0, slope: 0.8, degrees: 2.0 };
        let groups = drawn(prior, 1.0, 60, &mut random);
        let found = VariancePrior::fit(&groups).unwrap();
        // The density of s by the F distribution, from its definition.
        let log_likelihood = |p: VariancePrior| -> f64 {
            let one = |g: &GroupVariance| {
                let q = g.degrees * g.variance / (p.degrees * p.scale(g.covariate));
                g.degrees / 2.0 * q.ln()
                    - (g.degrees + p.degrees) / 2.0 * q.ln_1p()
                    - ln_beta(g.degrees / 2.0, p.degrees / 2.0)
            };
            groups.iter().map(one).sum()
        };
        let best = log_likelihood(found);
        for (level, slope, degrees) in [
            (0.05, 0.0, 1.0),
            (-0.05, 0.0, 1.0),
            (0.0, 0.02, 1.0),
            (0.0, -0.02, 1.0),
            (0.0, 0.0, 1.1),
            (0.0, 0.0, 0.9),
        ] {
            let beside = VariancePrior {
                intercept: found.intercept + level,
                slope: found.slope + slope,
                degrees: found.degrees * degrees,
            };
            assert!(log_likelihood(beside) < best, "{beside:?} {found:?}");
        }
    }

    /// Without any difference between the groups the scale is their mean variance, and the prior
    /// has many degrees.
    #[test]
    fn equal_variances_give_a_sharp_prior() {
        let found = VariancePrior::fit(&[group(0.25, 3.0, 1.0); 9]).unwrap();
        assert!((found.scale(1.0) - 0.25).abs() < 1e-3, "{found:?}");
        assert!(found.degrees > 0.9 * DEGREES[1], "{found:?}");
        assert_eq!(found.slope, 0.0);
    }

    #[test]
    fn variances_of_zero_do_not_upset_the_fit() {
        let mut groups: Vec<GroupVariance> =
            (1..40).map(|i| group(1e-4 * f64::from(i), 1.0, -5.0)).collect();
        let without = VariancePrior::fit(&groups).unwrap();
        groups.push(group(0.0, 1.0, -5.0));
        let with = VariancePrior::fit(&groups).unwrap();
        let ratio = with.scale(-5.0) / without.scale(-5.0);
        assert!(ratio.ln().abs() < 0.2, "{with:?} {without:?}");
        assert_eq!(VariancePrior::fit(&[group(0.0, 1.0, 1.0); 5]), None);
        assert_eq!(VariancePrior::fit(&groups[..2]), None);
        assert_eq!(VariancePrior::fit(&[group(f64::NAN, 1.0, 0.0); 5]), None);
    }

    /// Known truth: figures of two values each hold the next figure as often as stated, although
    /// their variances differ by four orders of magnitude.
    #[test]
    fn intervals_of_two_values_hold_the_next_figure() {
        let mut random = fastrand::Rng::with_seed(3);
        let prior = VariancePrior { intercept: -0.7, slope: 0.9, degrees: 2.0 };
        let (mut inside, mut total) = (0, 0);
        let normal = |random: &mut fastrand::Rng| normal_quantile(uniform(random)).unwrap();
        for _ in 0..20 {
            let truth: Vec<(f64, f64)> = drawn(prior, 1e6, 150, &mut random)
                .iter()
                .map(|g| (g.variance.sqrt(), g.covariate))
                .collect();
            let values: Vec<[f64; 4]> = truth
                .iter()
                .map(|(sigma, _)| std::array::from_fn(|_| sigma * normal(&mut random)))
                .collect();
            let groups: Vec<GroupVariance> = values
                .iter()
                .zip(&truth)
                .map(|(v, (_, x))| group((v[0] - v[1]).powi(2) / 2.0, 1.0, *x))
                .collect();
            let found = VariancePrior::fit(&groups).unwrap();
            for (v, g) in values.iter().zip(&groups) {
                let half = found.moderate(*g).half_width(1.0, 0.9).unwrap();
                inside += usize::from((v[0] + v[1] - v[2] - v[3]).abs() / 2.0 <= half);
                total += 1;
            }
        }
        let coverage = inside as f64 / total as f64;
        assert!((0.88..0.92).contains(&coverage), "{coverage}");
    }
}
