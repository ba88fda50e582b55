//! Runs as one self-contained HTML page: it loads nothing from a network or from other files.

pub(crate) mod bars;
pub(crate) mod charts;
mod curves;
mod entry;
pub(crate) mod facts;
mod fit;
pub(crate) mod head;
mod headline;
mod histogram;
mod levels;
mod matrix;
pub(crate) mod measured;
mod miss_ratios;
mod preamble;
pub(crate) mod predictions;
mod recorded_curve;
pub(crate) mod rows;
mod scaling;
mod study;
mod sweep;
pub(crate) mod table;
mod timeline;
mod trust;
pub(crate) mod verdict;
mod view_page;

use std::borrow::Cow;

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use yamba_record::Run;

use bars::BarChart;
use rows::{PointRow, groups};
use table::Columns;

use crate::chart::{Chart, Drawn};
use crate::place::RunLocation;
use crate::sections::sections;
use crate::view::Section;
pub use miss_ratios::MissRatios;
pub use predictions::{MeasuredBar, PredictedBar, PredictedPart, PredictedTime, predictions};
pub use study::{Operation, Study};
pub use verdict::{PairVerdict, SideBySide, VerdictKind};
use view_page::VIEW_STYLE;
pub use view_page::page;

const PLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const PLOT_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const STYLE: &str = include_str!("../../assets/report.css");
/// The width in `STYLE` below which a row becomes a card, and that of a page of several runs.
const NARROW: &str = "(max-width: 49rem)";
const NARROW_FOR_SEVERAL: &str = "(max-width: 74rem)";

const TABLES: &str = include_str!("../../assets/tables.js");
const CHARTS: &str = include_str!("../../assets/charts.js");

/// The page of one run or of several runs side by side, with the studies that they were measured
/// for. `places` are the locations where the runs were read; the default store if the list is
/// empty. `comparison` is that of two runs.
pub fn html(
    runs: &[Run],
    studies: &[Study],
    places: &[RunLocation],
    comparison: Option<&SideBySide>,
) -> String {
    let rows = rows::rows(runs);
    let (skipped, measured): (Vec<PointRow>, Vec<PointRow>) =
        rows.iter().cloned().partition(PointRow::is_skipped);
    // Drawings count skipped points, which have a table of their own.
    let all = groups(rows);
    let drawings = drawings(runs, &all);
    let groups = groups(measured);
    let of_groups: Vec<&Chart> = drawings.iter().flat_map(|d| &d.charts).collect();
    let (titled, lines): (Vec<Section>, Vec<Section>) =
        sections(runs).into_iter().partition(|section| !section.title.is_empty());
    let charts = of_groups.iter().copied().chain(view_page::charts(&titled));
    let data: Vec<Drawn> = charts.map(Chart::drawn).collect();
    let shown: Vec<&PointRow> = groups.iter().flat_map(|(_, rows)| rows).collect();
    let columns = Columns::new(runs, &shown, comparison);
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            (preamble::preamble(&head::title(runs), &styles(&style(runs), &titled), &[PLOT_SCRIPT, TABLES, CHARTS]))
            body {
                a.skip href="#figures" { "To the figures" }
                header {
                    h1 { "Yamba: " (head::title(runs)) }
                    (measured::measured(runs))
                }
                main {
                    @if let Some(comparison) = comparison { (verdict::section(runs, &shown, comparison)) }
                    @if !runs.is_empty() { (trust::section(runs, &shown)) }
                    @for (i, study) in studies.iter().enumerate() { (study::section(runs, places, &shown, i, study)) }
                    @if studies.is_empty() { (headline::section(runs, &groups, comparison)) }
                    (contents(&groups, studies, &titled, [!drawings.is_empty(), !skipped.is_empty()]))
                    (view_page::sections(&titled, of_groups.len()..))
                    (chart_section(&drawings, groups.len() > 1))
                    (figures_section(&head::legend(runs, places, comparison.is_some())))
                    @for (i, (title, rows)) in groups.iter().enumerate() {
                        section aria-labelledby={ "group-" (i) } {
                            h2 id={ "group-" (i) } { (title) }
                            (table::table(runs, places, title, rows, &columns))
                            @for (name, text) in charts::absent(runs, rows) { p { strong { (name) } ": " (text) "." } }
                        }
                    }
                    @if !skipped.is_empty() { (table::skipped(runs, &skipped)) }
                    (view_page::sections(&lines, data.len()..))
                    @if !runs.is_empty() { (facts::section(runs)) }
                }
                footer { p { "Made by Yamba " (env!("CARGO_PKG_VERSION")) ". Charts: uPlot 1.6.32, MIT licence, © Leon Sorokin." } }
                script #charts type="application/json" { (PreEscaped(json(&data))) }
                @for script in [PLOT_SCRIPT, TABLES, CHARTS] { script { (PreEscaped(script)) } }
            }
        }
    };
    preamble::finished(page)
}

