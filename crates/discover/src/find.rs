//! From the curves of all launches to the value of a parameter, with its interval.

use std::collections::{BTreeMap, BTreeSet};

use yamba_stats::{mean_t_interval, median};

use super::curve::{Curve, Pass, Points, Scale};
use super::levels::{Levels, Step, levels};
use super::parameters::{Method, PARAMETERS, Parameter, WIDEST_CLIMB, WIDEST_SPREAD};
use super::partition::LEAST_STEP;
use super::steps::steps;

/// Confidence of the interval.
const CONFIDENCE: f64 = 0.95;
/// The largest ratio of the points around a step.
const WIDEST_STEP: f64 = 1.5;
/// The largest ratio of neighbouring points, which divide each octave into eighths.
const SPACING: f64 = 9.0 / 8.0;
/// A climb of at most two such distances has too few points for a middle.
const SHARP: f64 = SPACING * SPACING;
/// The median of the octave beyond a climb that has ended is at most this much above its end: more
/// is a step.
const LEAST_RISE: f64 = 1.0 + LEAST_STEP;
/// The shares of a climb at its beginning, in its middle, and at its end.
const CLIMB: [f64; 3] = [0.25, 0.5, 0.75];
/// The shares around its steepest part.
const FOOT: [f64; 3] = [0.1, 0.2, 0.3];
/// The last level rises by less than this.
const WIDEST_LEVEL: f64 = 1.3;
/// A curve of so few points needs a quiet pass at each.
const FEW_POINTS: usize = 4;
/// A level beyond takes at least this many times as long.
const BEYOND: f64 = 1.5;
/// Clock rates that differ by at most this share pass for the same.
const SAME_RATE: f64 = 0.02;
/// The least share of points with a quiet pass.
const LEAST_QUIET: f64 = 0.5;

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The value, in the parameter's unit.
    pub value: f64,
    /// Its interval. It holds the values of the launches alone, and that of 95 % over their halves.
    pub interval: [f64; 2],
}

/// The value of `parameter` by these curves, one for each launch.
///
/// # Errors
/// The reason why the curves do not show it, as a part of a sentence.
pub fn find(parameter: &Parameter, curves: &[Curve]) -> Result<Found, String> {
    if curves.iter().all(Vec::is_empty) {
        return Err("no curve was recorded".to_owned());
    }
    let launches: Vec<Curve> = curves.iter().map(|curve| counting(parameter, curve)).collect();
    let all = points_of(curves);
    if parameter.is_shared {
        check_quiet(curves, &launches, all)?;
    }
    let method = parameter.method;
    let whole = read(parameter, launches.iter().flatten())?;
    // A part without quiet passes at most points says nothing, for or against.
    let is_enough = |part: &Curve| has_enough(points_of([part]), all);
    if method.is_point() {
        let launches: Vec<Curve> = launches.into_iter().filter(is_enough).collect();
        return of_points(parameter, whole, values(parameter, &launches), launches.len());
    }
    let halves: Vec<Curve> = launches.iter().flat_map(halves).filter(is_enough).collect();
    let found = of_values(method, whole, &values(parameter, &halves), halves.len())?;
    Ok(with_launches(found, &values(parameter, &launches)))
}

/// Widens the interval to the values of the launches alone. Both halves of a launch share its
/// level, so that they do not show how much launches differ.
fn with_launches(found: Found, launches: &[f64]) -> Found {
    let [low, high] = found.interval;
    let low = launches.iter().copied().fold(low, f64::min);
    Found { interval: [low, launches.iter().copied().fold(high, f64::max)], ..found }
}

/// The values by each of these parts alone, without those that do not show it.
fn values(parameter: &Parameter, parts: &[Curve]) -> Vec<f64> {
    let found = parts.iter().filter_map(|part| read(parameter, part).ok());
    found.map(|found| found.value).collect()
}

/// The number of different points.
fn points_of<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> usize {
    let points = curves.into_iter().flatten().map(|pass| pass.x.to_bits());
    points.collect::<BTreeSet<u64>>().len()
}

