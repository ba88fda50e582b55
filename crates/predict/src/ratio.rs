//! The ratio of two versions of an application on one system.

use serde::Serialize;

use crate::Prediction;

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
    let user = base.user_ns.map(|user| user / base.predicted_ns);
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
    let (Some([low, high]), Some(of_base)) = (version.interval_ns, base.interval_ns) else {
        return [None, None];
    };
    [Some(of_base[0] / high), (low > 0.0 && of_base[1].is_finite()).then(|| of_base[1] / low)]
}

/// r' = (1 + u/s1) / (1/r + u/s1), where u is the user time of both versions, and s1 the kernel
/// time of the base (HBench thesis, 6.3.3).
pub fn with_user_time(r: f64, user_by_kernel: f64) -> f64 {
    (1.0 + user_by_kernel) / (1.0 / r + user_by_kernel)
}
