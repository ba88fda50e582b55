//! Declared charts of cycles that are missing, because too few points have known cycles.

use yamba_record::program::Chart as Declared;
use yamba_record::{Benchmark, Run};

use super::charts::declared_charts;
use super::curves::entries;
use super::rows::PointRow;
use super::sweep::{across, chart, lacks_cycles};
use crate::chart::{WithoutCycles, reasons};

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
