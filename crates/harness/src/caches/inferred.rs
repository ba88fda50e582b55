//! Figures that are inferred from recorded curves: all launches together give one figure. Pure.

use crate::caches::{Caches, caches, points};
use yamba_discover::Pass;
use yamba_record::event::{Curve, LowestCurve};
use yamba_record::hardware::HardwareParameter;
use yamba_record::number::{bytes, number};
use yamba_record::program::{Inference, Inferred};
use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Note};

use crate::contention::QuietWidth;
use crate::estimate::{ENOUGH_LAUNCHES, Estimate};

/// Enters the figure that `inference` asks for into `b`. `curves` are those of complete launches,
/// and `width` is the quiet width of a launch. The error is the reason why there is no figure.
pub(crate) fn enter(
    b: &mut Benchmark,
    inference: &Inference,
    curves: &[Curve],
    width: impl Fn(u64) -> QuietWidth,
) -> Result<Estimate, String> {
    let passes: Vec<Vec<Pass>> =
        curves.iter().map(|curve| judged(curve, width(curve.launch))).collect();
    b.interference.contended = contended_share(&passes.concat());
    for (curve, passes) in curves.iter().zip(&passes) {
        b.launches[curve.launch as usize].contended = contended_share(passes);
    }
    match &inference.kind {
        Inferred::CacheSize => cache_size(b, inference.level, curves, &passes),
        Inferred::Parameter(name) => parameter(b, name, curves, &passes),
    }
}

/// The value of a processor's parameter. All parameters that the same curves show are entered, too.
fn parameter(
    b: &mut Benchmark,
    name: &str,
    curves: &[Curve],
    passes: &[Vec<Pass>],
) -> Result<Estimate, String> {
    b.details.lowest_curve = curves.first().map(|curve| {
        let (x, ns) = yamba_discover::points(passes);
        LowestCurve { name: curve.name.clone(), x_unit: curve.x_unit.clone(), x, ns }
    });
    let of_benchmark = yamba_discover::PARAMETERS.iter().filter(|p| p.curve == b.name);
    let found: Vec<_> = of_benchmark.map(|p| (p, yamba_discover::find(p, passes))).collect();
    b.details.hardware = found.iter().map(|(p, result)| entry(p, result)).collect();
    let own = found.into_iter().find(|(p, _)| p.name == name);
    let (_, result) = own.ok_or_else(|| format!("no parameter of {} is called {name}", b.name))?;
    let found = result.map_err(|reason| format!("cannot tell: {reason}"))?;
    Ok(Estimate {
        median: found.value,
        confidence_interval: found.interval,
        kind: scope(curves.len()),
    })
}

fn entry(
    parameter: &yamba_discover::Parameter,
    result: &Result<yamba_discover::Found, String>,
) -> HardwareParameter {
    let found = result.as_ref().ok();
    HardwareParameter {
        name: parameter.name.to_owned(),
        unit: parameter.unit.to_owned(),
        found: found.map(|f| f.value),
        interval: found.map(|f| f.interval),
        claimed: None,
        reason: result.as_ref().err().cloned(),
    }
}

/// The size of the cache of this level.
fn cache_size(
    b: &mut Benchmark,
    level_number: u64,
    curves: &[Curve],
    passes: &[Vec<Pass>],
) -> Result<Estimate, String> {
    let found = caches(passes);
    b.details.lowest_curve = curves.first().map(|curve| lowest(curve, &found));
    let place = (level_number as usize).checked_sub(1);
    let Some(level) = place.and_then(|place| found.levels.get(place)) else {
        return Err(not_found(level_number, &found, curves));
    };
    for (curve, size) in curves.iter().zip(&level.of_curves) {
        let launch = &mut b.launches[curve.launch as usize];
        launch.median = *size;
        launch.samples = u64::from(size.is_some());
    }
    b.details.samples = level.of_curves.iter().flatten().copied().collect();
    b.interference.is_disturbed = level.is_contended;
    b.notes.push(Note::Text(format!(
        "a load takes {} ns within level {}, and {} ns beyond",
        number(rounded(level.latency_ns)),
        level_number,
        number(rounded(level.next_ns)),
    )));
    if level.is_contended {
        let share = 100.0 * b.interference.contended.unwrap_or(1.0);
        let note = format!(
            "the machine is disturbed: another hardware thread used the core in {share:.0} % of the passes, so that the cache may be larger"
        );
        b.notes.insert(0, Note::Text(note));
    }
    let [low, high] = level.interval;
    Ok(Estimate {
        median: level.bytes,
        confidence_interval: [low.min(level.bytes), high.max(level.bytes)],
        kind: scope(curves.len()),
    })
}

fn scope(launches: usize) -> IntervalScope {
    if launches >= ENOUGH_LAUNCHES {
        IntervalScope::BetweenLaunches
    } else {
        IntervalScope::WithinLaunches
    }
}

/// A summary of the curves of all launches. Name and unit are those of `one` of them.
fn lowest(one: &Curve, found: &Caches) -> LowestCurve {
    let (x, ns) = found.curve.iter().copied().unzip();
    LowestCurve { name: one.name.clone(), x_unit: one.x_unit.clone(), x, ns }
}