/// The heading of the tables, with the field that filters their rows.
fn figures_section(legend: &str) -> Markup {
    markup! {
        section #figures aria-labelledby="figures-title" {
            h2 #figures-title { "All figures" }
            p.prose { (legend) }
            div.filter hidden {
                label for="filter" { "Show only what contains " }
                input #filter type="search" autocomplete="off" spellcheck="false";
                " " output #found for="filter" {}
            }
            p.paper { "The details of each figure are folded on paper; the page has them." }
        }
    }
}

/// The styles of the page. That of views is for sections with headings.
fn styles<'a>(style: &'a str, titled: &[Section]) -> Vec<&'a str> {
    let of_views = (!titled.is_empty()).then_some(VIEW_STYLE);
    [PLOT_STYLE, style].into_iter().chain(of_views).collect()
}

/// The style of the page. Rows of several runs become cards on wider screens than those of one run,
/// since they have more columns.
fn style(runs: &[Run]) -> Cow<'static, str> {
    if runs.len() > 1 { STYLE.replace(NARROW, NARROW_FOR_SEVERAL).into() } else { STYLE.into() }
}

fn contents(
    groups: &[(String, Vec<PointRow>)],
    studies: &[Study],
    titled: &[Section],
    [has_charts, has_skipped]: [bool; 2],
) -> Markup {
    markup! {
        nav aria-label="Contents" {
            @for i in 0..studies.len() { a href={ "#study-" (i) } { "Study" @if studies.len() > 1 { " " (i + 1) } } " " }
            @for (number, section) in (1..).zip(titled) { a href={ "#section-" (number) } { (section.title) } " " }
            @if has_charts { a href="#plots" { "Charts" } " " }
            @for (i, (title, _)) in groups.iter().enumerate() { a href={ "#group-" (i) } { (title) } " " }
            @if has_skipped { a href="#skipped" { "Skipped" } " " }
            a href="#facts" { "Machine and run" }
        }
    }
}

/// The charts of a topic, and its bars.
struct Drawings<'a> {
    topic: &'a str,
    charts: Vec<Chart>,
    bars: Vec<BarChart<'a>>,
}

/// The drawings of each topic that has any.
fn drawings<'a>(runs: &[Run], groups: &'a [(String, Vec<PointRow<'_>>)]) -> Vec<Drawings<'a>> {
    let each = groups.iter().map(|(topic, rows)| Drawings {
        topic,
        charts: charts::charts(runs, rows),
        bars: bars::bar_charts(runs, rows),
    });
    each.filter(|d| !d.charts.is_empty() || !d.bars.is_empty()).collect()
}

/// The drawings by topic: bars, and placeholders for charts, which the script fills.
fn chart_section(drawings: &[Drawings], has_topics: bool) -> Markup {
    let counts = drawings.iter().map(|d| d.charts.len());
    let firsts = counts.scan(0, |next, count| Some(std::mem::replace(next, *next + count)));
    let numbered: Vec<(usize, &Drawings)> = firsts.zip(drawings).collect();
    markup! {
        @if !numbered.is_empty() {
            section aria-labelledby="plots" {
                h2 #plots { "Charts" }
                noscript { p { "Curves are drawn by a script; the tables below have the same figures." } }
                @for (first, of) in &numbered {
                    @if has_topics { h3 { (of.topic) } }
                    div.charts {
                        @for (i, chart) in of.charts.iter().enumerate() { (placeholder(first + i, chart)) }
                        (bars::figures(&of.bars))
                    }
                }
            }
        }
    }
}

/// The place that the script fills with the chart of this number.
fn placeholder(number: usize, chart: &Chart) -> Markup {
    markup! {
        figure {
            figcaption { strong { (chart.name) } ": " (chart.caption()) }
            div.plot data-chart=(number) role="img" aria-label={ "Chart of " (chart.name) ": " (chart.caption()) " The tables below have the same figures." } {}
        }
    }
}

/// JSON without `<`, so that it cannot close its script element.
fn json(value: &impl serde::Serialize) -> String {
    // The value consists of numbers, texts and lists, which always serialise.
    let text = serde_json::to_string(value).expect("charts are JSON");
    text.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests;
