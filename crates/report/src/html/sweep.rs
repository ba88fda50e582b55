//! Charts of a sweep: the curves of each chart that a benchmark declares.

use yamba_record::number::number;
use yamba_record::program::Chart as Declared;
use yamba_record::run::IntervalScope;
use yamba_record::units::factor;
use yamba_record::workers::WorkersShown;
use yamba_record::{Benchmark, Note, Run, Workers};

use super::curves::{entries, parameters};
use super::fit::fit;
use super::levels::{self, Contents};
use super::rows::PointRow;
use super::table::{figure_text, interval_text};
use crate::chart::{Chart, Curve, Point, WithoutCycles, join, to_one_unit};
use crate::left_out::{LeftOut, OTHER_UNIT, not_valid};
use crate::letters::run_letter;
use crate::number::axis_number;
use crate::ticks::ends;

/// The tag of benchmarks whose first parameter is a size of memory in bytes.
pub const IN_MEMORY: &str = "memory_sizes";

/// The curves of a chart, and the points that they lack.
#[derive(Default)]
struct Curves<'a> {
    curves: Vec<Curve>,
    /// The unit of figures: that of the first point.
    unit: Option<&'a str>,
    left_out: LeftOut,
    without_cycles: Vec<WithoutCycles>,
}

impl<'a> Curves<'a> {
    fn new(runs: &'a [Run], rows: &'a [&PointRow<'a>], declared: &Declared) -> Curves<'a> {
        let mut all = Curves::default();
        for (number, benchmark) in entries(runs, rows) {
            let name = run_letter(runs, number, &curve_name(rows, benchmark, declared));
            let Some(mut point) = point(benchmark, declared) else {
                all.left_out.extend(not_valid(benchmark));
                all.without_cycles.extend(lacks_cycles(benchmark, declared, &name));
                continue;
            };
            if is_figure(declared) {
                let own = benchmark.unit.as_deref().unwrap_or_default();
                let Some(factor) = factor(own, all.unit.get_or_insert(own)) else {
                    all.left_out.extend([OTHER_UNIT]);
                    continue;
                };
                point.convert(factor);
            }
            join(&mut all.curves, name, point);
        }
        all.curves.iter_mut().for_each(Curve::arrange);
        all
    }
}

/// The chart that `declared` describes. `None` if no curve has two points, since then there is no
/// sweep, or its values are not numbers.
pub fn chart(runs: &[Run], rows: &[&PointRow], declared: &Declared) -> Option<Chart> {
    let Curves { mut curves, unit, left_out, without_cycles } = Curves::new(runs, rows, declared);
    if !curves.iter().any(Curve::is_sweep) {
        return None;
    }
    let unit = unit.map(|unit| to_one_unit(unit, &mut curves)).unwrap_or_default();
    let mut findings = Vec::new();
    if declared.fit_linear {
        findings.extend(curves.iter_mut().filter_map(|c| fit(c, &unit)));
    }
    let (least, most) = ends(curves.iter().flat_map(|c| &c.points).map(|p| p.x));
    let mut levels = Vec::new();
    if is_over_memory(rows[0], declared) {
        levels = levels::levels(runs, Contents::Data, least, most);
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
    let skipped = chart.skipped_levels();
    chart.findings.extend(skipped);
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
            (benchmark.median?, benchmark.drawn_interval(), text.join(" "))
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
        is_sound: benchmark.is_sound(),
        has_open_end: benchmark.has_open_end(),
        bounds: if is_figure(declared) {
            benchmark.undisturbed_bounds(y, benchmark.confidence_interval)
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
