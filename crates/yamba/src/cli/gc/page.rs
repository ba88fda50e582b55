//! Predictions as a page: curves over the heap size, and the smallest heap for a budget.

use yamba_jvm::gc::Collector;
use yamba_jvm::gc::predict::{Figure, Prediction, Predictions};
use yamba_record::number::bytes;
use yamba_report::{BandChart, BandPoint, PlainTable, chart_page};

use super::table;

const PAUSE_BUDGETS_MS: [f64; 6] = [2.0, 5.0, 10.0, 20.0, 50.0, 200.0];
const CPU_BUDGETS_PERCENT: [f64; 5] = [1.0, 2.0, 5.0, 10.0, 25.0];
const MEBIBYTE: f64 = 1_048_576.0;

pub(super) fn page(found: &Predictions) -> String {
    let title = format!("garbage collection of {}", found.application);
    let mut sentences = vec![format!(
        "Predicted for JDK {}; the heap has a fixed size. Whiskers are intervals, and points without a line were measured.",
        found.jvm
    )];
    sentences.extend(found.missing.iter().map(|m| format!("{m}.")));
    let charts = [
        chart(found, "processor time", "GC processor time (ms)", |p| &p.gc_cpu_ns, 1e-6),
        chart(found, "all pauses", "sum of pauses (ms)", |p| &p.pause_total_ns, 1e-6),
        chart(found, "longest pause", "longest pause (ms)", |p| &p.pause_longest_ns, 1e-6),
        chart(found, "collections", "collections", |p| &p.collections, 1.0),
    ];
    let tables = [
        PlainTable { title: "Which collector, how much heap?".to_owned(), rows: budgets(found) },
        PlainTable { title: "All figures".to_owned(), rows: table::rows(found) },
    ];
    chart_page(&title, &sentences, &charts, &tables)
}

fn chart(
    found: &Predictions,
    name: &str,
    y: &str,
    figure: fn(&Prediction) -> &Figure,
    scale: f64,
) -> BandChart {
    let mut curves = Vec::new();
    for collector in Collector::ALL {
        let mut own: Vec<&Prediction> =
            found.predictions.iter().filter(|p| p.collector == collector).collect();
        own.sort_by_key(|p| p.heap_bytes);
        let x = |p: &Prediction| p.heap_bytes as f64 / MEBIBYTE;
        // A logarithmic axis has no place for 0.
        let predicted = own.iter().filter(|p| figure(p).predicted > 0.0).map(|p| BandPoint {
            x: x(p),
            y: figure(p).predicted * scale,
            interval: Some(band(figure(p), scale)),
        });
        let measured =
            own.iter().filter_map(|p| Some((x(p), figure(p).measured.filter(|m| *m > 0.0)?)));
        let measured = measured.map(|(x, y)| BandPoint { x, y: y * scale, interval: None });
        curves.push((collector.name().to_owned(), predicted.collect::<Vec<_>>()));
        curves.push((format!("{}, measured", collector.name()), measured.collect()));
    }
    curves.retain(|(_, points)| !points.is_empty());
    BandChart { name: name.to_owned(), x: "heap (MiB)".to_owned(), y: y.to_owned(), curves }
}

fn band(figure: &Figure, scale: f64) -> [f64; 2] {
    let (low, high) = figure.interval;
    // The axis is logarithmic.
    [low.max(figure.predicted * 0.01) * scale, high * scale]
}

/// For each budget the smallest heap whose whole interval keeps it.
fn budgets(found: &Predictions) -> Vec<Vec<String>> {
    let mut rows = vec![vec!["budget".to_owned(), "smallest heap that keeps it".to_owned()]];
    for ms in PAUSE_BUDGETS_MS {
        let answer = smallest(found, |p| p.pause_longest_ns.interval.1 <= ms * 1e6);
        rows.push(vec![format!("longest pause {ms} ms"), answer]);
    }
    for percent in CPU_BUDGETS_PERCENT {
        let most = found.mutator_ns * percent / 100.0;
        let answer = smallest(found, |p| p.gc_cpu_ns.interval.1 <= most);
        rows.push(vec![format!("GC processor time {percent} % of the application's time"), answer]);
    }
    rows
}

fn smallest(found: &Predictions, keeps: impl Fn(&Prediction) -> bool) -> String {
    let fitting = found.predictions.iter().filter(|p| keeps(p));
    let best = fitting.min_by(|a, b| {
        let cost = |p: &Prediction| p.gc_cpu_ns.predicted;
        a.heap_bytes.cmp(&b.heap_bytes).then(cost(a).total_cmp(&cost(b)))
    });
    best.map_or_else(
        || "none of these".to_owned(),
        |p| format!("{} with {}", bytes(p.heap_bytes), p.collector.name()),
    )
}
