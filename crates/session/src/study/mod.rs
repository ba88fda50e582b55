//! Studies: measurements with what was predicted of them, why, and whether it came true.
//!
//! A study is a file that a person writes ([`read()`]). Its benchmarks are looked for ([`open()`]) and measured ([`Opened::prepare`]). Its figures come from a run
//! ([`rows()`]). Whether a prediction came true is computed ([`verdict`]) and never written. [`Answer`] is the whole as data.

mod answer;
mod check;
mod figure;
mod find;
mod fit;
mod jobs;
mod matching;
mod measure;
mod range;
mod read;
mod rows;
pub mod verdict;

pub use answer::Answer;
pub use figure::{Figure, WITHIN, converts};
pub use find::{Source, shipped};
pub use fit::{Fit, Part};
pub use measure::{Opened, Prepared, Request, open, set};
pub use range::Range;
pub use read::{Fault, read};
pub use rows::{Row, rows};
pub use verdict::Verdict;

/// The unit of a prediction that is a multiple of another figure.
pub const TIMES: &str = "times";

/// How sure the intervals are that are computed here.
const CONFIDENCE: f64 = 0.95;

/// What a file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Of the whole.
    pub title: String,
    /// Markdown.
    pub text: String,
    /// In the order of the file; at least one.
    pub measurements: Vec<Measurement>,
}

/// One benchmark at some points, and what its figures should be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// What others call it in their `of`.
    pub id: Option<String>,
    /// The section that it stands in; empty where the file names none.
    pub category: String,
    /// What a reader calls it.
    pub label: String,
    /// The name of the class.
    pub benchmark: String,
    /// Parameters with one value.
    pub set: Vec<(String, String)>,
    /// Parameters with several values, which are taken in turn.
    pub sweep: Vec<(String, Vec<String>)>,
    /// Processes at the same time; as the command line says without it.
    pub processes: Option<u64>,
    /// The evidence that is looked at instead of the benchmark's own figure.
    pub evidence: Option<String>,
    /// What is told of the launches instead of their median.
    pub statistic: Option<Statistic>,
    /// What of the line through its points is looked at, instead of the points.
    pub fit: Option<Fit>,
    /// The unit that figures are told in; a convenient one without it.
    pub unit: Option<String>,
    /// What the hardware alone would give.
    pub base: Option<String>,
    /// What software adds to it.
    pub overhead: Option<String>,
    /// What its figures should be.
    pub prediction: Option<Prediction>,
    /// Markdown: the method, and what is to be learnt.
    pub text: String,
    /// Where in the file each of its keys stands.
    pub places: Places,
}

/// A number that describes how launches differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The coefficient of variation of their medians.
    Variation,
}

/// What a file calls them.
pub const STATISTICS: [(&str, Statistic); 1] = [("variation", Statistic::Variation)];

impl Statistic {
    /// What a file calls it.
    fn word(self) -> &'static str {
        match self {
            Statistic::Variation => STATISTICS[0].0,
        }
    }
}

/// A prediction and why it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// What is predicted.
    pub kind: Predicted,
    /// Why.
    pub reason: String,
}

/// What is predicted.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicted {
    /// The figure is in a range.
    In(Range),
    /// The figure, as a multiple of that of another measurement (its place in the study), is in a range.
    Times(Range, usize),
    /// There is no valid figure: the evidence will say so.
    Invalid,
}

/// Lines and columns of a measurement in its file, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The measurement itself.
    pub whole: Place,
    /// `benchmark`.
    pub benchmark: Place,
    /// `parameters`.
    pub parameters: Place,
    /// `evidence`.
    pub evidence: Place,
    /// `against`.
    pub against: Place,
    /// `unit`.
    pub unit: Place,
    /// `predicted`.
    pub predicted: Place,
}

/// A line and a column, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}