/// Divides the passes of each point in turn.
fn halves(passes: &Curve) -> [Curve; 2] {
    let mut halves = [Vec::new(), Vec::new()];
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    for pass in passes {
        let count = seen.entry(pass.x.to_bits()).or_default();
        halves[*count % 2].push(*pass);
        *count += 1;
    }
    halves
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

/// Whether quiet passes at `quiet` of `all` points suffice.
fn has_enough(quiet: usize, all: usize) -> bool {
    let wanted = if all <= FEW_POINTS { 1.0 } else { LEAST_QUIET };
    quiet > 0 && quiet as f64 >= wanted * all as f64
}

/// Refuses curves with too few quiet passes. `quiet` has these alone, and `all` is the number of
/// points.
fn check_quiet(curves: &[Curve], quiet: &[Curve], all: usize) -> Result<(), String> {
    if curves.iter().flatten().all(|pass| pass.is_quiet.is_none()) {
        return Err("it is not known whether another hardware thread used the core".to_owned());
    }
    let points = points_of(quiet);
    if has_enough(points, all) {
        return Ok(());
    }
    let count = |curves: &[Curve]| curves.iter().map(Vec::len).sum::<usize>() as f64;
    let percent = 100.0 * count(quiet) / count(curves);
    Err(format!(
        "another hardware thread used the core: {percent:.0} % of the passes were quiet, at {points} of {all} points"
    ))
}

/// The value by these passes; for a step, with the points around it.
fn read<'a>(
    parameter: &Parameter,
    passes: impl IntoIterator<Item = &'a Pass>,
) -> Result<Found, String> {
    let (method, unit) = (parameter.method, unit_of_points(parameter));
    let passes: Vec<Pass> = passes.into_iter().copied().collect();
    let points = Points::of(&passes, scale(method));
    let of_step = |step: Step| of_step(step, widest(method), unit);
    // On one processor, the curve over the number of processors has one point.
    let least_points = match method {
        Method::MedianNs | Method::MegabytesPerSecond => 1,
        _ => 2,
    };
    if points.x.len() < least_points {
        return Err(match least_points {
            1 => "no point has a quiet pass".to_owned(),
            _ => {
                "fewer than two points have a quiet pass with a known length of a cycle".to_owned()
            }
        });
    }
    let last = points.y.len().saturating_sub(1);
    match method {
        Method::OnlyStep => of_step(only_step(&points)?),
        Method::Step { step } => of_step(step_of(&points, step)?),
        Method::LastStep { step } => of_step(last_step(&points, step)?),
        Method::StepBeyond { reference, flat } => of_step(step_beyond(&points, reference, flat)?),
        Method::StepIfFlat { reference } => of_step(step_if_flat(&points, reference)?),
        Method::Middle { step } => middle_of(&points, step_of(&points, step)?, unit),
        Method::LastClimb { cycles, widest } => last_climb(&points, cycles, widest, unit),
        Method::FirstAbove => first_above(&points, unit),
        Method::LastBelow => last_below(&points),
        Method::Steepest => steepest(&points, unit),
        Method::Level { level } => exact(level_of(&points, level)?),
        Method::LevelNs { level } => {
            of_step(last_step(&points, level)?)?;
            exact(level_of(&points, level)?)
        }
        Method::Rise { step } => {
            is_narrow(step_of(&points, step)?.between, WIDEST_SPREAD, unit)?;
            exact(level_of(&points, step + 1)? - level_of(&points, step)?)
        }
        Method::At { x } | Method::AtNs { x } => exact(of_point(&points, x)?),
        Method::Difference { x, base } => exact(of_point(&points, x)? - of_point(&points, base)?),
        Method::MostPerCycle => exact(1.0 / least(&points)),
        Method::Overlap => exact(points.y[0] / least(&points)),
        Method::LastNs => exact(points.y[last]),
        Method::LastLevelNs => exact(last_level(&points, unit)?),
        Method::MegabytesPerSecond => exact(1024.0 / least(&points) * 1e3),
        Method::LastMegabytesPerSecond => exact(1024.0 / points.y[last] * 1e3),
        Method::MedianNs => middle(&points),
        Method::GigahertzAt { x, base, control } => {
            is_one_cycle(&points, &Points::of(&passes, Scale::CycleNs), base)?;
            does_not_compete(&points, base, control)?;
            exact(1.0 / of_point(&points, x)?)
        }
        Method::Gigahertz => exact(1.0 / middle(&points)?.value),
    }
}

