//! Charts of scaling: throughput and efficiency against the number of processes or threads.

use yamba_record::number::number;
use yamba_record::run::{IntervalScope, Throughput};
use yamba_record::units::factor;
use yamba_record::{Benchmark, Run};
use yamba_stats::{ScalingPoint, scaling};

use super::curves::{entries, parameters};
use super::rows::PointRow;
use crate::chart::{Chart, Curve, Point, Straight, join, to_one_unit};
use crate::left_out::{LeftOut, OTHER_UNIT, not_valid};
use crate::letters::run_letter;
use crate::number::figure;
use crate::ticks::ends;

/// The x axis is logarithmic if the greatest number is at least this multiple of the least.
const FAR: f64 = 16.0;

/// Caption of the marks of a throughput chart. A throughput is computed from medians and has no
/// interval of its own.
const MARKS: &str = "as wide, in proportion, as the intervals of the figures";

/// Caption of the marks of an efficiency chart. An efficiency is computed from two figures: its own
/// and that of one alone.
const MARKS_OF_BOTH: &str = "all that the intervals of both figures allow";

/// The charts of a benchmark; empty unless it ran with several numbers of processes or threads.
pub fn charts(runs: &[Run], rows: &[&PointRow]) -> Vec<Chart> {
    let mut curves: Vec<Curve> = Vec::new();
    let mut lacking: Vec<(String, &'static str)> = Vec::new();
    let mut unit = None;
    let kinds = Kinds::new(rows);
    for (number, benchmark) in entries(runs, rows) {
        let name = run_letter(runs, number, &parameters(rows, benchmark, |_, differs| differs));
        for name in kinds.names(benchmark, &name) {
            match point(benchmark, &mut unit) {
                Ok(point) => join(&mut curves, name, point),
                Err(reason) => lacking.extend(reason.map(|reason| (name, reason))),
            }
        }
    }
    curves.iter_mut().for_each(Curve::arrange);
    curves.retain(Curve::is_sweep);
    if curves.is_empty() {
        return Vec::new();
    }
    let efficient: Vec<Curve> = curves.iter().filter_map(efficiency).collect();
    let bends = curves.iter().filter_map(bend).collect();
    let unit = to_one_unit(unit.unwrap_or_default(), &mut curves);
    curves.iter_mut().for_each(|c| c.line = alone(c));
    let drawn = |title: &str, unit: &str, curves: Vec<Curve>, marks, findings| {
        let is_drawn = |name: &String| curves.iter().any(|c| c.name == *name);
        let mut left_out = LeftOut::default();
        left_out.extend(lacking.iter().filter(|(name, _)| is_drawn(name)).map(|(_, why)| *why));
        let chart = Chart::new(rows[0].name, title, unit, &kinds.axis(), curves);
        let (least, most) = ends(chart.points().map(|p| p.x));
        Chart { log: most >= FAR * least, left_out, marks: Some(marks), findings, ..chart }
    };
    let mut charts = vec![drawn("throughput", &unit, curves, MARKS, bends)];
    if !efficient.is_empty() {
        let marks = MARKS_OF_BOTH;
        charts.push(drawn("efficiency", "", efficient, marks, Vec::new()));
    }
    charts
}

/// The kinds of workers of which a benchmark ran several: processes, threads, or both in different
/// entries.
struct Kinds(Vec<&'static str>);

impl Kinds {
    fn new(rows: &[&PointRow]) -> Kinds {
        let mut kinds = Vec::new();
        let valid = rows.iter().flat_map(|r| r.present()).filter(|b| b.valid);
        for workers in valid.map(Benchmark::workers) {
            if workers.are_several() && !kinds.contains(&workers.kinds()) {
                kinds.push(workers.kinds());
            }
        }
        Kinds(kinds)
    }

    /// The title of the axis.
    fn axis(&self) -> String {
        self.0.join(" or ")
    }

    /// The names of the curves that an entry belongs to. One process with one thread begins the
    /// curves of both kinds.
    fn names(&self, benchmark: &Benchmark, name: &str) -> Vec<String> {
        let workers = benchmark.workers();
        let belongs = |kind: &&&str| !workers.are_several() || workers.kinds() == **kind;
        let named = |kind: &&str| match self.0.len() {
            1 => name.to_owned(),
            _ => format!("{name} {kind}").trim_start().to_owned(),
        };
        self.0.iter().filter(belongs).map(named).collect()
    }
}

/// The combined throughput in the unit of the curves, which is that of the first point. The error
/// is why the point has no place, if it should have one.
fn point<'a>(
    benchmark: &'a Benchmark,
    unit: &mut Option<&'a str>,
) -> Result<Point, Option<&'static str>> {
    let together = benchmark.details.throughput.as_ref().filter(|_| benchmark.valid);
    let together = together.ok_or_else(|| not_valid(benchmark))?;
    let factor =
        factor(&together.unit, unit.get_or_insert(&together.unit)).ok_or(Some(OTHER_UNIT))?;
    let mut point = throughput(benchmark, together);
    point.convert(factor);
    Ok(point)
}

