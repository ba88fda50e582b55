//! The table of a group's figures with one row per point, and the table of skipped points.

use maud::{Markup, html as markup};
use yamba_record::number::{counted, number};
use yamba_record::run::{IntervalScope, Status};
use yamba_record::{Benchmark, Note, Run};

use super::entry;
use super::head::label;
use super::rows::PointRow;
use super::verdict::{PairVerdict, SideBySide, ratio_text};
use crate::intervals::{self, WITHIN};
use crate::letters::letter;
use crate::number;
use crate::place::RunLocation;

/// A column: its heading, its sort order by word or by number, and the class of its width.
type Column = (&'static str, &'static str, &'static str);

const FIGURE: Column = ("Figure", "number", "figure");
const CYCLES: Column = ("Cycles", "number", "cycles");
const RATIO: Column = ("B/A", "number", "ratio");
const VERDICT: Column = ("Verdict", "word", "verdict");
const REMARKS: Column = ("Remarks", "word", "remarks");

/// The columns after those of the runs.
const LAST: &[Column] = &[REMARKS];

/// The columns of the page's tables. All tables have the same.
pub struct Columns<'a> {
    of_run: Vec<Column>,
    comparison: Option<&'a SideBySide>,
}

impl<'a> Columns<'a> {
    /// The columns for these rows. Cycles have one if a row of a single run has them.
    pub fn new(
        runs: &[Run],
        rows: &[&PointRow],
        comparison: Option<&'a SideBySide>,
    ) -> Columns<'a> {
        let mut all = rows.iter().flat_map(|row| row.present());
        let mut of_run = vec![FIGURE, (intervals::title(runs), "number", "interval")];
        if runs.len() == 1 && all.any(|b| b.details.cycles.is_some()) {
            of_run.push(CYCLES);
        }
        Columns { of_run, comparison }
    }

    /// The columns before those of the runs: what differs is seen without scrolling.
    fn first(&self) -> &'static [Column] {
        match self.comparison {
            Some(_) => &[RATIO, VERDICT],
            None => &[],
        }
    }

    fn has_cycles(&self) -> bool {
        self.of_run.contains(&CYCLES)
    }

    fn count(&self, runs: usize) -> usize {
        2 + self.first().len() + self.of_run.len() * runs + LAST.len()
    }
}

/// The table of a group.
pub fn table(
    runs: &[Run],
    places: &[RunLocation],
    title: &str,
    rows: &[PointRow],
    columns: &Columns,
) -> Markup {
    markup! {
        div.wide role="region" aria-label={ "Figures: " (title) } tabindex="0" {
            table.figures.equal.several[runs.len() > 1] {
                caption { (title) ": figures with their intervals" }
                (widths(runs.len(), columns))
                (heading(runs, columns))
                @for row in rows {
                    tbody data-text={ (title) " " (row.point()) " " (status_words(row)) } {
                        tr {
                            th.name scope="row" data-v=(row.name) { (row.name) }
                            td.point data-v=(row.point()) { (row.short_point()) }
                            @if let Some(comparison) = columns.comparison { (compared(comparison.verdict(runs, row))) }
                            @for (run, entry) in row.entries.iter().enumerate() { (cells(runs, run, *entry, columns)) }
                            (remarks(row))
                        }
                        (reasons(row, columns.count(runs.len())))
                        tr.more { td colspan=(columns.count(runs.len())) { (entry::details(runs, places, row)) } }
                    }
                }
            }
        }
    }
}

/// The same widths in each table.
fn widths(runs: usize, columns: &Columns) -> Markup {
    markup! {
        colgroup {
            col.name;
            col.point;
            @for (_, _, class) in columns.first() { col.(class); }
            @for _ in 0..runs { @for (_, _, class) in &columns.of_run { col.(class); } }
            @for (_, _, class) in LAST { col.(class); }
        }
    }
}

fn heading(runs: &[Run], columns: &Columns) -> Markup {
    let rows = if runs.len() > 1 { 2 } else { 1 };
    let of_run = columns.of_run.len();
    let first = 2 + columns.first().len();
    markup! {
        thead {
            tr {
                th scope="col" rowspan=(rows) data-sort="word" data-column="0" { "Benchmark" }
                th scope="col" rowspan=(rows) data-sort="word" data-column="1" { "Parameters" }
                (headings(2, columns.first(), rows))
                @if runs.len() > 1 {
                    @for run in 0..runs.len() { th.run scope="colgroup" colspan=(of_run) { (label(runs, run)) } }
                } @else {
                    (headings(first, &columns.of_run, 1))
                }
                (headings(first + of_run * runs.len(), LAST, rows))
            }
            @if runs.len() > 1 {
                tr { @for run in 0..runs.len() { (headings(first + run * of_run, &columns.of_run, 1)) } }
            }
        }
    }
}

