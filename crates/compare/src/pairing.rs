//! Identifies benchmarks, pairs those of two runs, and explains why pairs cannot be compared. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use yamba_record::{Benchmark, Parameters, Status, Workers, named};

/// The reason for a benchmark of A that B lacks.
pub const ONLY_IN_A: &str = "only in A";

/// One of two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// The benchmarks of two runs, paired by name, parameters, and numbers of processes and threads.
#[derive(Clone, Debug, Default)]
pub struct Paired<'a> {
    /// Pairs with their key, in the order of the first run.
    pub both: Vec<(String, &'a Benchmark, &'a Benchmark)>,
    /// Benchmarks without a partner, with the reason.
    pub unmatched: Vec<(Side, &'a Benchmark, &'static str)>,
}

/// Pairs the benchmarks. If a run has a benchmark twice, the first counts.
pub fn paired<'a>(a: &'a [Benchmark], b: &'a [Benchmark]) -> Paired<'a> {
    let (of_a, again_in_a) = once(a);
    let (of_b, again_in_b) = once(b);
    let partners: BTreeMap<&String, &Benchmark> = of_b.iter().map(|(key, b)| (key, *b)).collect();
    let mut found = Paired::default();
    for (place, benchmark) in &of_a {
        match partners.get(place) {
            Some(other) => found.both.push((benchmark.label(), benchmark, other)),
            None => found.unmatched.push((Side::A, benchmark, ONLY_IN_A)),
        }
    }
    let known: BTreeSet<&String> = of_a.iter().map(|(key, _)| key).collect();
    let only_b = of_b.iter().filter(|(key, _)| !known.contains(key));
    let alone = &mut found.unmatched;
    alone.extend(only_b.map(|(_, b)| (Side::B, *b, "only in B")));
    alone.extend(again_in_a.map(|b| (Side::A, b, "stands in A again; the first counts")));
    alone.extend(again_in_b.map(|b| (Side::B, b, "stands in B again; the first counts")));
    found
}

type Keyed<'a> = Vec<(String, &'a Benchmark)>;

/// Each benchmark's first occurrence with its key, and the repeated ones.
fn once(benchmarks: &[Benchmark]) -> (Keyed<'_>, impl Iterator<Item = &Benchmark>) {
    let mut seen = BTreeSet::new();
    let all = benchmarks.iter().map(|b| (in_order(b), b));
    let (first, again): (Keyed<'_>, Keyed<'_>) = all.partition(|(key, _)| seen.insert(key.clone()));
    (first, again.into_iter().map(|(_, b)| b))
}

/// The key with the parameters sorted by name: a class may declare them in another order now.
pub fn in_order(benchmark: &Benchmark) -> String {
    ordered(&benchmark.name, &benchmark.parameters, benchmark.workers())
}

/// The key of a name, parameters and a number of processes or threads, with the parameters sorted
/// by name.
pub(super) fn ordered(name: &str, parameters: &Parameters, workers: Workers) -> String {
    let mut parameters = parameters.clone();
    parameters.0.sort_by(|(a, _), (b, _)| a.cmp(b));
    named(name, &parameters, workers)
}

/// Why a pair can have no ratio, if so.
pub fn obstacle(a: &Benchmark, b: &Benchmark) -> Option<String> {
    let no_figure: Vec<String> = [("A", a), ("B", b)]
        .iter()
        .filter_map(|(side, benchmark)| Some(format!("{} in {side}", fault(benchmark)?)))
        .collect();
    if !no_figure.is_empty() {
        return Some(no_figure.join(", "));
    }
    if kind(a) != kind(b) {
        return Some(format!("{} in A, {} in B", kind(a), kind(b)));
    }
    let (x, y) = (output_of_command(a)?, output_of_command(b)?);
    (x != y).then(|| format!("its output goes to {x} in A, to {y} in B"))
}

/// Where a whole command wrote to; some do less work where nothing reads it.
fn output_of_command(benchmark: &Benchmark) -> Option<&str> {
    Some(match benchmark.details.command.as_ref()?.output.as_deref() {
        Some("null") | None => "/dev/null",
        Some("pipe") => "a pipe",
        Some("inherit") => "Yamba's output",
        Some(file) => file,
    })
}

/// Why a benchmark has no figure to compare. A disturbed one has, if a positive interval bounds it.
pub(super) fn no_figure(benchmark: &Benchmark) -> Option<&'static str> {
    match benchmark.status {
        Status::Invalid => Some("invalid"),
        Status::Crashed => Some("crashed"),
        Status::Skipped | Status::NotStarted => Some("skipped"),
        Status::Ok => (!is_positive(benchmark)).then_some("disturbed"),
    }
}

/// Whether a disturbance, if any, cannot have moved the figure out of its interval, nor to 0.
fn is_positive(benchmark: &Benchmark) -> bool {
    let is_above_zero = || benchmark.confidence_interval.is_some_and(|[low, _]| low > 0.0);
    benchmark.is_sound() && (!benchmark.interference.is_disturbed || is_above_zero())
}

/// Why a benchmark's launches cannot be compared.
pub(super) fn no_launches(benchmark: &Benchmark) -> Option<&'static str> {
    let mut medians = benchmark.launches.iter().filter_map(|l| l.median);
    if benchmark.launches.is_empty() {
        Some("one number without launches")
    } else if medians.clone().next().is_none() {
        Some("no launch with a figure")
    } else {
        medians.any(|m| m <= 0.0).then_some("a launch that is not above 0")
    }
}

