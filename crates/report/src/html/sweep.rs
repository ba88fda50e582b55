//! Charts of a sweep: the curves of each chart that a benchmark declares.

use yamba_record::number::number;
use yamba_record::program::Chart as Declared;
use yamba_record::run::{IntervalScope, Status};
use yamba_record::workers::WorkersShown;
use yamba_record::{Benchmark, Note, Run, Workers};

use super::curves::{entries, parameters};
use super::fit::fit;
use super::levels;
use super::rows::PointRow;
use super::table::{figure_text, interval_text};
use crate::chart::{Chart, Curve, Point, WithoutCycles, join, to_one_unit};
use crate::letters::run_letter;
use crate::number::axis_number;
use crate::ticks::ends;

/// The tag of benchmarks whose first parameter is a size of memory in bytes.
pub const IN_MEMORY: &str = "memory_sizes";

/// The chart that `declared` describes. `None` if no curve has two points, since then there is no
/// sweep, or its values are not numbers.
pub fn chart(runs: &[Run], rows: &[&PointRow], declared: &Declared) -> Option<Chart> {
    let mut curves: Vec<Curve> = Vec::new();
    let mut left_out = 0;
    let mut without_cycles = Vec::new();
    for (number, benchmark) in entries(runs, rows) {
        let name = run_letter(runs, number, &curve_name(rows, benchmark, declared));
        let Some(point) = point(benchmark, declared) else {
            left_out += usize::from(benchmark.status == Status::Invalid);
            without_cycles.extend(lacks_cycles(benchmark, declared, &name));
            continue;
        };
        join(&mut curves, name, point);
    }
    curves.iter_mut().for_each(Curve::arrange);
    if !curves.iter().any(Curve::is_sweep) {
        return None;
    }
    let unit = if is_figure(declared) {
        let mut units = rows.iter().flat_map(|r| r.present()).filter_map(|b| b.unit.as_deref());
        to_one_unit(units.next().unwrap_or_default(), &mut curves)
    } else {
        String::new()
    };
    let mut findings = Vec::new();
    if declared.fit_linear {
        findings.extend(curves.iter_mut().filter_map(|c| fit(c, &unit)));
    }
    let (least, most) = ends(curves.iter().flat_map(|c| &c.points).map(|p| p.x));
    let mut levels = Vec::new();
    if is_over_memory(rows[0], declared) {
        levels = levels::levels(runs, least, most);
    }
    let log = declared.log && least > 0.0;
    let about_levels = levels::caption(&levels);
    let (figure, against) = (&declared.figure, &declared.against);
    let mut chart = Chart {
        log,
        levels: levels.into_iter().map(|l| (l.bytes, l.name)).collect(),
        about_levels,
        left_out,
        without_cycles,
        findings,
        ..Chart::new(rows[0].name, figure, &unit, against, curves)
    };
    chart.findings.extend(chart.skipped_levels());
    Some(chart)
}

/// Whether the x axis is a size in memory, for which cache sizes matter. Sizes of files and
/// messages do not count.
fn is_over_memory(row: &PointRow, declared: &Declared) -> bool {
    row.present().any(|b| {
        let mut tags = b.declaration.provenance.tags.iter();
        let mut parameters = b.parameters.0.iter();
        tags.any(|tag| tag == IN_MEMORY)
            && parameters.next().is_some_and(|(name, _)| *name == declared.against)
    })
}

/// A valid point that a chart of cycles lacks, because its cycles are unknown.
pub fn lacks_cycles(
    benchmark: &Benchmark,
    declared: &Declared,
    curve: &str,
) -> Option<WithoutCycles> {
    let lacks =
        declared.figure == "cycles" && benchmark.valid && benchmark.details.cycles.is_none();
    let x = across(benchmark, declared).filter(|_| lacks)?;
    let at = format!("{}={} {curve}", declared.against, axis_number(x));
    let why = benchmark.notes.iter().find_map(Note::without_cycles).map(str::to_owned);
    Some(WithoutCycles { at: at.trim_end().to_owned(), why })
}

/// Whether the chart shows the benchmark's figure, and not its cycles or an evidence.
fn is_figure(declared: &Declared) -> bool {
    matches!(declared.figure.as_str(), "latency" | "bandwidth" | "value")
}

/// The x value of a point: a parameter, or the median of an evidence.
pub fn across(benchmark: &Benchmark, declared: &Declared) -> Option<f64> {
    match benchmark.parameters.get(&declared.against) {
        Some(value) => value.as_f64(),
        None => benchmark.details.evidence.get(&declared.against)?.median,
    }
}

fn point(benchmark: &Benchmark, declared: &Declared) -> Option<Point> {
    if !benchmark.valid {
        return None;
    }
    let evidence = |name: &str| benchmark.details.evidence.get(name)?.median;
    let x = across(benchmark, declared)?;
    let (y, interval, text) = match declared.figure.as_str() {
        _ if is_figure(declared) => {
            let texts = [figure_text(benchmark), interval_text(benchmark)];
            let text: Vec<String> = texts.into_iter().flatten().collect();
            (benchmark.median?, benchmark.confidence_interval, text.join(" "))
        }
        "cycles" => {
            let cycles = benchmark.details.cycles?;
            (cycles.median, Some(cycles.confidence_interval), number(cycles.median))
        }
        name => {
            let value = evidence(name)?;
            (value, None, number(value))
        }
    };
    Some(Point {
        x,
        y,
        confidence_interval: interval,
        is_within: benchmark.interval_scope == Some(IntervalScope::WithinLaunches),
        is_disturbed: benchmark.interference.is_disturbed,
        is_sound: benchmark.has_sound_interval(),
        bounds: if is_figure(declared) {
            benchmark.undisturbed_bounds(y, interval)
        } else {
            interval.filter(|_| benchmark.interference.is_disturbed)
        },
        text: if benchmark.interference.is_disturbed {
            format!("{text} (disturbed)")
        } else {
            text
        },
    })
}

/// The name of a point's curve. There is a curve for each value of `by` and of every other
/// parameter that differs. If the x axis is an evidence, parameters do not divide curves.
fn curve_name(rows: &[&PointRow], benchmark: &Benchmark, declared: &Declared) -> String {
    let is_swept = benchmark.parameters.get(&declared.against).is_some();
    let name = parameters(rows, benchmark, |name, differs| {
        let is_by = declared.by.as_deref() == Some(name);
        name != declared.against && (is_by || (is_swept && differs))
    });
    let all: Vec<Workers> = rows.iter().flat_map(|r| r.present()).map(Benchmark::workers).collect();
    let differ = all.iter().any(|w| *w != benchmark.workers());
    if !differ {
        return name;
    }
    let shown = WorkersShown::new(all).text(benchmark.workers());
    format!("{name} {shown}").trim_start().to_owned()
}
