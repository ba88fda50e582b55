//! The tables of a run for a paper, one per group of benchmarks.

use yamba_record::number::number;
use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Run, Status};

use crate::html::head;
use crate::html::rows::{self, PointRow};
use crate::html::table::{figure_text, interval_text};
use crate::markdown::{self, code, list, marked, paragraph, table, text};
use crate::place::{RunLocation, command_line};
use crate::sections::sections;

/// The column titles.
const HEAD: [&str; 5] = ["Benchmark", "Parameters", "Figure", "95 % interval", "Cycles"];

/// Markdown with all figures of a run and the reasons of those that are not valid. `place` is where
/// the run was read.
pub fn summary(run: &Run, place: &RunLocation) -> String {
    let runs = std::slice::from_ref(run);
    let mut parts =
        vec![format!("# {}\n", text(&head::title(runs))), paragraph(&origin(run, place))];
    let (skipped, measured): (Vec<PointRow>, Vec<PointRow>) =
        rows::rows(runs).into_iter().partition(PointRow::is_skipped);
    for (title, group) in rows::groups(measured) {
        let rows: Vec<Vec<String>> = group.iter().filter_map(cells).collect();
        parts.push(table(&title, &HEAD, &rows));
        let remarks: Vec<String> = group.iter().filter_map(remark).collect();
        if !remarks.is_empty() {
            parts.push(list(&remarks));
        }
    }
    if !skipped.is_empty() {
        let remarks: Vec<String> = skipped.iter().filter_map(remark).collect();
        parts.extend([paragraph("Skipped:"), list(&remarks)]);
    }
    parts.extend(markdown::sections(&sections(runs), 2));
    parts.join("\n")
}

fn origin(run: &Run, place: &RunLocation) -> String {
    let machine = &run.machine;
    let mut line =
        text(&format!("{} processors, {} {}. ", machine.cpus, machine.system, machine.kernel));
    if run.producer.imported.is_some() {
        line += "Another program measured: there is no raw batch.";
    } else {
        if matches!(place, RunLocation::File(_)) && !run.id.is_empty() {
            line += &format!("Run {}. ", code(&run.id));
        }
        let words = [&["yamba", "show", place.run(run), "--raw"], &place.store()[..]].concat();
        line += &format!("Every raw batch: {}.", code(&command_line(words)));
    }
    let mut kinds = run.benchmarks.iter().filter_map(|b| b.interval_scope);
    if kinds.any(|kind| kind == IntervalScope::WithinLaunches) {
        line += " Some intervals are within launches: they say nothing of the next run.";
    }
    line
}

fn cells(row: &PointRow) -> Option<Vec<String>> {
    let entry = row.present().next()?;
    let cycles = entry.details.cycles.map(|c| number(c.median));
    Some(vec![
        code(row.name),
        text(&row.short_point()),
        figure(entry),
        text(&interval_text(entry).unwrap_or_default()),
        cycles.unwrap_or_default(),
    ])
}

/// The figure. One that is not valid is marked in front.
fn figure(entry: &Benchmark) -> String {
    let figure = text(&figure_text(entry).unwrap_or_default());
    let mark = match entry.status {
        Status::Ok if entry.interference.is_disturbed => "disturbed",
        Status::Ok if entry.interference.launches_disagree => "launches disagree",
        Status::Ok => return figure,
        Status::Invalid => "INVALID",
        Status::Crashed => "CRASHED",
        Status::Skipped | Status::NotStarted => "skipped",
    };
    marked(mark, &figure)
}

/// The reason why a figure is invalid or missing.
fn remark(row: &PointRow) -> Option<String> {
    let note = row.present().next()?.reason()?.first_line();
    let remark = text(&format!(" {}: {note}", row.short_point()));
    Some(format!("{}{remark}", code(row.name)))
}
