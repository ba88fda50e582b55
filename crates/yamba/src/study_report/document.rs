//! A study with its figures in Markdown: tables with the columns of the 2016 report's summary, and
//! the reasons.

use indexmap::{IndexMap, IndexSet};
use yamba_record::Run;
use yamba_report::markdown::{code, list, marked, paragraph, strong, table, text};

use super::words;
use yamba_session::study::{Measurement, PredictionVerdict, Study, StudyRow};

/// The table columns.
const HEAD: [&str; 6] = [
    "Operation",
    "Base hardware performance",
    "Estimated software overhead",
    "Predicted",
    "Measured",
    "Verdict",
];

/// Builds the complete document.
pub fn document(study: &Study, run: &Run, rows: &[StudyRow<'_>]) -> String {
    let mut parts = vec![format!("# {}\n", text(&study.title))];
    parts.extend(written(&study.text));
    parts.push(paragraph(&text(&words::origin(run))));
    let common = words::common(rows);
    let categories: IndexSet<&String> = study.measurements.iter().map(|m| &m.category).collect();
    for category in categories {
        let of_category = |row: &&StudyRow<'_>| row.measurement.category == *category;
        let rows: Vec<&StudyRow<'_>> = rows.iter().filter(of_category).collect();
        let mut caption = study.title.clone();
        if !category.is_empty() {
            parts.push(format!("## {}\n", text(category)));
            caption = format!("{caption}: {category}");
        }
        let cells: Vec<Vec<String>> = rows.iter().map(|row| cells(study, row)).collect();
        parts.push(table(&caption, &HEAD, &cells));
        let measurements = study.measurements.iter();
        for measurement in measurements.filter(|m| m.category == *category) {
            parts.push(paragraph(&about(study, measurement)));
            parts.extend(written(&measurement.text));
            let own = |row: &&StudyRow<'_>| std::ptr::eq(row.measurement, measurement);
            let remarks = remarks(rows.iter().copied().filter(own), &common);
            if !remarks.is_empty() {
                parts.push(list(&remarks));
            }
        }
    }
    let last = words::remarks(rows);
    parts.extend(last.iter().map(|remark| paragraph(&text(remark))));
    parts.join("\n")
}

/// The author's own Markdown, unless it is empty.
fn written(markdown: &str) -> Option<String> {
    let markdown = markdown.trim();
    (!markdown.is_empty()).then(|| format!("{markdown}\n"))
}

fn cells(study: &Study, row: &StudyRow<'_>) -> Vec<String> {
    let m = row.measurement;
    let figure = text(&words::figure(row));
    let verdict = words::verdict(row);
    vec![
        text(&words::operation(row)),
        text(m.base.as_deref().unwrap_or("NA")),
        text(m.overhead.as_deref().unwrap_or("NA")),
        text(&words::predicted(study, m)),
        match words::marked(row) {
            None => figure,
            Some(mark) => marked(mark, &figure),
        },
        match row.verdict {
            Some(PredictionVerdict::Within) | None => text(&verdict),
            Some(_) => strong(&verdict),
        },
    ]
}

/// The command of a measurement, and the reason of its prediction.
fn about(study: &Study, measurement: &Measurement) -> String {
    let command = code(&words::command(measurement));
    let mut line = format!("{}: {command}", strong(&measurement.label));
    if let Some(prediction) = &measurement.prediction {
        let predicted = words::predicted(study, measurement);
        let reason = prediction.reason.trim();
        line += &text(&format!(". Predicted {predicted}: {reason}"));
    }
    line
}

/// The distinct notes of rows, each with the points that it applies to.
fn remarks<'a>(rows: impl Iterator<Item = &'a StudyRow<'a>>, common: &[&String]) -> Vec<String> {
    let mut points: IndexMap<&str, Vec<&str>> = IndexMap::new();
    for row in rows {
        for note in row.notes.iter().filter(|n| !common.contains(n)) {
            points.entry(note).or_default().push(&row.point);
        }
    }
    let remarks = points.into_iter().map(|(note, points)| {
        let note = note.lines().next().unwrap_or_default();
        match points.join(", ").as_str() {
            "" | ", " => text(note),
            points => text(&format!("{points}: {note}")),
        }
    });
    remarks.collect()
}
