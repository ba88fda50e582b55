//! Figures that are inferred from recorded curves: all launches together give one figure. Pure.

use yamba_discover::{Caches, CurvePoint, caches, points};
use yamba_record::Benchmark;
use yamba_record::event::Curve;
use yamba_record::number::{bytes, number};
use yamba_record::program::{Inference, Inferred};
use yamba_record::run::IntervalScope;

use super::contention::QuietWidth;
use super::estimate::{ENOUGH_LAUNCHES, Estimate};

/// Enters the figure that `inference` asks for. `curves` are those of complete launches, and `width` is the quiet width of a launch. Returns
/// the reason without a figure.
pub(super) fn enter(
    b: &mut Benchmark,
    inference: Inference,
    curves: &[Curve],
    width: impl Fn(u64) -> QuietWidth,
) -> Result<Estimate, String> {
    let Inferred::CacheSize = inference.kind;
    let passes: Vec<Vec<CurvePoint>> = curves
        .iter()
        .map(|curve| judged(curve, width(curve.launch)))
        .collect();
    b.contended = contended_share(&passes.concat());
    for (curve, passes) in curves.iter().zip(&passes) {
        b.launches[curve.launch as usize].contended = contended_share(passes);
    }
    let found = caches(&passes);
    let place = (inference.level as usize).checked_sub(1);
    let Some(level) = place.and_then(|place| found.levels.get(place)) else {
        return Err(not_found(inference.level, &found, curves));
    };
    for (curve, size) in curves.iter().zip(&level.of_curves) {
        let launch = &mut b.launches[curve.launch as usize];
        launch.median = *size;
        launch.samples = u64::from(size.is_some());
    }
    b.samples = level.of_curves.iter().flatten().copied().collect();
    b.is_disturbed = level.is_contended;
    b.notes.push(format!(
        "a load takes {} ns within level {}, and {} ns beyond",
        number(rounded(level.latency_ns)),
        inference.level,
        number(rounded(level.next_ns)),
    ));
    if level.is_contended {
        let note = "the machine is disturbed: at the end of this level another hardware thread used the core in each pass";
        b.notes.insert(0, note.to_owned());
    }
    let [low, high] = level.interval;
    let kind = if curves.len() >= ENOUGH_LAUNCHES {
        IntervalScope::BetweenLaunches
    } else {
        IntervalScope::WithinLaunches
    };
    Ok(Estimate {
        median: level.bytes,
        confidence_interval: [low.min(level.bytes), high.max(level.bytes)],
        kind,
    })
}

/// The passes of a curve. Without a known quiet width all count.
fn judged(curve: &Curve, width: QuietWidth) -> Vec<CurvePoint> {
    let mut passes = points(curve, width.level());
    for pass in &mut passes {
        match width {
            QuietWidth::Known(_) => {}
            QuietWidth::NeverQuiet => pass.is_contended = Some(true),
            QuietWidth::Unknown => pass.is_contended = None,
        }
    }
    passes
}

/// Share of the passes with a neighbour. `None` if no pass tells.
fn contended_share(passes: &[CurvePoint]) -> Option<f64> {
    let known: Vec<bool> = passes.iter().filter_map(|p| p.is_contended).collect();
    let contended = known.iter().filter(|c| **c).count();
    (!known.is_empty()).then(|| contended as f64 / known.len() as f64)
}

fn not_found(level: u64, found: &Caches, curves: &[Curve]) -> String {
    let largest = curves.iter().flat_map(|c| &c.x).fold(0.0, |a, b| b.max(a));
    let each = found.levels.iter();
    let size = |bytes_: f64| bytes(bytes_ as u64);
    let mut steps: Vec<String> = each
        .map(|l| {
            format!(
                "{} ns up to {}",
                number(rounded(l.latency_ns)),
                size(l.bytes)
            )
        })
        .collect();
    steps.extend(
        found
            .memory_ns
            .map(|ns| format!("then {} ns", number(rounded(ns)))),
    );
    format!(
        "level {level} was not found in buffers of up to {}: a load takes {}",
        size(largest),
        steps.join(", ")
    )
}

/// Rounded to 0.01 ns: a pass measures no more.
fn rounded(ns: f64) -> f64 {
    (ns * 100.0).round() / 100.0
}
