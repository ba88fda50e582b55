//! The document that `yamba compare --json` prints.

use std::collections::BTreeMap;

use serde::Serialize;
use yamba_record::Benchmark;
use yamba_stats::Ratio;

use super::identity::Differences;
use super::pairing::{Which, in_order, ordered};
use super::unit::Unit;
use super::{FAMILYWISE_ERROR, ONE_PROGRAM};

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Comparison {
    /// `yamba-compare/1`.
    #[schemars(extend("const" = "yamba-compare/1"))]
    pub schema: &'static str,
    /// The first run. Ratios are those of the second run to the first.
    pub a: RunReference,
    /// The second run.
    pub b: RunReference,
    pub machine: Differences,
    /// The probability of any false alarm in the whole comparison.
    pub familywise_error: f64,
    /// The lowest confidence of any interval, chosen so that all hold at once except with
    /// probability `familywise_error`; none if nothing was compared.
    pub confidence: Option<f64>,
    /// The benchmarks that both runs have.
    pub benchmarks: Vec<ComparedEntry>,
    /// The benchmarks that only one run has.
    pub unmatched: Vec<Unmatched>,
    /// The geometric mean of the ratios for each kind of figure.
    pub geometric_means: Vec<GeometricMean>,
    /// The re-measured runs; `None` if nothing was re-measured.
    pub remeasured: Option<Remeasured>,
    /// The result of the gate, if a limit was given.
    pub gate: Option<Gate>,
    /// How both sides were measured together, as `yamba ab` does. Absent for runs that were
    /// measured one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interleaved: Option<Interleaved>,
}

/// A measurement of both sides in the same rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Interleaved {
    /// Rounds in which one process of each side succeeded.
    pub rounds: u64,
    /// Why measuring ended early. `None` if it did not.
    pub stopped: Option<String>,
    /// Processes that failed: a sentence for each side with such processes. Their rounds do not
    /// count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}

/// The identity of a run.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RunReference {
    /// [`Run::id`].
    pub id: String,
    /// When it began, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    pub tags: Vec<String>,
}

/// One benchmark of both runs.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ComparedEntry {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// Its name as the table shows it, with the parameters that distinguish it from others of that
    /// name, and the number of processes or threads above one.
    #[serde(skip)]
    pub label: String,
    /// `latency`, `bandwidth`, `rate` or `value`.
    pub figure: Option<String>,
    /// The direction of the better ratio: `less` for a latency, `more` for a bandwidth and a rate,
    /// none for a value.
    pub better: Option<&'static str>,
    /// The level of b divided by that of a.
    pub ratio: Option<f64>,
    /// The confidence interval of the ratio, at [`Comparison::confidence`].
    pub confidence_interval: Option<[f64; 2]>,
    /// The ratio without adjustment for the number of benchmarks: an 80 % interval and the plain
    /// p-value.
    #[serde(skip)]
    pub unadjusted: Option<Ratio>,
    /// Whether both sides are one program on one machine, whose known state is the same. Then the
    /// verdict is `same`.
    #[serde(skip)]
    pub is_one_program: bool,
    /// Whether a gate must judge this benchmark: side a has a figure from several launches and a
    /// better direction. If side b has none, the benchmark is lost.
    #[serde(skip)]
    pub is_owed: bool,
    /// Whether both runs kept sources, from which `--remeasure` builds the programs again.
    #[serde(skip)]
    pub has_sources: bool,
    /// The probability of such a ratio without any difference, adjusted for the number of
    /// benchmarks (Holm).
    pub p: Option<f64>,
    /// Launches with a figure, of both sides.
    pub launches: [usize; 2],
    /// The unit of `a` and `b`, in which the launches were compared: the benchmark's own, or
    /// `cycles`.
    pub unit: Option<String>,
    /// The figure of side a.
    pub a: Option<f64>,
    /// The figure of side b.
    pub b: Option<f64>,
    /// Whether each side's figure is disturbed. Ratio and figures may then include the disturbance.
    /// The interval of the ratio also holds the ratio of undisturbed machines, and p is of the one
    /// nearest to 1.
    pub disturbed: [bool; 2],
    pub verdict: Word,
    /// Whether these launches show a difference that is not confirmed.
    pub suspect: bool,
    /// Why there is no ratio, or a qualification of the verdict.
    pub reason: Option<String>,
    /// The comparison of the two stored runs, if figures, ratio and verdict are re-measured ones.
    pub stored: Option<StoredComparison>,
}

