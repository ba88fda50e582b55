//! From the curves of all launches to the value of a parameter, with its interval.

use yamba_stats::{mean_t_interval, median};

use super::capacity::capacity;
use super::curve::{Curve, Pass, Points, Scale};
use super::levels::{LEAST_STEP, Levels, Step, levels};
use super::parameters::{Method, Parameter};
use super::steps::steps;

/// Confidence of the interval.
const CONFIDENCE: f64 = 0.95;
/// The largest ratio of the points around a step.
const WIDEST_STEP: f64 = 1.5;
/// A level beyond takes at least this many times as long.
const BEYOND: f64 = 1.5;
/// The least share of points with a quiet pass.
const LEAST_QUIET: f64 = 0.5;

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The value, in the parameter's unit.
    pub value: f64,
    /// Its interval: at 95 % over the launches, and no narrower than the distance of the points.
    pub interval: [f64; 2],
}

/// The value of `parameter` by these curves, one for each launch.
///
/// # Errors
/// The reason why the curves do not tell, as a part of a sentence.
pub fn find(parameter: &Parameter, curves: &[Curve]) -> Result<Found, String> {
    if curves.iter().all(Vec::is_empty) {
        return Err("no curve was recorded".to_owned());
    }
    if parameter.is_shared {
        check_quiet(curves)?;
    }
    let launches: Vec<Curve> = curves.iter().map(|curve| counting(parameter, curve)).collect();
    let whole = read(parameter.method, launches.iter().flatten())?;
    let values = |parts: &mut dyn Iterator<Item = &[Pass]>| -> Vec<f64> {
        let found = parts.filter_map(|passes| read(parameter.method, passes).ok());
        found.map(|found| found.value).collect()
    };
    if parameter.method.is_point() {
        let own = values(&mut launches.iter().map(Vec::as_slice));
        return of_points(whole, own, launches.len());
    }
    let halves = launches.iter().flat_map(|passes| passes.chunks(passes.len().div_ceil(2).max(1)));
    of_values(whole, &values(&mut halves.into_iter()))
}

/// The points of all curves, ascending, and the time of an operation at each, in ns.
#[must_use]
pub fn points(curves: &[Curve]) -> (Vec<f64>, Vec<f64>) {
    let points = Points::of(curves.iter().flatten(), Scale::Ns);
    (points.x, points.y)
}

/// The passes of a curve that count.
fn counting(parameter: &Parameter, curve: &Curve) -> Curve {
    let counts = |pass: &&Pass| !parameter.is_shared || pass.is_quiet == Some(true);
    curve.iter().filter(counts).copied().collect()
}

/// Whether enough passes of each point are quiet.
fn check_quiet(curves: &[Curve]) -> Result<(), String> {
    let of_curve = || curves.iter().flatten();
    if of_curve().all(|pass| pass.is_quiet.is_none()) {
        return Err("it is not known whether another hardware thread used the core".to_owned());
    }
    let (all, quiet) = (
        Points::of(of_curve(), Scale::Ns),
        Points::of(of_curve().filter(|pass| pass.is_quiet == Some(true)), Scale::Ns),
    );
    if quiet.x.len() as f64 >= LEAST_QUIET * all.x.len() as f64 {
        return Ok(());
    }
    let passes = of_curve().count();
    let share =
        of_curve().filter(|pass| pass.is_quiet == Some(true)).count() as f64 / passes as f64;
    Err(format!(
        "another hardware thread used the core: {:.0} % of the passes were quiet, at {} of {} points",
        100.0 * share,
        quiet.x.len(),
        all.x.len()
    ))
}

