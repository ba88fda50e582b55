//! Test groups of measuring circles: computes the latency of one circle from accumulated latencies.
//!
//! After Kanata Bench (N. Korovkina, "seL4 microbenchmarking: designing predictable measurement
//! context", 2022), section 3. One *test* reads the clock around N runs of the circle and gives
//! their accumulated latency A. A *group* is S tests of one size N. The *primary latency* P of a
//! single run is not observed, but `Y = A / N` is its mean over N runs. Latencies are in any one
//! unit of time, such as core cycles.

use crate::brown_forsythe::brown_forsythe;
use crate::distribution::{defined, student_t_cdf};
use crate::moments::{
    MeanInterval, coefficient_of_variation, mean, mean_t_interval, mean_z_interval,
    samples_for_mean, standard_deviation, variance,
};

/// A group of tests of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group<'a> {
    /// N, the number of circles in each test.
    pub test_size: u64,
    /// A, the accumulated latency of each test.
    pub accumulated: &'a [f64],
}

impl Group<'_> {
    /// Y = A / N of each test, its mean latency of a circle. `None` for a test size of 0.
    pub fn per_circle(&self) -> Option<Vec<f64>> {
        let size = self.test_size as f64;
        (size > 0.0).then(|| self.accumulated.iter().map(|a| a / size).collect())
    }
}

/// Statistics of a group, as in the paper's tables 3.4 and 3.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupStatistics {
    /// The mean of A.
    pub mean: f64,
    /// The standard deviation of A.
    pub standard_deviation: f64,
    /// The coefficient of variation of A, as a share. `None` for a mean of 0.
    pub coefficient_of_variation: Option<f64>,
    /// The mean of Y: the mean of A divided by N.
    pub mean_per_circle: f64,
}

/// Mean, standard deviation and coefficient of variation of a group's A, and the mean of its Y.
/// `None` for fewer than two tests.
pub fn group_statistics(group: Group) -> Option<GroupStatistics> {
    Some(GroupStatistics {
        mean: mean(group.accumulated)?,
        standard_deviation: standard_deviation(group.accumulated)?,
        coefficient_of_variation: coefficient_of_variation(group.accumulated),
        mean_per_circle: mean(&group.per_circle()?)?,
    })
}

/// The index of the first group from which the mean of Y is known to be constant: the means of this
/// group and all later ones are within `margin` of each other, a share of the smaller one. Groups
/// are ordered by test size. `None`: not known, for example because of noise, or for fewer than two
/// groups. `significance` is the probability of a wrong answer.
///
/// The paper does not specify the test ("stops significantly changing"). A missing difference shows
/// no equality: with enough noise nothing differs. So equality has to be shown, by two one-sided t
/// tests of each pair (D. J. Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the
/// Power Approach", Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680). All pairs
/// of a group and its successors must pass, which needs no correction (R. L. Berger, Technometrics
/// 24 (1982) 295-300). The groups are tested from the last one backwards until one fails: such a
/// fixed order needs no correction either (W. Maurer, L. A. Hothorn and W. Lehmacher, in
/// *Biometrie in der chemisch-pharmazeutischen Industrie* 6 (1995) 3-18).
pub fn steady_from(groups: &[Group], margin: f64, significance: f64) -> Option<usize> {
    let ys: Vec<Vec<f64>> = groups.iter().map(Group::per_circle).collect::<Option<_>>()?;
    let is_like_all_later = |i: usize| {
        ys[i + 1..].iter().all(|later| {
            p_of_larger(&ys[i], later, 1.0 + margin).is_some_and(|p| p <= significance)
                && p_of_larger(later, &ys[i], 1.0 + margin).is_some_and(|p| p <= significance)
        })
    };
    let before_last = (0..ys.len().saturating_sub(1)).rev();
    before_last.take_while(|i| is_like_all_later(*i)).last()
}

/// The p-value of the hypothesis that the mean of `a` is at least `ratio` times that of `b`, by
/// `t = (ratio m_b - m_a) / e`, `e^2 = s_a^2 / n_a + ratio^2 s_b^2 / n_b`. The degrees of freedom
/// are those of the smaller sample. Welch's number is larger, but it can grow with the noise of one
/// sample, so that noise would help.
fn p_of_larger(a: &[f64], b: &[f64], ratio: f64) -> Option<f64> {
    let degrees = a.len().min(b.len()) as f64 - 1.0;
    let (of_a, of_b) = (variance(a)? / a.len() as f64, variance(b)? / b.len() as f64);
    let error = (of_a + ratio * ratio * of_b).sqrt();
    let difference = ratio * mean(b)? - mean(a)?;
    if error == 0.0 {
        return Some(if difference > 0.0 { 0.0 } else { 1.0 });
    }
    student_t_cdf(-difference / error, degrees)
}