/// Refuses a chain whose operation does not take the cycle that the chains around it measured.
fn is_one_cycle(points: &Points, cycles: &Points, x: f64) -> Result<(), String> {
    let taken = of_point(points, x)? / of_point(cycles, x)?;
    if (taken - 1.0).abs() <= SAME_RATE {
        return Ok(());
    }
    Err(format!("the chain alone takes {taken:.2} cycles instead of 1"))
}

/// Refuses a chain that competitors lengthen although they leave the clock rate as it is.
fn does_not_compete(points: &Points, base: f64, control: f64) -> Result<(), String> {
    let longer = of_point(points, control)? / of_point(points, base)? - 1.0;
    if longer.abs() <= SAME_RATE {
        return Ok(());
    }
    let percent = 100.0 * longer;
    Err(format!(
        "the chain and the vectors compete: short vectors change its time by {percent:.0} %"
    ))
}

fn scale(method: Method) -> Scale {
    match method {
        Method::Level { .. }
        | Method::Rise { .. }
        | Method::At { .. }
        | Method::Difference { .. }
        | Method::LastClimb { .. }
        | Method::MostPerCycle => Scale::Cycles,
        Method::Gigahertz => Scale::CycleNs,
        _ => Scale::Ns,
    }
}

fn exact(value: f64) -> Result<Found, String> {
    Ok(Found { value, interval: [value, value] })
}

/// How far the points around the value may be apart.
fn widest(method: Method) -> f64 {
    match method {
        Method::LastBelow => WIDEST_CLIMB,
        Method::LastClimb { widest, .. } => widest,
        Method::Middle { .. } => WIDEST_SPREAD,
        _ => WIDEST_STEP,
    }
}

fn only_step(points: &Points) -> Result<Step, String> {
    match steps(points).as_slice() {
        [edge] => Ok(*edge),
        [] => Err(format!("the curve has no step up to {}", points.x[points.x.len() - 1])),
        several => {
            let at: Vec<String> = several.iter().map(|s| s.at.to_string()).collect();
            Err(format!("the curve has {} steps, at {}", several.len(), at.join(" and ")))
        }
    }
}

/// The curve without the point `reference`, and the time there.
fn without(points: &Points, reference: f64) -> Result<(Points, f64), String> {
    let time = of_point(points, reference)?;
    let each = points.x.iter().copied().zip(points.y.iter().copied());
    let (x, y) = each.filter(|(x, _)| *x != reference).unzip();
    Ok((Points { x, y }, time))
}

fn step_beyond(points: &Points, reference: f64, flat: f64) -> Result<Step, String> {
    let (points, time) = without(points, flat)?;
    let (points, before) = without(&points, reference)?;
    is_first_level(&points, time)?;
    let found = levels(&points);
    let last = found.level.last().zip(found.steps.last());
    match last {
        Some((level, step)) if *level >= BEYOND * before => Ok(*step),
        _ => Err("no load takes longer than one that hits: the lines share no set".to_owned()),
    }
}

fn step_if_flat(points: &Points, reference: f64) -> Result<Step, String> {
    let (points, time) = without(points, reference)?;
    is_first_level(&points, time)?;
    step_of(&points, 0)
}

/// Refuses a time of parts of huge pages that is not that of the first level.
fn is_first_level(points: &Points, time: f64) -> Result<(), String> {
    if time >= (1.0 + LEAST_STEP) * level_of(points, 0)? {
        return Err("parts of one huge page miss, too: the host gives small pages".to_owned());
    }
    Ok(())
}

/// The last point below the middle of a step. A memory that replaces entries at random is full
/// before the middle, but then the second half of the climb is the longer one.
fn middle_of(points: &Points, step: Step, unit: &str) -> Result<Found, String> {
    let [low, high] = step.between;
    is_narrow(step.between, WIDEST_SPREAD, unit)?;
    let from = points.x.partition_point(|x| *x < low);
    let to = points.x.partition_point(|x| *x < high);
    let middle = (points.y[from] + points.y[to]) / 2.0;
    let below = (from..to).rev().find(|place| points.y[*place] < middle).unwrap_or(from);
    let share = (middle - points.y[below]) / (points.y[below + 1] - points.y[below]);
    let crossing = points.x[below] * (points.x[below + 1] / points.x[below]).powf(share);
    let beyond = points.x.partition_point(|x| *x <= 2.0 * high);
    let level = median(&points.y[to..beyond]).unwrap_or(f64::INFINITY);
    let is_skewed = high > SHARP * low && high / crossing > crossing / low;
    if is_skewed || level > LEAST_RISE * points.y[to] || points.x[beyond - 1] < 2.0 / SPACING * high
    {
        return Err(anywhere([low, points.x[beyond - 1]], unit));
    }
    Ok(Found { value: points.x[below], interval: step.between })
}

