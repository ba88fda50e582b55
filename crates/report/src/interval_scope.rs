//! Explanations of intervals whose scope is not the usual one.

use yamba_record::Run;
use yamba_record::run::IntervalScope;

/// The statement of intervals between runs.
pub const BETWEEN_RUNS: &str =
    "Intervals of few launches hold the figure of the next run of this kind in 90 % of cases.";

/// Whether a figure of the run has an interval between runs.
pub fn has_intervals_between_runs(run: &Run) -> bool {
    let mut scopes = run.benchmarks.iter().filter_map(|b| b.interval_scope);
    scopes.any(|scope| scope == IntervalScope::BetweenRuns)
}
