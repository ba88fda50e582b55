//! Studies: measurements with predictions and their reasons, compared with figures.
//!
//! A study is a file that the user writes ([`read()`]). [`open()`] finds its benchmarks, and
//! [`Opened::prepare`] builds them. Its figures come from a run ([`rows()`]). A [`verdict`] on a
//! prediction is computed and never stored. [`Answer`] holds the whole result as data.

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

use serde::Serialize;
use yamba_record::Workers;

pub use answer::Answer;
pub use figure::{Figure, WITHIN, converts};
pub use find::{Source, shipped};
pub use fit::{Fit, Part};
pub use measure::{Opened, Prepared, Request, open, set};
pub use range::Range;
pub use read::{StudyFault, read};
pub use rows::{StudyRow, rows};
pub use verdict::PredictionVerdict;

/// The unit of a prediction that is a multiple of another figure.
pub const TIMES: &str = "times";

/// Confidence level of the intervals that are computed here.
const CONFIDENCE: f64 = 0.95;

/// The content of a study file.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    pub title: String,
    /// An introduction in Markdown.
    pub text: String,
    /// The measurements, in the order of the file; at least one.
    pub measurements: Vec<Measurement>,
}

/// One benchmark at one or more points, with a prediction of its figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// The id to which `of` in other measurements refers.
    pub id: Option<String>,
    /// The section of the measurement; empty if the file names none.
    pub category: String,
    /// The label in tables.
    pub label: String,
    /// The name of the class.
    pub benchmark: String,
    /// Parameters with one value.
    pub set: Vec<(String, String)>,
    /// Parameters with several values: the benchmark is measured with each.
    pub sweep: Vec<(String, Vec<String>)>,
    /// The number of concurrent processes or threads; `None`: as given on the command line.
    pub workers: Option<Workers>,
    /// The evidence to report instead of the benchmark's own figure.
    pub evidence: Option<String>,
    /// The statistic of the launches to report instead of their median.
    pub statistic: Option<Statistic>,
    /// The part of a fitted line to report instead of the points.
    pub fit: Option<Fit>,
    /// The unit of figures; `None`: a convenient one.
    pub unit: Option<String>,
    /// The expected cost of the hardware alone, as text.
    pub base: Option<String>,
    /// The expected software overhead, as text.
    pub overhead: Option<String>,
    /// The predicted figures.
    pub prediction: Option<Prediction>,
    /// The method and its purpose, in Markdown.
    pub text: String,
    /// The positions of the keys in the file.
    pub places: Places,
}

impl Measurement {
    /// The names of its parameters.
    fn parameters(&self) -> impl Iterator<Item = &String> {
        let set = self.set.iter().map(|(name, _)| name);
        set.chain(self.sweep.iter().map(|(name, _)| name))
    }
}

/// A number that describes how the launches of a figure differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The coefficient of variation of the launches' medians.
    Variation,
    /// The coefficient of variation of the samples of a launch.
    VariationWithin,
}

/// The names of the statistics in a study file.
pub const STATISTICS: [(&str, Statistic); 2] =
    [("variation", Statistic::Variation), ("variation_within", Statistic::VariationWithin)];

/// A prediction and its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub kind: Predicted,
    pub reason: String,
}

/// The kind of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicted {
    /// The figure is in a range.
    In(Range),
    /// The ratio of the figure to that of another measurement, given by its index, is in a range.
    Times(Range, usize),
    /// There is no valid figure, because the evidence refutes it.
    Invalid,
}

/// The positions of a measurement and its keys in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The position of the measurement itself.
    pub whole: Position,
    /// `benchmark`.
    pub benchmark: Position,
    /// `parameters`.
    pub parameters: Position,
    /// `evidence`.
    pub evidence: Position,
    /// `against`.
    pub against: Position,
    /// `unit`.
    pub unit: Position,
    /// `predicted`.
    pub predicted: Position,
}

/// A line and a column, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Position {
    /// An error at this position.
    fn fault(self, message: impl Into<String>, help: impl Into<String>) -> StudyFault {
        StudyFault { place: self, message: message.into(), help: help.into() }
    }
}
