//! The charts of a group of benchmarks, and the declared ones that are missing.

use indexmap::IndexMap;
use yamba_record::program::Chart as Declared;
use yamba_record::{Benchmark, Run};

use super::curves::entries;
use super::rows::PointRow;
use super::sweep::{across, chart, lacks_cycles};
use super::{recorded_curve, scaling, sweep};
use crate::chart::{Chart, WithoutCycles, reasons};

/// The charts of a group's rows. Each benchmark has its declared charts, those of its scaling, and
/// that of its recorded curve.
pub fn charts(runs: &[Run], rows: &[PointRow]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (own, declared) in declared_charts(rows) {
        charts.extend(declared.iter().filter_map(|d| sweep::chart(runs, &own, d)));
        charts.extend(scaling::charts(runs, &own));
        charts.extend(recorded_curve::chart(runs, &own));
    }
    charts
}

/// For each benchmark: its rows and its declared charts.
pub fn declared_charts<'a, 'r>(
    rows: &'a [PointRow<'r>],
) -> Vec<(Vec<&'a PointRow<'r>>, Vec<&'a Declared>)> {
    let mut benchmarks: IndexMap<&str, (Vec<&PointRow>, Vec<&Declared>)> = IndexMap::new();
    for row in rows {
        let (own, declared) = benchmarks.entry(row.name).or_default();
        own.push(row);
        for chart in row.present().flat_map(|b| &b.declaration.charts) {
            if !declared.contains(&chart) {
                declared.push(chart);
            }
        }
    }
    benchmarks.into_values().collect()
}

/// The missing charts of a group's rows: each benchmark's name with the sentence in place of its
/// chart.
pub fn absent<'a>(runs: &[Run], rows: &[PointRow<'a>]) -> Vec<(&'a str, String)> {
    let mut all = Vec::new();
    for (rows, charts) in declared_charts(rows) {
        let missing = charts.iter().filter_map(|d| missing(runs, &rows, d));
        all.extend(missing.map(|text| (rows[0].name, text)));
    }
    all
}

/// The sentence for a missing chart. `None` if the chart is drawn, if there is no sweep, or if no
/// point lacks cycles.
fn missing(runs: &[Run], rows: &[&PointRow], declared: &Declared) -> Option<String> {
    if declared.figure != "cycles" || chart(runs, rows, declared).is_some() {
        return None;
    }
    let valid = || entries(runs, rows).map(|(_, b)| b).filter(|b| b.valid);
    let place = |b: &Benchmark| across(b, declared);
    let mut places: Vec<f64> = valid().filter_map(place).collect();
    let points = places.len();
    let lacking = |b: &Benchmark| lacks_cycles(b, declared, "");
    let without: Vec<WithoutCycles> = valid().filter_map(lacking).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    if without.is_empty() || places.len() < 2 {
        return None;
    }
    let known = points - without.len();
    let why = reasons(&without).map_or(String::new(), |why| format!("; {why}"));
    Some(format!("cycles: known at {known} of {points} points, too few for a chart{why}"))
}
