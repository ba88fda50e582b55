//! Do two runs differ? Pure: from two runs' documents to a verdict for each benchmark, a history, or a gate's answer. This crate reads no file, starts no process and
//! prints nothing; of our crates it uses only `record` and `stats`.
//!
//! The unit of observation is the launch. For each benchmark the ratio of the two sides has an interval from the logarithms of the launches' medians; over all
//! benchmarks of a comparison the probability of any false alarm is held at [`FAMILY`] (Holm). A rank test of six launches a side could never survive that
//! correction: its least p-value is 0.002.

mod comparison;
mod document;
pub mod gate;
pub mod history;
pub mod identity;
mod noise;
pub mod pairing;
pub mod remeasure;
pub mod unit;
pub mod which;

use yamba_record::{Benchmark, Parameters, Status};
use yamba_stats::{Ratio, holm, launch_ratio, variance};

pub use comparison::comparison;
pub use document::{
    Alone, Comparison, Entry, Gate, GeometricMean, Remeasured, Slower, Stored, Told, Ungated, Word,
};
pub use noise::{Noise, pairs_with_a_suspect, resampled_alarms};
pub use unit::Medians;

/// The probability of any false alarm in a whole comparison.
pub const FAMILY: f64 = 0.01;

/// The least standard deviation of a launch's logarithm that a comparison assumes. Without it, six launches that agree by chance to a part in ten thousand would show
/// differences that the next six do not show.
pub const LEAST_DEVIATION: f64 = 0.002;

/// [`LEAST_DEVIATION`] as a variance.
const LEAST_VARIANCE: f64 = LEAST_DEVIATION * LEAST_DEVIATION;

/// An interval that is asked about one benchmark by itself has this confidence: each of its ends is passed by the truth in one of ten.
const ALONE: f64 = 0.8;

/// The launches of both sides of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Name, parameters and number of processes.
    pub key: String,
    /// The medians of side a.
    pub a: Vec<f64>,
    /// Those of side b.
    pub b: Vec<f64>,
    /// Among so many units these launches themselves chose the one that they are in: see [`unit::Choice::among`].
    pub among: usize,
}

impl Pair {
    /// In the only unit there is.
    pub fn new(key: &str, a: &[f64], b: &[f64]) -> Pair {
        Pair {
            key: key.to_owned(),
            a: a.to_vec(),
            b: b.to_vec(),
            among: 1,
        }
    }

    fn of(key: &str, a: &Benchmark, b: &Benchmark, choice: unit::Choice) -> Pair {
        let [of_a, of_b] = [a, b].map(Medians::of);
        Pair {
            among: choice.among,
            ..Pair::new(key, of_a.within(choice.unit), of_b.within(choice.unit))
        }
    }
}

/// What is said of one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No difference is shown.
    Same,
    /// It differs, as far as these launches can tell: to be confirmed by measuring both sides again.
    Suspect,
    /// There is too little to compare.
    Unknown,
}

/// One benchmark of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Name, parameters and number of processes.
    pub key: String,
    /// What b is of a; in cycles where both sides know them, since a clock rate may change between two runs.
    pub ratio: Option<Ratio>,
    /// The same by itself: in an interval of 80 %, and with a p-value that is not adjusted for the number of benchmarks.
    pub alone: Option<Ratio>,
    /// The p-value of the ratio, adjusted for the number of benchmarks.
    pub p: Option<f64>,
    /// What is said of it.
    pub verdict: Verdict,
}

/// What a benchmark is called in a comparison: its name with the parameters and the number of processes.
pub fn key(benchmark: &Benchmark) -> String {
    named(&benchmark.name, &benchmark.parameters, benchmark.processes)
}

/// The same of its parts; one process is not worth a word.
pub fn named(name: &str, parameters: &Parameters, processes: u64) -> String {
    let mut key = name.to_owned();
    let parameters = parameters.to_string();
    if !parameters.is_empty() {
        key.push_str(&format!(" {parameters}"));
    }
    if processes > 1 {
        key.push_str(&format!(" P={processes}"));
    }
    key
}

/// The variance of the logarithms. Of small spreads its square root is the coefficient of variation.
fn spread(medians: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = medians.iter().map(|m| m.ln()).collect();
    variance(&logarithms)
}

/// Whether there is anything to compare: the figure is what its name says, and not one of a disturbed machine.
pub fn has_figure(benchmark: &Benchmark) -> bool {
    benchmark.status == Status::Ok && !benchmark.is_disturbed
}

/// The confidence of each of so many intervals with which all of them hold at once but for [`FAMILY`].
fn confidence(intervals: usize) -> f64 {
    1.0 - FAMILY / intervals.max(1) as f64
}

/// Compares the medians of launches.
pub fn compare_launches(pairs: &[Pair]) -> Vec<Compared> {
    let compared = |(pair, (alone, p)): (&Pair, (Option<Ratio>, Option<f64>))| {
        let verdict = match p {
            Some(p) if p <= FAMILY => Verdict::Suspect,
            Some(_) => Verdict::Same,
            None => Verdict::Unknown,
        };
        let confidence = confidence(pairs.len() * pair.among);
        Compared {
            key: pair.key.clone(),
            ratio: launch_ratio(&pair.a, &pair.b, confidence, LEAST_VARIANCE),
            alone,
            p,
            verdict,
        }
    };
    pairs.iter().zip(tested(pairs)).map(compared).collect()
}

/// Whether any is suspected.
fn has_suspect(pairs: &[Pair]) -> bool {
    let tested = tested(pairs);
    tested.iter().any(|(_, p)| p.is_some_and(|p| p <= FAMILY))
}

/// Of each pair the ratio by itself, and its p-value adjusted for all.
fn tested(pairs: &[Pair]) -> Vec<(Option<Ratio>, Option<f64>)> {
    let alone = |pair: &Pair| {
        let ratio = launch_ratio(&pair.a, &pair.b, ALONE, LEAST_VARIANCE)?;
        Some(Ratio {
            p: (ratio.p_of_both() * pair.among as f64).min(1.0),
            ..ratio
        })
    };
    let alone: Vec<Option<Ratio>> = pairs.iter().map(alone).collect();
    let p: Vec<f64> = alone.iter().flatten().map(|r| r.p).collect();
    let mut adjusted = holm(&p).unwrap_or_default().into_iter();
    let each = alone.into_iter();
    each.map(|alone| (alone, alone.and_then(|_| adjusted.next())))
        .collect()
}

#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
