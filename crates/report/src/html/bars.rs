//! Bars for a sweep over names: values of a parameter that have no order, such as
//! `placement=same,apart`.

use maud::{Markup, html as markup};
use serde_json::Value;
use yamba_record::number::{number, scale};
use yamba_record::units::factor;
use yamba_record::{Benchmark, Run};

use super::charts::declared_charts;
use super::rows::PointRow;
use super::table::{figure_text, interval_text};
use super::{scaling, sweep};
use crate::left_out::{LeftOut, OTHER_UNIT, not_valid};
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
    /// Points without a valid figure, or in another unit. They have no bar.
    pub left_out: LeftOut,
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
    let mut unit = None;
    let (mut bars, mut left_out) = (Vec::new(), LeftOut::default());
    for row in rows {
        for (number, benchmark) in row.entries.iter().enumerate() {
            let Some(benchmark) = benchmark else { continue };
            let label = run_letter(runs, number, &row.short_point());
            match bar(label, benchmark, &mut unit) {
                Ok(bar) => bars.push(bar),
                Err(reason) => left_out.extend(reason),
            }
        }
    }
    let most = into_shares(&mut bars)?;
    let figure = rows[0].present().find_map(|b| b.declaration.figure.as_deref());
    let figure = figure.unwrap_or("value");
    let title = match scale(most, unit?).1 {
        "" => figure.to_owned(),
        unit => format!("{figure} ({unit})"),
    };
    Some(BarChart { name: rows[0].name, title, bars, left_out })
}

/// A bar whose lengths are in the unit of the first one. The error is why a benchmark has none, if
/// it should have one.
fn bar<'a>(
    label: String,
    benchmark: &'a Benchmark,
    unit: &mut Option<&'a str>,
) -> Result<Bar, Option<&'static str>> {
    let median = benchmark.median.filter(|_| benchmark.valid);
    let median = median.ok_or_else(|| not_valid(benchmark))?;
    let own = benchmark.unit.as_deref().unwrap_or_default();
    let factor = factor(own, unit.get_or_insert(own)).ok_or(Some(OTHER_UNIT))?;
    let texts = [figure_text(benchmark), interval_text(benchmark)].into_iter().flatten();
    Ok(Bar {
        label,
        share: median * factor,
        interval: benchmark.drawn_interval().map(|ends| ends.map(|v| v * factor)),
        is_disturbed: benchmark.interference.is_disturbed,
        text: texts.collect::<Vec<_>>().join(" "),
    })
}

/// Divides all lengths by the greatest, which is returned. `None` for negative lengths, since a bar
/// begins at 0.
fn into_shares(bars: &mut [Bar]) -> Option<f64> {
    let ends = |bar: &Bar| [bar.share].into_iter().chain(bar.interval.into_iter().flatten());
    let all = || bars.iter().flat_map(ends);
    let most = all().fold(0.0, f64::max);
    if most <= 0.0 || all().any(|value| value < 0.0) {
        return None;
    }
    for bar in bars {
        bar.share /= most;
        bar.interval = bar.interval.map(|ends| ends.map(|v| v / most));
    }
    Some(most)
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
        let disturbed = (disturbed > 0).then(|| format!("Disturbed: {disturbed} of its points"));
        disturbed.into_iter().chain(self.left_out.sentence()).collect()
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
            figcaption { strong { (chart.name) } ": " (chart.title) " from 0; the lines are the intervals of the figures." (remarks) }
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
