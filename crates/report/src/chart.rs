//! Charts: curves, axes and captions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use yamba_record::number::scale;

use crate::left_out::LeftOut;
use crate::ticks::{LogAxis, ends};
use yamba_record::number::listed;

/// The vertical axis is logarithmic if the greatest figure is at least this multiple of the least.
const SPREAD: f64 = 20.0;

/// Margin factor above and below the figures on a logarithmic axis.
const MARGIN: f64 = 1.2;

/// Maximum number of points without cycles, or of curves, that a caption names.
const MOST_NAMED: usize = 8;

/// The name of a fitted line.
pub const FITTED: &str = "fitted";

#[derive(Clone, Debug, Default, Serialize)]
pub struct Chart {
    /// Its title: the benchmark, or the quantity that it shows.
    pub name: String,
    /// Title of the y axis, with unit.
    pub y: String,
    /// Title of the x axis.
    pub x: String,
    /// Whether the x axis is logarithmic.
    pub log: bool,
    /// Whether the y axis is logarithmic.
    pub log_y: bool,
    pub curves: Vec<Curve>,
    /// Cache sizes with their names.
    pub levels: Vec<(u64, String)>,
    /// Points without a valid figure, or in another unit. They are not drawn.
    #[serde(skip)]
    pub left_out: LeftOut,
    /// Valid points without known cycles, which are not drawn.
    #[serde(skip)]
    pub without_cycles: Vec<WithoutCycles>,
    /// Meaning of the marks, if they are not the intervals of the figures themselves.
    #[serde(skip)]
    pub marks: Option<&'static str>,
    /// Sentences about the curves: fitted lines and bends.
    #[serde(skip)]
    pub findings: Vec<String>,
    /// Caption of the cache sizes.
    #[serde(skip)]
    pub about_levels: Option<String>,
}

/// A valid point without known cycles.
#[derive(Clone, Debug)]
pub struct WithoutCycles {
    /// The x value and the curve, as text.
    pub at: String,
    /// The reason, if the run has one.
    pub why: Option<String>,
}

/// A chart with the axes that the script draws.
#[derive(Serialize)]
pub struct Drawn<'a> {
    #[serde(flatten)]
    chart: &'a Chart,
    /// For each curve, the x of neighbouring points that no line connects.
    unconnected: Vec<Vec<[f64; 2]>>,
    log_x_axis: Option<LogAxis>,
    log_y_axis: Option<LogAxis>,
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The x value.
    pub x: f64,
    /// The y value.
    pub y: f64,
    /// The confidence interval of y.
    pub confidence_interval: Option<[f64; 2]>,
    /// Whether the interval is within launches, and so makes no claim about other runs.
    pub is_within: bool,
    /// Whether the figure may include the time of competing programs.
    pub is_disturbed: bool,
    /// Whether the confidence interval also holds the y of an undisturbed machine.
    pub is_sound: bool,
    /// Whether an end of the interval is unknown, so that the bounds have a placeholder there.
    pub has_open_end: bool,
    /// Bounds of y on an undisturbed machine. `None` if no disturbance is possible.
    pub bounds: Option<[f64; 2]>,
    /// Figure and interval as in the table.
    pub text: String,
}

impl Point {
    /// A sound point without a text.
    pub fn new(x: f64, y: f64, confidence_interval: Option<[f64; 2]>) -> Point {
        Point {
            x,
            y,
            confidence_interval,
            is_within: false,
            is_disturbed: false,
            is_sound: true,
            has_open_end: false,
            bounds: None,
            text: String::new(),
        }
    }

    /// Converts all values of y to another unit.
    pub fn convert(&mut self, factor: f64) {
        let convert = |ends: [f64; 2]| ends.map(|v| v * factor);
        self.y *= factor;
        self.confidence_interval = self.confidence_interval.map(convert);
        self.bounds = self.bounds.map(convert);
    }
}

impl Serialize for Point {
    /// Serialises as a list, because a page has many points.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.x, self.y, self.confidence_interval, &self.text, self.is_disturbed).serialize(to)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// Name that distinguishes the curve; empty if it is the only one.
    pub name: String,
    /// The points in ascending order of x.
    pub points: Vec<Point>,
    /// A straight line for comparison.
    pub line: Option<Straight>,
}

/// A straight line.
#[derive(Clone, Debug, Serialize)]
pub struct Straight {
    /// Name of the line.
    pub name: &'static str,
    /// The value of y at x = 0.
    pub intercept: f64,
    pub slope: f64,
}

