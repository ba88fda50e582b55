//! Earlier runs on the same machine, which tell of noise.

use std::collections::BTreeSet;

use yamba_record::Run;
use yamba_store::{Detail, Listed, Store};

use super::super::failure::Failure;
use super::super::output;
use super::super::store_option::StoreOption;
use crate::compare::floors::is_of_here;

/// The latest so many: more take longer to read than they tell.
const MOST: usize = 20;

/// What the store has of the noise.
#[derive(Default)]
pub(super) struct Earlier {
    /// Runs of different moments.
    pub runs: Vec<Run>,
    /// The two sides of what was measured in turn.
    pub pairs: Vec<[Run; 2]>,
}

/// Those that are kept with a benchmark of both, of the machine of B as it was then. Where they cannot be read, nothing is known, and a warning says so.
pub(super) fn known(option: &StoreOption, a: &Run, b: &Run) -> Earlier {
    match read(option, a, b) {
        Ok(earlier) => earlier,
        Err(Failure::Sentence { message, .. }) => {
            output::note(&format!(
                "warning: nothing is known of the noise here: {message}\n"
            ));
            Earlier::default()
        }
        Err(_) => Earlier::default(),
    }
}

fn read(option: &StoreOption, a: &Run, b: &Run) -> Result<Earlier, Failure> {
    // Two documents are compared without making a store.
    let Some(mut store) = Store::existing(&option.location()?)? else {
        return Ok(Earlier::default());
    };
    let of_a: BTreeSet<&str> = a.benchmarks.iter().map(|b| b.name.as_str()).collect();
    let names: BTreeSet<&str> = b.benchmarks.iter().map(|b| b.name.as_str()).collect();
    let mut listed = store.runs()?;
    listed.retain(|run| {
        let mut both = run.benchmarks.iter();
        let has_some = both.any(|n| names.contains(n.as_str()) && of_a.contains(n.as_str()));
        has_some && is_of_here(&run.head, a, b)
    });
    let (sides, mut runs) = in_turn(listed);
    // What one command measures in a row shows no drift from day to day.
    runs.sort_by_key(|run| run.head.producer.for_another_command().is_some());
    let mut load = |listed: &Listed| {
        let mut run = store.run(&listed.id, Detail::Figures)?;
        run.benchmarks.retain(|b| names.contains(b.name.as_str()));
        Ok::<_, Failure>(run)
    };
    let mut earlier = Earlier::default();
    for run in runs.iter().take(MOST) {
        earlier.runs.push(load(run)?);
    }
    for [one, other] in sides.iter().take(MOST) {
        earlier.pairs.push([load(one)?, load(other)?]);
    }
    Ok(earlier)
}

/// The pairs that one command measured in turn, which began at one moment, and what is left: two sides of one moment show nothing of how moments differ.
fn in_turn(listed: Vec<Listed>) -> (Vec<[Listed; 2]>, Vec<Listed>) {
    let (mut pairs, mut rest): (Vec<[Listed; 2]>, Vec<Listed>) = (Vec::new(), Vec::new());
    for run in listed {
        let is_side = |other: &Listed| {
            let is_begun = run.started_unix_s.is_some();
            is_begun && other.started_unix_s == run.started_unix_s
        };
        let is_another = run.head.producer.for_another_command().is_some();
        match rest.iter().position(is_side).filter(|_| is_another) {
            Some(place) => pairs.push([rest.remove(place), run]),
            None => rest.push(run),
        }
    }
    (pairs, rest)
}
