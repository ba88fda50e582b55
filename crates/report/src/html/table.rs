//! The table of a group's figures with one row per point, and the table of skipped points.

use maud::{Markup, html as markup};
use yamba_record::number::number;
use yamba_record::run::{IntervalScope, Status};
use yamba_record::{Benchmark, Run};

use super::entry;
use super::head::{WITHIN, label, letter};
use super::rows::PointRow;
use crate::number::{self, counted};
use crate::place::RunLocation;

/// A column for each run: its heading, and its sort order, by word or by number.
type Column = (&'static str, &'static str);

const COLUMNS: [Column; 4] = [
    ("Figure", "number"),
    ("95 % interval", "number"),
    CYCLES,
    ("Status", "word"),
];
const CYCLES: Column = ("Cycles", "number");

/// The columns of a group. Cycles appear only if some row has them.
fn columns(rows: &[PointRow]) -> Vec<Column> {
    let mut all = rows.iter().flat_map(PointRow::present);
    let has_cycles = all.any(|b| b.cycles.is_some());
    let mut columns = COLUMNS.to_vec();
    columns.retain(|column| has_cycles || *column != CYCLES);
    columns
}

/// The table of a group.
pub fn table(runs: &[Run], places: &[RunLocation], title: &str, rows: &[PointRow]) -> Markup {
    let columns = columns(rows);
    let width = 2 + columns.len() * runs.len();
    markup! {
        div.wide role="region" aria-label={ "Figures: " (title) } tabindex="0" {
            table.figures.three[columns.len() == 3] {
                caption { (title) ": figures with their intervals" }
                (heading(runs, &columns))
                @for row in rows {
                    tbody data-text={ (row.name) " " (row.point()) " " (status_words(row)) } {
                        tr {
                            th.name scope="row" data-v=(row.name) { (row.name) }
                            td.point data-v=(row.point()) { (row.short_point()) }
                            @for (run, entry) in row.entries.iter().enumerate() { (cells(runs, run, *entry, &columns)) }
                        }
                        tr.more { td colspan=(width) { (entry::details(runs, places, row)) } }
                    }
                }
            }
        }
    }
}

fn heading(runs: &[Run], columns: &[Column]) -> Markup {
    let rows = if runs.len() > 1 { 2 } else { 1 };
    markup! {
        thead {
            tr {
                th scope="col" rowspan=(rows) data-sort="word" data-column="0" { "Benchmark" }
                th scope="col" rowspan=(rows) data-sort="word" data-column="1" { "Parameters" }
                @if runs.len() > 1 {
                    @for run in 0..runs.len() { th.run scope="colgroup" colspan=(columns.len()) { (label(runs, run)) } }
                } @else {
                    (headings(0, columns))
                }
            }
            @if runs.len() > 1 {
                tr { @for run in 0..runs.len() { (headings(run, columns)) } }
            }
        }
    }
}

fn headings(run: usize, columns: &[Column]) -> Markup {
    markup! {
        @for (i, (name, sort)) in columns.iter().enumerate() {
            th scope="col" data-sort=(sort) data-column=(2 + run * columns.len() + i) { (name) }
        }
    }
}

fn status_words(row: &PointRow) -> String {
    let words: Vec<&str> = row.present().map(|b| word(b.status)).collect();
    words.join(" ")
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "valid",
        Status::Invalid => "invalid",
        Status::Crashed => "crashed",
        Status::Skipped => "skipped",
    }
}

/// The cells of an entry. With several runs, the first cell names the run, for narrow screens that hide the headings.
fn cells(runs: &[Run], run: usize, entry: Option<&Benchmark>, columns: &[Column]) -> Markup {
    let name = (runs.len() > 1).then(|| letter(run));
    let Some(benchmark) = entry else {
        return markup! { td.none colspan=(columns.len()) data-run=[name] { "not in this run" } };
    };
    let interval = benchmark.confidence_interval.zip(benchmark.median);
    let width = interval.map(|([low, high], median)| (high - low) / median);
    let cycles = benchmark.cycles.map(|c| c.median);
    markup! {
        td.number data-v=[benchmark.median] data-unit=[benchmark.unit.as_deref()] data-run=[name] { (figure(benchmark)) }
        td.number data-v=[width] { (interval_text(benchmark).unwrap_or_default()) }
        @if columns.contains(&CYCLES) {
            td.number.cycles data-v=[cycles] { (cycles.map(number).unwrap_or_default()) }
        }
        td.status data-v=(word(benchmark.status)) { (status(benchmark)) }
    }
}

fn figure(benchmark: &Benchmark) -> Markup {
    markup! {
        @if let Some(text) = figure_text(benchmark) {
            @if benchmark.valid { (text) } @else { s.invalid { (text) } }
        }
    }
}

/// The figure with its unit.
pub fn figure_text(benchmark: &Benchmark) -> Option<String> {
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    Some(number::figure(benchmark.median?, unit))
}

/// The interval in the unit of the figure. [`WITHIN`] marks an interval within launches.
pub fn interval_text(benchmark: &Benchmark) -> Option<String> {
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let mut text = number::interval(benchmark.confidence_interval?, benchmark.median?, unit);
    if benchmark.interval_scope == Some(IntervalScope::WithinLaunches) {
        text.push_str(WITHIN);
    }
    Some(text)
}

fn status(benchmark: &Benchmark) -> Markup {
    let mut marks = Vec::new();
    if benchmark.is_disturbed {
        marks.push("disturbed".to_owned());
    }
    let outside = benchmark.evidence.iter().filter(|(_, e)| e.outside > 0);
    for (name, evidence) in outside {
        marks.push(format!(
            "{name} outside its bounds in {}",
            counted(evidence.outside, "batch")
        ));
    }
    markup! {
        span.badge.(word(benchmark.status)) { (word(benchmark.status)) }
        @if !marks.is_empty() { " " small { (marks.join(", ")) } }
        @if benchmark.status != Status::Ok { (entry::notes(benchmark)) }
    }
}

/// The table of skipped points with their reasons.
pub fn skipped(runs: &[Run], rows: &[PointRow]) -> Markup {
    markup! {
        section aria-labelledby="skipped" {
            h2 #skipped { "Skipped" }
            div.wide role="region" aria-label="Reasons" tabindex="0" {
                table.figures {
                    caption { "Skipped benchmarks, with the reason" }
                    thead { tr {
                        th scope="col" { "Benchmark" }
                        th scope="col" { "Parameters" }
                        @for run in 0..runs.len() {
                            th scope="col" { @if runs.len() == 1 { "Reason" } @else { (label(runs, run)) } }
                        }
                    } }
                    @for row in rows {
                        tbody data-text={ (row.name) " " (row.point()) " skipped" } { tr {
                            th.name scope="row" { (row.name) }
                            td.point { (row.point()) }
                            @for entry in &row.entries {
                                td { @if let Some(b) = entry { (entry::notes(b)) } @else { "not in this run" } }
                            }
                        } }
                    }
                }
            }
        }
    }
}
