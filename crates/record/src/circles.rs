//! The tests of a measuring circle, and what is inferred from them. After N. Korovkina, "seL4 microbenchmarking: designing
//! predictable measurement context" (the Kanata Bench, 2022); the names in brackets are the paper's.

use serde::{Deserialize, Serialize};

/// Groups of tests, each launch by itself as each of the paper's runs is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Circles {
    /// The unit of all latencies here: `cycles` where the length of a core cycle is known, else `ns`.
    pub unit: String,
    /// Circles in a test of the first group (I).
    pub initial: u64,
    /// By how many the tests of each next group are longer (D).
    pub delta: u64,
    /// Tests in a group (S).
    pub group_size: u64,
    /// The significance at which groups are held to differ, over all pairs of a launch.
    pub significance: f64,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// The half-width, as a share of the mean, that `tests_needed` is for (e). Groups that differ by less are held to be alike.
    pub share: f64,
    /// What each fresh process measured.
    pub launches: Vec<CirclesLaunch>,
}

/// The groups of one launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CirclesLaunch {
    /// Which one, from 0.
    pub launch: u64,
    /// In the order of their test sizes.
    pub groups: Vec<CircleGroup>,
    /// The test size from which the mean latency of a circle no longer changes: the caches are warm. None where nothing shows it.
    pub steady_from: Option<u64>,
    /// The latency of a single circle, from the first group of that size; from the last group where nothing is steady.
    pub primary: Option<PrimaryLatency>,
}

/// The tests of one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CircleGroup {
    /// Circles in each test (N).
    pub test_size: u64,
    /// The accumulated latency of each test, in the order in which they ran (A).
    pub accumulated: Vec<f64>,
    /// The places in `accumulated` of tests that do not count: disturbed, or with evidence outside its bounds.
    #[serde(default)]
    pub left_out: Vec<u64>,
    /// The mean of the tests that count; none with fewer than two.
    pub mean: Option<f64>,
    /// Their standard deviation.
    pub standard_deviation: Option<f64>,
    /// The deviation as a share of the mean.
    pub coefficient_of_variation: Option<f64>,
    /// The mean divided by the test size.
    pub mean_per_circle: Option<f64>,
}

/// The latency of a single circle, which is never measured: inferred from the tests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PrimaryLatency {
    /// Circles in each of those tests (N).
    pub test_size: u64,
    /// Its mean (mu_P).
    pub mean: f64,
    /// The interval of the mean, by Student's t.
    pub interval: [f64; 2],
    /// Its standard deviation, if the circles of a test are independent (sigma_P).
    pub standard_deviation: f64,
    /// The deviation as a share of the mean.
    pub coefficient_of_variation: Option<f64>,
    /// Tests that an interval of the wanted width needs (S'), not rounded.
    pub tests_needed: Option<f64>,
}
