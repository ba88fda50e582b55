//! The document that `yamba compare --json` prints.

use serde::Serialize;
use yamba_record::Benchmark;
use yamba_stats::Ratio;

use super::identity::Differences;
use super::pairing::{in_order, ordered};
use super::unit::Unit;
use super::which::Which;

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// `yamba-compare/1`.
    #[cfg_attr(test, schemars(extend("const" = "yamba-compare/1")))]
    pub schema: &'static str,
    /// The first run; ratios are of the second to it.
    pub a: Told,
    /// The second run.
    pub b: Told,
    /// Where the machines differ.
    pub machine: Differences,
    /// The probability of any false suspicion in the whole comparison.
    pub family: f64,
    /// The least confidence of any interval, so that all of them hold at once but for `family`; none where nothing was compared.
    pub confidence: Option<f64>,
    /// What stands in both.
    pub benchmarks: Vec<Entry>,
    /// What stands in one only.
    pub alone: Vec<Alone>,
    /// Of each kind of figure, the geometric mean of the ratios.
    pub means: Vec<GeometricMean>,
    /// The re-measured runs; `None` if nothing was re-measured.
    pub remeasured: Option<Remeasured>,
    /// Whether it passes the limit, where one was given.
    pub gate: Option<Gate>,
}

/// What is told of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Told {
    /// [`Run::id`].
    pub id: String,
    /// When it began, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// Its names.
    pub tags: Vec<String>,
}

/// One benchmark of both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// Its name, the parameters that tell it from others of its name, and several processes, as the table shows them.
    #[serde(skip)]
    pub label: String,
    /// `latency`, `bandwidth` or `value`.
    pub figure: Option<String>,
    /// Which ratio is the better one: of a latency `less`, of a bandwidth `more`, of a value none.
    pub better: Option<&'static str>,
    /// What b is of a.
    pub ratio: Option<f64>,
    /// Where that lies, with [`Comparison::confidence`].
    pub interval: Option<[f64; 2]>,
    /// The ratio by itself: its interval has 80 %, its p-value is not adjusted for the number of benchmarks.
    #[serde(skip)]
    pub alone: Option<Ratio>,
    /// Whether both sides are one program on one machine in one state: what then differs is noise.
    #[serde(skip)]
    pub is_one_program: bool,
    /// Whether a gate could judge side a if side b had a figure too: that has launches, and one direction is the better one.
    #[serde(skip)]
    pub is_owed: bool,
    /// The probability of such a ratio where there is no difference, adjusted for the number of benchmarks (Holm).
    pub p: Option<f64>,
    /// Launches of both sides that have a figure.
    pub launches: [usize; 2],
    /// The unit of `a` and `b`, and the one that was compared in: the benchmark's own, or `cycles`.
    pub unit: Option<String>,
    /// The figure of side a.
    pub a: Option<f64>,
    /// The figure of side b.
    pub b: Option<f64>,
    /// What is said of it.
    pub verdict: Word,
    /// Whether it differs as far as these launches tell, and nothing confirms it.
    pub suspect: bool,
    /// Why there is no ratio, or what must be known of the verdict.
    pub reason: Option<String>,
    /// The comparison of the two runs themselves, if figures, ratio and verdict are re-measured ones.
    pub stored: Option<Stored>,
}

/// A verdict on one benchmark. Only a re-measured benchmark is called slower or faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// No difference is shown.
    Same,
    /// Re-measured, b is better.
    Faster,
    /// Re-measured, b is worse.
    Slower,
    /// A difference that is not confirmed, or nothing to compare.
    Unknown,
}

/// What stands in one run only.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Alone {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// `a` or `b`.
    pub side: &'static str,
    /// Why it has no partner.
    pub reason: &'static str,
    /// As [`Entry::is_owed`], of what B lacks.
    #[serde(skip)]
    pub is_owed: bool,
}

/// A kind of figure as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GeometricMean {
    /// `latency`, `bandwidth`, or a value's unit.
    pub kind: String,
    /// The geometric mean of its benchmarks' ratios: each counts the same.
    pub ratio: f64,
    /// How many those are.
    pub benchmarks: usize,
    /// Whether they were all re-measured. Where only some were, since they seemed slow, the mean is of the ratios that the two runs themselves have: a mean of both
    /// would be of chosen ratios.
    pub is_remeasured: bool,
}

/// The runs that were re-measured for a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remeasured {
    /// The run of a's programs; none where only b's were measured.
    pub a: Option<Told>,
    /// The run of b's programs.
    pub b: Told,
    /// The least confidence of any re-measured interval, so that all of them hold at once but for [`Comparison::family`].
    pub confidence: Option<f64>,
    /// Benchmarks with a re-measured ratio.
    pub benchmarks: usize,
    /// Whether it was stopped before it was done.
    pub interrupted: bool,
}