/// The value by these passes; for a step, with the points around it.
fn read<'a>(
    method: Method,
    passes: impl IntoIterator<Item = &'a Pass> + Clone,
) -> Result<Found, String> {
    if method == Method::Gigahertz {
        return gigahertz(passes);
    }
    let points = Points::of(passes, scale(method));
    if points.x.len() < 2 && method != Method::MedianNs {
        return Err("the curve has fewer than two points with a known length of a cycle".to_owned());
    }
    let last = points.y.len().saturating_sub(1);
    match method {
        Method::OnlyStep => only_step(&points),
        Method::Step { step } => of_step(step_of(&points, step)?),
        Method::LastStep { step } => of_step(last_step(&points, step)?),
        Method::StepBeyond { reference } => step_beyond(points, reference),
        Method::FirstAbove | Method::LastBelow => halfway(&points, method == Method::FirstAbove),
        Method::Level { level } => exact(level_of(&points, level)?),
        Method::LevelNs { level } => {
            of_step(last_step(&points, level)?)?;
            exact(level_of(&points, level)?)
        }
        Method::Rise { step } => {
            of_step(step_of(&points, step)?)?;
            exact(level_of(&points, step + 1)? - level_of(&points, step)?)
        }
        Method::Capacity => exact(capacity(&points)?),
        Method::At { x } | Method::AtNs { x } => exact(of_point(&points, x)?),
        Method::Difference { x, base } => exact(of_point(&points, x)? - of_point(&points, base)?),
        Method::MostPerCycle => exact(1.0 / least(&points)),
        Method::Overlap => exact(points.y[0] / least(&points)),
        Method::LastNs => exact(points.y[last]),
        Method::MegabytesPerSecond => exact(1024.0 / least(&points) * 1e3),
        Method::MedianNs => middle(&points),
        Method::Gigahertz => Err("the length of a cycle is not known".to_owned()),
    }
}

fn scale(method: Method) -> Scale {
    match method {
        Method::Level { .. }
        | Method::Rise { .. }
        | Method::At { .. }
        | Method::Difference { .. }
        | Method::MostPerCycle => Scale::Cycles,
        _ => Scale::Ns,
    }
}

fn exact(value: f64) -> Result<Found, String> {
    Ok(Found { value, interval: [value, value] })
}

fn only_step(points: &Points) -> Result<Found, String> {
    match steps(points).as_slice() {
        [edge] => of_step(*edge),
        [] => Err(format!("the curve has no step up to {}", points.x[points.x.len() - 1])),
        several => {
            let at: Vec<String> = several.iter().map(|s| s.at.to_string()).collect();
            Err(format!("the curve has {} steps, at {}", several.len(), at.join(" and ")))
        }
    }
}

fn step_beyond(mut points: Points, reference: f64) -> Result<Found, String> {
    let before = of_point(&points, reference)?;
    let keep: Vec<usize> = (0..points.x.len()).filter(|i| points.x[*i] != reference).collect();
    points = Points {
        x: keep.iter().map(|i| points.x[*i]).collect(),
        y: keep.iter().map(|i| points.y[*i]).collect(),
    };
    let found = levels(&points);
    let last = found.level.last().zip(found.steps.last());
    match last {
        Some((level, step)) if *level >= BEYOND * before => of_step(*step),
        _ => Err("no load takes longer than one that hits: the lines share no set, as where the host gives small pages".to_owned()),
    }
}

/// The point where the curve passes the middle between its first and its last time.
fn halfway(points: &Points, is_after: bool) -> Result<Found, String> {
    let (first, last) = (points.y[0], points.y[points.y.len() - 1]);
    if last < (1.0 + LEAST_STEP) * first {
        return Err(format!("the time does not rise up to {}", points.x[points.x.len() - 1]));
    }
    let after = points.y.iter().position(|y| *y > (first + last) / 2.0);
    // The last time is above the middle, and the first below.
    let after = after.unwrap_or(points.y.len() - 1);
    let [below, above] = [points.x[after - 1], points.x[after]];
    if is_after { exact(above) } else { Ok(Found { value: below, interval: [below, above] }) }
}

/// The median over all points, and their range.
fn middle(points: &Points) -> Result<Found, String> {
    let reason = || "the curve has no points".to_owned();
    let value = median(&points.y).ok_or_else(reason)?;
    let most = points.y.iter().copied().fold(value, f64::max);
    Ok(Found { value, interval: [least(points), most] })
}

