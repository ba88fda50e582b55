//! Predictions of garbage collection: figures of each collector and heap; on a page also curves
//! over the heap size, and the smallest heap for a budget.

pub mod costs;

use yamba_jvm::gc::Collector;
use yamba_jvm::gc::predict::{Figure, Prediction, Predictions};
use yamba_record::number::bytes;
use yamba_report::chart::{Chart, Curve, Point};
use yamba_report::{Part, Table, View};

const PAUSE_BUDGETS_MS: [f64; 6] = [2.0, 5.0, 10.0, 20.0, 50.0, 200.0];
const CPU_BUDGETS_PERCENT: [f64; 5] = [1.0, 2.0, 5.0, 10.0, 25.0];
const MEBIBYTE: f64 = 1_048_576.0;

pub fn view(found: &Predictions) -> View {
    let mut parts = vec![
        Part::Line(format!("{} with JDK {}", found.application, found.jvm).into()),
        Part::Table(figures(found)),
    ];
    parts
        .extend(Part::lines(below_checked(found).iter().chain(&found.missing).map(String::as_str)));
    View::new(title(found)).section("", parts)
}

pub fn page(found: &Predictions) -> View {
    let mut about = vec![format!(
        "Predicted for JDK {}; the heap has a fixed size. Whiskers are intervals, and points without a line were measured.",
        found.jvm
    )];
    about.extend(below_checked(found).iter().chain(&found.missing).map(|m| format!("{m}.")));
    let charts = vec![
        chart(found, "processor time", "GC processor time (ms)", |p| &p.gc_cpu_ns, 1e-6),
        chart(found, "all pauses", "sum of pauses (ms)", |p| &p.pause_total_ns, 1e-6),
        chart(found, "longest pause", "longest pause (ms)", |p| &p.pause_longest_ns, 1e-6),
        chart(found, "collections", "collections", |p| &p.collections, 1.0),
    ];
    View::new(title(found))
        .section("", Part::lines(about))
        .section("Curves over the heap size", [Part::Charts(charts)])
        .section("Which collector, how much heap?", [Part::Table(budgets(found))])
        .section("All figures", [Part::Table(figures(found))])
}

/// Names the heaps for which no prediction was ever compared with a measured time.
fn below_checked(found: &Predictions) -> Option<String> {
    let below = found.predictions.iter().filter(|p| p.is_below_checked);
    let mut heaps: Vec<u64> = below.map(|p| p.heap_bytes).collect();
    heaps.sort_unstable();
    heaps.dedup();
    let names: Vec<String> = heaps.into_iter().map(bytes).collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!(
            "smaller than the heaps of the profile's runs, so that intervals may not hold: {names}"
        )
    })
}

fn title(found: &Predictions) -> String {
    format!("garbage collection of {}", found.application)
}

fn chart(
    found: &Predictions,
    name: &str,
    y: &str,
    figure: fn(&Prediction) -> &Figure,
    scale: f64,
) -> Chart {
    let mut curves = Vec::new();
    for collector in Collector::ALL {
        let mut own: Vec<&Prediction> =
            found.predictions.iter().filter(|p| p.collector == collector).collect();
        own.sort_by_key(|p| p.heap_bytes);
        let x = |p: &Prediction| p.heap_bytes as f64 / MEBIBYTE;
        // A logarithmic axis has no place for 0.
        let predicted = own.iter().filter(|p| figure(p).predicted > 0.0).map(|p| {
            let figure = figure(p);
            Point::new(x(p), figure.predicted * scale, Some(band(figure, scale)))
        });
        let measured =
            own.iter().filter_map(|p| Some((x(p), figure(p).measured.filter(|m| *m > 0.0)?)));
        let measured = measured.map(|(x, y)| Point::new(x, y * scale, None));
        curves.push(Curve::new(collector.name(), predicted));
        curves.push(Curve::new(format!("{}, measured", collector.name()), measured));
    }
    curves.retain(|curve| !curve.points.is_empty());
    Chart::logarithmic(name, "heap (MiB)", y, curves)
}

fn band(figure: &Figure, scale: f64) -> [f64; 2] {
    let (low, high) = figure.interval;
    // The axis is logarithmic.
    [low.max(figure.predicted * 0.01) * scale, high * scale]
}

/// For each budget the smallest heap whose whole interval keeps it.
fn budgets(found: &Predictions) -> Table {
    let pauses = PAUSE_BUDGETS_MS.map(|ms| {
        let heap = smallest(found, |p| p.pause_longest_ns.interval.1 <= ms * 1e6);
        vec![format!("longest pause {ms} ms"), heap]
    });
    let shares = CPU_BUDGETS_PERCENT.map(|percent| {
        let most = found.mutator_ns * percent / 100.0;
        let heap = smallest(found, |p| p.gc_cpu_ns.interval.1 <= most);
        vec![format!("GC processor time {percent} % of the application's time"), heap]
    });
    let titles = ["budget", "smallest heap that keeps it"];
    Table::new(&titles, pauses.into_iter().chain(shares))
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

fn figures(found: &Predictions) -> Table {
    let titles =
        ["collector", "heap", "collections", "GC processor time", "pauses", "longest pause"];
    Table::new(&titles, found.predictions.iter().map(row))
}

fn row(prediction: &Prediction) -> Vec<String> {
    let count = |value: f64| format!("{value:.0}");
    let time = |ns: f64| format!("{} ms", digits(ns / 1e6));
    let mut collections = cell(&prediction.collections, count);
    if prediction.concurrent_cycles.predicted > 0.0 {
        collections += &format!(", {:.0} cycles", prediction.concurrent_cycles.predicted);
    }
    vec![
        prediction.collector.name().to_owned(),
        bytes(prediction.heap_bytes),
        collections,
        cell(&prediction.gc_cpu_ns, time),
        cell(&prediction.pause_total_ns, time),
        cell(&prediction.pause_longest_ns, time),
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
