//! A study with its figures for its run's report page.

use yamba_record::Run;
use yamba_report::Operation;

use super::words;
use yamba_session::study::{Figure, PredictionVerdict, Study, StudyRow};

/// Converts a study to texts for the report page, on which the run has this number.
pub fn page(study: &Study, run: &Run, number: usize, rows: &[StudyRow<'_>]) -> yamba_report::Study {
    let common = words::common(rows);
    let mut operations = Vec::new();
    for points in rows.chunk_by(|a, b| std::ptr::eq(a.measurement, b.measurement)) {
        let first = operations.len();
        operations.extend(points.iter().map(|row| operation(study, run, row, &common)));
        // All points of a measurement share its texts.
        operations[first].text = points[0].measurement.text.clone();
        for further in &mut operations[first + 1..] {
            further.is_further_point = true;
        }
    }
    yamba_report::Study {
        run: number,
        title: study.title.clone(),
        text: study.text.clone(),
        operations,
        remarks: words::remarks(rows),
    }
}

fn operation(study: &Study, run: &Run, row: &StudyRow<'_>, common: &[&String]) -> Operation {
    let m = row.measurement;
    let reason = m.prediction.as_ref().map(|p| p.reason.trim().to_owned());
    let figure = row.figure.as_ref();
    let place = |entry: &&_| run.benchmarks.iter().position(|b| std::ptr::eq(b, *entry));
    let notes = row.notes.iter().filter(|n| !common.contains(n));
    Operation {
        category: m.category.clone(),
        name: words::operation(row),
        base: m.base.clone().unwrap_or_default(),
        overhead: m.overhead.clone().unwrap_or_default(),
        predicted: words::predicted(study, m),
        measured: words::figure(row),
        value: figure.map(Figure::sortable),
        mark: words::marked(row).map(str::to_owned),
        verdict: words::verdict(row),
        is_within: row.verdict == Some(PredictionVerdict::Within),
        reason: reason.unwrap_or_default(),
        notes: notes.cloned().collect(),
        command: words::command(m),
        entries: row.entries.iter().filter_map(place).collect(),
        ..Operation::default()
    }
}
