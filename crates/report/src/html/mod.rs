//! Runs as one self-contained HTML page: it loads nothing from a network or from other files.

pub(crate) mod absent;
pub(crate) mod chart;
pub(crate) mod charts;
mod entry;
mod fit;
pub(crate) mod head;
mod histogram;
mod levels;
mod recorded_curve;
pub(crate) mod rows;
mod scaling;
mod study;
mod sweep;
pub(crate) mod table;
mod timeline;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use sha2::{Digest, Sha256};
use yamba_record::Run;

use chart::{Chart, Drawn};
use rows::{PointRow, groups};

use crate::place::RunLocation;
pub use study::{Operation, Study};

const PLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const PLOT_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const STYLE: &str = include_str!("../../assets/report.css");
const TABLES: &str = include_str!("../../assets/tables.js");
const CHARTS: &str = include_str!("../../assets/charts.js");

/// The page of one run or of several runs side by side, with the studies that they were measured for. `places` are the locations where the runs
/// were read; the default store if the list is empty.
pub fn html(runs: &[Run], studies: &[Study], places: &[RunLocation]) -> String {
    let rows = rows::rows(runs);
    let (skipped, measured): (Vec<PointRow>, Vec<PointRow>) =
        rows.into_iter().partition(PointRow::is_skipped);
    let groups = groups(measured);
    let charts: Vec<(String, Vec<Chart>)> = groups
        .iter()
        .map(|(title, rows)| (title.clone(), charts::charts(runs, rows)))
        .collect();
    let drawn = charts
        .iter()
        .flat_map(|(_, charts)| charts)
        .map(Chart::drawn);
    let data: Vec<Drawn> = drawn.collect();
    let shown: Vec<&PointRow> = groups.iter().flat_map(|(_, rows)| rows).collect();
    let mut first_chart = 0;
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            (preamble(runs))
            body {
                a.skip href="#figures" { "To the figures" }
                header {
                    h1 { "Yamba: " (head::title(runs)) }
                    (contents(&groups, studies, !skipped.is_empty()))
                }
                main {
                    (head::runs(runs))
                    @for (i, study) in studies.iter().enumerate() { (study::section(runs, places, &shown, i, study)) }
                    section #figures aria-labelledby="figures-title" {
                        h2 #figures-title { "Figures" }
                        p { (head::legend(runs, places)) }
                        div.filter hidden {
                            label for="filter" { "Show only what contains " }
                            input #filter type="search" autocomplete="off" spellcheck="false";
                            " " output #found for="filter" {}
                        }
                    }
                    @for (i, (title, rows)) in groups.iter().enumerate() {
                        section aria-labelledby={ "group-" (i) } {
                            h2 id={ "group-" (i) } { (title) }
                            (table::table(runs, places, title, rows))
                            (plots(&charts[i].1, &mut first_chart))
                            @for (name, text) in absent::absent(runs, rows) { p { strong { (name) } ": " (text) "." } }
                        }
                    }
                    @if !skipped.is_empty() { (table::skipped(runs, &skipped)) }
                }
                footer { p { "Made by Yamba " (env!("CARGO_PKG_VERSION")) ". Charts: uPlot 1.6.32, MIT licence, © Leon Sorokin." } }
                script #charts type="application/json" { (PreEscaped(json(&data))) }
                script { (PreEscaped(PLOT_SCRIPT)) }
                script { (PreEscaped(TABLES)) }
                script { (PreEscaped(CHARTS)) }
            }
        }
    };
    page.into_string()
}

fn preamble(runs: &[Run]) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src {} {}; script-src {} {} {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(PLOT_STYLE),
        hash(STYLE),
        hash(PLOT_SCRIPT),
        hash(TABLES),
        hash(CHARTS)
    );
    markup! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { "Yamba: " (head::title(runs)) }
            style { (PreEscaped(PLOT_STYLE)) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

/// The hash by which a Content-Security-Policy permits a script or a style.
fn hash(text: &str) -> String {
    format!(
        "'sha256-{}'",
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    )
}

fn contents(groups: &[(String, Vec<PointRow>)], studies: &[Study], skipped: bool) -> Markup {
    markup! {
        nav aria-label="Contents" {
            a href="#runs" { "Runs" }
            @for i in 0..studies.len() { " " a href={ "#study-" (i) } { "Study" @if studies.len() > 1 { " " (i + 1) } } }
            @for (i, (title, _)) in groups.iter().enumerate() {
                " " a href={ "#group-" (i) } { (title) }
            }
            @if skipped { " " a href="#skipped" { "Skipped" } }
        }
    }
}

/// Placeholders for a group's charts, which the script fills.
fn plots(charts: &[Chart], first: &mut usize) -> Markup {
    let start = *first;
    *first += charts.len();
    markup! {
        @if !charts.is_empty() {
            h3 { "Charts" }
            noscript { p { "Charts are drawn by a script; the table above has the same figures." } }
            div.charts {
                @for (i, chart) in charts.iter().enumerate() {
                    figure {
                        figcaption { strong { (chart.name) } ": " (chart.caption()) }
                        div.plot data-chart=(start + i) role="img" aria-label={ "Chart of " (chart.name) ": " (chart.caption()) " The table above has the same figures." } {}
                    }
                }
            }
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
