//! The study of a run: for each operation the prediction, its reason and the verdict.

use indexmap::IndexSet;
use maud::{Markup, html as markup};
use yamba_record::Run;

use super::entry;
use super::head::label;
use super::rows::PointRow;
use crate::markdown::paragraphs;
use crate::place::{RunLocation, command_line};

/// A study with its figures as text.
#[derive(Clone, Debug, Default)]
pub struct Study {
    /// Index of its run on the page.
    pub run: usize,
    pub title: String,
    /// Description in Markdown.
    pub text: String,
    /// Operations in the order of the study.
    pub operations: Vec<Operation>,
    /// Remarks below the table.
    pub remarks: Vec<String>,
}

/// One row of the summary.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    /// Heading of the operation in the study.
    pub category: String,
    pub name: String,
    /// Base performance of the hardware.
    pub base: String,
    /// Estimated overhead of the software.
    pub overhead: String,
    /// The predicted figure.
    pub predicted: String,
    /// The figure with unit and interval, or an empty text.
    pub measured: String,
    /// Value and unit of the figure, for sorting.
    pub value: Option<(f64, String)>,
    /// A word for the fault of the figure.
    pub mark: Option<String>,
    /// The verdict on the prediction.
    pub verdict: String,
    /// Whether the figure is within the prediction.
    pub is_within: bool,
    /// The reason for the prediction.
    pub reason: String,
    /// Method and conclusions in Markdown.
    pub text: String,
    /// Whether it is a further point of the operation before it: a sweep is one group of rows, with
    /// one reason.
    pub is_further_point: bool,
    /// Notes to the reader, the reason for a missing figure first.
    pub notes: Vec<String>,
    /// The command that measures the operation alone, without `--store`.
    pub command: String,
    /// Indices of the run's entries behind the figure: one, or the points of a line.
    pub entries: Vec<usize>,
}

/// The columns with their sort order.
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

/// The section of a study. Its figures link to `rows` of the page.
pub fn section(
    runs: &[Run],
    places: &[RunLocation],
    rows: &[&PointRow],
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
                    caption { "Predicted and measured cost of each operation" }
                    thead { tr {
                        @for (column, (name, sort)) in HEAD.iter().enumerate() {
                            th scope="col" data-sort=(sort) data-column=(column) { (name) }
                        }
                    } }
                    @for points in study.operations.chunk_by(|_, next| next.is_further_point) {
                        (group(&runs[study.run], study.run, &place, rows, points))
                    }
                }
            }
            @for remark in &study.remarks { p.prose { (remark) } }
        }
    }
}

/// The rows of an operation: one, or those of a sweep, whose first row has the common cells.
fn group(
    run: &Run,
    number: usize,
    place: &RunLocation,
    rows: &[&PointRow],
    points: &[Operation],
) -> Markup {
    let o = &points[0];
    let height = (points.len() > 1).then_some(points.len());
    let words = points.iter().flat_map(|p| [&p.name, &p.verdict]);
    let words: Vec<&str> = std::iter::once(&o.category).chain(words).map(String::as_str).collect();
    let notes: IndexSet<&String> = points.iter().flat_map(|p| &p.notes).collect();
    markup! {
        tbody data-text=(words.join(" ")) {
            tr {
                td.category rowspan=[height] { (o.category) }
                th.operation scope="row" { (o.name) }
                td rowspan=[height] data-label=(HEAD[2].0) { (or_na(&o.base)) }
                td rowspan=[height] data-label=(HEAD[3].0) { (or_na(&o.overhead)) }
                td rowspan=[height] data-label=(HEAD[4].0) { (or_na(&o.predicted)) }
                (outcome(run, number, rows, o))
                td.reason rowspan=[height] data-label=(HEAD[7].0) {
                    (o.reason)
                    @for paragraph in paragraphs(&o.text) { p { (paragraph) } }
                    @if !notes.is_empty() { ul.notes { @for note in &notes { li { (note) } } } }
                    p { code { (command(o, place)) } }
                }
            }
            @for point in &points[1..] {
                tr { th.operation scope="row" { (point.name) } (outcome(run, number, rows, point)) }
            }
        }
    }
}

/// The cells of a point's figure and verdict.
fn outcome(run: &Run, number: usize, rows: &[&PointRow], o: &Operation) -> Markup {
    let places: Vec<usize> =
        o.entries.iter().filter_map(|entry| row_of(run, number, rows, *entry)).collect();
    markup! {
        td.measured data-label=(HEAD[5].0) data-v=[o.value.as_ref().map(|v| v.0)] data-unit=[o.value.as_ref().map(|v| v.1.as_str())] { (measured(o, &places)) }
        td data-label=(HEAD[6].0) { span.verdict.within[o.is_within] { (o.verdict) } }
    }
}

/// The figure as a link to its row. A line's figure has a link for each point.
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

/// The command, with the store of the run.
fn command(operation: &Operation, place: &RunLocation) -> String {
    let store = command_line(place.store());
    let whole = format!("{} {store}", operation.command);
    whole.trim_end().to_owned()
}

/// The row of an entry on the page. `None` if it was skipped.
fn row_of(run: &Run, number: usize, rows: &[&PointRow], entry: usize) -> Option<usize> {
    let wanted = run.benchmarks.get(entry)?;
    let is_it = |row: &&&PointRow| row.entries[number].is_some_and(|e| std::ptr::eq(e, wanted));
    rows.iter().find(is_it).map(|row| row.place)
}

fn or_na(text: &str) -> &str {
    if text.is_empty() { "NA" } else { text }
}
