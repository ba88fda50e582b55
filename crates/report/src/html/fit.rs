//! The straight line through a curve.

use yamba_record::number::number;
use yamba_stats::{line_errors, linear_regression, r_squared_interval};

use super::chart::{Curve, FITTED, Straight};
use super::head::WITHIN;

/// How sure its intervals are.
const CONFIDENCE: f64 = 0.95;

/// Puts the least-squares line through the undisturbed points of a curve, three or more, and says it: with the t intervals of intercept and slope and Fisher's of
/// R², as a study has them.
pub fn fit(curve: &mut Curve, unit: &str) -> Option<String> {
    let sound = || curve.points.iter().filter(|p| !p.is_disturbed);
    let points: Vec<(f64, f64)> = sound().map(|p| (p.x, p.y)).collect();
    let line = linear_regression(&points)?;
    let errors = line_errors(&points, CONFIDENCE)?;
    let mark = match sound().any(|p| p.is_within) {
        true => WITHIN,
        false => "",
    };
    let ends = |(low, high)| format!("[{}, {}]{mark}", number(low), number(high));
    let told = |value: f64, interval| {
        let value = format!("{} {unit}", number(value));
        format!("{} {}", value.trim_end(), ends(interval))
    };
    let intercept = told(line.intercept, errors.intercept);
    let slope = told(line.slope, errors.slope);
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