fn gigahertz<'a>(passes: impl IntoIterator<Item = &'a Pass>) -> Result<Found, String> {
    let cycles: Vec<f64> = passes.into_iter().filter_map(|pass| pass.cycle_ns).collect();
    let cycle = median(&cycles).ok_or("the length of a cycle is not known")?;
    exact(1.0 / cycle)
}

/// The largest point before a step. It is not told if no point near the step counts.
fn of_step(step: Step) -> Result<Found, String> {
    let [low, high] = step.between;
    if high > WIDEST_STEP * low {
        return Err(format!("the step lies anywhere from {low} to {high}"));
    }
    Ok(Found { value: step.at, interval: step.between })
}

fn least(points: &Points) -> f64 {
    points.y.iter().copied().fold(f64::INFINITY, f64::min)
}

fn level_of(points: &Points, level: usize) -> Result<f64, String> {
    let found = levels(points);
    found.level.get(level).copied().ok_or_else(|| no_step(&found, points, level.saturating_sub(1)))
}

/// The step of this number, if no other one follows.
fn last_step(points: &Points, step: usize) -> Result<Step, String> {
    let found = levels(points);
    match found.steps.get(step) {
        Some(last) if found.steps.len() == step + 1 => Ok(*last),
        Some(_) => {
            Err(format!("the time rises in {} steps instead of {}", found.steps.len(), step + 1))
        }
        None => Err(no_step(&found, points, step)),
    }
}

fn step_of(points: &Points, step: usize) -> Result<Step, String> {
    let found = levels(points);
    found.steps.get(step).copied().ok_or_else(|| no_step(&found, points, step))
}

fn of_point(points: &Points, x: f64) -> Result<f64, String> {
    points.at(x).ok_or_else(|| format!("the curve has no point {x}"))
}

fn no_step(found: &Levels, points: &Points, step: usize) -> String {
    let last = points.x.last().copied().unwrap_or(0.0);
    match (found.level.len(), found.steps.len()) {
        (0, _) => "the curve has no level".to_owned(),
        (_, 0) => format!("the curve has no step up to {last}"),
        (_, steps) => format!("the curve has {steps} of the {} steps up to {last}", step + 1),
    }
}

/// A value of a scale, with the interval of the values of half a launch each: two launches have no
/// useful interval of their own.
fn of_values(whole: Found, own: &[f64]) -> Result<Found, String> {
    let [mut low, mut high] = whole.interval;
    if let Some(interval) = mean_t_interval(own, CONFIDENCE) {
        // Their mean may lie beside the value of the whole.
        let half = (interval.high - interval.low) / 2.0;
        (low, high) = (low.min(whole.value - half), high.max(whole.value + half));
    }
    if low <= 0.0 {
        return Err(format!("launches disagree: {low:.1} to {high:.1}"));
    }
    Ok(Found { value: whole.value, interval: [low, high] })
}

/// A point of the curve, with an interval that holds the points of the launches alone. One of at
/// least four launches may differ: a neighbour was beside it.
fn of_points(whole: Found, mut own: Vec<f64>, launches: usize) -> Result<Found, String> {
    let [low, high] = whole.interval;
    let agrees = |value: &&f64| (low..=high).contains(*value);
    if 2 * own.iter().filter(agrees).count() < launches {
        own.sort_by(f64::total_cmp);
        let own: Vec<String> = own.iter().map(f64::to_string).collect();
        let own = if own.is_empty() { "none alone tells it".to_owned() } else { own.join(", ") };
        return Err(format!("launches disagree: {own}"));
    }
    let distance = |value: &f64| (low - value).max(value - high).max(0.0);
    own.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    own.truncate(if launches < 4 { launches } else { launches - 1 });
    let [low, high] =
        own.iter().fold([low, high], |[low, high], one| [low.min(*one), high.max(*one)]);
    if high > WIDEST_STEP * low {
        return Err(format!("launches disagree: {low} to {high}"));
    }
    Ok(Found { value: whole.value, interval: [low, high] })
}
