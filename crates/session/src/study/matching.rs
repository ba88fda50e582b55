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

/// The points of the measurement's lists that none of its entries has: `size=64M`. Entries that
/// ended before their parameters were known stand for all points.
pub(super) fn missing(wanted: &Measurement, entries: &[&Benchmark]) -> Vec<String> {
    if entries.iter().any(|e| e.parameters.0.is_empty()) {
        return Vec::new();
    }
    let mut points: Vec<Vec<(&str, &str)>> = vec![Vec::new()];
    for (name, values) in &wanted.sweep {
        let with = |point: &Vec<(_, _)>, value| [&point[..], &[(name.as_str(), value)]].concat();
        let longer = points.iter().flat_map(|p| values.iter().map(move |v| with(p, v.as_str())));
        points = longer.collect();
    }
    let is_at = |entry: &&Benchmark, (name, value): &(&str, &str)| {
        let recorded = entries.iter().filter_map(|e| e.parameters.get(name));
        let written = Written::among(value, recorded);
        entry.parameters.get(name).is_some_and(|found| written.is(found))
    };
    points.retain(|point| !entries.iter().any(|entry| point.iter().all(|p| is_at(entry, p))));
    let label = |point: Vec<(&str, &str)>| {
        let words: Vec<String> = point.iter().map(|(n, v)| format!("{n}={v}")).collect();
        words.join(" ")
    };
    points.into_iter().map(label).collect()
}

/// A label for each entry: the parameters that differ between the entries or are lists in the
/// study, and those set on the run's command line but not by the study.
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
    let is_list = |name: &String| wanted.sweep.iter().any(|(n, all)| n == name && all.len() > 1);
    let workers = WorkersShown::new(entries.iter().map(|b| b.workers()));
    let point = |entry: &&Benchmark| {
        let each = entry.parameters.0.iter();
        let is_shown =
            |n: &String| differs(n) || is_list(n) || (set_parameters.contains(n) && !is_set(n));
        let shown = each.filter(|(n, _)| is_shown(n));
        let mut words = Parameters(shown.cloned().collect()).to_string();
        if wanted.workers.is_none() {
            words = format!("{words} {}", workers.text(entry.workers()));
        }
        words.trim().to_owned()
    };
    entries.iter().map(point).collect()
}