/// The one number of a benchmark none of whose launches has a figure of its own, such as a
/// parameter that the curves of all launches show together.
pub(super) fn single_number(benchmark: &Benchmark) -> Option<f64> {
    let mut medians = benchmark.launches.iter().filter_map(|l| l.median);
    benchmark.median.filter(|_| medians.next().is_none())
}

/// Why a benchmark has no level in a history. One number has: the other runs show how much it
/// varies.
pub(super) fn no_level(benchmark: &Benchmark) -> Option<&'static str> {
    match single_number(benchmark) {
        Some(only) => (only <= 0.0).then_some("a number that is not above 0"),
        None => no_launches(benchmark),
    }
}

/// Why a benchmark has no figure that predicts the next run.
pub(super) fn fault(benchmark: &Benchmark) -> Option<&'static str> {
    let medians = benchmark.launches.iter().filter_map(|l| l.median);
    no_figure(benchmark)
        .or_else(|| no_launches(benchmark))
        .or((medians.count() == 1).then_some("one launch"))
}

/// The kind and unit of a figure, as messages name them.
pub(super) fn kind(benchmark: &Benchmark) -> String {
    let figure = benchmark.declaration.figure.as_deref().unwrap_or_default();
    format!("{figure} in {}", benchmark.unit.as_deref().unwrap_or_default())
}

/// One benchmark at one point with one number of processes and threads.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Which {
    pub name: String,
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub parameters: Parameters,
    /// Number of concurrent processes.
    pub processes: u64,
    /// Number of concurrent threads of each process.
    pub threads: u64,
}

impl Which {
    /// Its name, parameters, and numbers of processes and threads as one text.
    pub fn label(&self) -> String {
        named(&self.name, &self.parameters, self.workers())
    }

    /// How often the benchmark ran at the same time.
    pub fn workers(&self) -> Workers {
        Workers { processes: self.processes, threads: self.threads }
    }
}

impl From<&Benchmark> for Which {
    fn from(of: &Benchmark) -> Which {
        Which {
            name: of.name.clone(),
            parameters: of.parameters.clone(),
            processes: of.environment.processes,
            threads: of.environment.threads,
        }
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::command::CommandRuns;

    use super::super::tests::benchmark;
    use super::*;

    #[test]
    fn unmatched_benchmarks_are_listed() {
        let named = |name: &str| benchmark(name, &[1.0, 1.0]);
        let mut two = named("x");
        two.environment.processes = 2;
        let a = [named("x"), named("y"), two, named("x")];
        let b = [named("z"), named("x"), named("z")];
        let paired = paired(&a, &b);
        let both: Vec<&str> = paired.both.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(both, ["x"]);
        let alone: Vec<_> = paired
            .unmatched
            .iter()
            .map(|(side, benchmark, why)| (*side, benchmark.label(), *why))
            .collect();
        let x = "stands in A again; the first counts";
        let z = "stands in B again; the first counts";
        assert_eq!(
            alone,
            [
                (Side::A, "y".to_owned(), "only in A"),
                (Side::A, "x P=2".to_owned(), "only in A"),
                (Side::B, "z".to_owned(), "only in B"),
                (Side::A, "x".to_owned(), x),
                (Side::B, "z".to_owned(), z),
            ]
        );
    }

    #[test]
    fn commands_with_different_outputs_are_not_compared() {
        let to = |output: Option<&str>| {
            let mut made = benchmark("grep", &[1.0, 1.0]);
            made.details.command =
                Some(CommandRuns { output: output.map(str::to_owned), ..CommandRuns::default() });
            made
        };
        let why = "its output goes to /dev/null in A, to a pipe in B";
        assert_eq!(obstacle(&to(None), &to(Some("pipe"))).as_deref(), Some(why));
        assert_eq!(obstacle(&to(None), &to(Some("null"))), None);
        assert_eq!(obstacle(&to(Some("pipe")), &to(Some("pipe"))), None);
        assert!(obstacle(&to(Some("out.txt")), &to(Some("inherit"))).is_some());
    }

    #[test]
    fn incomparable_benchmarks_have_a_reason() {
        let good = benchmark("x", &[1.0, 1.0]);
        assert_eq!(obstacle(&good, &good), None);
        let mut invalid = good.clone();
        invalid.status = Status::Invalid;
        let mut disturbed = good.clone();
        disturbed.interference.is_disturbed = true;
        let mut bounded = disturbed.clone();
        (bounded.interference.is_bounded, bounded.confidence_interval) = (true, Some([0.7, 1.0]));
        assert_eq!(obstacle(&good, &bounded), None);
        let mut open = bounded.clone();
        open.confidence_interval = Some([0.0, 1.0]);
        let mut bandwidth = good.clone();
        bandwidth.declaration.figure = Some("bandwidth".to_owned());
        for (a, b, why) in [
            (&invalid, &disturbed, "invalid in A, disturbed in B"),
            (&open, &good, "disturbed in A"),
            (&good, &benchmark("x", &[1.0]), "one launch in B"),
            (&benchmark("x", &[]), &good, "one number without launches in A"),
            (&benchmark("x", &[1.0, 0.0]), &good, "a launch that is not above 0 in A"),
            (&good, &bandwidth, "latency in ns in A, bandwidth in ns in B"),
        ] {
            assert_eq!(obstacle(a, b).as_deref(), Some(why));
        }
    }
}
