//! Bars for a sweep over names: values of a parameter that have no order, such as
//! `placement=same,apart`.

use maud::{Markup, html as markup};
use serde_json::Value;
use yamba_record::number::{number, scale};
use yamba_record::run::Status;
use yamba_record::{Benchmark, Run};

use super::charts::declared_charts;
use super::curves::entries;
use super::rows::PointRow;
use super::table::{figure_text, interval_text};
use super::{scaling, sweep};
use crate::letters::run_letter;

/// Width and height of the drawing of one bar, in its own units.
const WIDTH: f64 = 100.0;
const HEIGHT: f64 = 10.0;

/// The bars of one benchmark.
pub struct BarChart<'a> {
    /// The benchmark.
    pub name: &'a str,
    /// The title of the figures, with unit.
    pub title: String,
    /// One bar for each point, in the order of the run.
    pub bars: Vec<Bar>,
    /// Number of invalid points, which have no bar.
    pub left_out: usize,
}

pub struct Bar {
    /// The parameters of the point.
    pub label: String,
    /// Its length, as a share of the longest interval or bar.
    pub share: f64,
    /// The ends of the interval, as such shares.
    pub interval: Option<[f64; 2]>,
    /// Whether the figure may include the time of competing programs.
    pub is_disturbed: bool,
    /// Figure and interval as in the table.
    pub text: String,
}

/// The bars of each benchmark whose points differ in a name, and that has no chart over numbers.
pub fn bar_charts<'a>(runs: &[Run], rows: &[PointRow<'a>]) -> Vec<BarChart<'a>> {
    let benchmarks = declared_charts(rows).into_iter();
    let without_curves = benchmarks.filter(|(own, declared)| {
        !declared.iter().any(|d| sweep::chart(runs, own, d).is_some())
            && scaling::charts(runs, own).is_empty()
    });
    without_curves.filter_map(|(own, _)| bar_chart(runs, &own)).collect()
}

fn bar_chart<'a>(runs: &[Run], rows: &[&PointRow<'a>]) -> Option<BarChart<'a>> {
    let is_valid = |row: &&&PointRow| row.present().any(|b| b.valid && b.median.is_some());
    if !differ_in_a_name(rows) || rows.iter().filter(is_valid).count() < 2 {
        return None;
    }
    let drawn: Vec<(String, &Benchmark)> = rows
        .iter()
        .flat_map(|row| {
            let present = row.entries.iter().enumerate();
            let point = row.short_point();
            present.filter_map(move |(n, b)| Some((run_letter(runs, n, &point), (*b)?)))
        })
        .filter(|(_, b)| b.valid && b.median.is_some())
        .collect();
    let ends =
        |b: &Benchmark| b.median.into_iter().chain(b.confidence_interval.into_iter().flatten());
    let all = || drawn.iter().flat_map(|(_, b)| ends(b));
    let most = all().fold(0.0, f64::max);
    // A bar begins at 0.
    if most <= 0.0 || all().any(|value| value < 0.0) {
        return None;
    }
    let (_, first) = drawn.first()?;
    let unit = first.unit.as_deref().unwrap_or_default();
    let figure = first.declaration.figure.as_deref().unwrap_or("value");
    let (_, unit) = scale(most, unit);
    let bars = drawn.iter().map(|(label, b)| {
        let texts = [figure_text(b), interval_text(b)].into_iter().flatten();
        Bar {
            label: label.clone(),
            share: b.median.unwrap_or_default() / most,
            interval: b.confidence_interval.map(|ends| ends.map(|v| v / most)),
            is_disturbed: b.interference.is_disturbed,
            text: texts.collect::<Vec<_>>().join(" "),
        }
    });
    let is_invalid = |(_, b): &(usize, &Benchmark)| b.status == Status::Invalid;
    Some(BarChart {
        name: rows[0].name,
        title: match unit {
            "" => figure.to_owned(),
            unit => format!("{figure} ({unit})"),
        },
        bars: bars.collect(),
        left_out: entries(runs, rows).filter(is_invalid).count(),
    })
}

/// Whether a parameter whose values are names, or true and false, differs between the points.
fn differ_in_a_name(rows: &[&PointRow]) -> bool {
    let mut all = rows.iter().flat_map(|row| row.present());
    let Some(first) = all.next() else {
        return false;
    };
    all.any(|b| {
        b.parameters.0.iter().any(|(name, value)| {
            let is_name = matches!(value, Value::String(_) | Value::Bool(_));
            is_name && first.parameters.get(name) != Some(value)
        })
    })
}

impl BarChart<'_> {
    /// Sentences about points that are marked or missing.
    pub fn remarks(&self) -> Vec<String> {
        let disturbed = self.bars.iter().filter(|b| b.is_disturbed).count();
        let counts = [("disturbed", disturbed), ("not drawn, because not valid", self.left_out)];
        let told = counts.into_iter().filter(|(_, count)| *count > 0);
        told.map(|(what, count)| format!("{what}: {count} of its points")).collect()
    }
}

/// The drawings of a group of benchmarks.
pub fn figures(charts: &[BarChart]) -> Markup {
    markup! { @for chart in charts { (figure(chart)) } }
}

fn figure(chart: &BarChart) -> Markup {
    let remarks: String = chart.remarks().iter().map(|r| format!(" {r}.")).collect();
    markup! {
        figure.bars {
            figcaption { strong { (chart.name) } ": " (chart.title) " from 0; the lines are the 95 % intervals." (remarks) }
            table {
                tbody {
                    @for bar in &chart.bars {
                        tr {
                            th scope="row" { (bar.label) }
                            td.bar { (drawing(bar)) }
                            td.number { (bar.text) @if bar.is_disturbed { " (disturbed)" } }
                        }
                    }
                }
            }
        }
    }
}

fn drawing(bar: &Bar) -> Markup {
    let x = |share: f64| number(share * WIDTH);
    markup! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" aria-hidden="true" {
            rect y=(HEIGHT * 0.1) width=(x(bar.share)) height=(HEIGHT * 0.8) {}
            @if let Some([low, high]) = bar.interval {
                line x1=(x(low)) x2=(x(high)) y1=(HEIGHT / 2.0) y2=(HEIGHT / 2.0) {}
            }
        }
    }
}
