//! The tables of a run for a paper, one per group of benchmarks.

use yamba_record::number::number;
use yamba_record::run::IntervalKind;
use yamba_record::{Benchmark, Run, Status};

use crate::document::{Block, Document, Line, Span, Table, code, plain};
use crate::html::head;
use crate::html::rows::{self, Row};
use crate::html::table::{figure_text, interval_text};
use crate::place::Place;
use crate::shell::command_line;

/// The column titles.
const HEAD: [&str; 5] = [
    "Benchmark",
    "Parameters",
    "Figure",
    "95 % interval",
    "Cycles",
];

/// A document with all figures of a run and the reasons of those that are not valid. `place` is where the run was read.
pub fn summary(run: &Run, place: &Place) -> Document {
    let runs = std::slice::from_ref(run);
    let mut blocks = vec![Block::Paragraph(origin(run, place))];
    let (skipped, measured): (Vec<Row>, Vec<Row>) =
        rows::rows(runs).into_iter().partition(Row::is_skipped);
    for (title, group) in rows::groups(measured) {
        blocks.push(Block::Table(Table {
            caption: title,
            head: HEAD.map(str::to_owned).to_vec(),
            rows: group.iter().filter_map(cells).collect(),
        }));
        let remarks: Vec<Line> = group.iter().flat_map(remarks).collect();
        if !remarks.is_empty() {
            blocks.push(Block::List(remarks));
        }
    }
    if !skipped.is_empty() {
        blocks.push(Block::Paragraph(plain("Skipped:")));
        blocks.push(Block::List(skipped.iter().flat_map(remarks).collect()));
    }
    Document {
        title: head::title(runs),
        blocks,
    }
}

fn origin(run: &Run, place: &Place) -> Line {
    let machine = &run.machine;
    let within = run
        .benchmarks
        .iter()
        .filter_map(|b| b.interval_kind)
        .any(|k| k == IntervalKind::WithinLaunches);
    let mut line = plain(format!(
        "{} processors, {} {}. ",
        machine.cpus, machine.system, machine.kernel
    ));
    if run.producer.imported.is_some() {
        line.extend(plain("Another program measured: there is no raw interval."));
    } else if let Some(reference) = place.run(run) {
        if matches!(place, Place::File(_)) && !run.id.is_empty() {
            line.extend(plain("Run "));
            line.extend(code(run.id.clone()));
            line.extend(plain(". "));
        }
        line.extend(plain("Every raw interval: "));
        let words = [&["yamba", "show", reference, "--raw"], &place.store()[..]].concat();
        line.extend(code(command_line(words)));
        line.extend(plain("."));
    }
    if within {
        line.extend(plain(
            " Some intervals are within launches: they say nothing of the next run.",
        ));
    }
    line
}

fn cells(row: &Row) -> Option<Vec<Line>> {
    let entry = row.present().next()?;
    let cycles = entry.cycles.map(|c| number(c.median));
    Some(vec![
        code(row.name),
        plain(row.short_point()),
        figure(entry),
        plain(interval_text(entry).unwrap_or_default()),
        plain(cycles.unwrap_or_default()),
    ])
}

/// The figure. One that is not valid is marked in front.
fn figure(entry: &Benchmark) -> Line {
    let text = figure_text(entry).unwrap_or_default();
    let mark = match entry.status {
        Status::Ok if entry.is_disturbed => "disturbed",
        Status::Ok => return plain(text),
        Status::Invalid => "INVALID",
        Status::Crashed => "CRASHED",
        Status::Skipped => "skipped",
    };
    let mut line = vec![Span::Strong(mark.to_owned())];
    if !text.is_empty() {
        line.push(Span::Plain(format!(" ({text})")));
    }
    line
}

/// The reason why a figure is invalid or missing.
fn remarks(row: &Row) -> Option<Line> {
    let entry = row.present().next()?;
    if entry.status == Status::Ok {
        return None;
    }
    let note = entry.notes.first()?.lines().next()?;
    let mut line = code(row.name);
    line.extend(plain(format!(" {}: {note}", row.short_point())));
    Some(line)
}