/// The comparison of a re-measured benchmark in the two runs themselves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stored {
    /// What b was of a.
    pub ratio: Option<f64>,
    /// Where that lay.
    pub interval: Option<[f64; 2]>,
    /// The adjusted p-value.
    pub p: Option<f64>,
    /// Launches of both sides.
    pub launches: [usize; 2],
    /// Whether it differed as far as those launches told.
    pub suspect: bool,
}

/// The answer of a gate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gate {
    /// A benchmark may be slower by this: 0.05 for 5 %.
    pub limit: f64,
    /// Whether undecided and lost benchmarks fail too.
    pub strict: bool,
    /// Whether something was judged, nothing fails, and re-measuring was not stopped.
    pub passed: bool,
    /// Benchmarks that can be judged: of both runs, with a ratio and a better direction.
    pub gated: usize,
    /// Those of them that are decided: significantly slower by more than the limit, or not slower by more.
    pub judged: usize,
    /// Those that are not: `unconfirmed` names them.
    pub undecided: usize,
    /// Benchmarks whose re-measured ratio is significant and beyond the limit; the slowest first.
    pub slower: Vec<Slower>,
    /// Undecided: candidates that could not be re-measured, or whose re-measured ratio is beyond the limit and not significant.
    pub unconfirmed: Vec<Ungated>,
    /// What A has a figure of to be judged by and B none that could be compared.
    pub lost: Vec<Ungated>,
    /// What else the gate says nothing about.
    pub not_gated: Vec<Ungated>,
}

/// A benchmark that is slower by more than the limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slower {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// As the table names it.
    #[serde(skip)]
    pub label: String,
    /// How much slower: 0.07 for 7 %. Of a bandwidth, what 1 / ratio is above 1.
    pub by: f64,
    /// The ends of its interval, in the same form.
    pub interval: Option<[f64; 2]>,
    /// The basis of the verdict, if the two sides were not interleaved.
    pub reason: Option<String>,
}

/// A benchmark that does not count.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ungated {
    /// The benchmark.
    #[serde(flatten)]
    pub of: Which,
    /// As the table names it.
    #[serde(skip)]
    pub label: String,
    /// Why it does not.
    pub reason: String,
}

impl Comparison {
    /// Whether re-measuring was stopped before it was done.
    pub fn is_stopped(&self) -> bool {
        self.remeasured.as_ref().is_some_and(|r| r.interrupted)
    }
}

impl Entry {
    /// How much slower b is: 0.05 for 5 % more of a latency, or for a bandwidth of 1 / 1.05. None without a ratio, and of a value, which has no better direction.
    pub fn slowdown(&self) -> Option<f64> {
        self.slower_by(self.ratio?)
    }

    /// The same of the two figures. None too where no ratio is told.
    pub fn slowdown_of_figures(&self) -> Option<f64> {
        self.ratio?;
        self.slower_by(self.b? / self.a?)
    }

    /// The interval of [`slowdown`](Entry::slowdown), its lower end first.
    pub fn slowdowns(&self) -> Option<[f64; 2]> {
        self.within(self.interval?)
    }

    /// The same for this benchmark by itself: the truth is beyond either end in one of ten.
    pub fn slowdowns_alone(&self) -> Option<[f64; 2]> {
        self.within(self.alone.map(|r| [r.low, r.high])?)
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

    /// Whether it is of this benchmark at this point; a class may declare its parameters in another order now.
    pub fn is_of(&self, benchmark: &Benchmark) -> bool {
        self.place() == in_order(benchmark)
    }

    /// What tells it from all others.
    pub fn place(&self) -> String {
        ordered(&self.of.name, &self.of.parameters, self.of.processes)
    }

    /// The unit that its launches were compared in.
    pub fn compared_in(&self) -> Unit {
        match self.unit.as_deref() {
            Some("cycles") => Unit::Cycles,
            _ => Unit::Own,
        }
    }

    /// Whether b is more than a.
    pub fn is_above_one(&self) -> bool {
        self.ratio.is_some_and(|r| r > 1.0)
    }

    /// Ratios of one kind mean the same: less of a latency, more of a bandwidth, or another value in one unit.
    pub fn kind(&self) -> String {
        match self.figure.as_deref() {
            Some(figure @ ("latency" | "bandwidth")) => figure.to_owned(),
            _ => format!("value in {}", self.unit.as_deref().unwrap_or("no unit")),
        }
    }
}
