//! The figures of a group, one row a point; and what was skipped.

use maud::{Markup, html as markup};
use yamba_record::number::{number, scale};
use yamba_record::run::{IntervalKind, Status};
use yamba_record::{Benchmark, Evidence, Run};

use super::entry;
use super::head::label;
use super::rows::Row;

/// What is said of an entry in each run. Words are sorted as words, all else as numbers.
const COLUMNS: [(&str, bool); 5] = [
    ("Figure", false),
    ("95 % interval", false),
    ("Cycles", false),
    ("Evidence", true),
    ("Status", true),
];

/// The table of a group.
pub fn table(runs: &[Run], title: &str, rows: &[Row]) -> Markup {
    let width = 2 + COLUMNS.len() * runs.len();
    markup! {
        div.wide role="region" aria-label={ "Figures: " (title) } tabindex="0" {
            table.figures {
                caption { (title) ": figures with their intervals and evidence" }
                (heading(runs))
                @for row in rows {
                    tbody data-text={ (row.name) " " (row.point) " " (status_words(row)) } {
                        tr {
                            th.name scope="row" data-v=(row.name) { (row.name) }
                            td.point data-v=(row.point) { (row.point) }
                            @for entry in &row.entries { (cells(*entry)) }
                        }
                        tr.more { td colspan=(width) { (entry::details(runs, row)) } }
                    }
                }
            }
        }
    }
}

fn heading(runs: &[Run]) -> Markup {
    let rows = if runs.len() > 1 { 2 } else { 1 };
    markup! {
        thead {
            tr {
                th scope="col" rowspan=(rows) data-sort="word" data-column="0" { "Benchmark" }
                th scope="col" rowspan=(rows) data-sort="word" data-column="1" { "Parameters" }
                @if runs.len() > 1 {
                    @for run in 0..runs.len() { th.run scope="colgroup" colspan=(COLUMNS.len()) { (label(runs, run)) } }
                } @else {
                    (columns(0))
                }
            }
            @if runs.len() > 1 {
                tr { @for run in 0..runs.len() { (columns(run)) } }
            }
        }
    }
}

fn columns(run: usize) -> Markup {
    markup! {
        @for (i, (name, is_word)) in COLUMNS.iter().enumerate() {
            th scope="col" data-sort=(if *is_word { "word" } else { "number" }) data-column=(2 + run * COLUMNS.len() + i) { (name) }
        }
    }
}

fn status_words(row: &Row) -> String {
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

fn cells(entry: Option<&Benchmark>) -> Markup {
    let Some(benchmark) = entry else {
        return markup! { td.none colspan=(COLUMNS.len()) { "not in this run" } };
    };
    let width = benchmark
        .interval
        .zip(benchmark.median)
        .map(|([low, high], m)| (high - low) / m);
    let cycles = benchmark.cycles.map(|c| c.median);
    markup! {
        td.number data-v=[benchmark.median] data-unit=[benchmark.unit.as_deref()] { (figure(benchmark)) }
        td.number data-v=[width] { (interval_text(benchmark).unwrap_or_default()) }
        td.number data-v=[cycles] { (cycles.map(number).unwrap_or_default()) }
        td.evidence { @for (name, evidence) in &benchmark.evidence { (said(name, evidence)) " " } }
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

/// `4.096 us`
pub fn figure_text(benchmark: &Benchmark) -> Option<String> {
    let median = benchmark.median?;
    let (factor, unit) = scale(median, benchmark.unit.as_deref().unwrap_or_default());
    Some(format!("{} {unit}", number(median * factor)))
}

/// `[3.686, 4.506]`, in the unit of the figure.
pub fn interval_text(benchmark: &Benchmark) -> Option<String> {
    let [low, high] = benchmark.interval?;
    let unit = benchmark.unit.as_deref().unwrap_or_default();
    let (factor, _) = scale(benchmark.median?, unit);
    Some(format!(
        "[{}, {}]",
        number(low * factor),
        number(high * factor)
    ))
}

fn said(name: &str, evidence: &Evidence) -> Markup {
    let median = evidence.median.map_or("none".to_owned(), number);
    let spread = evidence
        .min
        .zip(evidence.max)
        .map(|(a, b)| (number(a), number(b)));
    markup! {
        span.outside[evidence.outside > 0] {
            (name) "=" (median)
            @if let Some((least, most)) = spread.filter(|(a, b)| a != b) { " (" (least) " to " (most) ")" }
        }
    }
}

fn status(benchmark: &Benchmark) -> Markup {
    let mut marks = Vec::new();
    if benchmark.is_disturbed {
        marks.push("disturbed".to_owned());
    }
    if benchmark.set_aside > 0 {
        marks.push(format!("{} set aside", benchmark.set_aside));
    }
    if benchmark.interval_kind == Some(IntervalKind::WithinLaunches) {
        marks.push("within launches".to_owned());
    }
    markup! {
        span.badge.(word(benchmark.status)) { (word(benchmark.status)) }
        @if !marks.is_empty() { " " small { (marks.join(", ")) } }
        @if benchmark.status != Status::Ok { (entry::notes(benchmark)) }
    }
}

/// What no run could measure, and why.
pub fn skipped(runs: &[Run], rows: &[Row]) -> Markup {
    markup! {
        section aria-labelledby="skipped" {
            h2 #skipped { "Skipped" }
            div.wide role="region" aria-labelledby="skipped" tabindex="0" {
                table.figures {
                    caption { "What could not be measured, with its reason" }
                    thead { tr {
                        th scope="col" { "Benchmark" }
                        th scope="col" { "Parameters" }
                        @for run in 0..runs.len() {
                            th scope="col" { @if runs.len() == 1 { "Reason" } @else { (label(runs, run)) } }
                        }
                    } }
                    @for row in rows {
                        tbody data-text={ (row.name) " " (row.point) " skipped" } { tr {
                            th.name scope="row" { (row.name) }
                            td.point { (row.point) }
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
