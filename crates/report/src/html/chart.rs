//! What is drawn of a sweep: the curves of the charts that a benchmark declares.

use serde::Serialize;
use serde_json::Value;
use yamba_record::number::number;
use yamba_record::program::Chart as Declared;
use yamba_record::run::Status;
use yamba_record::{Benchmark, Run};
use yamba_stats::linear_regression;

use super::head::letter;
use super::levels;
use super::rows::Row;
use super::table::{figure_text, interval_text};
use crate::number::scale;

/// A chart as the script draws it.
#[derive(Serialize)]
pub struct Chart {
    /// The benchmark.
    pub name: String,
    /// What is drawn upwards, in which unit.
    pub y: String,
    /// Against what.
    pub x: String,
    /// Whether the horizontal axis is logarithmic.
    pub log: bool,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Where levels of the caches end, and what they are called.
    pub levels: Vec<(u64, String)>,
    /// Points that are not drawn because their figure is not valid.
    #[serde(skip)]
    pub left_out: usize,
    /// What else is to be said: of fitted lines and of levels.
    #[serde(skip)]
    pub remarks: Vec<String>,
}

/// x, y, the interval of y where there is one, and what is said of it: figure and interval as the table has them.
pub type Point = (f64, f64, Option<[f64; 2]>, String);

/// A curve, from left to right.
#[derive(Serialize)]
pub struct Curve {
    /// What tells it from the others; empty where there is one.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
    /// Intercept and slope of the fitted line.
    line: Option<[f64; 2]>,
}

impl Chart {
    /// What is to be seen, in words.
    pub fn caption(&self) -> String {
        let mut text = format!("{} against {}", self.y, self.x);
        if self.log {
            text.push_str(", on a logarithmic axis");
        }
        text.push_str(". Marks are the 95 % intervals.");
        for remark in &self.remarks {
            text.push_str(&format!(" {remark}."));
        }
        if self.left_out > 0 {
            text.push_str(&format!(
                " Not drawn, because not valid: {} of its points.",
                self.left_out
            ));
        }
        text
    }
}

/// The charts of a group's rows, each benchmark's once.
pub fn charts(runs: &[Run], rows: &[Row]) -> Vec<Chart> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.name) {
            names.push(row.name);
        }
    }
    let mut charts = Vec::new();
    for name in names {
        let own: Vec<&Row> = rows.iter().filter(|r| r.name == name).collect();
        let mut declared: Vec<&Declared> = Vec::new();
        for chart in own.iter().flat_map(|r| r.present()).flat_map(|b| &b.charts) {
            if !declared.contains(&chart) {
                declared.push(chart);
            }
        }
        charts.extend(declared.iter().filter_map(|d| chart(runs, &own, d)));
    }
    charts
}

/// None where no curve has two points: there is no sweep to look at, or its steps are no numbers.
fn chart(runs: &[Run], rows: &[&Row], declared: &Declared) -> Option<Chart> {
    let mut curves: Vec<Curve> = Vec::new();
    let mut left_out = 0;
    for (number, run_letter) in (0..runs.len()).map(|n| (n, letter(n))) {
        for benchmark in rows.iter().filter_map(|r| r.entries[number]) {
            let Some(point) = point(benchmark, declared) else {
                left_out += usize::from(benchmark.status == Status::Invalid);
                continue;
            };
            let mut name = curve_name(rows, benchmark, declared);
            if runs.len() > 1 {
                name = format!("{run_letter} {name}").trim_end().to_owned();
            }
            match curves.iter_mut().find(|c| c.name == name) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve {
                    name,
                    points: vec![point],
                    line: None,
                }),
            }
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    if !curves.iter().any(is_sweep) {
        return None;
    }
    let unit = shared_unit(rows, declared, &mut curves);
    let mut remarks: Vec<String> = match declared.fit_linear {
        true => curves.iter_mut().filter_map(|c| fit(c, &unit)).collect(),
        false => Vec::new(),
    };
    let xs = || curves.iter().flat_map(|c| &c.points).map(|p| p.0);
    let levels = match is_over_memory(rows[0], declared) {
        true => levels::levels(
            runs,
            xs().fold(f64::MAX, f64::min),
            xs().fold(0.0, f64::max),
        ),
        false => Vec::new(),
    };
    remarks.extend(levels::caption(&levels));
    Some(Chart {
        name: rows[0].name.to_owned(),
        y: match unit.as_str() {
            "" => declared.figure.clone(),
            unit => format!("{} ({unit})", declared.figure),
        },
        x: declared.against.clone(),
        log: declared.log && xs().all(|x| x > 0.0),
        curves,
        levels: levels.into_iter().map(|l| (l.bytes, l.name)).collect(),
        left_out,
        remarks,
    })
}

