//! User time, and measured times beside a prediction.

use serde::Serialize;

use super::Prediction;
use crate::carry::pair::Pair;
use crate::carry::user_work;
use crate::costs::Costs;
use crate::vector::Vector;

/// User time per unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UserTime {
    /// User time per unit where the vector was taken, in ns.
    pub user_ns: Option<f64>,
    /// User time on the system. `None`: it is not predicted.
    #[serde(flatten)]
    pub predicted: Option<PredictedUserTime>,
    /// Why user time could not be computed from the counted work, or the share of the traced user
    /// time that this work can take. `None`: all of it, or the vector has no counted work.
    #[serde(rename = "user_remark", skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// User time on a system: as traced, scaled by a figure that the user named, or computed from
/// `user_work` of the vector.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PredictedUserTime {
    /// User time per unit on this system, in ns.
    #[serde(rename = "predicted_user_ns")]
    pub ns: f64,
    /// Interval of `predicted_user_ns`, from the intervals of the figure or of the costs of the
    /// counted work. `None`: as traced.
    #[serde(rename = "predicted_user_interval_ns")]
    pub interval_ns: Option<[f64; 2]>,
    /// The benchmark whose figure scaled the user time from the machine of the trace.
    #[serde(rename = "user_scaled_by")]
    pub scaled_by: Option<String>,
    /// Whether the time was computed from `user_work` of the vector.
    #[serde(rename = "user_by_work")]
    pub is_by_work: bool,
    /// Units of work per second of one core: 1e9 / (`predicted_ns` + `predicted_user_ns`).
    pub per_second_and_core: f64,
}

/// The measured times of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MeasuredTimes {
    /// Kernel time per unit on this system, in ns.
    #[serde(rename = "measured_ns")]
    pub kernel_ns: f64,
    /// The part of `measured_ns` that clock ticks count, in ns. The rest is the last part of each
    /// call and page fault, in which Linux takes no tick. `None`: not measured by ticks.
    #[serde(rename = "measured_by_ticks_ns")]
    pub by_ticks_ns: Option<f64>,
    /// Interval of `measured_ns`. It covers the error of the kernel's clock-tick accounting.
    #[serde(rename = "measured_interval_ns")]
    pub interval_ns: [f64; 2],
    /// User time per unit on this system, in ns.
    #[serde(rename = "measured_user_ns")]
    pub user_ns: f64,
    /// Elapsed time per unit on this system, in ns. `None`: not measured, as for a server.
    #[serde(rename = "measured_elapsed_ns")]
    pub elapsed_ns: Option<f64>,
    /// Number of units in the measurement, such as requests.
    #[serde(rename = "measured_units")]
    pub units: f64,
    /// `predicted_ns` divided by `measured_ns`, less 1. `None`: `measured_ns` is 0.
    pub error: Option<f64>,
}

impl Prediction {
    /// Sets the user time per unit on this system to that of the trace, in ns, if it is known.
    pub fn set_user_time(&mut self, user_ns: Option<f64>) {
        self.user.predicted = user_ns.map(|ns| self.user_time(ns));
    }

    /// Sets the user time per unit to one that the figure of a benchmark has scaled, in ns.
    pub fn set_scaled_user_time(&mut self, ns: f64, interval_ns: [f64; 2], benchmark: &str) {
        self.user.predicted = Some(PredictedUserTime {
            interval_ns: Some(interval_ns),
            scaled_by: Some(benchmark.to_owned()),
            ..self.user_time(ns)
        });
    }

    /// Sets the user time per unit by the counted work of the vector, from the machine of the trace
    /// to this system, if both have the costs. Otherwise a remark says what is missing. Does
    /// nothing without counts.
    pub fn set_user_time_by_work(&mut self, vector: &Vector, from: &Costs, to: &Costs) {
        let (Some(work), Some(user_ns)) = (&vector.user_work, vector.user_ns) else {
            return;
        };
        match user_work::user_time(work, user_ns, Pair { from, to }) {
            Ok(found) => {
                self.user.predicted = Some(PredictedUserTime {
                    interval_ns: Some(found.interval_ns),
                    is_by_work: true,
                    ..self.user_time(found.ns)
                });
                if found.explained < 1.0 {
                    self.user.remark = Some(format!(
                        "the counted work takes at most {:.0} % of the traced user time; the rest is scaled as instructions are, and its interval reaches over the ratios of all costs",
                        100.0 * found.explained
                    ));
                }
                let mut used = user_work::NAMES.iter().flat_map(|name| [(from, name), (to, name)]);
                self.caveats.is_within_launches |=
                    used.any(|(costs, name)| costs.is_within_launches(name));
                for costs in [from, to] {
                    let names = user_work::NAMES.into_iter();
                    self.caveats.disturbed.extend(costs.disturbed_among(names));
                }
                self.caveats.disturbed.sort_unstable();
                self.caveats.disturbed.dedup();
            }
            Err(reason) => {
                self.user.remark = Some(format!("user time is not predicted: {reason}"));
            }
        }
    }

    fn user_time(&self, ns: f64) -> PredictedUserTime {
        PredictedUserTime {
            ns,
            interval_ns: None,
            scaled_by: None,
            is_by_work: false,
            per_second_and_core: 1e9 / (self.predicted_ns + ns),
        }
    }

    /// Puts the measured times of a unit beside the prediction, and computes its error.
    pub fn compare_with(&mut self, measured: MeasuredTimes) {
        let error =
            (measured.kernel_ns > 0.0).then(|| self.predicted_ns / measured.kernel_ns - 1.0);
        self.measured = Some(MeasuredTimes { error, ..measured });
    }
}
