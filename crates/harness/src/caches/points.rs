//! The passes of a curve, and which of them a neighbour on the same core disturbed.

use yamba_record::event::Curve;
use yamba_stats::lower_mode;

/// A probe is quiet within this share of the quiet width, as for batches.
const WIDTH_TOLERANCE: f64 = 0.02;

/// Relative width of a level of the probes, its fewest probes as a number and as a share, and its
/// least sharpness.
const LEVEL: f64 = 0.01;
const FEWEST_OF_LEVEL: usize = 10;
const LEAST_SHARE: f64 = 0.04;
const SHARP: f64 = 0.5;

/// One pass of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The point: for load latencies the bytes of the buffer.
    pub bytes: f64,
    /// Time of an operation.
    pub ns: f64,
    /// Length of a core cycle in ns, if it is known.
    pub cycle_ns: Option<f64>,
    /// Whether another hardware thread used the core before or after the pass. `None` if unknown.
    pub is_contended: Option<bool>,
}

/// The passes of a recorded curve. `quiet_width` is the width probe of an undisturbed core, in
/// cycles of 10 000 instructions. Without it, the sharp lower mode of the curve's own probes is the
/// quiet width, if there is one.
pub fn points(curve: &Curve, quiet_width: Option<f64>) -> Vec<CurvePoint> {
    let width = quiet_width.or_else(|| own_quiet_width(curve));
    let probes = |place: usize| {
        let probe = |of: &[Option<f64>]| of.get(place).copied().flatten();
        [probe(&curve.probes_before), probe(&curve.probes_after)]
    };
    let is_quiet = |probe: f64, width: f64| (probe / width - 1.0).abs() <= WIDTH_TOLERANCE;
    let is_contended = |place: usize| {
        let width = width?;
        let [before, after] = probes(place);
        Some(!(is_quiet(before?, width) && is_quiet(after?, width)))
    };
    let passes = curve.x.iter().zip(&curve.ns).enumerate();
    let usable = passes.filter(|(_, (bytes, ns))| **bytes > 0.0 && **ns > 0.0);
    usable
        .map(|(place, (bytes, ns))| CurvePoint {
            bytes: *bytes,
            ns: *ns,
            cycle_ns: curve.cycle_ns.get(place).copied().flatten(),
            is_contended: is_contended(place),
        })
        .collect()
}

fn own_quiet_width(curve: &Curve) -> Option<f64> {
    let probes = curve.probes_before.iter().chain(&curve.probes_after);
    let probes: Vec<f64> = probes.flatten().copied().filter(|p| *p > 0.0).collect();
    let fewest = FEWEST_OF_LEVEL.max((LEAST_SHARE * probes.len() as f64) as usize);
    lower_mode(&probes, LEVEL, fewest, SHARP).map(|mode| mode.level)
}
