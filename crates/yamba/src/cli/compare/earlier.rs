//! Earlier runs on the same machine, which tell of noise.

use std::collections::BTreeSet;

use yamba_record::Run;
use yamba_store::{Detail, Store};

use super::super::failure::Failure;
use super::super::output;
use super::super::store_option::StoreOption;
use crate::compare::floors::is_of_here;

/// The latest so many: more take longer to read than they tell.
const MOST: usize = 20;

/// Those that are kept with a benchmark of both, of the machine of B as it was then. Where they cannot be read, nothing is known, and a warning says so.
pub(super) fn runs(option: &StoreOption, a: &Run, b: &Run) -> Vec<Run> {
    match read(option, a, b) {
        Ok(runs) => runs,
        Err(Failure::Sentence { message, .. }) => {
            output::note(&format!(
                "warning: nothing is known of the noise here: {message}\n"
            ));
            Vec::new()
        }
        Err(_) => Vec::new(),
    }
}

fn read(option: &StoreOption, a: &Run, b: &Run) -> Result<Vec<Run>, Failure> {
    // Two documents are compared without making a store.
    let Some(mut store) = Store::existing(&option.location()?)? else {
        return Ok(Vec::new());
    };
    let of_a: BTreeSet<&str> = a.benchmarks.iter().map(|b| b.name.as_str()).collect();
    let names: BTreeSet<&str> = b.benchmarks.iter().map(|b| b.name.as_str()).collect();
    let mut listed = store.runs()?;
    listed.retain(|run| {
        let mut both = run.benchmarks.iter();
        let has_some = both.any(|n| names.contains(n.as_str()) && of_a.contains(n.as_str()));
        has_some && is_of_here(&run.head, a, b)
    });
    // What one command measures in a row shows no drift from day to day.
    listed.sort_by_key(|run| run.head.producer.for_another_command().is_some());
    let latest = listed.iter().take(MOST);
    let mut runs = Vec::new();
    for run in latest {
        let mut run = store.run(&run.id, Detail::Figures)?;
        run.benchmarks.retain(|b| names.contains(b.name.as_str()));
        runs.push(run);
    }
    Ok(runs)
}
