//! Fits a straight line to a curve.

use yamba_record::number::number;
use yamba_stats::{line_errors, linear_regression, r_squared_interval};

use super::chart::{Curve, FITTED, Straight};
use super::head::WITHIN;

/// Confidence level of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Fits the least-squares line through the undisturbed points of a curve, if there are at least three, and returns a sentence about it. The sentence has the t intervals of
/// intercept and slope and Fisher's interval of R², as in a study.
pub fn fit(curve: &mut Curve, unit: &str) -> Option<String> {
    let sound = || curve.points.iter().filter(|p| !p.is_disturbed);
    let points: Vec<(f64, f64)> = sound().map(|p| (p.x, p.y)).collect();
    let line = linear_regression(&points)?;
    let errors = line_errors(&points, CONFIDENCE)?;
    let mark = if sound().any(|p| p.is_within) {
        WITHIN
    } else {
        ""
    };
    let ends = |(low, high)| format!("[{}, {}]{mark}", number(low), number(high));
    let with_interval = |value: f64, interval| {
        let value = format!("{} {unit}", number(value));
        format!("{} {}", value.trim_end(), ends(interval))
    };
    let intercept = with_interval(line.intercept, errors.intercept);
    let slope = with_interval(line.slope, errors.slope);
    let quality = line.r_squared.map(|r_squared| {
        let interval = r_squared_interval(r_squared, points.len(), CONFIDENCE);
        let text = format!(
            ", R² {} {}",
            number(r_squared),
            interval.map(ends).unwrap_or_default()
        );
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
    curve.line = Some(Straight {
        name: FITTED,
        intercept: line.intercept,
        slope: line.slope,
    });
    Some(format!(
        "Fitted line{name}{count}: {intercept} and {slope} for each step of one{}",
        quality.unwrap_or_default()
    ))
}
