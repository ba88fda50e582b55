//! The rows of the page: one per benchmark and point, with an entry for each run.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::IndexMap;

use yamba_record::parameters::plain;
use yamba_record::workers::WorkersShown;
use yamba_record::{Benchmark, Parameters, Run};

use crate::number::short_label;

/// One point of a benchmark.
#[derive(Clone)]
pub struct PointRow<'a> {
    /// Index on the page, from 0.
    pub place: usize,
    /// Name of the benchmark.
    pub name: &'a str,
    /// The parameters that distinguish the points or that the user set, and the number of processes
    /// or threads unless it is always 1: `size=8192`, `P=4`, `T=4`.
    pub settings: Vec<String>,
    /// The entry in each run. `None` where a run lacks it.
    pub entries: Vec<Option<&'a Benchmark>>,
}

impl<'a> PointRow<'a> {
    /// Whether the benchmark was skipped in all runs.
    pub fn is_skipped(&self) -> bool {
        self.present().all(|b| b.status.is_skipped())
    }

    /// The entries of the runs that have it; at least one.
    pub fn present(&self) -> impl Iterator<Item = &'a Benchmark> + '_ {
        self.entries.iter().flatten().copied()
    }

    /// The settings in one line.
    pub fn point(&self) -> String {
        self.settings.join(" ")
    }

    /// The settings with short numbers: 64Mi instead of 67108864.
    pub fn short_point(&self) -> String {
        short_label(&self.point())
    }

    /// The heading of the row; empty for a benchmark of another program.
    pub fn group(&self) -> &'a str {
        let mut named = self.present().filter_map(|b| b.declaration.provenance.topic.as_deref());
        named.next().unwrap_or_default()
    }
}

/// All rows, ordered by the first run that has them. A duplicate entry in a run has a row of its
/// own.
pub fn rows(runs: &[Run]) -> Vec<PointRow<'_>> {
    let varying = Varying::new(runs);
    let mut places: HashMap<(String, usize), usize> = HashMap::new();
    let mut rows: Vec<PointRow> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for benchmark in &run.benchmarks {
            let key = key(benchmark);
            let times = seen.entry(key.clone()).or_default();
            let place = *places.entry((key, *times)).or_insert_with(|| {
                rows.push(PointRow {
                    place: rows.len(),
                    name: &benchmark.name,
                    settings: varying.settings(benchmark),
                    entries: vec![None; runs.len()],
                });
                rows.len() - 1
            });
            *times += 1;
            rows[place].entries[number] = Some(benchmark);
        }
    }
    rows
}

/// Rows by heading, in order of first occurrence.
pub fn groups(rows: Vec<PointRow<'_>>) -> Vec<(String, Vec<PointRow<'_>>)> {
    let mut groups: IndexMap<String, Vec<PointRow>> = IndexMap::new();
    for row in rows {
        groups.entry(heading(row.group())).or_default().push(row);
    }
    groups.into_iter().collect()
}

/// The text of a heading.
fn heading(group: &str) -> String {
    let mut letters = group.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "Benchmarks".to_owned(),
    }
}

/// A key that identifies a point, independently of the order of its parameters.
fn key(benchmark: &Benchmark) -> String {
    let mut parameters: Vec<_> = benchmark.parameters.0.iter().collect();
    parameters.sort_by_key(|(name, _)| name);
    let parts = (
        &benchmark.name,
        parameters,
        benchmark.environment.processes,
        benchmark.environment.threads,
    );
    serde_json::to_string(&parts).expect("names and values are JSON")
}

/// For each benchmark: the parameters that differ between its points in any run, or that the user
/// chose, and its numbers of processes and threads.
#[derive(Default)]
struct Varying<'a> {
    first: HashMap<&'a str, &'a Parameters>,
    differ: HashMap<&'a str, HashSet<&'a str>>,
    /// The numbers of processes or threads to show.
    workers: HashMap<&'a str, WorkersShown>,
}

impl<'a> Varying<'a> {
    fn new(runs: &'a [Run]) -> Varying<'a> {
        let mut varying = Varying::default();
        for run in runs {
            let set = run.producer.set_parameters();
            run.benchmarks.iter().for_each(|benchmark| varying.add(benchmark, &set));
        }
        varying
    }

    /// Adds a benchmark of a run whose user set these parameters.
    fn add(&mut self, benchmark: &'a Benchmark, set: &BTreeSet<&str>) {
        let (name, parameters) = (benchmark.name.as_str(), &benchmark.parameters);
        let shown = self.workers.entry(name).or_default();
        shown.add(benchmark.workers());
        let first = *self.first.entry(name).or_insert(parameters);
        let differ = self.differ.entry(name).or_default();
        for (name, value) in &parameters.0 {
            let is_chosen =
                set.contains(name.as_str()) || benchmark.declaration.swept.contains(name);
            if is_chosen || first.get(name) != Some(value) {
                differ.insert(name);
            }
        }
    }

    fn settings(&self, benchmark: &Benchmark) -> Vec<String> {
        let differ = &self.differ[benchmark.name.as_str()];
        let parameters = benchmark.parameters.0.iter();
        let shown = parameters.filter(|(name, _)| differ.contains(name.as_str()));
        let shown = shown.map(|(name, value)| format!("{name}={}", plain(value)));
        let workers = self.workers.get(benchmark.name.as_str());
        let words = workers.map(|w| w.words(benchmark.workers()));
        shown.chain(words.into_iter().flatten()).collect()
    }
}