/// Bytes of memory, which caches hold or do not: sizes of files and messages are others.
fn is_over_memory(row: &Row, declared: &Declared) -> bool {
    row.group().eq_ignore_ascii_case("memory") && declared.against == "size"
}

fn is_sweep(curve: &Curve) -> bool {
    let ends = curve.points.first().zip(curve.points.last());
    ends.is_some_and(|(a, b)| a.0 < b.0)
}

fn point(benchmark: &Benchmark, declared: &Declared) -> Option<Point> {
    if !benchmark.valid {
        return None;
    }
    let evidence = |name: &str| benchmark.evidence.get(name)?.median;
    let x = match benchmark.parameters.get(&declared.against) {
        Some(value) => value.as_f64(),
        None => evidence(&declared.against),
    }?;
    let (y, interval, text) = match declared.figure.as_str() {
        "latency" | "bandwidth" | "value" => {
            let texts = [figure_text(benchmark), interval_text(benchmark)];
            let text: Vec<String> = texts.into_iter().flatten().collect();
            (benchmark.median?, benchmark.interval, text.join(" "))
        }
        "cycles" => {
            let cycles = benchmark.cycles?;
            (cycles.median, Some(cycles.interval), number(cycles.median))
        }
        name => {
            let value = evidence(name)?;
            (value, None, number(value))
        }
    };
    Some((x, y, interval, text))
}

/// One curve for each value of `by`, and of whatever else differs between the points. Against an evidence, what was set is only the way to its values: all points are one curve.
fn curve_name(rows: &[&Row], benchmark: &Benchmark, declared: &Declared) -> String {
    let differs = |name: &str, value: &Value| {
        let mut all = rows.iter().flat_map(|r| r.present());
        all.any(|b| b.parameters.get(name) != Some(value))
    };
    let is_swept = benchmark.parameters.get(&declared.against).is_some();
    let mut parts = Vec::new();
    for (name, value) in &benchmark.parameters.0 {
        let is_by = declared.by.as_ref() == Some(name);
        if *name != declared.against && (is_by || (is_swept && differs(name, value))) {
            let value = yamba_record::parameters::plain(value);
            parts.push(format!("{name}={value}"));
        }
    }
    let mut all = rows.iter().flat_map(|r| r.present());
    if all.any(|b| b.processes != benchmark.processes) {
        parts.push(format!("P={}", benchmark.processes));
    }
    parts.join(" ")
}

/// All curves in one unit that suits the greatest point.
fn shared_unit(rows: &[&Row], declared: &Declared, curves: &mut [Curve]) -> String {
    let unit = match declared.figure.as_str() {
        "latency" | "bandwidth" | "value" => {
            let mut units = rows
                .iter()
                .flat_map(|r| r.present())
                .filter_map(|b| b.unit.as_deref());
            units.next().unwrap_or_default()
        }
        _ => return String::new(),
    };
    let points = curves.iter().flat_map(|c| &c.points);
    let greatest = points.map(|p| p.1.abs()).fold(0.0, f64::max);
    let (factor, unit) = scale(greatest, unit);
    for point in curves.iter_mut().flat_map(|c| &mut c.points) {
        point.1 *= factor;
        point.2 = point.2.map(|i| i.map(|v| v * factor));
    }
    unit.to_owned()
}

/// The least-squares line through three points or more, and what it says.
fn fit(curve: &mut Curve, unit: &str) -> Option<String> {
    if curve.points.len() < 3 {
        return None;
    }
    let points: Vec<(f64, f64)> = curve.points.iter().map(|p| (p.0, p.1)).collect();
    let line = linear_regression(&points)?;
    curve.line = Some([line.intercept, line.slope]);
    let quality = line
        .r_squared
        .map(|r| format!(", R² {}", number(r)))
        .unwrap_or_default();
    let name = match curve.name.as_str() {
        "" => String::new(),
        name => format!(" of {name}"),
    };
    Some(format!(
        "Fitted line{name}: {} {unit} and {} {unit} for each step of one{quality}",
        number(line.intercept),
        number(line.slope)
    ))
}
