//! Extracts the figures of a study from a run, and judges its predictions.

use yamba_record::{Benchmark, Note, Run, Status};

use super::figure::Figure;
use super::fit::Fit;
use super::verdict::{PredictionVerdict, judge, judge_invalid, quotient};
use super::{Measurement, Predicted, Range, Statistic, Study, TIMES, matching};

/// One figure of a measurement, or the reason for its absence.
#[derive(Clone, Debug)]
pub struct StudyRow<'a> {
    pub measurement: &'a Measurement,
    /// The entries of the run behind the figure: one, or the points of a line. Empty if the run has
    /// none.
    pub entries: Vec<&'a Benchmark>,
    /// The status of the measurement; `None` if the run has no such entry.
    pub status: Option<Status>,
    /// The parameters that distinguish this row from others of the same measurement.
    pub point: String,
    /// The figure, in the study's unit. Invalid figures are included; see the status.
    pub figure: Option<Figure>,
    /// The ratio of the figure to that of the measurement that the prediction names.
    pub multiple: Option<Figure>,
    /// The verdict on the prediction; `None` without a prediction or a figure.
    pub verdict: Option<PredictionVerdict>,
    /// Notes for the reader. The first one explains a missing figure or verdict.
    pub notes: Vec<String>,
}

impl<'a> StudyRow<'a> {
    /// The entry of the run; `None` if the run has none, or if the row is a line through several
    /// entries.
    pub fn entry(&self) -> Option<&'a Benchmark> {
        let is_line = self.measurement.fit.is_some();
        self.entries.first().copied().filter(|_| !is_line)
    }

    /// Whether the figure can be relied on: its entry is valid, or it is an evidence.
    pub fn is_valid(&self) -> bool {
        let is_evidence = self.measurement.evidence.is_some();
        self.figure.is_some() && (self.status == Some(Status::Ok) || is_evidence)
    }

    /// Whether the verdict rests on an interval within launches, so that it may differ in the next
    /// run.
    pub fn is_within_launches(&self) -> bool {
        let prediction = self.measurement.prediction.as_ref();
        let is_of_interval = prediction.is_none_or(|p| p.kind != Predicted::Invalid);
        let rests_on = self.multiple.as_ref().or(self.figure.as_ref());
        is_of_interval && self.verdict.is_some() && rests_on.is_some_and(Figure::is_within_launches)
    }

    /// Whether the row shows a failure: a missing entry, a crash, or an invalid figure that was not
    /// predicted to be invalid.
    pub fn is_failure(&self) -> bool {
        match self.status {
            None | Some(Status::Crashed) => true,
            Some(Status::Invalid) => {
                !self.is_valid() && self.verdict != Some(PredictionVerdict::Within)
            }
            Some(Status::Ok | Status::Skipped | Status::NotStarted) => false,
        }
    }
}

/// All rows, in the order of the study. The command line of the run set the `set_parameters`.
pub fn rows<'a>(study: &'a Study, run: &'a Run, set_parameters: &[String]) -> Vec<StudyRow<'a>> {
    let each = study.measurements.iter();
    each.flat_map(|measurement| {
        let entries = matching::entries(measurement, &run.benchmarks);
        if entries.is_empty() {
            return vec![absent(measurement)];
        }
        let missing = matching::missing(measurement, &entries).into_iter();
        if let Some(fit) = &measurement.fit {
            let mut line = fitted(measurement, fit, &entries);
            line.notes.extend(missing.map(|point| format!("the run did not measure {point}")));
            return vec![line];
        }
        let points = matching::points(measurement, &entries, set_parameters);
        let pairs = entries.into_iter().zip(points);
        let measured = pairs.map(|(entry, point)| row(study, run, measurement, entry, point));
        let missing = missing.map(|point| StudyRow { point, ..absent(measurement) });
        measured.chain(missing).collect()
    })
    .collect()
}

fn absent(measurement: &Measurement) -> StudyRow<'_> {
    StudyRow {
        measurement,
        entries: Vec::new(),
        status: None,
        point: String::new(),
        figure: None,
        multiple: None,
        verdict: None,
        notes: vec!["the run did not measure it".to_owned()],
    }
}

