//! Several predictions: their document, the order of systems, and the ratio of versions.

use serde::Serialize;

use super::Prediction;
use super::file_time::FileTime;
use super::total::{Time, Total};

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

/// One system in the order of an application's predicted time.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// The application.
    pub application: String,
    /// The system.
    pub system: String,
    /// Predicted kernel time per unit, in ns.
    pub predicted_ns: f64,
    /// Predicted user time per unit, in ns, if it is known for all systems. Without elapsed times,
    /// the order is that of the sum.
    pub predicted_user_ns: Option<f64>,
    /// Predicted elapsed time per unit, in ns, if it is known for all systems. The order is then
    /// that of the elapsed time.
    pub predicted_elapsed_ns: Option<f64>,
    /// Whether this system and those before it are known to be faster than all later ones: no
    /// intervals of the two groups overlap, and no time may be missing in those of the first group.
    /// `None` for the last one.
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
    /// The interval of an elapsed time is unknown: the application was traced in one round.
    IntervalUnknown,
    /// The prediction for this system or for one before it may lack time (`limits`, `unbounded`,
    /// `not_predicted`).
    MayLackTime,
}

/// The time by which systems are ordered.
#[derive(Clone, Copy)]
enum By {
    Kernel,
    KernelAndUser,
    Elapsed,
}

/// The predictions of one application, the fastest system first: by elapsed time if that is known
/// for all, else by kernel time, or by the sum with user time.
pub fn ranked(predictions: &[&Prediction]) -> Vec<Place> {
    let has = |time: fn(&Prediction) -> bool| predictions.iter().all(|p| time(p));
    let has_user = has(|p| p.user.predicted.is_some());
    let by = if has(|p| elapsed(p).is_some()) {
        By::Elapsed
    } else if has_user {
        By::KernelAndUser
    } else {
        By::Kernel
    };
    let mut order: Vec<(&Prediction, Comparable)> =
        predictions.iter().map(|p| (*p, Comparable::new(p, by))).collect();
    order.sort_by(|a, b| a.1.ns.total_cmp(&b.1.ns));
    let place = |(index, (p, _)): (usize, &(&Prediction, Comparable))| {
        let is_last = index + 1 == order.len();
        let (fast, slow) = order.split_at(index + 1);
        let unclear = unclear(fast, slow).filter(|_| !is_last);
        let user = p.user.predicted.as_ref().filter(|_| has_user);
        let elapsed = elapsed(p).filter(|_| matches!(by, By::Elapsed));
        Place {
            application: p.application.clone(),
            system: p.system.clone(),
            predicted_ns: p.predicted_ns,
            predicted_user_ns: user.map(|user| user.ns),
            predicted_elapsed_ns: elapsed.map(|time| time.ns),
            is_before_later: (!is_last).then_some(unclear.is_none()),
            unclear,
        }
    };
    order.iter().enumerate().map(place).collect()
}

/// Why the systems of the first group are not known to be faster. `None`: they are.
fn unclear(
    fast: &[(&Prediction, Comparable)],
    slow: &[(&Prediction, Comparable)],
) -> Option<Unclear> {
    let ends = |group: &[(&Prediction, Comparable)]| -> Option<Vec<[f64; 2]>> {
        group.iter().map(|(_, time)| time.ends).collect()
    };
    let Some((first, later)) = ends(fast).zip(ends(slow)) else {
        return Some(Unclear::IntervalUnknown);
    };
    let latest = first.iter().map(|ends| ends[1]).filter(|end| end.is_finite()).fold(0.0, f64::max);
    if later.iter().any(|ends| latest >= ends[0]) {
        return Some(Unclear::IntervalsOverlap);
    }
    fast.iter().any(|(_, time)| time.may_lack).then_some(Unclear::MayLackTime)
}

fn elapsed(prediction: &Prediction) -> Option<&Time> {
    prediction.total.as_ref()?.elapsed.as_ref()
}

/// A time of one system that is compared with those of others.
struct Comparable {
    ns: f64,
    /// `None`: unknown.
    ends: Option<[f64; 2]>,
    may_lack: bool,
}

impl Comparable {
    fn new(p: &Prediction, by: By) -> Comparable {
        let may_lack = !(p.caveats.limits.is_empty() && p.unbounded.is_empty());
        let of_kernel =
            Comparable { ns: p.predicted_ns, ends: Some(p.costs_interval_ns), may_lack };
        match (by, elapsed(p).zip(p.total.as_ref()), &p.user.predicted) {
            (By::Elapsed, Some((time, total)), _) => Comparable {
                ns: time.ns,
                ends: time.interval_ns,
                may_lack: may_lack || total.lacks_elapsed_time(),
            },
            (By::KernelAndUser, _, Some(user)) => {
                // The user time of the trace is the same for all systems, so it has no interval.
                let of_user = user.interval_ns.unwrap_or([user.ns; 2]);
                let [low, high] = p.costs_interval_ns;
                let ends = Some([low + of_user[0], high + of_user[1]]);
                Comparable { ns: p.predicted_ns + user.ns, ends, ..of_kernel }
            }
            _ => of_kernel,
        }
    }
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
    /// r': `speedup` with the base's user time added to both: that predicted on the system, or else
    /// that of the trace. `None` if both are unknown.
    pub with_user_time: Option<f64>,
}

/// The ratio of two predictions on one system.
pub fn ratio(version: &Prediction, base: &Prediction) -> Ratio {
    let speedup = base.predicted_ns / version.predicted_ns;
    let user_ns = base.user.predicted.as_ref().map(|user| user.ns).or(base.user.user_ns);
    let user = user_ns.map(|ns| ns / base.predicted_ns);
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
