//! Runs with the costs of primitives: finds them in the store, and measures them once where none is there.

use std::collections::BTreeSet;

use yamba_harness::{Options, Stop};
use yamba_predict::{Costs, NULL_CALL, canonical, machine_name};
use yamba_record::Run;
use yamba_store::{Detail, Listed, Store};

use super::measure::{Prepared, Request, prepare};
use super::select;
use super::{Failure, Observer, StoreChoice};

/// The tag of the benchmarks that stand for a primitive.
const TAG: &str = "primitive";

/// Most runs of which the figures are read: those with the most benchmarks, and of these the latest.
const READ: usize = 8;

/// A stored run with costs of primitives.
#[derive(Clone, Debug)]
pub struct StoredCosts {
    /// The run, without its samples.
    pub run: Run,
    /// Whether the run has an entry for each benchmark of the suite that stands for one of the primitives, and a cost of the null call. Other entries may have no valid figure.
    pub is_complete: bool,
}

/// The stored run of a machine that has the most benchmarks for these primitives, of several the one with the most valid costs, and of several the latest. `takes_disturbed`: disturbed figures are costs. `None`: no run has any.
///
/// # Errors
/// If the store or the suite cannot be read.
pub fn stored(
    store: &StoreChoice,
    machine: &str,
    primitives: &[&str],
    takes_disturbed: bool,
) -> Result<Option<StoredCosts>, Failure> {
    let Some(mut store) = Store::existing(&store.location()?)? else {
        return Ok(None);
    };
    let needed = benchmarks_for(primitives)?;
    let count = |listed: &Listed| {
        let is_needed = |name: &&String| needed.contains(*name);
        listed.benchmarks.iter().filter(is_needed).count()
    };
    let runs = store.runs()?;
    let of_machine: Vec<&Listed> = runs.iter().filter(|run| is_of(run, machine)).collect();
    let most = of_machine.iter().map(|run| count(run)).max().unwrap_or(0);
    let best = of_machine.iter().filter(|run| count(run) == most);
    let mut found: Option<(usize, StoredCosts)> = None;
    for listed in best.take(if most > 0 { READ } else { 0 }) {
        let run = store.run(&listed.id, Detail::Figures)?;
        let costs = Costs::of(&run, takes_disturbed);
        let valid = primitives.iter().filter(|name| costs.has(name)).count();
        if found.as_ref().is_none_or(|(before, _)| valid > *before) {
            let is_complete = most == needed.len() && costs.has(NULL_CALL);
            found = Some((valid, StoredCosts { run, is_complete }));
        }
    }
    Ok(found.map(|(_, stored)| stored))
}

/// Whether the run was requested by a user, has ended, and measured this machine.
fn is_of(run: &Listed, machine: &str) -> bool {
    let head = &run.head;
    let is_own = head.producer.imported.is_none() && head.producer.for_another_command().is_none();
    run.complete && is_own && machine_name(&head.machine).is_some_and(|name| name == machine)
}

/// The benchmarks of the suite that stand for these primitives, or for kinds of them.
fn benchmarks_for(primitives: &[&str]) -> Result<BTreeSet<String>, Failure> {
    let is_for = |stands_for: &String| {
        let name = canonical(stands_for);
        let is_kind = |used: &str| name.strip_prefix(used).is_some_and(|k| k.starts_with('('));
        primitives.iter().any(|used| *used == name || is_kind(used))
    };
    let suite = select::suite()?.primitives.into_iter();
    let needed = suite.filter(|(_, stands_for)| is_for(stands_for));
    Ok(needed.map(|(benchmark, _)| benchmark).collect())
}

/// Builds the benchmarks of all primitives, so that they can be measured as `yamba run --only-tag primitive` does.
///
/// # Errors
/// If the suite cannot be read.
pub fn prepared(arguments: Vec<String>, observer: &dyn Observer) -> Result<Prepared, Failure> {
    let options = Options {
        whole: true,
        ..Options::default()
    };
    let request = Request {
        tags: vec![TAG.to_owned()],
        options,
        arguments,
        ..Request::default()
    };
    prepare(request, observer)
}

/// Measures the costs of all primitives and stores the run.
///
/// # Errors
/// If nothing was measured, or the measurement was stopped.
pub fn measured(
    prepared: Prepared,
    stop: &Stop,
    store: &StoreChoice,
    observer: &dyn Observer,
) -> Result<Run, Failure> {
    let measured = prepared.measure(stop, store, observer)?;
    if measured.is_in_vain {
        return Err(Failure::Shown);
    }
    if measured.run.interrupted {
        return Err(
            Failure::new("stopped before the costs of the primitives were measured")
                .help("`yamba run --only-tag primitive --quick` takes less time"),
        );
    }
    Ok(measured.run.map(|entry| entry.rest()))
}
