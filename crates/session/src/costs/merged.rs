//! The best entries of several runs of one machine, as one run.

use std::collections::BTreeMap;

use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Machine, Run, Status};

/// The best entries of each benchmark. All points of a benchmark are from one run.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// The latest run without its entries.
    head: Option<Run>,
    entries: BTreeMap<String, Vec<Benchmark>>,
    /// Number of runs that measured each benchmark.
    runs: BTreeMap<String, usize>,
}

/// How good the figures of a benchmark are. The larger one is better.
#[derive(Debug, PartialEq, PartialOrd)]
struct Quality {
    is_valid: bool,
    is_undisturbed: bool,
    /// Whether the interval holds the undisturbed value.
    is_sound: bool,
    /// Whether the intervals are from the differences between launches. A quick run has too few
    /// launches for that.
    is_between_launches: bool,
    /// The largest width of the intervals as a share of their figures, below 0. Of undisturbed
    /// figures, the latest counts instead.
    narrowness: f64,
}

impl Merged {
    /// Names the machine, also if no run has measured it.
    pub fn is_on(&mut self, machine: Machine) {
        self.head.get_or_insert_with(|| Run::new(machine));
    }

    /// Adds the entries of a run that is older than those before.
    pub fn add(&mut self, run: Run) {
        self.merge(run, |new, old| new > old);
    }

    /// Adds the entries of a run that is younger than those before.
    pub fn add_latest(&mut self, run: Run) {
        self.merge(run, |new, old| new >= old);
    }

    fn merge(&mut self, mut run: Run, is_better: impl Fn(&Quality, &Quality) -> bool) {
        let mut own: BTreeMap<String, Vec<Benchmark>> = BTreeMap::new();
        for entry in std::mem::take(&mut run.benchmarks) {
            if entry.status != Status::NotStarted {
                own.entry(entry.name.clone()).or_default().push(entry);
            }
        }
        for (name, entries) in own {
            *self.runs.entry(name.clone()).or_default() += 1;
            let is_kept = self
                .entries
                .get(&name)
                .is_some_and(|old| !is_better(&quality(&entries), &quality(old)));
            if !is_kept {
                self.entries.insert(name, entries);
            }
        }
        self.head.get_or_insert(run);
    }

    /// Whether the benchmark was measured. It may have no valid figure.
    pub fn has(&self, benchmark: &str) -> bool {
        self.entries.contains_key(benchmark)
    }

    /// Number of runs that measured the benchmark.
    pub fn runs_of(&self, benchmark: &str) -> usize {
        self.runs.get(benchmark).copied().unwrap_or_default()
    }

    /// The run of the best entries. `None`: nothing was added.
    pub fn run(&self) -> Option<Run> {
        let head = self.head.clone()?;
        Some(Run { benchmarks: self.entries.values().flatten().cloned().collect(), ..head })
    }
}

fn quality(entries: &[Benchmark]) -> Quality {
    let is_undisturbed = !entries.iter().any(|entry| entry.interference.is_disturbed);
    let widest = entries.iter().filter_map(Benchmark::relative_width).fold(0.0, f64::max);
    let is_between =
        |entry: &Benchmark| entry.interval_scope == Some(IntervalScope::BetweenLaunches);
    Quality {
        is_valid: entries.iter().all(|entry| entry.status == Status::Ok),
        is_undisturbed,
        is_sound: entries.iter().all(Benchmark::is_sound),
        is_between_launches: entries.iter().all(is_between),
        narrowness: if is_undisturbed { 0.0 } else { -widest },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, entries: Vec<Benchmark>) -> Run {
        let mut run = Run::new(Machine::default());
        run.id = id.to_owned();
        run.benchmarks = entries;
        run
    }

    fn entry(name: &str, ns: f64, half: f64) -> Benchmark {
        let mut entry = Benchmark::ended(name, Status::Ok, Vec::new());
        entry.median = Some(ns);
        entry.confidence_interval = Some([ns - half, ns + half]);
        entry
    }

    fn disturbed(name: &str, ns: f64, half: f64) -> Benchmark {
        let mut entry = entry(name, ns, half);
        entry.interference.is_disturbed = true;
        entry
    }

    fn ns(merged: &Merged, name: &str) -> Vec<f64> {
        let run = merged.run().unwrap();
        let own = run.benchmarks.iter().filter(|entry| entry.name == name);
        own.filter_map(|entry| entry.median).collect()
    }

    #[test]
    fn latest_undisturbed_figure_counts_and_of_disturbed_ones_the_narrowest() {
        let mut merged = Merged::default();
        merged.add(run(
            "late",
            vec![disturbed("a", 1.0, 0.1), disturbed("b", 1.0, 0.5), entry("c", 1.0, 0.5)],
        ));
        merged.add(run(
            "early",
            vec![entry("a", 2.0, 0.9), disturbed("b", 2.0, 0.1), entry("c", 2.0, 0.1)],
        ));
        assert_eq!(["a", "b", "c"].map(|name| ns(&merged, name)[0]), [2.0, 2.0, 1.0]);
        assert_eq!(merged.run().unwrap().id, "late");
        merged.add_latest(run("latest", vec![entry("a", 3.0, 2.0), disturbed("b", 3.0, 1.0)]));
        assert_eq!(["a", "b"].map(|name| ns(&merged, name)[0]), [3.0, 2.0]);
    }

    #[test]
    fn points_of_a_benchmark_are_of_one_run() {
        let mut merged = Merged::default();
        let crashed = Benchmark::ended("a", Status::Crashed, Vec::new());
        merged.add(run("late", vec![entry("a", 1.0, 0.0), crashed]));
        merged.add(run("early", vec![entry("a", 2.0, 0.0), entry("a", 3.0, 0.0)]));
        assert_eq!(ns(&merged, "a"), [2.0, 3.0]);
    }

    /// A figure that covers other runs is better than a quick one.
    #[test]
    fn longer_measurement_stays() {
        let long = Benchmark {
            interval_scope: Some(IntervalScope::BetweenLaunches),
            ..entry("a", 1.0, 0.1)
        };
        let mut merged = Merged::default();
        merged.add(run("early", vec![long]));
        merged.add_latest(run("late", vec![entry("a", 2.0, 0.1)]));
        assert_eq!(ns(&merged, "a"), [1.0]);
    }

    #[test]
    fn entry_that_was_not_started_is_none() {
        let mut merged = Merged::default();
        merged.add(run("stopped", vec![yamba_harness::not_started("a")]));
        assert!(!merged.has("a"));
    }
}
