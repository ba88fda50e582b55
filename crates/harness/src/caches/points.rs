//! The passes of a curve, and which of them a neighbour on the same core disturbed.

use yamba_discover::Pass;
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

/// The passes of a recorded curve. `quiet_width` is the width probe of an undisturbed core, in
/// cycles of 10 000 instructions. Without it, the sharp lower mode of the curve's own probes is the
/// quiet width, if there is one.
pub fn points(curve: &Curve, quiet_width: Option<f64>) -> Vec<Pass> {
    let width = quiet_width.or_else(|| own_quiet_width(curve));
    let is_near = |probe: f64, width: f64| (probe / width - 1.0).abs() <= WIDTH_TOLERANCE;
    let is_quiet = |place: usize| {
        let width = width?;
        let [before, after] = probes(curve, place);
        Some(!curve.is_divided(place) && is_near(before?, width) && is_near(after?, width))
    };
    let passes = curve.x.iter().zip(&curve.ns).enumerate();
    let usable = passes.filter(|(_, (x, ns))| **x > 0.0 && **ns > 0.0);
    usable
        .map(|(place, (x, ns))| Pass {
            x: *x,
            ns: *ns,
            cycle_ns: curve.cycle_ns.get(place).copied().flatten(),
            is_quiet: is_quiet(place),
        })
        .collect()
}

/// The probes before and after a pass.
fn probes(curve: &Curve, place: usize) -> [Option<f64>; 2] {
    [&curve.probes_before, &curve.probes_after].map(|all| all.get(place).copied().flatten())
}

fn own_quiet_width(curve: &Curve) -> Option<f64> {
    let places = (0..curve.x.len()).filter(|place| !curve.is_divided(*place));
    let all = places.flat_map(|place| probes(curve, place)).flatten();
    let probes: Vec<f64> = all.filter(|probe| *probe > 0.0).collect();
    let fewest = FEWEST_OF_LEVEL.max((LEAST_SHARE * probes.len() as f64) as usize);
    lower_mode(&probes, LEVEL, fewest, SHARP).map(|mode| mode.level)
}
