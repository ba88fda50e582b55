//! Several predictions: their document, the order of systems, and the ratio of versions.

use serde::Serialize;

use super::Prediction;
use super::file_time::FileTime;
use super::total::Total;

/// Predictions of some applications on some systems.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Predictions {
    /// Schema of the document.
    #[schemars(extend("const" = "yamba-predict/1"))]
    pub schema: &'static str,
    /// One prediction per application and system.
    pub predictions: Vec<Prediction>,
    /// For each application on several systems: the systems, the fastest first.
    pub ranking: Vec<Place>,
    /// With `--against`: the speedup of each application over the given one, on each system.
    pub ratios: Vec<Ratio>,
    /// With `--elapsed` and several applications: the sum of their totals on each system.
    pub sums: Vec<Total>,
    /// With `--files`: the time of file reads for each size of memory and system.
    pub file_times: Vec<FileTime>,
}

impl Default for Predictions {
    fn default() -> Predictions {
        Predictions {
            schema: "yamba-predict/1",
            predictions: Vec::new(),
            ranking: Vec::new(),
            ratios: Vec::new(),
            sums: Vec::new(),
            file_times: Vec::new(),
        }
    }
}

/// One system in the order of an application's predicted kernel time.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// The application.
    pub application: String,
    /// The system.
    pub system: String,
    /// Predicted kernel time per unit, in ns.
    pub predicted_ns: f64,
    /// Predicted user time per unit, in ns, if it is known for all systems. The order is then that
    /// of the sum.
    pub predicted_user_ns: Option<f64>,
    /// Whether this system and those before it are known to be faster than all later ones: no
    /// intervals of the two groups overlap, and no kernel time may be missing in those of the first
    /// group. `None` for the last one.
    pub is_before_later: Option<bool>,
    /// Why `is_before_later` is false. `None`: it is not.
    pub unclear: Option<Unclear>,
}

/// Why a system is not known to be faster than later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unclear {
    /// The intervals of this system or of those before it overlap with those of later ones.
    IntervalsOverlap,
    /// The prediction for this system or for one before it may lack kernel time (`limits`,
    /// `unbounded`).
    MayLackTime,
}

/// The predictions of one application, the fastest system first: by kernel time, and by the sum
/// with user time if that is known for all.
pub fn ranked(predictions: &[&Prediction]) -> Vec<Place> {
    let has_user = predictions.iter().all(|p| p.user.predicted.is_some());
    let user = |p: &Prediction| p.user.predicted.as_ref().filter(|_| has_user).map(|user| user.ns);
    let time = |p: &Prediction| p.predicted_ns + user(p).unwrap_or(0.0);
    let end = |p: &Prediction, side: usize| p.costs_interval_ns[side] + user_end(p, side, has_user);
    let mut order = predictions.to_vec();
    order.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let unclear = |later: usize| {
        let (fast, slow) = order.split_at(later);
        let latest = fast.iter().map(|p| end(p, 1)).fold(0.0, f64::max);
        if slow.iter().any(|p| latest >= end(p, 0)) {
            Some(Unclear::IntervalsOverlap)
        } else {
            let may_lack =
                fast.iter().any(|p| !(p.caveats.limits.is_empty() && p.unbounded.is_empty()));
            may_lack.then_some(Unclear::MayLackTime)
        }
    };
    let place = |(index, p): (usize, &&Prediction)| {
        let is_last = index + 1 == order.len();
        let unclear = unclear(index + 1).filter(|_| !is_last);
        Place {
            application: p.application.clone(),
            system: p.system.clone(),
            predicted_ns: p.predicted_ns,
            predicted_user_ns: user(p),
            is_before_later: (!is_last).then_some(unclear.is_none()),
            unclear,
        }
    };
    order.iter().enumerate().map(place).collect()
}

/// One end of the user time's interval. The user time of the trace is the same for all systems, so
/// it has none there.
fn user_end(prediction: &Prediction, side: usize, has_user: bool) -> f64 {
    let known = prediction.user.predicted.as_ref().filter(|_| has_user);
    known.map_or(0.0, |user| user.interval_ns.map_or(user.ns, |ends| ends[side]))
}

/// How much faster a version is than another one.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Ratio {
    /// The system.
    pub system: String,
    /// The version that is the base of the ratio.
    pub base: String,
    /// The other version.
    pub version: String,
    /// r: kernel time of the base divided by kernel time of the version.
    pub speedup: f64,
    /// Interval of `speedup`, from the far ends of both predictions. It is too wide rather than too
    /// narrow: both use the same costs. The upper end is `None` if the version's time may be 0, or
    /// that of the base has no upper bound. Both ends are `None` on the system where the vectors
    /// were traced.
    pub interval: [Option<f64>; 2],
    /// r': `speedup` with the base's user time added to both. `None` if the base's user time is
    /// unknown.
    pub with_user_time: Option<f64>,
}

/// The ratio of two predictions on one system.
pub fn ratio(version: &Prediction, base: &Prediction) -> Ratio {
    let speedup = base.predicted_ns / version.predicted_ns;
    let user = base.user.user_ns.map(|user| user / base.predicted_ns);
    Ratio {
        system: version.system.clone(),
        base: base.application.clone(),
        version: version.application.clone(),
        speedup,
        interval: interval(version, base),
        with_user_time: user.map(|user| with_user_time(speedup, user)),
    }
}

fn interval(version: &Prediction, base: &Prediction) -> [Option<f64>; 2] {
    let (Some([low, high]), Some([base_low, base_high])) = (version.interval_ns, base.interval_ns)
    else {
        return [None, None];
    };
    [Some(base_low / high), (low > 0.0 && base_high.is_finite()).then(|| base_high / low)]
}

/// r' = (1 + u/s1) / (1/r + u/s1), where u is the user time of both versions, and s1 the kernel
/// time of the base (HBench thesis, 6.3.3).
pub fn with_user_time(r: f64, user_by_kernel: f64) -> f64 {
    (1.0 + user_by_kernel) / (1.0 / r + user_by_kernel)
}
