//! Times of single operations, each timed alone: as a program writes them, and as a distribution.

use serde::{Deserialize, Serialize};

use crate::columns::array;

/// Times of single operations in one launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Singles {
    /// The time of each operation, in ns, with the cost of reading the clock.
    #[serde(serialize_with = "array")]
    pub ns: Vec<f64>,
    /// The median time of the dummy, timed alone in the same way, in ns: the cost of reading the
    /// clock, and of what the dummy does.
    pub dummy_ns: f64,
}

/// The distribution of the times of single operations in all launches, without the cost of reading
/// the clock. Interruptions are included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Distribution {
    /// Number of operations.
    pub count: u64,
    /// The subtracted cost, in ns: the median over the launches of the time of the dummy.
    pub cost_ns: f64,
    /// Percentiles, ascending. One with fewer than ten operations above it is left out. Those of a
    /// load are of all requests, where failed ones count as longer than all others: one that they
    /// reach is left out.
    pub percentiles: Vec<Percentile>,
    /// The longest operation, in ns.
    pub max_ns: f64,
    /// For each bucket of the histogram that is not empty: the longest time that belongs to it, in
    /// ns, and the number of operations. A bucket is at most 0.1 % wide. Absent without `--raw`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<(f64, u64)>,
}

/// A percentile of the times of single operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Percentile {
    /// The percentage: 99.9.
    pub percent: f64,
    /// The time that this percentage of the operations does not exceed, in ns.
    pub ns: f64,
    /// The lowest and the highest value of this percentile in a single launch, in ns. `None` if the
    /// launches have too few operations.
    pub launches: Option<[f64; 2]>,
}
