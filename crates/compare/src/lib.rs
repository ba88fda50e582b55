//! Decides whether two runs differ. Pure: takes documents of runs, and returns a verdict for each
//! benchmark, a history, or a gate's result. This crate reads no file, starts no process and prints
//! nothing. Of Yamba's crates it uses only `record` and `stats`.
//!
//! The unit of observation is the launch. The interval of each benchmark's ratio comes from the
//! logarithms of the launches' medians. Over all benchmarks of a comparison the probability of any
//! false alarm is held at [`FAMILYWISE_ERROR`] (Holm). A rank test of six launches a side could
//! never pass that correction: its least p-value is 0.002.

mod comparison;
mod document;
pub mod gate;
pub mod history;
pub mod identity;
mod noise;
pub mod pairing;
pub mod remeasure;
pub mod sequential;
pub mod unit;

use yamba_record::{Benchmark, Status};
use yamba_stats::{
    BoundedLaunches, Ratio, bounded_launch_ratio, holm, paired_launch_ratio, variance,
};

pub use comparison::comparison;
pub use document::{
    ComparedEntry, Comparison, Gate, GeometricMean, Interleaved, Remeasured, RunReference, Slower,
    StoredComparison, Ungated, Unmatched, Word,
};
pub use noise::{Noise, pairs_with_a_suspect, resampled_alarms};
pub use pairing::Which;
pub use unit::Medians;

/// The probability of any false alarm in a whole comparison.
pub const FAMILYWISE_ERROR: f64 = 0.01;

/// Why launches that differ do not make a program slower or faster than itself.
pub const ONE_PROGRAM: &str = "the program is the same: the machine differs, or it is noise";

/// The least standard deviation of a launch's logarithm that a comparison assumes. Without it, six
/// launches that agree by chance to a part in ten thousand would show differences that the next six
/// do not show.
pub const LEAST_DEVIATION: f64 = 0.002;

/// [`LEAST_DEVIATION`] as a variance.
const LEAST_VARIANCE: f64 = LEAST_DEVIATION * LEAST_DEVIATION;

/// Confidence of an interval for one benchmark alone: the true ratio is beyond each end in one of
/// ten cases.
const ALONE: f64 = 0.8;

/// The launches of both sides of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Name, parameters, and number of processes or threads.
    pub key: String,
    /// The medians of side a.
    pub a: Vec<f64>,
    /// Those of side b.
    pub b: Vec<f64>,
    /// For each disturbed side, an interval that holds its undisturbed level.
    pub bounds: [Option<[f64; 2]>; 2],
    /// Number of tests for which these launches pay: see [`unit::Choice::among`].
    pub among: usize,
    /// If launches at the same place of both sides are of one round: see [`unit::Choice::looks`].
    pub looks: Option<usize>,
}

impl Pair {
    /// A pair without a choice of units.
    pub fn new(key: &str, a: &[f64], b: &[f64]) -> Pair {
        Pair {
            key: key.to_owned(),
            a: a.to_vec(),
            b: b.to_vec(),
            bounds: [None; 2],
            among: 1,
            looks: None,
        }
    }

    fn with_choice(key: &str, a: &Benchmark, b: &Benchmark, choice: unit::Choice) -> Pair {
        let [of_a, of_b] = [a, b].map(Medians::new);
        Pair {
            among: choice.among,
            looks: choice.looks,
            bounds: [a, b].map(|side| choice.unit.bounds(side)),
            ..Pair::new(key, of_a.within(choice.unit), of_b.within(choice.unit))
        }
    }

    /// The p-value of a ratio, adjusted for the choices and looks of this pair.
    fn p(&self, ratio: Ratio) -> f64 {
        let p = ratio.p_of_both() * self.among as f64;
        let luck = probability_of_luck(self.a.len() + self.b.len());
        self.looks.map_or(p, |looks| p.max(luck * looks as f64))
    }

