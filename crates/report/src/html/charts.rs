//! The charts of a group of benchmarks.

use yamba_record::Run;
use yamba_record::program::Chart as Declared;

use super::chart::Chart;
use super::rows::Row;
use super::{scaling, sweep};

/// The charts of a group's rows. Each benchmark has its declared charts, then those of its scaling.
pub fn charts(runs: &[Run], rows: &[Row]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (own, declared) in declared_charts(rows) {
        charts.extend(declared.iter().filter_map(|d| sweep::chart(runs, &own, d)));
        charts.extend(scaling::charts(runs, &own));
    }
    charts
}

/// For each benchmark: its rows and its declared charts.
pub fn declared_charts<'a, 'r>(rows: &'a [Row<'r>]) -> Vec<(Vec<&'a Row<'r>>, Vec<&'a Declared>)> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.name) {
            names.push(row.name);
        }
    }
    let mut all = Vec::new();
    for name in names {
        let own: Vec<&Row> = rows.iter().filter(|r| r.name == name).collect();
        let mut declared: Vec<&Declared> = Vec::new();
        for chart in own.iter().flat_map(|r| r.present()).flat_map(|b| &b.charts) {
            if !declared.contains(&chart) {
                declared.push(chart);
            }
        }
        all.push((own, declared));
    }
    all
}
