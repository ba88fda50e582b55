//! A study with its figures as a document: tables with the columns of the 2016 report's summary, and the reasons.

use yamba_record::Run;
use yamba_report::Document;
use yamba_report::document::{Block, Line, Span, Table, code, plain};

use super::words::{self, command, figure, marked, operation, origin, predicted, sum};
use yamba_session::study::{Measurement, Row, Study, Verdict};

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
pub fn document(study: &Study, run: &Run, rows: &[Row<'_>]) -> Document {
    let mut blocks = Vec::new();
    if !study.text.trim().is_empty() {
        blocks.push(Block::Written(study.text.clone()));
    }
    blocks.push(Block::Paragraph(plain(origin(run))));
    let common = words::common(rows);
    for category in categories(study) {
        if !category.is_empty() {
            blocks.push(Block::Section(category.to_owned()));
        }
        let of: Vec<&Row<'_>> = rows
            .iter()
            .filter(|r| r.measurement.category == category)
            .collect();
        blocks.push(Block::Table(table(study, category, &of)));
        for measurement in study.measurements.iter().filter(|m| m.category == category) {
            blocks.extend(about(study, measurement, &of, &common));
        }
    }
    for note in &common {
        blocks.push(Block::Paragraph(plain(format!("Of all: {note}."))));
    }
    blocks.extend(words::footnote(rows).map(|f| Block::Paragraph(plain(f))));
    blocks.push(Block::Paragraph(plain(sum(rows))));
    Document {
        title: study.title.clone(),
        blocks,
    }
}

/// The categories in order of first occurrence.
fn categories(study: &Study) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for measurement in &study.measurements {
        if !all.contains(&measurement.category.as_str()) {
            all.push(&measurement.category);
        }
    }
    all
}

fn table(study: &Study, category: &str, rows: &[&Row<'_>]) -> Table {
    Table {
        caption: match category {
            "" => study.title.clone(),
            category => format!("{}: {category}", study.title),
        },
        head: HEAD.map(str::to_owned).to_vec(),
        rows: rows.iter().map(|row| cells(study, row)).collect(),
    }
}

fn cells(study: &Study, row: &Row<'_>) -> Vec<Line> {
    let m = row.measurement;
    let text = |words: Option<&String>| plain(words.map_or("NA", String::as_str));
    let verdict = words::verdict(row);
    vec![
        plain(operation(row)),
        text(m.base.as_ref()),
        text(m.overhead.as_ref()),
        plain(predicted(study, m)),
        measured(row),
        match row.verdict {
            Some(Verdict::Within) | None => plain(verdict),
            Some(_) => vec![Span::Strong(verdict)],
        },
    ]
}

fn measured(row: &Row<'_>) -> Line {
    let figure = figure(row);
    match marked(row) {
        None => plain(figure),
        Some(mark) if figure.is_empty() => vec![Span::Strong(mark.to_owned())],
        Some(mark) => vec![
            Span::Strong(mark.to_owned()),
            Span::Plain(format!(" ({figure})")),
        ],
    }
}

/// Remarks on a measurement, shown below its table.
fn about(
    study: &Study,
    measurement: &Measurement,
    rows: &[&Row<'_>],
    common: &[&String],
) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut line = vec![
        Span::Strong(measurement.label.clone()),
        Span::Plain(": ".to_owned()),
    ];
    line.extend(code(command(measurement)));
    if let Some(prediction) = &measurement.prediction {
        let words = predicted(study, measurement);
        line.extend(plain(format!(
            ". Predicted {words}: {}",
            prediction.reason.trim()
        )));
    }
    blocks.push(Block::Paragraph(line));
    if !measurement.text.trim().is_empty() {
        blocks.push(Block::Written(measurement.text.clone()));
    }
    let own = rows
        .iter()
        .filter(|r| std::ptr::eq(r.measurement, measurement));
    let notes: Vec<Line> = remarks(own.copied(), common)
        .into_iter()
        .map(plain)
        .collect();
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    blocks
}

/// The distinct notes of rows, each with the points that it applies to.
fn remarks<'a>(rows: impl Iterator<Item = &'a Row<'a>>, common: &[&String]) -> Vec<String> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        for note in row.notes.iter().filter(|n| !common.contains(n)) {
            match all.iter_mut().find(|(known, _)| known == note) {
                Some((_, points)) => points.push(&row.point),
                None => all.push((note, vec![&row.point])),
            }
        }
    }
    let told = all.into_iter().map(|(note, points)| {
        let note = note.lines().next().unwrap_or_default();
        match points.join(", ").as_str() {
            points if points.is_empty() || points == ", " => note.to_owned(),
            points => format!("{points}: {note}"),
        }
    });
    told.collect()
}
