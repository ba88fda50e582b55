//! Which entries of a run are those that a measurement asks for.

use yamba_record::parameters::is_written;
use yamba_record::{Benchmark, Parameters};

use super::Measurement;

/// Its entries, each point once; those that ended before their parameters were known only where there is no other.
pub(super) fn entries<'a>(wanted: &Measurement, all: &'a [Benchmark]) -> Vec<&'a Benchmark> {
    let named = || all.iter().filter(|b| b.name == wanted.benchmark);
    let mut found: Vec<&Benchmark> = Vec::new();
    for entry in named().filter(|b| is_at(wanted, b)) {
        let is_same =
            |b: &&Benchmark| b.parameters == entry.parameters && b.processes == entry.processes;
        if !found.iter().any(is_same) {
            found.push(entry);
        }
    }
    if found.is_empty() {
        let is_early = |b: &&Benchmark| b.parameters.0.is_empty() && b.median.is_none();
        found.extend(named().find(is_early));
    }
    found
}

fn is_at(wanted: &Measurement, entry: &Benchmark) -> bool {
    let has = |name: &str, value: &str| {
        let found = entry.parameters.get(name);
        found.is_some_and(|f| is_written(f, value))
    };
    wanted.processes.is_none_or(|p| p == entry.processes)
        && wanted.set.iter().all(|(name, value)| has(name, value))
        && wanted
            .sweep
            .iter()
            .all(|(name, values)| values.iter().any(|v| has(name, v)))
}

/// What tells each entry from the others of the same measurement, and what a run's command line had set that the study does not.
pub(super) fn points(
    wanted: &Measurement,
    entries: &[&Benchmark],
    given: &[String],
) -> Vec<String> {
    let differs = |name: &str| {
        let mut values = entries.iter().map(|b| b.parameters.get(name));
        let first = values.next();
        values.any(|v| Some(v) != first)
    };
    let is_set = |name: &String| wanted.set.iter().any(|(n, _)| n == name);
    let is_loaded = entries.iter().any(|b| b.processes != 1) && wanted.processes.is_none();
    let point = |entry: &&Benchmark| {
        let each = entry.parameters.0.iter();
        let shown = each.filter(|(n, _)| differs(n) || (given.contains(n) && !is_set(n)));
        let mut words = Parameters(shown.cloned().collect()).to_string();
        if is_loaded {
            words = format!("{words} P={}", entry.processes);
        }
        words.trim().to_owned()
    };
    entries.iter().map(point).collect()
}