/// The passes of a curve. Without a known quiet width all count.
fn judged(curve: &Curve, width: QuietWidth) -> Vec<Pass> {
    let mut passes = points(curve, width.level());
    for pass in &mut passes {
        match width {
            QuietWidth::Known(_) => {}
            QuietWidth::NeverQuiet => pass.is_quiet = Some(false),
            QuietWidth::Unknown => pass.is_quiet = None,
        }
    }
    passes
}

/// Share of the passes that a neighbour lengthened. `None` if it is unknown for every pass.
fn contended_share(passes: &[Pass]) -> Option<f64> {
    let known: Vec<bool> = passes.iter().filter_map(|p| p.is_quiet).collect();
    let contended = known.iter().filter(|is_quiet| !**is_quiet).count();
    (!known.is_empty()).then(|| contended as f64 / known.len() as f64)
}

fn not_found(level: u64, found: &Caches, curves: &[Curve]) -> String {
    let largest = curves.iter().flat_map(|c| &c.x).fold(0.0, |a, b| b.max(a));
    let each = found.levels.iter();
    let size = |bytes_: f64| bytes(bytes_ as u64);
    let mut steps: Vec<String> = each
        .map(|l| format!("{} ns up to {}", number(rounded(l.latency_ns)), size(l.bytes)))
        .collect();
    steps.extend(found.memory_ns.map(|ns| format!("then {} ns", number(rounded(ns)))));
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

#[cfg(test)]
mod tests {
    use yamba_record::{Event, Status};

    use super::*;
    use crate::process_output::{ProcessExit, ProcessOutput};
    use crate::tests::{output, program, replay_all};

    const CURVE: &str = include_str!("../../../../tests/records/cache-curve.json");

    /// A launch that records this curve.
    fn launch(curve: &Curve) -> ProcessOutput {
        let curve = serde_json::to_string(&Event::Curve(curve.clone())).unwrap();
        let lines = format!(
            r#"{{"event":"begin","class":"sample","figure":"value","unit":"B"}}
{curve}
{{"event":"batch","index":0,"passes":1,"operations":1,"ns":20,"dummy_ns":0,"value":null}}
{{"event":"end"}}
"#
        );
        output(&lines, ProcessExit::Exit(0))
    }

    /// The recorded curve, with the latencies of buffers larger than `bytes` multiplied by
    /// `slower`.
    fn recorded(bytes: f64, slower: f64) -> Curve {
        let Event::Curve(mut curve) = serde_json::from_str(CURVE).unwrap() else {
            panic!("{CURVE}");
        };
        for (ns, x) in curve.ns.iter_mut().zip(&curve.x) {
            if *x > bytes {
                *ns *= slower;
            }
        }
        curve
    }

    fn replay(level: u64, curves: &[Curve]) -> Benchmark {
        let mut program = program();
        program.figure = Some("value".to_owned());
        program.unit = Some("B".to_owned());
        program.evidence = Vec::new();
        program.bounds =
            serde_json::from_str(r#"[{"kind": "at_most", "value": 1.5, "unit": "spread"}]"#)
                .unwrap();
        let kind = Inferred::CacheSize;
        program.infer = Some(Inference { kind, level });
        let launches: Vec<ProcessOutput> = curves.iter().map(launch).collect();
        replay_all(&program, 1, &launches)
    }

    #[test]
    fn figure_comes_from_all_curves() {
        let curve = recorded(0.0, 1.0);
        let b = replay(1, &vec![curve.clone(); 6]);
        assert_eq!((b.status, b.interference.is_disturbed), (Status::Ok, false), "{b:?}");
        let size = b.median.unwrap();
        assert!((32_768.0..40_960.0).contains(&size), "{size}");
        assert_eq!(b.confidence_interval, Some([size, size]));
        assert_eq!(b.interval_scope, Some(IntervalScope::BetweenLaunches));
        assert_eq!(b.details.samples, [size; 6]);
        assert_eq!((b.launches[5].median, b.launches[5].samples), (Some(size), 1));
        assert_eq!(b.notes, ["a load takes 1.08 ns within level 1, and 3.79 ns beyond"]);
        let curves = b.records.unpack().curves;
        assert_eq!(curves.len(), 6);
        let lowest = b.details.lowest_curve.unwrap();
        assert_eq!((lowest.x[0], lowest.ns[0]), (4096.0, 1.0847));
        assert!(lowest.ns.is_sorted());
        assert_eq!(curves[5], Curve { launch: 5, ..curve });
    }

    #[test]
    fn level_that_is_not_found_has_its_reason() {
        let b = replay(4, &[recorded(0.0, 1.0)]);
        assert_eq!((b.status, b.median), (Status::Invalid, None));
        let reason =
            "level 4 was not found in buffers of up to 128 MiB: a load takes 1.08 ns up to ";
        assert!(b.notes[0].to_string().starts_with(reason), "{:?}", b.notes);
    }

    /// In one launch the second cache seems to end at a quarter of its size, in the other at its
    /// end.
    #[test]
    fn launches_that_disagree_have_no_valid_figure() {
        let b = replay(2, &[recorded(0.0, 1.0), recorded(262_144.0, 3.0)]);
        assert_eq!(b.status, Status::Invalid);
        let [low, high] = b.confidence_interval.unwrap();
        assert!(high / low > 1.5, "{low} {high}");
        assert!(b.notes[0].to_string().starts_with("not known: "), "{:?}", b.notes);
    }
}
