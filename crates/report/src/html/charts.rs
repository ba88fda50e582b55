//! The charts of a group of benchmarks.

use indexmap::IndexMap;
use yamba_record::Run;
use yamba_record::program::Chart as Declared;

use super::rows::PointRow;
use super::{recorded_curve, scaling, sweep};
use crate::chart::Chart;

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
