//! Results of a measuring circle: its groups of tests and the inferred latency of one circle. After
//! N. Korovkina, "seL4 microbenchmarking: designing predictable measurement context" (the Kanata
//! Bench, 2022). Letters in brackets are the symbols of that paper.

use serde::{Deserialize, Serialize};

/// Groups of tests by launch. A launch corresponds to a run in the paper.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Circles {
    /// The unit of all latencies here: `cycles` where the length of a core cycle is known, else
    /// `ns`.
    pub unit: String,
    /// Circles in a test of the first group (I).
    pub initial: u64,
    /// Difference in length between the tests of successive groups (D).
    pub delta: u64,
    /// Tests in a group (S).
    pub group_size: u64,
    /// Confidence level of the intervals, and of the answers about steadiness and independence.
    pub confidence: f64,
    /// Wanted half-width of the mean's interval, as a share of the mean (e).
    #[serde(alias = "share")]
    pub half_width: f64,
    /// Largest difference between the means of steady groups, as a share of the smaller one.
    #[serde(default)]
    pub margin: f64,
    /// Measurements by launch.
    pub launches: Vec<CirclesLaunch>,
}

impl Circles {
    /// The groups of all launches.
    pub(crate) fn groups(&mut self) -> impl Iterator<Item = &mut CircleGroup> {
        let launches = self.launches.iter_mut();
        launches.flat_map(|launch| launch.groups.iter_mut().chain(&mut launch.second_round))
    }
}

/// How the tests of a measuring circle are to be judged, as its class declares it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CirclePlan {
    /// Number of groups (G). A later group is the second round. `None`: there is no second round.
    pub groups: Option<u64>,
    /// Confidence level of the intervals, and of the answers about steadiness and independence.
    pub confidence: f64,
    /// Wanted half-width of the mean's interval, as a share of the mean (e).
    pub half_width: f64,
    /// Largest difference between the means of steady groups, as a share of the smaller one.
    pub margin: f64,
}

impl Default for CirclePlan {
    fn default() -> CirclePlan {
        CirclePlan { groups: None, confidence: 0.95, half_width: 0.01, margin: 0.01 }
    }
}

/// The groups of one launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CirclesLaunch {
    /// Index of the launch, from 0.
    pub launch: u64,
    /// The groups, ordered by test size.
    pub groups: Vec<CircleGroup>,
    /// The group of the second round: as many tests of the largest size as the first round showed
    /// to be necessary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_round: Option<CircleGroup>,
    /// The test size from which the mean latency of a circle is shown to be constant: the caches
    /// are warm. `None` if that is not known.
    pub steady_from: Option<u64>,
    /// The p-value of the model that the circles of a test are independent. `None` if the sizes are
    /// too alike to test it.
    #[serde(default)]
    pub independence: Option<f64>,
    /// Latency of a single circle, from the group with the largest test size, or from the second
    /// round.
    pub primary: Option<PrimaryLatency>,
}

/// The tests of one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CircleGroup {
    /// Circles in each test (N).
    pub test_size: u64,
    /// Accumulated latency of each test, in execution order (A).
    pub accumulated: Vec<f64>,
    /// Indices in `accumulated` of excluded tests: disturbed, or with evidence outside its bounds.
    #[serde(default)]
    pub left_out: Vec<u64>,
    /// Mean of the included tests. `None` for fewer than two.
    pub mean: Option<f64>,
    /// Standard deviation of the included tests.
    pub standard_deviation: Option<f64>,
    /// Standard deviation as a share of the mean.
    pub coefficient_of_variation: Option<f64>,
    /// Mean divided by the test size.
    pub mean_per_circle: Option<f64>,
}

/// Latency of a single circle. It is not measured but inferred from the tests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PrimaryLatency {
    /// Circles in each of these tests (N).
    pub test_size: u64,
    /// Mean latency (mu_P).
    pub mean: f64,
    /// Confidence interval of the mean, by Student's t.
    pub confidence_interval: [f64; 2],
    /// Standard deviation, under the assumption that the circles of a test are independent
    /// (sigma_P). `None` if the groups contradict that assumption.
    #[serde(default)]
    pub standard_deviation: Option<f64>,
    /// Standard deviation as a share of the mean.
    pub coefficient_of_variation: Option<f64>,
    /// Number of tests for an interval of the requested width (S'), not rounded.
    pub tests_needed: Option<f64>,
}