/// The combined throughput with an interval of the same relative width as the figure's. For a
/// latency the ends are inverted.
fn throughput(benchmark: &Benchmark, together: &Throughput) -> Point {
    let interval = benchmark.drawn_interval().zip(benchmark.median);
    let interval = interval.and_then(|([low, high], median)| {
        let shares = match benchmark.declaration.figure.as_deref() {
            Some("latency") => [median / high, median / low],
            _ => [low / median, high / median],
        };
        let ends = shares.map(|s| s * together.sum);
        (low > 0.0 && ends.iter().all(|e| e.is_finite())).then_some(ends)
    });
    let disturbed = if benchmark.interference.is_disturbed { " (disturbed)" } else { "" };
    Point {
        x: benchmark.workers().count() as f64,
        y: together.sum,
        confidence_interval: interval,
        is_within: benchmark.interval_scope == Some(IntervalScope::WithinLaunches),
        is_disturbed: benchmark.interference.is_disturbed,
        is_sound: benchmark.is_sound(),
        has_open_end: benchmark.has_open_end(),
        bounds: None,
        text: figure(together.sum, &together.unit) + disturbed,
    }
}

fn curve(of: &Curve) -> Option<yamba_stats::Scaling> {
    let points = of.points.iter().map(|p| ScalingPoint { workers: p.x as usize, throughput: p.y });
    scaling(&points.collect::<Vec<_>>())
}

/// The line of perfect scaling: the throughput of one alone times their number.
fn alone(of: &Curve) -> Option<Straight> {
    let one = of.points.first().filter(|p| p.x == 1.0)?;
    Some(Straight { name: "as many times one", intercept: 0.0, slope: one.y })
}

/// The efficiency curve: throughput divided by that of perfect scaling. The interval combines the
/// extremes of both intervals.
fn efficiency(of: &Curve) -> Option<Curve> {
    let scaling = curve(of)?;
    let one = of.points.first()?;
    let points = of.points.iter().zip(scaling.efficiency);
    let points = points.map(|(p, efficiency)| {
        let both = p.confidence_interval.zip(one.confidence_interval).filter(|_| p.x != one.x);
        let least = |([low, _], [_, most]): ([f64; 2], [f64; 2])| low / (p.x * most);
        let most = |([_, high], [least, _]): ([f64; 2], [f64; 2])| high / (p.x * least);
        Point {
            x: p.x,
            y: efficiency,
            confidence_interval: both.map(|both| [least(both), most(both)]),
            is_within: p.is_within || one.is_within,
            is_disturbed: p.is_disturbed || one.is_disturbed,
            is_sound: p.is_sound && one.is_sound,
            has_open_end: p.has_open_end || one.has_open_end,
            bounds: None,
            text: number(efficiency),
        }
    });
    Some(Curve::new(of.name.clone(), points))
}

/// A sentence that gives the number of processes or threads from which more no longer pay.
fn bend(of: &Curve) -> Option<String> {
    let scaling = curve(of)?;
    let last = of.points.last()?;
    let whose = match of.name.as_str() {
        "" => String::new(),
        name => format!(" of {name}"),
    };
    let bend = scaling.bend;
    Some(if bend as f64 == last.x {
        format!("No bend{whose} up to {bend}: each more adds at least half of what one does alone")
    } else {
        format!("Bend{whose} at {bend}: each more adds less than half of what one does alone")
    })
}
