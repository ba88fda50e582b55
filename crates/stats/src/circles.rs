//! Test groups of measuring circles: computes the latency of one circle from accumulated latencies.
//!
//! After Kanata Bench (N. Korovkina, "seL4 microbenchmarking: designing predictable measurement
//! context", 2022), section 3. One *test* reads the clock around N runs of the circle and gives
//! their accumulated latency A. A *group* is S tests of one size N. The *primary latency* P of a
//! single run is not observed, but `Y = A / N` is its mean over N runs. Latencies are in any one
//! unit of time, such as core cycles.

use crate::finite::defined;
use crate::holm::holm;
use crate::mean_interval::{MeanInterval, mean_t_interval, mean_z_interval};
use crate::moments::{coefficient_of_variation, mean, standard_deviation};
use crate::sample_size::samples_for_mean;
use crate::welch::welch_t;

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

/// The index of the first group from which the mean of Y no longer changes significantly. Groups
/// are ordered by test size. `None` for fewer than two groups, or if even the last two differ,
/// since then there is no evidence that the caches are warm.
///
/// The paper does not specify the test ("stops significantly changing"). This function compares the
/// Y of each group with those of each later one by Welch's t test. Holm's correction limits the
/// error over all these pairs to `significance`. The result is the first group such that no pair of
/// it and its successors differs. Comparing only neighbours would miss a slow decrease: in the
/// paper's table 3.4 no two neighbours after the first pair differ significantly, yet the second
/// group and the last one do.
pub fn steady_from(groups: &[Group], significance: f64) -> Option<usize> {
    let ys: Vec<Vec<f64>> = groups.iter().map(Group::per_circle).collect::<Option<_>>()?;
    let mut pairs = Vec::new();
    let mut p_values = Vec::new();
    for (i, earlier) in ys.iter().enumerate() {
        for later in &ys[i + 1..] {
            pairs.push(i);
            p_values.push(p_of_difference(earlier, later)?);
        }
    }
    let adjusted = holm(&p_values)?;
    let changes = pairs.iter().zip(adjusted).filter(|(_, p)| *p <= significance);
    let steady = changes.map(|(i, _)| i + 1).max().unwrap_or(0);
    (steady + 1 < groups.len()).then_some(steady)
}

/// The p-value of a difference. Welch's t is undefined if neither group has any spread; then p is 1
/// for equal means and 0 for others.
fn p_of_difference(a: &[f64], b: &[f64]) -> Option<f64> {
    if let Some(difference) = welch_t(a, b, 0.95) {
        return Some(difference.p);
    }
    let still = standard_deviation(a)? == 0.0 && standard_deviation(b)? == 0.0;
    still.then_some(if mean(a)? == mean(b)? { 1.0 } else { 0.0 })
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
/// The variance assumes that the runs in a test are independent; it is too large if neighbouring
/// runs are correlated. `None` for fewer than two tests or a test size of 0.
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