/// The p-value of the paper's model that the circles of a test are independent: then the variance
/// of A is `N sigma_P^2` (equation 3.2), and A divided by the root of N has the same variance in
/// all groups. The test is that of Brown and Forsythe. `None` if it can find nothing: the largest
/// tests are not even twice as long as the smallest ones, or nothing varies.
pub fn p_of_independence(groups: &[Group]) -> Option<f64> {
    let sizes = || groups.iter().map(|group| group.test_size);
    if sizes().max()? < sizes().min()?.saturating_mul(2) || sizes().any(|size| size == 0) {
        return None;
    }
    let scaled = groups.iter().map(|group| {
        let root = (group.test_size as f64).sqrt();
        group.accumulated.iter().map(|a| a / root).collect()
    });
    let scaled: Vec<Vec<f64>> = scaled.collect();
    brown_forsythe(&scaled.iter().map(Vec::as_slice).collect::<Vec<&[f64]>>())
}

/// The primary latency inferred from one group, with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Primary {
    /// mu_P = mu_Y with an interval from the normal distribution, as in the paper's table A.2.2.
    pub mean: MeanInterval,
    /// Computes the interval from Student's t instead, which is better for few tests.
    pub mean_by_t: MeanInterval,
    /// sigma_Y^2, the variance of Y.
    pub variance_of_mean: f64,
    /// sigma_P^2 = sigma_Y^2 N, the variance of a single run.
    pub variance: f64,
    /// sigma_P as a share of mu_P. `None` for a mean of 0.
    pub coefficient_of_variation: Option<f64>,
    /// S', the number of tests for an interval of the requested half-width, not rounded. `None` for
    /// a mean of 0.
    pub tests_needed: Option<f64>,
}

/// Mean and variance of the primary latency by the paper's equation 3.2, `mu_P = mu_Y` and
/// `sigma_P^2 = sigma_Y^2 N`, and the number of tests by its equation 3.3 for an interval of
/// half-width `share` of the mean. The group must be past the warm-up (see `steady_from`).
///
/// The variance assumes that the runs in a test are independent (see [`p_of_independence`]). `None`
/// for fewer than two tests or a test size of 0.
pub fn primary(group: Group, confidence: f64, share: f64) -> Option<Primary> {
    let ys = group.per_circle()?;
    let interval = mean_z_interval(&ys, confidence)?;
    let deviation = standard_deviation(&ys)?;
    let variance = defined(deviation * deviation * group.test_size as f64)?;
    let m = interval.mean;
    Some(Primary {
        mean: interval,
        mean_by_t: mean_t_interval(&ys, confidence)?,
        variance_of_mean: deviation * deviation,
        variance,
        coefficient_of_variation: defined(variance.sqrt() / m.abs()),
        tests_needed: samples_for_mean(m, deviation, share, confidence),
    })
}

/// The results of the groups of one launch, or of one run of the paper's program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inferred {
    /// Index of the group from which the mean is known to be constant (see [`steady_from`]).
    pub steady_from: Option<usize>,
    /// The p-value of independent circles (see [`p_of_independence`]).
    pub independence: Option<f64>,
    /// The latency of one circle.
    pub primary: Option<Primary>,
    /// Whether the groups contradict independent circles: then the deviation of `primary` has no
    /// meaning.
    pub is_dependent: bool,
}

/// Infers the latency of one circle from all groups of a launch, ordered by test size. The primary
/// latency is that of `second_round`, or else of the largest tests: equation 3.2 of the paper holds
/// "with large Test size N". `half_width` and `margin` are shares of the mean.
pub fn infer(
    groups: &[Group],
    second_round: Option<Group>,
    confidence: f64,
    half_width: f64,
    margin: f64,
) -> Inferred {
    let significance = 1.0 - confidence;
    let has_spread = |group: &&Group| group.accumulated.len() >= 2;
    let varying: Vec<Group> = groups.iter().filter(has_spread).copied().collect();
    let independence = p_of_independence(&varying);
    let best = second_round.or(groups.iter().max_by_key(|group| group.test_size).copied());
    Inferred {
        steady_from: steady_from(groups, margin, significance),
        independence,
        primary: best.and_then(|best| primary(best, confidence, half_width)),
        is_dependent: independence.is_some_and(|p| p <= significance),
    }
}
