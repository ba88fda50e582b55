//! Sections that the terminal, the Markdown and the page of a run show beside its figures.
//!
//! To add one, write a function that returns it, and name the function in [`sections`].

use yamba_record::Run;
use yamba_record::run::IntervalScope;

use crate::hardware;
use crate::view::{Part, Section};

/// The sections for these runs. A terminal and Markdown show one run, a page one or more.
pub fn sections(runs: &[Run]) -> Vec<Section> {
    let all = [intervals_between_runs(runs), hardware::section(runs)];
    all.into_iter().flatten().collect()
}

/// The meaning of the intervals of few launches. `None` if no run has such an interval.
fn intervals_between_runs(runs: &[Run]) -> Option<Section> {
    let entries = runs.iter().flat_map(|run| &run.benchmarks);
    let mut scopes = entries.filter_map(|b| b.interval_scope);
    let text =
        "Intervals of few launches hold the figure of the next run of this kind in 90 % of cases.";
    scopes
        .any(|scope| scope == IntervalScope::BetweenRuns)
        .then(|| Section { title: String::new(), parts: Part::lines([text]) })
}