    fn ratio(&self, confidence: f64) -> Option<Ratio> {
        let side = |medians, at: usize| BoundedLaunches { medians, bounds: self.bounds[at] };
        let (a, b) = (side(&self.a, 0), side(&self.b, 1));
        let apart = bounded_launch_ratio(a, b, confidence, LEAST_VARIANCE);
        if self.looks.is_none() || self.bounds != [None; 2] {
            return apart;
        }
        // Rounds share the load of the machine, but have half the degrees of freedom. `among` pays
        // for the choice, which is the same for each confidence.
        let paired = |confidence| paired_launch_ratio(&self.a, &self.b, confidence, LEAST_VARIANCE);
        let width = |ratio: Option<Ratio>| ratio.map_or(f64::INFINITY, |r| r.high / r.low);
        let usual = 1.0 - FAMILYWISE_ERROR;
        let usual_apart = bounded_launch_ratio(a, b, usual, LEAST_VARIANCE);
        if width(paired(usual)) < width(usual_apart) { paired(confidence) } else { apart }
    }
}

/// The probability that two equal sides differ in all of their launches, if each launch gets one of
/// two times by chance, each as likely: a fast or a slow layout of memory. One side has only fast
/// launches, and the other only slow ones. Such launches do not vary within a side, so no other
/// test of a few launches sees that it may be chance.
fn probability_of_luck(launches: usize) -> f64 {
    2.0 * 0.5_f64.powi(launches as i32)
}

/// The verdict on one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No difference is shown.
    Same,
    /// These launches show a difference, which re-measuring both sides can confirm.
    Suspect,
    /// There is too little to compare.
    Unknown,
}

/// One benchmark of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Name, parameters, and number of processes or threads.
    pub key: String,
    /// The level of b divided by that of a. In cycles if both sides know them, since the clock rate
    /// may change between two runs.
    pub ratio: Option<Ratio>,
    /// The ratio without adjustment for the number of benchmarks: an 80 % interval and the plain
    /// p-value.
    pub unadjusted: Option<Ratio>,
    /// The p-value of the ratio, adjusted for the number of benchmarks.
    pub p: Option<f64>,
    pub verdict: Verdict,
}

/// The variance of the logarithms. For small spreads its square root is the coefficient of
/// variation.
fn spread(medians: &[f64]) -> Option<f64> {
    let logarithms: Vec<f64> = medians.iter().map(|m| m.ln()).collect();
    variance(&logarithms)
}

/// Whether there is a valid figure from an undisturbed machine, whose launches can be taken for
/// random.
pub fn has_figure(benchmark: &Benchmark) -> bool {
    benchmark.status == Status::Ok && !benchmark.interference.is_disturbed
}

/// The confidence of each of this number of intervals, so that all hold at once except with
/// probability [`FAMILYWISE_ERROR`].
fn confidence(intervals: usize) -> f64 {
    1.0 - FAMILYWISE_ERROR / intervals.max(1) as f64
}

/// Compares the medians of launches.
pub fn compare_launches(pairs: &[Pair]) -> Vec<Compared> {
    let compared = |(pair, (alone, p)): (&Pair, (Option<Ratio>, Option<f64>))| {
        let verdict = match p {
            Some(p) if p <= FAMILYWISE_ERROR => Verdict::Suspect,
            Some(_) => Verdict::Same,
            None => Verdict::Unknown,
        };
        let confidence = confidence(pairs.len() * pair.among);
        Compared {
            key: pair.key.clone(),
            ratio: pair.ratio(confidence),
            unadjusted: alone,
            p,
            verdict,
        }
    };
    pairs.iter().zip(tested(pairs)).map(compared).collect()
}

fn has_suspect(pairs: &[Pair]) -> bool {
    let tested = tested(pairs);
    tested.iter().any(|(_, p)| p.is_some_and(|p| p <= FAMILYWISE_ERROR))
}

/// The ratio of each pair alone, and its p-value adjusted for all pairs.
fn tested(pairs: &[Pair]) -> Vec<(Option<Ratio>, Option<f64>)> {
    let alone = |pair: &Pair| {
        let ratio = pair.ratio(ALONE)?;
        Some(Ratio { p: pair.p(ratio).min(1.0), ..ratio })
    };
    let alone: Vec<Option<Ratio>> = pairs.iter().map(alone).collect();
    let p: Vec<f64> = alone.iter().flatten().map(|r| r.p).collect();
    let mut adjusted = holm(&p).unwrap_or_default().into_iter();
    let each = alone.into_iter();
    each.map(|alone| (alone, alone.and_then(|_| adjusted.next()))).collect()
}

#[cfg(test)]
mod tests;
