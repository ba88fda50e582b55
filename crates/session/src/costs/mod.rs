//! The costs of primitives on a machine: those that stored runs have, and those that are measured
//! for a prediction.

mod measure;
mod merged;

use std::collections::{BTreeMap, BTreeSet};

use yamba_predict::needs::{Need, Needs, Times};
use yamba_predict::{Costs, Vector, canonical, machine_name, stands_for};
use yamba_record::{Machine, Run};
use yamba_store::{Detail, Listed, Store};

use super::select;
use super::store::runs_of_machine;
use super::{Failure, StoreChoice};
use merged::Merged;

pub use measure::{CostRequest, TIME, prepared};

/// Most runs of which the figures are read, by each of two rules: those with the most benchmarks,
/// and the latest.
const READ: usize = 8;

/// A cost of this many runs is not measured again for a narrower interval: a host that is never
/// quiet would not give one.
const ENOUGH_RUNS: usize = 2;

/// The known costs of a machine.
pub struct Known {
    merged: Merged,
    /// The primitive of each benchmark of the suite that stands for one.
    suite: BTreeMap<String, String>,
}

/// An application that is predicted for this machine.
pub struct Application {
    /// Its vector, with all changes.
    pub vector: Vector,
    /// Whether something differs from the trace: calls, their costs or their context.
    pub is_changed: bool,
    /// Where it was traced.
    pub traced: Traced,
    /// The primitives whose elapsed costs scale its waiting.
    pub waits: Vec<String>,
}

/// The machine where an application was traced.
pub enum Traced {
    /// It is this machine.
    Here,
    /// It is another one, with these costs.
    There(Box<Costs>),
    /// Its costs are unknown, or the vector does not say which one it is.
    Unknown,
}

/// Benchmarks that a prediction wants, by what their figures lack. The one that decides the largest
/// part of the prediction comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// They were not measured yet.
    pub unmeasured: Vec<String>,
    /// Their figures make the interval of the prediction wide, and are those of one run.
    pub imprecise: Vec<String>,
}

/// The entries of the stored runs of a machine, the best of each benchmark. `None`: no run has a
/// benchmark for these primitives.
///
/// # Errors
/// If the store or the suite cannot be read.
pub fn stored(
    store: &StoreChoice,
    machine: &str,
    primitives: &[&str],
) -> Result<Option<Run>, Failure> {
    let suite = suite()?;
    Ok(merged(store, machine, primitives, &suite)?.run())
}

fn merged(
    store: &StoreChoice,
    machine: &str,
    primitives: &[&str],
    suite: &BTreeMap<String, String>,
) -> Result<Merged, Failure> {
    let mut merged = Merged::default();
    let Some(mut store) = Store::existing(&store.location()?)? else {
        return Ok(merged);
    };
    let is_needed = |benchmark: &&String| {
        let primitive = suite.get(*benchmark);
        primitive.is_some_and(|own| primitives.iter().any(|used| stands_for(own, used)))
    };
    let runs = runs_of_machine(&mut store, machine)?;
    let of_machine: Vec<(usize, &Listed)> = runs
        .iter()
        .filter(|run| is_own(run))
        .map(|run| (run.benchmarks.iter().filter(is_needed).count(), run))
        .filter(|(count, _)| *count > 0)
        .collect();
    let mut by_count: Vec<usize> = (0..of_machine.len()).collect();
    by_count.sort_by_key(|place| std::cmp::Reverse(of_machine[*place].0));
    let latest = 0..of_machine.len().min(READ);
    let chosen: BTreeSet<usize> = by_count.into_iter().take(READ).chain(latest).collect();
    for place in chosen {
        merged.add(store.run(&of_machine[place].1.id, Detail::Figures)?);
    }
    Ok(merged)
}

/// Whether Yamba measured a run, for its user or for a prediction. An interrupted one counts, too:
/// its figures are those of the launches so far.
fn is_own(run: &Listed) -> bool {
    let producer = &run.head.producer;
    producer.imported.is_none()
        && producer.for_another_command().is_none_or(|command| command == "predict")
}

fn suite() -> Result<BTreeMap<String, String>, Failure> {
    let suite = select::suite()?.primitives.into_iter();
    let each = suite.map(|(benchmark, stands_for)| (benchmark, canonical(&stands_for)));
    Ok(each.collect())
}

impl Application {
    /// The costs on which its prediction for this machine rests.
    pub fn needs(&self, costs: &Costs) -> Needs {
        let times = match &self.traced {
            Traced::There(reference) => Times::TracedOn(reference),
            Traced::Here if !self.is_changed => Times::TracedHere,
            Traced::Here | Traced::Unknown => Times::Benchmarks,
        };
        let needs = Needs::new(&self.vector, times, costs);
        if matches!(times, Times::TracedHere) {
            return needs;
        }
        needs.and(Needs::named(self.waits.iter().map(String::as_str), costs))
    }
}

impl Known {
    /// The costs that the stored runs of this machine have.
    ///
    /// # Errors
    /// If the store or the suite cannot be read.
    pub fn on_machine(
        machine: Machine,
        store: &StoreChoice,
        primitives: &[&str],
    ) -> Result<Known, Failure> {
        let suite = suite()?;
        let mut merged = match machine_name(&machine) {
            Some(name) => merged(store, &name, primitives, &suite)?,
            None => Merged::default(),
        };
        merged.is_on(machine);
        Ok(Known { merged, suite })
    }

    /// The run with the best entry of each benchmark. Without any, it has the machine only.
    pub fn run(&self) -> Run {
        self.merged.run().unwrap_or_else(|| Run::new(Machine::default()))
    }

    /// The costs. Primitives whose benchmark was not measured yet are marked as such.
    pub fn costs(&self) -> Costs {
        let mut costs = Costs::from_run(&self.run());
        let lacking = self.suite.iter().filter(|(benchmark, _)| !self.merged.has(benchmark));
        costs.unmeasured = lacking.map(|(_, primitive)| primitive.clone()).collect();
        costs
    }

    /// The benchmarks that predictions with these needs want.
    pub fn wanted(&self, needs: &Needs) -> Wanted {
        let mut wanted = Wanted::default();
        for benchmark in self.benchmarks(needs.each().iter()) {
            if !self.merged.has(benchmark) {
                wanted.unmeasured.push(benchmark.clone());
            }
        }
        for benchmark in self.benchmarks(needs.imprecise().into_iter()) {
            if (1..ENOUGH_RUNS).contains(&self.merged.runs_of(benchmark)) {
                wanted.imprecise.push(benchmark.clone());
            }
        }
        wanted
    }

    /// The benchmarks for these primitives, each once.
    fn benchmarks<'a>(&'a self, needs: impl Iterator<Item = &'a Need>) -> Vec<&'a String> {
        let mut found = Vec::new();
        for need in needs {
            let own = self.suite.iter().filter(|(_, own)| stands_for(own, &need.primitive));
            for (benchmark, _) in own {
                if !found.contains(&benchmark) {
                    found.push(benchmark);
                }
            }
        }
        found
    }
}

impl Wanted {
    /// The benchmarks in the order in which they are measured.
    pub fn benchmarks(&self) -> impl Iterator<Item = &str> {
        let all = self.unmeasured.iter().chain(&self.imprecise);
        all.map(String::as_str)
    }
}