/// The last point below the middle of the climb from the level of the first third to that of the
/// last octave.
fn last_climb(points: &Points, cycles: f64, widest: f64, unit: &str) -> Result<Found, String> {
    let n = points.x.len();
    let last = points.x[n - 1];
    let octave = &points.y[points.x.partition_point(|x| *x <= last / 2.0)..];
    let low = median(&points.y[..n.div_ceil(3)]).unwrap_or(0.0);
    let high = median(octave).unwrap_or(0.0);
    if high < low + cycles {
        return Err(format!("the time rises by less than {cycles} cycles up to {last} {unit}"));
    }
    if octave.iter().any(|y| *y > WIDEST_LEVEL * high || *y * WIDEST_LEVEL < high) {
        return Err(format!("the time still rises in the last octave up to {last}"));
    }
    let [foot, middle, top] = crossings(points, CLIMB.map(|share| low + share * (high - low)))?;
    let interval = [points.x[foot.saturating_sub(1)], points.x[top]];
    is_narrow(interval, widest, unit)?;
    Ok(Found { value: points.x[middle - 1], interval })
}

/// The first points above these shares of the climb from the level of the first third to that of
/// the last quarter.
fn climb(points: &Points, shares: [f64; 3]) -> Result<[usize; 3], String> {
    let n = points.y.len();
    let level = |from: usize, to: usize| median(&points.y[from..to]).unwrap_or(0.0);
    let (low, high) = (level(0, n.div_ceil(3)), level(n - n.div_ceil(4), n));
    if high < (1.0 + LEAST_STEP) * low {
        return Err(format!("the time does not rise up to {}", points.x[n - 1]));
    }
    crossings(points, shares.map(|share| low + share * (high - low)))
}

/// The first points above these limits. The second limit is crossed only once.
fn crossings(points: &Points, limits: [f64; 3]) -> Result<[usize; 3], String> {
    let last = points.y.len() - 1;
    let above = limits.map(|limit| points.y.iter().position(|y| *y > limit).unwrap_or(last));
    if points.y[above[1]..].iter().any(|y| *y < limits[1]) {
        return Err("the time rises and falls again".to_owned());
    }
    if above[1] == 0 {
        return Err("the first point is beyond the step".to_owned());
    }
    Ok(above)
}

/// The first point after a climb of no point.
fn first_above(points: &Points, unit: &str) -> Result<Found, String> {
    let [foot, middle, top] = climb(points, CLIMB)?;
    if foot == top {
        return exact(points.x[middle]);
    }
    Err(anywhere([points.x[foot], points.x[top]], unit))
}

/// The last point below the middle of a climb.
fn last_below(points: &Points) -> Result<Found, String> {
    let [foot, middle, top] = climb(points, CLIMB)?;
    let interval = [points.x[foot.saturating_sub(1)], points.x[top]];
    Ok(Found { value: points.x[middle - 1], interval })
}

/// The point from which a climb is steepest over the logarithm of `x`.
fn steepest(points: &Points, unit: &str) -> Result<Found, String> {
    let [foot, _, top] = climb(points, FOOT)?;
    let slope = |i: usize| (points.y[i + 1] - points.y[i]) / (points.x[i + 1] / points.x[i]).ln();
    let places = foot.saturating_sub(1)..=top - 1;
    let best = places.max_by(|a, b| slope(*a).total_cmp(&slope(*b))).unwrap_or(foot);
    let (low, high) = (points.x[foot.saturating_sub(1)], points.x[best + 1].max(points.x[top]));
    is_narrow([low, high], WIDEST_STEP, unit)?;
    Ok(Found { value: points.x[best], interval: [low, high] })
}

/// The median time of the last two octaves, if they are on one level.
fn last_level(points: &Points, unit: &str) -> Result<f64, String> {
    let last = points.x[points.x.len() - 1];
    let from = points.x.partition_point(|x| *x < last / 4.0);
    let level = median(&points.y[from..]).unwrap_or(f64::NAN);
    let most = points.y[from..].iter().copied().fold(0.0, f64::max);
    if points.y.len() - from >= 3
        && most < WIDEST_LEVEL * level
        && level < WIDEST_LEVEL * points.y[from]
    {
        return Ok(level);
    }
    Err(format!("the time still rises in the last two octaves up to {}", in_unit(last, unit)))
}