impl Curve {
    /// A curve without a line.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Curve {
        Curve { name: name.into(), points: points.into_iter().collect(), line: None }
    }

    /// Sorts the points by x.
    pub fn arrange(&mut self) {
        self.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }

    /// Whether the sorted points have at least two different x.
    pub fn is_sweep(&self) -> bool {
        let ends = self.points.first().zip(self.points.last());
        ends.is_some_and(|(a, b)| a.x < b.x)
    }
}

/// Adds a point to the curve of this name, which is created if necessary.
pub fn join(curves: &mut Vec<Curve>, name: String, point: Point) {
    match curves.iter_mut().find(|c| c.name == name) {
        Some(curve) => curve.points.push(point),
        None => curves.push(Curve::new(name, [point])),
    }
}

/// Converts all curves to one unit, which suits the greatest value, and returns it.
pub fn to_one_unit(unit: &str, curves: &mut [Curve]) -> String {
    let points = curves.iter().flat_map(|c| &c.points);
    let greatest = points.map(|p| p.y.abs()).fold(0.0, f64::max);
    let (factor, unit) = scale(greatest, unit);
    for point in curves.iter_mut().flat_map(|c| &mut c.points) {
        point.convert(factor);
    }
    unit.to_owned()
}

impl Chart {
    /// A chart of a benchmark's curves.
    pub fn new(name: &str, y: &str, unit: &str, x: &str, curves: Vec<Curve>) -> Chart {
        let mut chart = Chart {
            name: name.to_owned(),
            y: match unit {
                "" => y.to_owned(),
                unit => format!("{y} ({unit})"),
            },
            x: x.to_owned(),
            curves,
            ..Chart::default()
        };
        chart.log_y = chart.spreads();
        chart
    }

    /// A chart with two logarithmic axes.
    pub fn logarithmic(name: &str, x: &str, y: &str, curves: Vec<Curve>) -> Chart {
        Chart {
            log: true,
            log_y: true,
            name: name.to_owned(),
            x: x.to_owned(),
            y: y.to_owned(),
            curves,
            ..Chart::default()
        }
    }