/// A verdict on one benchmark. Only one whose sides were measured in the same rounds is called
/// slower or faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// No difference is shown, or both sides are one program.
    Same,
    /// Re-measured, b is better.
    Faster,
    /// Re-measured, b is worse.
    Slower,
    /// An unconfirmed difference, or nothing to compare.
    Unknown,
}

/// A benchmark that only one run has.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Unmatched {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// `a` or `b`.
    pub side: &'static str,
    /// Why it has no partner.
    pub reason: &'static str,
    /// Whether a gate should judge it, like [`ComparedEntry::is_owed`], if B lacks the benchmark.
    #[serde(skip)]
    pub is_owed: bool,
}

/// The mean of all ratios of one kind of figure.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct GeometricMean {
    /// `latency`, `bandwidth`, `rate`, or a value's unit.
    pub kind: String,
    /// The geometric mean of its benchmarks' ratios, with equal weights.
    pub ratio: f64,
    /// The number of these benchmarks.
    pub benchmarks: usize,
    /// Whether all of them were re-measured. If only the suspected ones were, the mean is of the
    /// stored ratios: a mean of both kinds would be biased by that choice.
    pub is_remeasured: bool,
}

/// The runs that were re-measured for a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Remeasured {
    /// The run of a's programs; none if only b's programs were re-measured.
    pub a: Option<RunReference>,
    /// The run of b's programs.
    pub b: RunReference,
    /// The lowest confidence of any re-measured interval, chosen so that all hold at once except
    /// with probability [`Comparison::familywise_error`].
    pub confidence: Option<f64>,
    /// Benchmarks with a re-measured ratio.
    pub benchmarks: usize,
    /// Whether re-measuring was stopped early.
    pub interrupted: bool,
}

/// The comparison of a re-measured benchmark in the two stored runs.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct StoredComparison {
    /// The level of b divided by that of a.
    pub ratio: Option<f64>,
    /// The confidence interval of the ratio.
    pub confidence_interval: Option<[f64; 2]>,
    /// The adjusted p-value.
    pub p: Option<f64>,
    /// Launches of both sides.
    pub launches: [usize; 2],
    /// Whether the stored launches show a difference.
    pub suspect: bool,
}

/// The result of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Gate {
    /// The tolerated slowdown of benchmarks that `limits` does not name: 0.05 for 5 %. `None`: they
    /// are not judged.
    pub limit: Option<f64>,
    /// The tolerated slowdowns of single benchmarks, by name.
    pub limits: BTreeMap<String, f64>,
    /// Whether undecided and lost benchmarks, and processes that failed, fail too.
    pub strict: bool,
    /// Whether none fails of one or more benchmarks, and measuring was not stopped. Undecided ones
    /// fail only if `strict`.
    pub passed: bool,
    /// Number of benchmarks that can be judged: both runs have them, with a ratio and a better
    /// direction.
    pub gated: usize,
    /// Number of decided benchmarks among them: significantly slower by more than the limit, or not
    /// slower by more.
    pub judged: usize,
    /// Number of undecided benchmarks among them, which `unconfirmed` lists.
    pub undecided: usize,
    /// Benchmarks with a significant re-measured slowdown beyond the limit, the slowest first.
    pub slower: Vec<Slower>,
    /// Undecided benchmarks: candidates that could not be re-measured, or with a re-measured ratio
    /// beyond the limit that is not significant.
    pub unconfirmed: Vec<Ungated>,
    /// Benchmarks that could be judged by A's figure, but that have no comparable figure in B.
    pub lost: Vec<Ungated>,
    /// Further benchmarks that the gate does not judge.
    pub not_gated: Vec<Ungated>,
}

/// A benchmark that is slower by more than the limit.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Slower {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// Its name in the table.
    #[serde(skip)]
    pub label: String,
    /// The slowdown: 0.07 for 7 %. For a bandwidth or a rate, 1 / ratio - 1.
    pub slowdown: f64,
    /// The tolerated slowdown.
    pub limit: f64,
    /// The confidence interval of the slowdown.
    pub confidence_interval: Option<[f64; 2]>,
    /// The basis of the verdict, if the sides were not interleaved.
    pub reason: Option<String>,
}

