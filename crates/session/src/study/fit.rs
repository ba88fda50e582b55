//! Fits a straight line through the points of a measurement.

use serde::Serialize;
use yamba_lang::units::CYCLES;
use yamba_record::{Benchmark, Status};
use yamba_stats::{BoundedPoint, bounded_line};

use super::CONFIDENCE;
use super::figure::Figure;
use super::range::Range;

/// The least number of points for a line.
const LEAST_POINTS: usize = 3;

/// A part of a fitted line that a study asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    pub part: Part,
    /// The parameter or evidence on the x axis; the figure is on the y axis.
    pub against: String,
}

/// A number of a fitted line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The growth of the figure per unit of x.
    Slope,
    /// The figure at x = 0.
    Intercept,
    /// The coefficient of determination: 1 if all points lie on the line.
    RSquared,
}

/// The names of the parts in a study file.
pub const PARTS: [(&str, Part); 3] =
    [("slope", Part::Slope), ("intercept", Part::Intercept), ("r_squared", Part::RSquared)];

/// The result of a fit.
pub(super) struct Line {
    /// The requested number; `None` if there are too few points.
    pub figure: Option<Figure>,
    /// `Ok` if there is a line; else the status of the points that failed.
    pub status: Status,
    /// Notes, such as the number of points on the line.
    pub notes: Vec<String>,
}

impl Fit {
    /// The unit of the points for comparison with a prediction. `None` for R^2, which has no unit.
    pub(super) fn unit<'a>(&self, predicted: &'a Range) -> Option<&'a str> {
        (self.part != Part::RSquared).then_some(predicted.unit.as_str())
    }

    /// Fits a least-squares line through the valid entries whose interval is sound and has two
    /// ends. The bounds of disturbed points are part of the line's interval. If the interval of a
    /// point is one within launches, so is that of the line.
    pub(super) fn line(
        &self,
        entries: &[&Benchmark],
        figure: impl Fn(&Benchmark) -> Option<Figure>,
    ) -> Line {
        let sound = entries.iter().filter(|b| b.is_sound());
        let found = sound.filter_map(|entry| Some((self.x(entry)?, figure(entry)?, entry)));
        let (open, used): (Vec<_>, Vec<_>) = found.partition(|(.., entry)| entry.has_open_end());
        let disturbed = used.iter().filter(|(.., b)| b.interference.is_disturbed).count();
        let points = used.iter().map(|(x, y, entry)| match bounds(entry, y) {
            Some(interval) => BoundedPoint::within(*x, interval),
            None => BoundedPoint::exact(*x, y.median),
        });
        let points: Vec<BoundedPoint> = points.collect();
        let figures = || used.iter().map(|(_, y, _)| y);
        let marked = figures().find(|y| y.is_within_launches());
        let scope = marked.or(figures().next()).and_then(|y| y.interval_scope);
        let unit = figures().next_back().map(|y| y.unit.clone());
        let figure = self.number(&points).map(|(median, interval)| Figure {
            median,
            confidence_interval: interval,
            interval_scope: scope,
            unit: match self.part {
                Part::RSquared => String::new(),
                Part::Slope | Part::Intercept => unit.unwrap_or_default(),
            },
        });
        let (used, all) = (points.len(), entries.len());
        let count = format!("{used} of {all} points are on the line");
        let mut notes = vec![match (used, self.part) {
            (..LEAST_POINTS, _) => format!("{count}: it takes {LEAST_POINTS} valid ones"),
            (LEAST_POINTS, Part::RSquared) => {
                format!("{count}: too few for an interval of R squared")
            }
            _ => count,
        }];
        notes.extend(
            (!open.is_empty())
                .then(|| format!("{} left out: an end of their interval is unknown", open.len())),
        );
        notes.extend((disturbed > 0).then(|| {
            format!("{disturbed} of them disturbed: the line goes through the middles of what the disturbances allow, weighted by the widths")
        }));
        Line { status: figure.as_ref().map_or(worst(entries), |_| Status::Ok), figure, notes }
    }

    fn number(&self, points: &[BoundedPoint]) -> Option<(f64, Option<[f64; 2]>)> {
        let line = bounded_line(points, CONFIDENCE)?;
        Some(match self.part {
            Part::Slope => (line.slope, Some(line.slope_interval.into())),
            Part::Intercept => (line.intercept, Some(line.intercept_interval.into())),
            Part::RSquared => (line.r_squared?, line.r_squared_interval.map(<[f64; 2]>::from)),
        })
    }

    fn x(&self, entry: &Benchmark) -> Option<f64> {
        match entry.parameters.get(&self.against) {
            Some(value) => value.as_f64(),
            None => entry.details.evidence.get(&self.against)?.median,
        }
    }
}

/// Bounds of the undisturbed figure; `None` if the entry was not disturbed. Without bounds of the
/// disturbance alone, they are the confidence interval.
fn bounds(entry: &Benchmark, figure: &Figure) -> Option<[f64; 2]> {
    let interval = figure.confidence_interval;
    if CYCLES.contains(&figure.unit.as_str()) {
        return interval.filter(|_| entry.interference.is_disturbed);
    }
    entry.undisturbed_bounds(figure.median, interval)
}

/// The worst status of the entries: a failure takes precedence over a skipped entry.
fn worst(entries: &[&Benchmark]) -> Status {
    let order = [Status::Crashed, Status::Invalid];
    let has = |s: &&Status| entries.iter().any(|b| b.status == **s);
    order.iter().find(has).copied().unwrap_or(Status::Skipped)
}
