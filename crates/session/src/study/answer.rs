//! The JSON document of a study with its figures.

use std::collections::BTreeMap;

use serde::Serialize;
use yamba_record::{Run, Status};

use super::figure::Figure;
use super::rows::StudyRow;
use super::verdict::PredictionVerdict;
use super::{Part, Predicted, Statistic, Study};

/// The schema's name.
const SCHEMA: &str = "yamba-study/1";

/// The JSON document.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Answer<'a> {
    /// `yamba-study/1`.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The title of the study.
    title: &'a str,
    /// The explanation of the study, in Markdown.
    text: &'a str,
    /// The id of the run with the figures, which also has every raw batch.
    run: &'a str,
    /// The measurements, in the order of the study.
    rows: Vec<Line<'a>>,
}

/// A measurement of the study.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Row")]
struct Line<'a> {
    category: &'a str,
    label: &'a str,
    benchmark: &'a str,
    /// The parameters of the entry; empty if the run has no such entry.
    parameters: BTreeMap<&'a str, &'a serde_json::Value>,
    processes: Option<u64>,
    threads: Option<u64>,
    /// The evidence whose value is the figure.
    evidence: Option<&'a str>,
    /// The statistic of the launches that is the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    statistic: Option<Statistic>,
    /// The number of a fitted line that is the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<Part>,
    /// The parameter that is the x of the fitted line.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a str>,
    base: Option<&'a str>,
    overhead: Option<&'a str>,
    predicted: Option<Prediction<'a>>,
    /// The reason of the prediction.
    reason: Option<&'a str>,
    /// `None` if the run has no such entry.
    status: Option<Status>,
    /// The figure, also that of an invalid entry.
    measured: Option<&'a Figure>,
    /// The figure as a multiple of the one that the prediction names.
    multiple: Option<&'a Figure>,
    /// `None` without a prediction.
    verdict: Option<PredictionVerdict>,
    notes: &'a [String],
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Prediction<'a> {
    /// From `low` to `high`; an end that is `None` is open. With `of`, multiples of the measurement
    /// with that id.
    Range {
        low: Option<f64>,
        high: Option<f64>,
        unit: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<&'a str>,
    },
    /// `invalid`: the evidence refutes the figure.
    Word(&'static str),
}

impl<'a> Answer<'a> {
    /// Builds the document from a study's rows.
    pub fn new(study: &'a Study, run: &'a Run, rows: &'a [StudyRow<'a>]) -> Answer<'a> {
        Answer {
            schema: SCHEMA,
            title: &study.title,
            text: &study.text,
            run: &run.id,
            rows: rows.iter().map(|row| line(study, row)).collect(),
        }
    }
}

fn line<'a>(study: &'a Study, row: &'a StudyRow<'a>) -> Line<'a> {
    let m = row.measurement;
    let parameters = row.entry().map_or(&[][..], |e| &e.parameters.0);
    Line {
        category: &m.category,
        label: &m.label,
        benchmark: &m.benchmark,
        parameters: parameters.iter().map(|(n, v)| (n.as_str(), v)).collect(),
        processes: row.entry().map(|e| e.environment.processes),
        threads: row.entry().map(|e| e.environment.threads),
        evidence: m.evidence.as_deref(),
        statistic: m.statistic,
        fit: m.fit.as_ref().map(|f| f.part),
        against: m.fit.as_ref().map(|f| f.against.as_str()),
        base: m.base.as_deref(),
        overhead: m.overhead.as_deref(),
        predicted: m.prediction.as_ref().map(|p| predicted(study, &p.kind)),
        reason: m.prediction.as_ref().map(|p| p.reason.as_str()),
        status: row.status,
        measured: row.figure.as_ref(),
        multiple: row.multiple.as_ref(),
        verdict: row.verdict,
        notes: &row.notes,
    }
}

fn predicted<'a>(study: &'a Study, kind: &'a Predicted) -> Prediction<'a> {
    let (range, of) = match kind {
        Predicted::Invalid => return Prediction::Word("invalid"),
        Predicted::In(range) => (range, None),
        Predicted::Times(range, other) => (range, study.measurements[*other].id.as_deref()),
    };
    Prediction::Range { low: range.low, high: range.high, unit: &range.unit, of }
}
