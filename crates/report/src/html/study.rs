//! The study that a run was measured for: what was predicted of each operation, why, and what became of it.

use maud::{Markup, html as markup};
use yamba_record::Run;

use super::entry;
use super::head::label;
use super::rows::Row;
use crate::markdown::paragraphs;
use crate::place::Place;
use crate::shell::command_line;

/// A study with its figures, in words.
#[derive(Clone, Debug, Default)]
pub struct Study {
    /// The place of its run among those of the page.
    pub run: usize,
    /// Of the whole.
    pub title: String,
    /// Markdown.
    pub text: String,
    /// A row each, in its order.
    pub operations: Vec<Operation>,
    /// What is to be said below the table.
    pub remarks: Vec<String>,
}

/// One row of the summary.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    /// Under which heading it stands in the study.
    pub category: String,
    /// What was measured.
    pub name: String,
    /// What the hardware alone would give.
    pub base: String,
    /// What software adds to it.
    pub overhead: String,
    /// What it should be.
    pub predicted: String,
    /// The figure with its unit and interval; empty where there is none.
    pub measured: String,
    /// The figure alone, and its unit: the table is sorted by them.
    pub value: Option<(f64, String)>,
    /// What is wrong with the figure, in a word.
    pub mark: Option<String>,
    /// What became of the prediction.
    pub verdict: String,
    /// Whether the prediction came true.
    pub is_within: bool,
    /// Why it was predicted.
    pub reason: String,
    /// Markdown: the method, and what was learnt.
    pub text: String,
    /// What a reader must know, why there is no figure first.
    pub notes: Vec<String>,
    /// The command that measures it alone, without the store.
    pub command: String,
    /// The entries of the run that the figure is of, by their places there: one, or the points of a line.
    pub entries: Vec<usize>,
}

/// The columns, and how they are sorted.
const HEAD: [(&str, &str); 8] = [
    ("Category", "word"),
    ("Operation", "word"),
    ("Base hardware performance", "word"),
    ("Estimated software overhead", "word"),
    ("Predicted", "word"),
    ("Measured", "number"),
    ("Verdict", "word"),
    ("Reason", "word"),
];

/// Its section. `rows` are those of the page, whose figures the table leads to.
pub fn section(
    runs: &[Run],
    places: &[Place],
    rows: &[&Row],
    number: usize,
    study: &Study,
) -> Markup {
    let id = format!("study-{number}");
    let place = entry::place(places, study.run);
    markup! {
        section aria-labelledby=(id) {
            h2 id=(id) { "Study: " (study.title) @if runs.len() > 1 { " (" (label(runs, study.run)) ")" } }
            @for paragraph in paragraphs(&study.text) { p.prose { (paragraph) } }
            div.wide role="region" aria-label={ "Study: " (study.title) } tabindex="0" {
                table.figures.study {
                    caption { "What each operation should cost and why, and what it does" }
                    thead { tr {
                        @for (column, (name, sort)) in HEAD.iter().enumerate() {
                            th scope="col" data-sort=(sort) data-column=(column) { (name) }
                        }
                    } }
                    @for operation in &study.operations { (line(&runs[study.run], study.run, &place, rows, operation)) }
                }
            }
            @for remark in &study.remarks { p.prose { (remark) } }
        }
    }
}

fn line(run: &Run, number: usize, place: &Place, rows: &[&Row], operation: &Operation) -> Markup {
    let o = operation;
    let words = [&o.category, &o.name, &o.verdict].map(String::as_str);
    let places: Vec<usize> = o
        .entries
        .iter()
        .filter_map(|entry| row_of(run, number, rows, *entry))
        .collect();
    markup! {
        tbody data-text=(words.join(" ")) { tr {
            td.category { (o.category) }
            th.operation scope="row" { (o.name) }
            td data-label=(HEAD[2].0) { (or_na(&o.base)) }
            td data-label=(HEAD[3].0) { (or_na(&o.overhead)) }
            td data-label=(HEAD[4].0) { (or_na(&o.predicted)) }
            td.measured data-label=(HEAD[5].0) data-v=[o.value.as_ref().map(|v| v.0)] data-unit=[o.value.as_ref().map(|v| v.1.as_str())] { (measured(o, &places)) }
            td data-label=(HEAD[6].0) { span.verdict.within[o.is_within] { (o.verdict) } }
            td.reason data-label=(HEAD[7].0) {
                (o.reason)
                @for paragraph in paragraphs(&o.text) { p { (paragraph) } }
                @if !o.notes.is_empty() { ul.notes { @for note in &o.notes { li { (note) } } } }
                p { code { (command(o, place)) } }
            }
        } }
    }
}

/// The figure, which leads to the row that it is of; a line's leads to each of its points.
fn measured(operation: &Operation, places: &[usize]) -> Markup {
    let text = match &operation.mark {
        None => operation.measured.clone(),
        Some(mark) if operation.measured.is_empty() => mark.clone(),
        Some(mark) => format!("{mark} ({})", operation.measured),
    };
    let target = |place: &usize| format!("#entry-{place}");
    let class = operation.mark.as_ref().map(|_| "marked");
    markup! {
        @match places {
            [] => span class=[class] { (text) },
            [one] => a class=[class] href=(target(one)) { (text) },
            several => {
                span class=[class] { (text) }
                small { " of " @for (i, place) in several.iter().enumerate() { a href=(target(place)) aria-label={ "point " (i + 1) " of " (operation.name) } { (i + 1) } " " } }
            }
        }
    }
}

/// What it measures is kept where the run is.
fn command(operation: &Operation, place: &Place) -> String {
    let store = command_line(place.store());
    let whole = format!("{} {store}", operation.command);
    whole.trim_end().to_owned()
}

/// Where on the page an entry of a run stands, unless it is among what was skipped.
fn row_of(run: &Run, number: usize, rows: &[&Row], entry: usize) -> Option<usize> {
    let wanted = run.benchmarks.get(entry)?;
    let is_it = |row: &&&Row| row.entries[number].is_some_and(|e| std::ptr::eq(e, wanted));
    rows.iter().find(is_it).map(|row| row.place)
}

fn or_na(text: &str) -> &str {
    if text.is_empty() { "NA" } else { text }
}