    /// All points of the chart.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.curves.iter().flat_map(|c| &c.points)
    }

    /// Whether the y axis should be logarithmic: a linear axis would not resolve the smallest
    /// values. Never with a fitted line, which is straight on linear axes only.
    fn spreads(&self) -> bool {
        let (low, high) = ends(self.points().map(|p| p.y));
        let has_room = |p: &Point| p.confidence_interval.is_none_or(|[low, _]| low > 0.0);
        low > 0.0 && high / low >= SPREAD && self.points().all(has_room) && !self.is_fitted()
    }

    /// The x axis, if it is logarithmic.
    pub fn log_x_axis(&self) -> Option<LogAxis> {
        let xs: Vec<f64> = self.points().map(|p| p.x).collect();
        self.log.then(|| LogAxis::from_values(xs.iter().copied()))
    }

    /// The y axis over the range of these values, if it is logarithmic.
    pub fn log_y_axis(&self, ys: impl Iterator<Item = f64>) -> Option<LogAxis> {
        let (low, high) = ends(ys);
        self.log_y.then(|| LogAxis::decimal(low, high))
    }

    /// The cache levels that lie between two points and contain neither, from the first edge to the
    /// last. A line between the points would suggest figures of a level that was not measured.
    pub fn levels_between(&self, from: &Point, to: &Point) -> Vec<&str> {
        let is_between = |bytes: u64| (from.x..to.x).contains(&(bytes as f64));
        let between = self.levels.iter().filter(|(b, _)| is_between(*b));
        // With several runs, a level has an edge for each: `L2 A`, `L2 B`.
        let mut names: Vec<&str> = between.filter_map(|(_, name)| name.split(' ').next()).collect();
        names.dedup();
        // The first edge is that of the level that has the first point.
        names.into_iter().skip(1).collect()
    }

    fn unconnected(&self) -> Vec<Vec<[f64; 2]>> {
        let pairs = |curve: &Curve| {
            let pairs = curve.points.windows(2);
            let apart = pairs.filter(|p| !self.levels_between(&p[0], &p[1]).is_empty());
            apart.map(|p| [p[0].x, p[1].x]).collect()
        };
        self.curves.iter().map(pairs).collect()
    }

    /// Sentences about the levels that lines skip. They name the curves if others have points
    /// there.
    pub fn skipped_levels(&self) -> Vec<String> {
        let mut skipped: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
        for curve in &self.curves {
            let pairs = curve.points.windows(2);
            let levels: BTreeSet<&str> =
                pairs.flat_map(|p| self.levels_between(&p[0], &p[1])).collect();
            skipped.entry(levels.into_iter().collect()).or_default().push(&curve.name);
        }
        let each = skipped.into_iter().filter(|(levels, _)| !levels.is_empty());
        let each = each.map(|(levels, curves)| {
            let whose = match curves.len() {
                all if all == self.curves.len() => String::new(),
                _ => format!(" of {}", listed(&curves, MOST_NAMED)),
            };
            format!("No line{whose} crosses {}: no valid size within it", levels.join(" and "))
        });
        each.collect()
    }

    /// The chart with its axes. Logarithmic axes have room for the intervals.
    pub fn drawn(&self) -> Drawn<'_> {
        let intervals = self.points().filter_map(|p| p.confidence_interval).flatten();
        let (low, high) = ends(self.points().map(|p| p.y).chain(intervals));
        Drawn {
            chart: self,
            unconnected: self.unconnected(),
            log_x_axis: self.log_x_axis(),
            log_y_axis: self.log_y_axis([low / MARGIN, high * MARGIN].into_iter()),
        }
    }

    fn is_fitted(&self) -> bool {
        let mut lines = self.curves.iter().filter_map(|c| c.line.as_ref());
        lines.any(|l| l.name == FITTED)
    }

    /// Number of disturbed points.
    pub fn disturbed(&self) -> usize {
        self.points().filter(|p| p.is_disturbed).count()
    }

    /// A text description of the chart.
    pub fn caption(&self) -> String {
        let mut text = format!("{} against {}", self.y, self.x);
        text.push_str(match (self.log, self.log_y) {
            (false, false) => ".",
            (true, false) => ", on a logarithmic axis.",
            (false, true) => "; the upright axis is logarithmic.",
            (true, true) => "; both axes are logarithmic.",
        });
        let findings = self.findings.iter().map(|f| format!("{f}."));
        let levels = self.about_levels.iter().map(|l| format!("{l}."));
        let all = [
            self.about_marks(),
            self.about_disturbed(),
            self.left_out.sentence().map(|text| format!("{text}.")),
            self.about_without_cycles().map(|text| format!("{text}.")),
        ];
        let sentences = all.into_iter().flatten().chain(findings).chain(levels);
        text.extend(sentences.map(|sentence| format!(" {sentence}")));
        text
    }

    fn about_marks(&self) -> Option<String> {
        let marked = || self.points().filter(|p| p.confidence_interval.is_some());
        let (all, within) = (marked().count(), marked().filter(|p| p.is_within).count());
        let what = self.marks.unwrap_or("the intervals of the figures");
        let alone = "within launches: they speak of these processes alone";
        match (all, within) {
            (0, _) => None,
            (_, 0) => Some(format!("Marks are {what}.")),
            (all, within) if all == within => Some(format!("Marks are {what}, {alone}.")),
            (_, within) => Some(format!("Marks are {what}; {within} of them {alone}.")),
        }
    }

    /// Sentences about the disturbed points: those whose interval has room for the disturbance, and
    /// the others.
    fn about_disturbed(&self) -> Option<String> {
        let count = self.disturbed();
        let bounded = self.points().filter(|p| p.is_disturbed && p.is_sound).count();
        let line = if self.is_fitted() { ", and no line is drawn through them" } else { "" };
        let unbounded = count - bounded;
        let unbounded = (unbounded > 0).then(|| {
            format!(
                "Ringed: {unbounded} disturbed, so that other processes may be part of them{line}."
            )
        });
        let bounded = (bounded > 0).then(|| {
            format!("Ringed: {bounded} disturbed, whose intervals also hold the values of a quiet machine.")
        });
        let all: Vec<String> = unbounded.into_iter().chain(bounded).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// A sentence about points without cycles: count, names and reasons.
    pub fn about_without_cycles(&self) -> Option<String> {
        let all = &self.without_cycles;
        if all.is_empty() {
            return None;
        }
        let names: Vec<&str> = all.iter().map(|p| p.at.as_str()).collect();
        let mut text = format!(
            "Not drawn, because their cycles are not known: {} of {} valid points ({})",
            all.len(),
            all.len() + self.points().count(),
            listed(&names, MOST_NAMED)
        );
        if let Some(reasons) = reasons(all) {
            text.push_str(&format!(": {reasons}"));
        }
        Some(text)
    }
}

/// The distinct reasons. `None` if the run has none.
pub fn reasons(points: &[WithoutCycles]) -> Option<String> {
    let mut all: Vec<&str> = points.iter().filter_map(|p| p.why.as_deref()).collect();
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then(|| all.join("; "))
}
