//! Predictions as a table.

use yamba_jvm::gc::predict::{Figure, Prediction, Predictions};
use yamba_record::number::bytes;

use crate::cli::output;

pub(super) fn text(found: &Predictions) -> String {
    let mut text = format!("{} with JDK {}\n", found.application, found.jvm);
    text += &output::table(&rows(found), output::width());
    for missing in &found.missing {
        text += &format!("{missing}\n");
    }
    text
}

/// The table; the first row has the titles.
pub(super) fn rows(found: &Predictions) -> Vec<Vec<String>> {
    let titles =
        ["collector", "heap", "collections", "GC processor time", "pauses", "longest pause"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(found.predictions.iter().map(row));
    rows
}

fn row(of: &Prediction) -> Vec<String> {
    let count = |value: f64| format!("{value:.0}");
    let time = |ns: f64| format!("{} ms", digits(ns / 1e6));
    let mut collections = cell(&of.collections, count);
    if of.concurrent_cycles.predicted > 0.0 {
        collections += &format!(", {:.0} cycles", of.concurrent_cycles.predicted);
    }
    vec![
        of.collector.name().to_owned(),
        bytes(of.heap_bytes),
        collections,
        cell(&of.gc_cpu_ns, time),
        cell(&of.pause_total_ns, time),
        cell(&of.pause_longest_ns, time),
    ]
}

fn digits(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// The prediction with its interval, and the measured value with the error.
fn cell(figure: &Figure, text: impl Fn(f64) -> String) -> String {
    let (low, high) = figure.interval;
    let predicted = format!("{} [{}, {}]", text(figure.predicted), text(low), text(high));
    match figure.measured {
        Some(measured) if measured > 0.0 => {
            let percent = 100.0 * (figure.predicted / measured - 1.0);
            format!("{predicted}; measured {} ({percent:+.0} %)", text(measured))
        }
        Some(measured) => format!("{predicted}; measured {}", text(measured)),
        None => predicted,
    }
}
