//! User time, and measured times beside a prediction.

use serde::Serialize;

use super::widths::Widths;
use super::{Prediction, TraceOrigin};
use crate::carry::pair::Pair;
use crate::carry::user_scale::UserScale;
use crate::carry::{neighbours, starts, user_work};
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
    /// Why user time could not be computed from the counted work, or what this work lacks. `None`:
    /// nothing, or the vector has no counted work.
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
    /// counted work, and from the spread of the trace and its border of user and kernel time.
    /// `None`: as traced.
    #[serde(rename = "predicted_user_interval_ns")]
    pub interval_ns: Option<[f64; 2]>,
    /// The half-widths of the interval by their sources.
    #[serde(skip)]
    pub(crate) widths: Option<Widths>,
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

    /// Sets the user time per unit to that of the vector, scaled by the figure of a benchmark from
    /// the machine of the trace to this system. The last argument has the costs of both. Does
    /// nothing without a user time.
    pub fn set_scaled_user_time(
        &mut self,
        vector: &Vector,
        scale: UserScale,
        benchmark: &str,
        [from, to]: [&Costs; 2],
    ) {
        let systems = Pair { from, to };
        let Some(user_ns) = vector.user_ns else {
            return;
        };
        let lengthenings = neighbours::lengthenings(systems);
        let scale = scale.beside(lengthenings);
        self.user.remark = neighbours::remark(lengthenings);
        let ends = scale.interval.map(|end| user_ns * end);
        self.user.predicted = Some(PredictedUserTime {
            scaled_by: Some(benchmark.to_owned()),
            ..self.carried_user_time(vector, user_ns * scale.ratio, ends)
        });
    }

    /// A user time on another machine, whose interval is `ends` apart from the trace.
    fn carried_user_time(&self, vector: &Vector, ns: f64, ends: [f64; 2]) -> PredictedUserTime {
        let mut widths = Widths::from_source("scale of user time", [ns - ends[0], ends[1] - ns]);
        self.add_trace_of_user_time(&mut widths, vector, ns);
        PredictedUserTime {
            interval_ns: Some(widths.interval(ns)),
            widths: Some(widths),
            ..self.user_time(ns)
        }
    }

    /// Adds the half-widths of a user time that come from the trace. The border between user and
    /// kernel time has the opposite sign in the kernel time.
    pub(super) fn add_trace_of_user_time(&self, widths: &mut Widths, vector: &Vector, ns: f64) {
        let trace = self.trace();
        let of = |share: fn(&TraceOrigin) -> Option<f64>| trace.and_then(share).unwrap_or(0.0);
        let [spread, border] = self.sources_of_trace();
        let ratio = vector.user_ns.filter(|own| *own > 0.0).map_or(1.0, |own| ns / own);
        let border_ns = of(|trace| trace.trace_border) * vector.kernel_ns.unwrap_or(0.0);
        widths.add(&spread, [ns * of(|trace| trace.trace_spread); 2]);
        widths.add(&border, [-ratio * border_ns; 2]);
    }

    /// The sources of half-widths that all processor times of a trace have in common: its spread,
    /// and the border of user and kernel time.
    pub(super) fn sources_of_trace(&self) -> [String; 2] {
        ["spread of the trace of", "border of user and kernel time of"]
            .map(|source| format!("{source} {}", self.application))
    }

    /// Sets the user time per unit by the counted work of the vector, from the machine of the trace
    /// to this system, if both have the costs. Otherwise a remark says what is missing. Does
    /// nothing without counts. `traced` is the vector without changes of its calls.
    pub fn set_user_time_by_work(
        &mut self,
        vector: &Vector,
        traced: &Vector,
        from: &Costs,
        to: &Costs,
    ) {
        let (Some(work), Some(user_ns)) = (&vector.user_work, vector.user_ns) else {
            return;
        };
        let systems = Pair { from, to };
        let started = Pair { from: traced, to: vector }.map(|v| starts::starts(&v.primitives));
        match user_work::user_time(work, started, user_ns, systems) {
            Ok(found) => {
                self.user.predicted = Some(PredictedUserTime {
                    is_by_work: true,
                    ..self.carried_user_time(traced, found.ns, found.interval_ns)
                });
                let unknown = (found.explained < 1.0).then(|| {
                    format!(
                        "the counted work takes at most {:.0} % of the traced user time; the rest is scaled as instructions are, and its interval reaches over the ratios of all costs",
                        100.0 * found.explained
                    )
                });
                let start = starts::lack_a_cost(started, systems).then(|| {
                    format!(
                        "the start of programs is scaled as other instructions are, and the interval does not cover that: it needs the cost of {} on both machines",
                        starts::START
                    )
                });
                let beside = neighbours::remark(neighbours::lengthenings(systems));
                let remarks: Vec<String> = unknown.into_iter().chain(start).chain(beside).collect();
                self.user.remark = (!remarks.is_empty()).then(|| remarks.join("; "));
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
            widths: None,
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
