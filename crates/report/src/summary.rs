//! The tables of a run for a paper, one per group of benchmarks.

use yamba_record::number::number;
use yamba_record::{Benchmark, Run, Status};

use crate::html::facts::{is_own, unfinished};
use crate::html::head;
use crate::html::measured::described;
use crate::html::rows::{self, PointRow};
use crate::html::table::{figure_text, interval_text};
use crate::intervals;
use crate::markdown::{self, code, list, marked, paragraph, table, text};
use crate::place::{RunLocation, command_line};
use crate::sections::sections;

/// Markdown with all figures of a run and the reasons of those that are not valid. `place` is where
/// the run was read.
pub fn summary(run: &Run, place: &RunLocation) -> String {
    let runs = std::slice::from_ref(run);
    let mut parts =
        vec![format!("# {}\n", text(&head::title(runs))), paragraph(&origin(run, place))];
    let (skipped, measured): (Vec<PointRow>, Vec<PointRow>) =
        rows::rows(runs).into_iter().partition(PointRow::is_skipped);
    let titles = ["Benchmark", "Parameters", "Figure", intervals::title(runs), "Cycles"];
    for (title, group) in rows::groups(measured) {
        let rows: Vec<Vec<String>> = group.iter().filter_map(cells).collect();
        parts.push(table(&title, &titles, &rows));
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
    let mut line = match described(&run.machine) {
        unknown if unknown.is_empty() => String::new(),
        known => text(&format!("{known}. ")),
    };
    if is_own(run) && matches!(place, RunLocation::File(_)) && !run.id.is_empty() {
        line += &format!("Run {}. ", code(&run.id));
    }
    line += &raw_batches(run, place);
    line += &unfinished(run).map_or(String::new(), |why| text(&format!("{why} ")));
    line + &text(&intervals::explanation(std::slice::from_ref(run)))
}

/// The command for the raw batches. If no entry has any, the reason of the first.
fn raw_batches(run: &Run, place: &RunLocation) -> String {
    let mut reasons = run.benchmarks.iter().map(|b| place.without_batches(run, b));
    match reasons.clone().find(Option::is_none).or_else(|| reasons.next()).flatten() {
        Some(reason) => text(&format!("There is no raw batch: {reason}. ")),
        None => {
            let words = [&["yamba", "show", place.run(run), "--raw"], &place.store()[..]].concat();
            format!("Every raw batch: {}. ", code(&command_line(words)))
        }
    }
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
    let point = row.short_point();
    let point = if point.is_empty() { point } else { format!(" {point}") };
    Some(code(row.name) + &text(&format!("{point}: {note}")))
}