fn row<'a>(
    study: &'a Study,
    run: &'a Run,
    measurement: &'a Measurement,
    entry: &'a Benchmark,
    point: String,
) -> StudyRow<'a> {
    let wanted = figure(measurement, entry, shown_unit(measurement));
    let is_known = wanted.is_some();
    let mut row = StudyRow {
        figure: wanted.or_else(|| figure(measurement, entry, None)),
        entries: vec![entry],
        status: Some(entry.status),
        point,
        notes: notes(measurement, entry),
        ..absent(measurement)
    };
    let kind = measurement.prediction.as_ref().map(|p| &p.kind);
    match kind {
        None => {}
        Some(Predicted::Invalid) => {
            row.verdict = judge_invalid(entry);
            let is_other = row.verdict == Some(PredictionVerdict::Unknown);
            let why = "none of its evidence is outside its bounds by its median";
            row.notes.extend(is_other.then(|| why.to_owned()));
        }
        Some(Predicted::In(range)) => {
            let figure = figure(measurement, entry, Some(&range.unit));
            settle(&mut row, range, figure);
        }
        Some(Predicted::Times(range, other)) => {
            row.multiple = multiple(measurement, entry, &study.measurements[*other], run);
            let multiple = row.multiple.clone();
            settle(&mut row, range, multiple);
        }
    }
    if !is_known && entry.median.is_some() {
        let why = unknown_in(measurement, entry);
        let is_new = !row.notes.contains(&why);
        row.notes.extend(is_new.then_some(why));
    }
    row
}

