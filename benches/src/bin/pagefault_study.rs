//! Measures the tables and the plot of the paper "Adaptable Platform-Dependent Micro-Benchmarks" on this machine.
//!
//! `cargo run --release -p yamba-benches --bin pagefault_study -- --yamba target/release/yamba` (as root: one table needs
//! drop_caches, others set a read-ahead window). Each run of each point is saved in `--out`; saved runs are not measured again.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use plotters::prelude::*;
use serde_json::Value;
use yamba_stats::{Line, coefficient_of_variation, linear_regression, mean, median};

#[derive(Parser)]
#[command(about = "The Yamba paper's page-fault tables and plot, measured here")]
struct Options {
    /// The program to measure with
    #[arg(long, default_value = "target/release/yamba")]
    yamba: PathBuf,
    /// Folder of the runs
    #[arg(long, default_value = "target/pagefault-study")]
    out: PathBuf,
    /// Runs of each point; the paper made 31
    #[arg(long, default_value_t = 31)]
    runs: usize,
}

/// One row of a table: a benchmark with some parameters.
struct Point {
    id: &'static str,
    benchmark: &'static str,
    set: &'static [&'static str],
}

const fn pagefault(id: &'static str, set: &'static [&'static str]) -> Point {
    Point {
        id,
        benchmark: "pagefault",
        set,
    }
}

/// The points of all tables. If every page is touched, a quarter of the file has as many touches as scale 4 has in the whole file.
const POINTS: &[Point] = &[
    Point {
        id: "posix",
        benchmark: "lat_pagefault_posix",
        set: &[],
    },
    Point {
        id: "fixed",
        benchmark: "lat_pagefault_fixed",
        set: &[],
    },
    pagefault("single-1", &["scale=1", "file_size=16M"]),
    pagefault("single-4", &["scale=4"]),
    pagefault("single-16", &["scale=16"]),
    pagefault("single-32", &["scale=32"]),
    pagefault("single-64", &["scale=64"]),
    pagefault(
        "random-1",
        &["scale=1", "file_size=16M", "random_order=true"],
    ),
    pagefault("random-16", &["scale=16", "random_order=true"]),
    pagefault("ahead-1", &["scale=1", "read_ahead=true"]),
    pagefault("ahead-16", &["scale=16", "read_ahead=true"]),
    pagefault("ahead-32", &["scale=32", "read_ahead=true"]),
    pagefault("ahead-64", &["scale=64", "read_ahead=true"]),
    pagefault(
        "window128-1",
        &["scale=1", "read_ahead=true", "window=131072"],
    ),
    pagefault(
        "window128-16",
        &["scale=16", "read_ahead=true", "window=131072"],
    ),
    pagefault(
        "window128-32",
        &["scale=32", "read_ahead=true", "window=131072"],
    ),
    pagefault(
        "window128-64",
        &["scale=64", "read_ahead=true", "window=131072"],
    ),
    pagefault(
        "window8-64",
        &["scale=64", "read_ahead=true", "window=8192"],
    ),
    pagefault(
        "window16-64",
        &["scale=64", "read_ahead=true", "window=16384"],
    ),
    pagefault(
        "window32-64",
        &["scale=64", "read_ahead=true", "window=32768"],
    ),
    pagefault(
        "window64-64",
        &["scale=64", "read_ahead=true", "window=65536"],
    ),
];

/// The points of Figure 9: one page, then windows of 2 to 32 pages, all touched at the same stride.
const FIGURE_9: &[&str] = &[
    "single-64",
    "window8-64",
    "window16-64",
    "window32-64",
    "window64-64",
    "window128-64",
];

fn main() -> ExitCode {
    match study(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("pagefault_study: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn study(options: &Options) -> Result<(), String> {
    fs::create_dir_all(&options.out).map_err(|e| format!("{}: {e}", options.out.display()))?;
    // The loop over runs is the outer one, so that a drift of the disk affects all points alike.
    for run in 0..options.runs {
        for point in POINTS {
            measure(options, point, run)?;
        }
        eprintln!("{} of {} runs", run + 1, options.runs);
    }
    let report = report(options)?;
    let text = options.out.join("tables.md");
    fs::write(&text, &report).map_err(|e| format!("{}: {e}", text.display()))?;
    print!("{report}");
    Ok(())
}

fn record_path(options: &Options, point: &Point, run: usize) -> PathBuf {
    options.out.join(format!("{}.{run:02}.json", point.id))
}

fn measure(options: &Options, point: &Point, run: usize) -> Result<(), String> {
    let path = record_path(options, point, run);
    if read(&path).is_ok() {
        return Ok(());
    }
    let mut command = Command::new(&options.yamba);
    command.args(["run", point.benchmark, "--quick", "--json"]);
    command.env("YAMBA_STORE", options.out.join("results.sqlite"));
    for set in point.set {
        command.args(["--set", set]);
    }
    let output = command
        .output()
        .map_err(|e| format!("{}: {e}", options.yamba.display()))?;
    // Exit status 1 means that a figure is invalid, which is an expected result.
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(format!(
            "{}: {}",
            point.id,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let partial = path.with_extension("partial");
    fs::write(&partial, &output.stdout).map_err(|e| format!("{}: {e}", partial.display()))?;
    fs::rename(&partial, &path).map_err(|e| format!("{}: {e}", path.display()))
}

fn read(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// All runs of one point.
struct Series {
    id: &'static str,
    /// The median of each run, in microseconds.
    latency_us: Vec<f64>,
    valid: usize,
    runs: usize,
    faults_per_access: Vec<f64>,
    pages_per_fault: Vec<f64>,
}

fn series(options: &Options, point: &Point) -> Result<Series, String> {
    let mut series = Series {
        id: point.id,
        latency_us: Vec::new(),
        valid: 0,
        runs: options.runs,
        faults_per_access: Vec::new(),
        pages_per_fault: Vec::new(),
    };
    for run in 0..options.runs {
        let document = read(&record_path(options, point, run))?;
        let benchmark = &document["benchmarks"][0];
        let evidence = |name: &str| benchmark["evidence"][name]["median"].as_f64();
        series
            .latency_us
            .extend(benchmark["median"].as_f64().map(|ns| ns / 1000.0));
        series.valid += usize::from(benchmark["valid"].as_bool() == Some(true));
        series
            .faults_per_access
            .extend(evidence("faults_per_access"));
        series
            .pages_per_fault
            .extend(evidence("pages_read_per_fault"));
    }
    Ok(series)
}

fn shown(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"))
}

fn row(s: &Series) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} of {} |\n",
        s.id,
        shown(mean(&s.latency_us), 2),
        shown(coefficient_of_variation(&s.latency_us), 4),
        shown(median(&s.faults_per_access), 4),
        shown(median(&s.pages_per_fault), 2),
        s.valid,
        s.runs
    )
}

fn report(options: &Options) -> Result<String, String> {
    let all: Vec<Series> = POINTS
        .iter()
        .map(|p| series(options, p))
        .collect::<Result<_, _>>()?;
    let mut out = format!(
        "{} runs of each point; latency is the mean of the runs' medians.\n\n",
        options.runs
    );
    out.push_str("| point | latency, us | variation | faults per access | pages read per fault | valid runs |\n| --- | --- | --- | --- | --- | --- |\n");
    all.iter().for_each(|s| out.push_str(&row(s)));
    let points: Vec<(f64, f64)> = all
        .iter()
        .filter(|s| FIGURE_9.contains(&s.id))
        .filter_map(coordinates)
        .collect();
    if let Some(line) = linear_regression(&points) {
        let _ = writeln!(
            out,
            "\nRegression over {}: y = {:.4} x + {:.3}, R^2 = {}",
            FIGURE_9.join(", "),
            line.slope,
            line.intercept,
            shown(line.r_squared, 5)
        );
        plot(&options.out.join("figure9.svg"), &points, &line)?;
    }
    Ok(out)
}

/// A point of the plot: pages read per fault, and the latency in microseconds.
fn coordinates(series: &Series) -> Option<(f64, f64)> {
    Some((median(&series.pages_per_fault)?, mean(&series.latency_us)?))
}

fn plot(path: &Path, points: &[(f64, f64)], line: &Line) -> Result<(), String> {
    draw(path, points, line).map_err(|e| format!("{}: {e}", path.display()))
}

fn draw(path: &Path, points: &[(f64, f64)], line: &Line) -> Result<(), Box<dyn std::error::Error>> {
    let most = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).fold(0.0, f64::max) * 1.1;
    let (right, top) = (most(|p| p.0), most(|p| p.1));
    let root = SVGBackend::new(path, (640, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .caption(
            "Latency of a page fault against the pages that it reads",
            ("sans-serif", 16),
        )
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..right, 0.0..top)?;
    chart
        .configure_mesh()
        .x_desc("pages read per fault")
        .y_desc("latency, us")
        .light_line_style(WHITE)
        .draw()?;
    let at = |x: f64| (x, line.slope * x + line.intercept);
    chart.draw_series(LineSeries::new(
        [at(0.0), at(right)],
        &RGBColor(120, 120, 120),
    ))?;
    chart.draw_series(
        points
            .iter()
            .map(|p| Circle::new(*p, 4, RGBColor(0, 90, 160).filled())),
    )?;
    root.present()?;
    Ok(())
}
