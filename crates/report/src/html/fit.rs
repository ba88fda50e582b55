//! Fits a straight line to a curve.

use yamba_record::number::number;
use yamba_stats::{BoundedPoint, bounded_line};

use crate::chart::{Curve, FITTED, Point, Straight};
use crate::intervals::WITHIN;

/// Confidence level of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Fits the least-squares line through the points of a curve whose intervals are sound and have two
/// ends, if there are at least three, and returns a sentence about it. The sentence has the
/// intervals of intercept, slope and R² and treats disturbed points, as in a study.
pub fn fit(curve: &mut Curve, unit: &str) -> Option<String> {
    let sound: Vec<&Point> =
        curve.points.iter().filter(|p| p.is_sound && !p.has_open_end).collect();
    let disturbed = sound.iter().filter(|p| p.is_disturbed).count();
    let points = sound.iter().map(|p| match p.bounds {
        Some(bounds) => BoundedPoint::within(p.x, bounds),
        None => BoundedPoint::exact(p.x, p.y),
    });
    let points: Vec<BoundedPoint> = points.collect();
    let line = bounded_line(&points, CONFIDENCE)?;
    let mark = if sound.iter().any(|p| p.is_within) { WITHIN } else { "" };
    let ends = |(low, high)| format!("[{}, {}]{mark}", number(low), number(high));
    let with_interval = |value: f64, interval| {
        let value = format!("{} {unit}", number(value));
        format!("{} {}", value.trim_end(), ends(interval))
    };
    let intercept = with_interval(line.intercept, line.intercept_interval);
    let slope = with_interval(line.slope, line.slope_interval);
    let quality = line.r_squared.map(|r_squared| {
        let interval = line.r_squared_interval.map(ends).unwrap_or_default();
        let text = format!(", R² {} {interval}", number(r_squared));
        text.trim_end().to_owned()
    });
    let name = match curve.name.as_str() {
        "" => String::new(),
        name => format!(" of {name}"),
    };
    let count = match points.len() {
        all if all == curve.points.len() => String::new(),
        some => format!(" through {some} of its {} points", curve.points.len()),
    };
    let bounds = match disturbed {
        0 => String::new(),
        n => format!(" ({n} disturbed, by the middles of what the disturbances allow)"),
    };
    curve.line = Some(Straight { name: FITTED, intercept: line.intercept, slope: line.slope });
    Some(format!(
        "Fitted line{name}{count}{bounds}: {intercept} and {slope} for each step of one{}",
        quality.unwrap_or_default()
    ))
}
