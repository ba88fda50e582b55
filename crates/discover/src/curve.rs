//! The passes of a curve, and the time of each point.

use std::collections::BTreeMap;

use yamba_stats::quantile;

/// Passes of a point count up to this quantile of their times: an interruption lengthens a pass,
/// and nothing shortens one.
const LOW: f64 = 0.25;

/// One pass of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// The point, in the unit of the curve.
    pub x: f64,
    /// Time of an operation, in ns.
    pub ns: f64,
    /// Length of a core cycle around the pass, in ns. `None` if it is unknown.
    pub cycle_ns: Option<f64>,
    /// Whether no other hardware thread used the core. `None` if it is unknown.
    pub is_quiet: Option<bool>,
}

/// The passes of one launch, in the order of measurement.
pub type Curve = Vec<Pass>;

/// The unit in which the times of a curve are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// The time of an operation, in ns.
    Ns,
    /// The time of an operation, in cycles.
    Cycles,
    /// The length of a cycle, in ns.
    CycleNs,
}

/// The points of a curve, ascending, each with its low quantile of the times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Points {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
}

impl Points {
    /// The points of all these passes together.
    pub fn of<'a>(passes: impl IntoIterator<Item = &'a Pass>, scale: Scale) -> Points {
        let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for pass in passes {
            let time = match scale {
                Scale::Ns => Some(pass.ns),
                Scale::CycleNs => pass.cycle_ns,
                Scale::Cycles => pass.cycle_ns.map(|cycle| pass.ns / cycle),
            };
            // The bits of positive numbers are ordered as the numbers.
            if let Some(time) = time.filter(|t| t.is_finite() && *t > 0.0 && pass.x >= 0.0) {
                times.entry(pass.x.to_bits()).or_default().push(time);
            }
        }
        let mut points = Points::default();
        for (x, times) in times {
            if let Some(time) = quantile(&times, LOW) {
                points.x.push(f64::from_bits(x));
                points.y.push(time);
            }
        }
        points
    }

    /// The time at a point.
    pub fn at(&self, x: f64) -> Option<f64> {
        let place = self.x.iter().position(|one| *one == x)?;
        Some(self.y[place])
    }
}
