//! Selects the entries of a run that belong to a measurement of a study.

use yamba_record::parameters::Written;
use yamba_record::workers::WorkersShown;
use yamba_record::{Benchmark, Parameters, Workers};

use super::Measurement;

/// The entries of a measurement, without duplicate points. An entry that ended before its
/// parameters were known is used only if there is no other.
pub(super) fn entries<'a>(wanted: &Measurement, all: &'a [Benchmark]) -> Vec<&'a Benchmark> {
    let named = || all.iter().filter(|b| b.name == wanted.benchmark);
    let mut found: Vec<&Benchmark> = Vec::new();
    let conditions = Conditions::new(wanted, named);
    for entry in named().filter(|b| conditions.is_at(b)) {
        let is_same =
            |b: &&Benchmark| b.parameters == entry.parameters && b.workers() == entry.workers();
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

/// The conditions that an entry must meet.
struct Conditions<'a> {
    workers: Option<Workers>,
    /// The accepted values of each parameter.
    values: Vec<(&'a str, Vec<Written<'a>>)>,
}

impl<'a> Conditions<'a> {
    fn new<'b, I: Iterator<Item = &'b Benchmark>>(
        wanted: &'a Measurement,
        named: impl Fn() -> I,
    ) -> Conditions<'a> {
        let written = |name: &str, value: &'a String| {
            Written::among(value, named().filter_map(|b| b.parameters.get(name)))
        };
        let set = wanted.set.iter();
        let set = set.map(|(name, value)| (name.as_str(), vec![written(name, value)]));
        let sweep = wanted.sweep.iter().map(|(name, values)| {
            let each = values.iter().map(|value| written(name, value));
            (name.as_str(), each.collect())
        });
        Conditions { workers: wanted.workers, values: set.chain(sweep).collect() }
    }

    fn is_at(&self, entry: &Benchmark) -> bool {
        let has = |(name, values): &(&str, Vec<Written<'_>>)| {
            let found = entry.parameters.get(name);
            found.is_some_and(|f| values.iter().any(|v| v.is(f)))
        };
        self.workers.is_none_or(|w| w == entry.workers()) && self.values.iter().all(has)
    }
}

/// A label for each entry: the parameters that differ between the entries, and those set on the
/// run's command line but not by the study.
pub(super) fn points(
    wanted: &Measurement,
    entries: &[&Benchmark],
    set_parameters: &[String],
) -> Vec<String> {
    let differs = |name: &str| {
        let mut values = entries.iter().map(|b| b.parameters.get(name));
        let first = values.next();
        values.any(|v| Some(v) != first)
    };
    let is_set = |name: &String| wanted.set.iter().any(|(n, _)| n == name);
    let workers = WorkersShown::new(entries.iter().map(|b| b.workers()));
    let point = |entry: &&Benchmark| {
        let each = entry.parameters.0.iter();
        let shown = each.filter(|(n, _)| differs(n) || (set_parameters.contains(n) && !is_set(n)));
        let mut words = Parameters(shown.cloned().collect()).to_string();
        if wanted.workers.is_none() {
            words = format!("{words} {}", workers.text(entry.workers()));
        }
        words.trim().to_owned()
    };
    entries.iter().map(point).collect()
}