/// A benchmark that the gate does not judge.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Ungated {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// Its name in the table.
    #[serde(skip)]
    pub label: String,
    /// Why the gate does not judge it.
    pub reason: String,
}

impl Comparison {
    /// Gives each benchmark its verdict whose sides are one program. Counts of false alarms compare
    /// a program with itself, so [`comparison`](super::comparison()) alone does not.
    pub fn settle_one_programs(&mut self) {
        self.benchmarks.iter_mut().for_each(ComparedEntry::settle_one_program);
    }

    /// Whether re-measuring was stopped early.
    pub fn is_stopped(&self) -> bool {
        self.remeasured.as_ref().is_some_and(|r| r.interrupted)
            || self.interleaved.as_ref().is_some_and(|i| i.stopped.is_some())
    }
}

impl ComparedEntry {
    /// Whether the launches differ, although both sides are one program.
    pub fn differs_in_one_program(&self) -> bool {
        self.is_one_program && self.p.is_some_and(|p| p <= FAMILYWISE_ERROR)
    }

    /// Gives one program its verdict: it is neither slower nor faster than itself, whatever its
    /// launches show.
    pub(super) fn settle_one_program(&mut self) {
        if !self.is_one_program || self.ratio.is_none() {
            return;
        }
        (self.verdict, self.suspect) = (Word::Same, false);
        if self.differs_in_one_program() {
            self.reason = Some(ONE_PROGRAM.to_owned());
        }
    }

    /// The slowdown of b: 0.05 for a latency that is 5 % longer, or a bandwidth or rate divided by
    /// 1.05. None without a ratio, and for a value, which has no better direction.
    pub fn slowdown(&self) -> Option<f64> {
        self.slower_by(self.ratio?)
    }

    /// The slowdown of b computed from the two figures. None without a ratio.
    pub fn slowdown_of_figures(&self) -> Option<f64> {
        self.ratio?;
        self.slower_by(self.b? / self.a?)
    }

    /// The verdict if the difference is real: slower or faster. None without a ratio, and for a
    /// value, which has no better direction.
    pub(super) fn direction(&self) -> Option<Word> {
        Some(if self.slowdown()? > 0.0 { Word::Slower } else { Word::Faster })
    }

    /// The confidence interval of [`slowdown`](ComparedEntry::slowdown), its lower end first.
    pub fn slowdowns(&self) -> Option<[f64; 2]> {
        self.within(self.confidence_interval?)
    }

    /// The confidence interval of the slowdown without adjustment for other benchmarks: each end is
    /// exceeded in one of ten cases.
    pub fn slowdowns_alone(&self) -> Option<[f64; 2]> {
        self.within(self.unadjusted.map(|r| [r.low, r.high])?)
    }

    fn within(&self, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
        let (x, y) = (self.slower_by(low)?, self.slower_by(high)?);
        Some([x.min(y), x.max(y)])
    }

    fn slower_by(&self, ratio: f64) -> Option<f64> {
        match self.better? {
            "less" => Some(ratio - 1.0),
            _ => Some(1.0 / ratio - 1.0),
        }
    }

    /// Whether it compares this benchmark at this point. The order of the parameters does not
    /// matter: a class may declare them in another order now.
    pub fn is_of(&self, benchmark: &Benchmark) -> bool {
        self.place() == in_order(benchmark)
    }

    /// A key that identifies the benchmark in its run.
    pub fn place(&self) -> String {
        ordered(&self.of.name, &self.of.parameters, self.of.workers())
    }

    /// The unit in which its launches were compared.
    pub fn compared_in(&self) -> Unit {
        match self.unit.as_deref() {
            Some("cycles") => Unit::Cycles,
            _ => Unit::Own,
        }
    }

    /// Whether a disturbance may be part of the ratio.
    pub fn is_disturbed(&self) -> bool {
        self.disturbed.contains(&true)
    }

    /// Whether b's level is above a's.
    pub fn is_above_one(&self) -> bool {
        self.ratio.is_some_and(|r| r > 1.0)
    }

    /// The kind of figure. Ratios of one kind have the same meaning: latency, bandwidth, rate, or
    /// values in one unit.
    pub fn kind(&self) -> String {
        match self.figure.as_deref() {
            Some(figure @ ("latency" | "bandwidth" | "rate")) => figure.to_owned(),
            _ => format!("value in {}", self.unit.as_deref().unwrap_or("no unit")),
        }
    }
}