fn headings(first: usize, columns: &[Column], rows: usize) -> Markup {
    markup! {
        @for (i, (name, sort, _)) in columns.iter().enumerate() {
            th scope="col" rowspan=[(rows > 1).then_some(rows)] data-sort=(sort) data-column=(first + i) { (name) }
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
        Status::Skipped | Status::NotStarted => "skipped",
    }
}

/// The cells of an entry. With several runs, the first cell names the run, for narrow screens that
/// hide the headings.
fn cells(runs: &[Run], run: usize, entry: Option<&Benchmark>, columns: &Columns) -> Markup {
    let name = (runs.len() > 1).then(|| letter(run));
    let Some(benchmark) = entry else {
        return markup! { td.none colspan=(columns.of_run.len()) data-run=[name] { "not in this run" } };
    };
    let interval = benchmark.confidence_interval.zip(benchmark.median);
    let width = interval.map(|([low, high], median)| (high - low) / median);
    let cycles = benchmark.details.cycles.map(|c| c.median);
    markup! {
        td.number data-v=[benchmark.median] data-unit=[benchmark.unit.as_deref()] data-run=[name] { (figure(benchmark)) }
        td.number data-v=[width] { (interval_text(benchmark).unwrap_or_default()) }
        @if columns.has_cycles() {
            td.number.cycles data-v=[cycles] { (cycles.map(number).unwrap_or_default()) }
        }
    }
}

/// The ratio with its interval, and the verdict.
fn compared(verdict: Option<&PairVerdict>) -> Markup {
    markup! {
        @match verdict {
            Some(verdict) => {
                td.number.ratio data-v=[verdict.ratio] { (ratio_text(verdict).unwrap_or_default()) }
                td.judged { span.verdict.(verdict.kind.class()) { (verdict.word) } }
            },
            None => { td.number.ratio {} td.judged {} },
        }
    }
}

/// The figure; an invalid one is struck through.
pub fn figure(benchmark: &Benchmark) -> Markup {
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
    let mut text = number::interval(benchmark.shown_interval()?, benchmark.median?, unit);
    if benchmark.interval_scope == Some(IntervalScope::WithinLaunches) {
        text.push_str(WITHIN);
    }
    Some(text)
}

/// The exceptions of a row; empty if all its figures are valid and undisturbed. Of several runs
/// each is named.
fn remarks(row: &PointRow) -> Markup {
    let words: Vec<Option<&str>> = row.entries.iter().map(|e| e.and_then(remark)).collect();
    let has_letters = row.entries.len() > 1;
    markup! {
        td.status data-v=[words.iter().flatten().next()] {
            @for (run, word) in words.iter().enumerate() {
                @if let Some(word) = word {
                    div { @if has_letters { strong { (letter(run)) } " " } span.badge.(word) { (word) } }
                }
            }
        }
    }
}

fn remark(benchmark: &Benchmark) -> Option<&'static str> {
    match benchmark.status {
        Status::Ok if benchmark.interference.is_disturbed => Some("disturbed"),
        Status::Ok => benchmark.interference.launches_disagree.then_some("launches disagree"),
        status => Some(word(status)),
    }
}

/// A row below with the reasons of figures that are not valid, and the evidence outside its bounds.
fn reasons(row: &PointRow, width: usize) -> Markup {
    let has_letters = row.entries.len() > 1;
    let reasons = row.entries.iter().enumerate();
    let reasons: Vec<(usize, &Benchmark, String)> =
        reasons.filter_map(|(run, entry)| Some((run, (*entry)?, reason((*entry)?)?))).collect();
    markup! {
        @if !reasons.is_empty() {
            tr.why { td colspan=(width) {
                @for (run, benchmark, reason) in &reasons {
                    div {
                        @if has_letters { strong { (letter(*run)) } " " }
                        @if !benchmark.valid { (word(benchmark.status)) ": " }
                        (reason)
                    }
                }
            } }
        }
    }
}

/// Why a figure is not valid; of a valid one the evidence outside its bounds.
fn reason(benchmark: &Benchmark) -> Option<String> {
    if benchmark.status != Status::Ok {
        return benchmark.reason().map(Note::to_string);
    }
    let outside = benchmark.details.evidence.iter().filter(|(_, e)| e.outside > 0);
    let outside: Vec<String> = outside
        .map(|(name, evidence)| {
            let batches = counted(evidence.outside, "batch", "batches");
            format!("{name} outside its bounds in {batches}")
        })
        .collect();
    (!outside.is_empty()).then(|| outside.join(", "))
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
                        tbody data-text="skipped" { tr {
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
