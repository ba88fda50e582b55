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
#[derive(Clone, Debug, Serialize)]
pub struct Answer<'a> {
    schema: &'static str,
    title: &'a str,
    text: &'a str,
    /// The id of the run with the figures, which also has every raw batch.
    run: &'a str,
    rows: Vec<Line<'a>>,
}

#[derive(Clone, Debug, Serialize)]
struct Line<'a> {
    category: &'a str,
    label: &'a str,
    benchmark: &'a str,
    parameters: BTreeMap<&'a str, &'a serde_json::Value>,
    processes: Option<u64>,
    threads: Option<u64>,
    evidence: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistic: Option<Statistic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a str>,
    base: Option<&'a str>,
    overhead: Option<&'a str>,
    predicted: Option<Prediction<'a>>,
    reason: Option<&'a str>,
    status: Option<Status>,
    measured: Option<&'a Figure>,
    multiple: Option<&'a Figure>,
    verdict: Option<PredictionVerdict>,
    notes: &'a [String],
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Prediction<'a> {
    Range {
        low: Option<f64>,
        high: Option<f64>,
        unit: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        of: Option<&'a str>,
    },
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