/// The row of a line through the points of a measurement.
fn fitted<'a>(measurement: &'a Measurement, fit: &Fit, entries: &[&'a Benchmark]) -> StudyRow<'a> {
    // All points need the same unit; the convenient unit may differ between them.
    let own = entries.iter().find_map(|e| e.unit.as_deref());
    let unit = shown_unit(measurement).filter(|u| !u.is_empty()).or(own);
    let line = fit.line(entries, |entry| figure(measurement, entry, unit));
    let mut row = StudyRow {
        entries: entries.to_vec(),
        status: Some(line.status),
        notes: line.notes,
        figure: line.figure,
        ..absent(measurement)
    };
    if let Some(Predicted::In(range)) = measurement.prediction.as_ref().map(|p| &p.kind) {
        let unit = fit.unit(range).or(own);
        let line = fit.line(entries, |e| figure(measurement, e, unit));
        settle(&mut row, range, line.figure);
    }
    row
}

/// Sets the verdict, and adds a note if it is unknown for lack of a figure or an interval.
fn settle(row: &mut StudyRow<'_>, range: &Range, figure: Option<Figure>) {
    if !row.is_valid() && row.status != Some(Status::Ok) {
        return;
    }
    let is_doubtful = row.entry().is_some_and(|e| is_doubtful(row.measurement, e));
    let interval = figure.as_ref().and_then(|f| f.confidence_interval);
    row.verdict = Some(PredictionVerdict::Unknown);
    match (&figure, interval) {
        _ if is_doubtful => {}
        (_, Some(interval)) => row.verdict = Some(judge(range, interval)),
        (Some(_), None) => row.notes.insert(0, "its interval is not known".to_owned()),
        (None, _) if range.unit == TIMES => {
            let note = "what it should be a multiple of has no single valid figure in a unit of the same kind";
            row.notes.insert(0, note.to_owned());
        }
        (None, _) => {
            let entry = row.entry().map(|e| unknown_in(row.measurement, e));
            row.notes.splice(0..0, entry);
        }
    }
}

fn unknown_in(measurement: &Measurement, entry: &Benchmark) -> String {
    let unit = shown_unit(measurement).unwrap_or("the unit of the prediction");
    match (&measurement.evidence, measurement.statistic) {
        (Some(evidence), _) => format!("the run has no evidence {evidence}"),
        (None, Some(Statistic::Variation)) => {
            let count = entry.launches.iter().filter(|l| l.median.is_some()).count();
            format!("a variation takes two launches, and here are {count}")
        }
        (None, Some(Statistic::VariationWithin)) => {
            "a variation within launches takes two samples of a launch".to_owned()
        }
        (None, None) => format!(
            "it is not known in {unit}, but in {}",
            entry.unit.as_deref().unwrap_or("no unit")
        ),
    }
}

fn shown_unit(measurement: &Measurement) -> Option<&str> {
    let predicted = match measurement.prediction.as_ref().map(|p| &p.kind) {
        Some(Predicted::In(range)) => Some(range.unit.as_str()),
        _ => None,
    };
    measurement.unit.as_deref().or(predicted)
}

fn figure(measurement: &Measurement, entry: &Benchmark, unit: Option<&str>) -> Option<Figure> {
    match (&measurement.evidence, measurement.statistic) {
        (Some(name), _) => Figure::from_evidence(entry.details.evidence.get(name)?, unit),
        (None, Some(Statistic::Variation)) => Figure::from_variation(entry),
        (None, Some(Statistic::VariationWithin)) => Figure::from_variation_within(entry),
        (None, None) => Figure::from_benchmark(entry, unit),
    }
}

/// The ratio of this figure to that of the other measurement. `None` unless the other one has
/// exactly one valid figure in a compatible unit.
fn multiple(
    measurement: &Measurement,
    entry: &Benchmark,
    other: &Measurement,
    run: &Run,
) -> Option<Figure> {
    let others = matching::entries(other, &run.benchmarks);
    let [other_entry] = others[..] else {
        return None;
    };
    if other.evidence.is_none() && !other_entry.is_sound() {
        return None;
    }
    let both =
        |unit: Option<&str>| figure(measurement, entry, unit).zip(figure(other, other_entry, unit));
    // Divide in the unit that is shown. The clock rate may differ between measurements, so a ratio
    // in cycles differs from one in ns.
    let (dividend, divisor) = match &measurement.evidence {
        Some(_) => both(None),
        None => shown_unit(measurement)
            .and_then(|unit| both(Some(unit)))
            .or_else(|| both(entry.unit.as_deref())),
    }?;
    let is_within = divisor.is_within_launches();
    let within = if is_within { &divisor } else { &dividend };
    let intervals = dividend.confidence_interval.zip(divisor.confidence_interval);
    let interval = intervals.and_then(|(dividend, divisor)| quotient(dividend, divisor))?;
    Some(Figure {
        median: dividend.median / divisor.median,
        confidence_interval: Some(interval),
        interval_scope: within.interval_scope,
        unit: TIMES.to_owned(),
    })
}

/// Notes on a missing or doubtful figure.
fn notes(measurement: &Measurement, entry: &Benchmark) -> Vec<String> {
    let mut notes = Vec::new();
    match entry.status {
        Status::Ok => {}
        Status::Invalid if measurement.evidence.is_some() => {
            notes.push("the benchmark's own figure is invalid".to_owned());
        }
        _ => notes.extend(entry.reason().map(Note::to_string)),
    }
    if is_doubtful(measurement, entry) {
        let note = match measurement.statistic {
            Some(_) => "disturbed: a variation has no bounds",
            None => "disturbed: other processes may be part of it, so that it proves nothing",
        };
        notes.push(note.to_owned());
    } else if entry.interference.is_disturbed && measurement.evidence.is_none() {
        let note = "disturbed: its interval also holds the value of a quiet machine";
        notes.push(note.to_owned());
    }
    notes
}

/// Whether a disturbance may have moved the figure out of its interval. Evidence is counted, not
/// timed. The launches of a disturbed figure differ by the disturbance, too, and nothing bounds how
/// much.
fn is_doubtful(measurement: &Measurement, entry: &Benchmark) -> bool {
    let is_bounded = entry.interference.is_bounded && measurement.statistic.is_none();
    measurement.evidence.is_none() && entry.interference.is_disturbed && !is_bounded
}