/// The median over all points, and their range.
fn middle(points: &Points) -> Result<Found, String> {
    let reason = || "the curve has no points".to_owned();
    let value = median(&points.y).ok_or_else(reason)?;
    let most = points.y.iter().copied().fold(value, f64::max);
    Ok(Found { value, interval: [least(points), most] })
}

/// The largest point before a step. It is refused if no point near the step counts.
fn of_step(step: Step, widest: f64, unit: &str) -> Result<Found, String> {
    is_narrow(step.between, widest, unit)?;
    Ok(Found { value: step.at, interval: step.between })
}

/// Refuses points that are further apart than the ratio `widest`.
fn is_narrow(between: [f64; 2], widest: f64, unit: &str) -> Result<(), String> {
    if between[1] > widest * between[0] { Err(anywhere(between, unit)) } else { Ok(()) }
}

fn anywhere(between: [f64; 2], unit: &str) -> String {
    format!("the step lies anywhere from {}", between.map(|x| in_unit(x, unit)).join(" to "))
}

/// The unit of the points of a parameter's curve: that of a parameter whose value is a point.
fn unit_of_points(parameter: &Parameter) -> &'static str {
    let mut of_curve = PARAMETERS.iter().filter(|p| p.curve == parameter.curve);
    of_curve.find(|p| p.method.is_point()).map_or("", |p| p.unit)
}

/// A point in words. Bytes have prefixes.
fn in_unit(x: f64, unit: &str) -> String {
    match unit {
        "B" if x >= 1024.0 * 1024.0 => format!("{} MiB", x / 1024.0 / 1024.0),
        "B" if x >= 1024.0 => format!("{} KiB", x / 1024.0),
        "B" => format!("{x} B"),
        _ => x.to_string(),
    }
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
fn of_values(method: Method, whole: Found, own: &[f64], halves: usize) -> Result<Found, String> {
    if own.len() < 2 || 2 * own.len() < halves {
        return Err(format!("only {} of {halves} halves of launches have it", own.len()));
    }
    let [mut low, mut high] = whole.interval;
    if let Some(interval) = mean_t_interval(own, CONFIDENCE) {
        // Their mean may lie beside the value of the whole.
        let half = (interval.high - interval.low) / 2.0;
        (low, high) = (low.min(whole.value - half), high.max(whole.value + half));
    }
    if matches!(method, Method::Difference { .. }) {
        // A processor may have no such penalty.
        let found = Found { value: whole.value.max(0.0), interval: [low.max(0.0), high.max(0.0)] };
        return Ok(found);
    }
    if low <= 0.0 {
        let least = own.iter().copied().fold(f64::INFINITY, f64::min);
        let most = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return Err(format!("launches disagree: {least:.1} to {most:.1}"));
    }
    Ok(Found { value: whole.value, interval: [low, high] })
}

/// A point of the curve, with an interval that holds the points of the launches alone, up to the
/// largest ratio of the method. One of at least four launches may differ: a neighbour was beside
/// it.
fn of_points(
    parameter: &Parameter,
    whole: Found,
    mut own: Vec<f64>,
    launches: usize,
) -> Result<Found, String> {
    let in_unit = |x: &f64| in_unit(*x, parameter.unit);
    let [low, high] = whole.interval;
    let agrees = |value: &&f64| (low..=high).contains(*value);
    if 2 * own.iter().filter(agrees).count() < launches {
        own.sort_by(f64::total_cmp);
        let own: Vec<String> = own.iter().map(in_unit).collect();
        let own = if own.is_empty() { "none alone shows it".to_owned() } else { own.join(", ") };
        return Err(format!("launches disagree: {own}"));
    }
    let distance = |value: &f64| (low - value).max(value - high).max(0.0);
    own.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    own.truncate(if launches < 4 { launches } else { launches - 1 });
    let [low, high] =
        own.iter().fold([low, high], |[low, high], one| [low.min(*one), high.max(*one)]);
    if high > widest(parameter.method) * low {
        return Err(format!("launches disagree: {} to {}", in_unit(&low), in_unit(&high)));
    }
    Ok(Found { value: whole.value, interval: [low, high] })
}
