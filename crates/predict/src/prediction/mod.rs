//! The predicted kernel time of a unit of work.
//!
//! `predicted_ns` is the sum of [`Product::product_ns`] and of [`Other::product_ns`]; `product.rs`
//! adds them up. A term is one of these:
//!
//! 1. **From benchmarks alone** (`"context": "benchmarks"`), in `plain.rs`:
//!
//!    ```text
//!    product_ns = count × cost_ns
//!    ```
//!
//!    - `count` is that of the vector (`vector/mod.rs`), after `--replace` and
//!      `--without-processes` (`change/mod.rs`), less the uses within other primitives
//!      (`costs/contained.rs`, listed as `contained`).
//!    - `cost_ns` is the median of a benchmark (`costs/from_run.rs`), on a line between its sizes
//!      (`costs/curve.rs`), with a switch if the call sleeps (`costs/blocked.rs`), halfway between
//!      the kinds if the kind is unknown (`costs/mod.rs`), times the factor of `--cost`. Which
//!      figures of several runs count is decided in `crates/session/src/costs/merged.rs`.
//!    - Without a cost, it is that of the null call, or unknown (`costs/mod.rs`).
//!
//! 2. **From traced times** (`"context": "traced"`), in `traced.rs`, for a use with a time:
//!
//!    ```text
//!    product_ns = own × ratio + (traced − own) × other   own = at most traced, count × cost there
//!    ```
//!
//!    - `traced` is `time_ns` of the vector, which `yamba trace` has scaled to the time without the
//!      tracer (`vector/rounds.rs`), or the time of another application (`--context`,
//!      `change/other_context.rs`).
//!    - `ratio` is the cost here divided by the cost there (`carry/scale.rs`), without the costs
//!      of contained primitives (`carry/own_cost.rs`); else that of a kind with a size, or of the
//!      primitive that contains this one (`TracedTimes::scale` in `carry/factor.rs`, named by
//!      `scaled_by`); else the mean of all (`mean_scale` there, `is_carried_over`).
//!    - `other` is how the excess over the benchmark changes (`Excess` in `carry/scale.rs`): 1 on
//!      the same processor; on another one √(ratio × that of cache misses), from
//!      `carry/misses.rs`, or `ratio` without costs of loads. On the machine of the trace, both
//!      are 1.
//!
//! 3. **From traced times, for a use without a time**, such as one that a change has added:
//!
//!    ```text
//!    product_ns = count × cost_ns × context_factor
//!    ```
//!
//!    - `context_factor` is how much longer similar calls take in the application than in
//!      benchmarks (`carry/factor.rs`).
//!
//! 4. **Other kernel time** (`other`): `kernel_ns` of the vector less its listed times
//!    (`carry/mod.rs`), times the mean ratio.
//!
//! 5. **Clock readings**, where they enter the kernel (`plain.rs`).
//!
//! `interval_ns` begins as that of the sum: half-widths of one curve are added, those of different
//! curves in quadrature (`product.rs`). Another kernel may add waits (`carry/waits.rs`). Spread and
//! border of the trace (`vector/rounds.rs`) widen it in quadrature ([`Prediction::widen`]). Work
//! that a change removes lowers the lower end (`traced.rs`). A term without an upper bound opens
//! the upper end (`unbounded`). Every constant is in `constants.rs`. With `--elapsed`,
//! `total/mod.rs` adds user time and waiting.

mod coverage;
pub mod file_time;
mod plain;
pub mod product;
pub mod several;
mod times;
pub mod total;
mod traced;
pub mod widths;

use serde::Serialize;
use yamba_record::number::listed;

use crate::carry::misses::LOAD;
use crate::carry::{Context, waits};
use crate::costs::Costs;
use crate::vector::rounds::Uncertainty;
use crate::vector::{Platform, Vector};
use coverage::{coverage, traced_coverage};
use product::{Other, Product, Terms, sum};
pub use times::{MeasuredTimes, PredictedUserTime, UserTime};
use total::Total;

/// Most primitives that a message names.
const NAMED: usize = 6;

/// The predicted kernel time of one unit of an application's work on one system.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Prediction {
    /// Name of the application.
    pub application: String,
    /// The unit of its work.
    pub unit: String,
    /// The time that is predicted: the kernel's, or that of Java's class library.
    pub platform: Platform,
    /// The system: the run that measured its costs.
    pub system: String,
    /// Predicted kernel time per unit, in ns.
    pub predicted_ns: f64,
    /// Interval of `predicted_ns`, from the intervals of the costs and the spread of the trace, if
    /// that is known. `None` on the system where the vector was traced, if it is unknown. The upper
    /// end is infinite, which is null in JSON, if `unbounded` has a reason.
    #[schemars(with = "Option<[Option<f64>; 2]>")]
    pub interval_ns: Option<[f64; 2]>,
    /// Why the kernel time has no upper bound: calls of unknown cost that may wait, and losses of
    /// the trace. Empty: it has one.
    pub unbounded: Vec<String>,
    /// The part of the interval that comes from the costs. It compares systems and versions, since
    /// the trace is common to them.
    #[serde(skip)]
    pub(crate) costs_interval_ns: [f64; 2],
    /// The origin of the times.
    #[serde(flatten)]
    pub origin: Origin,
    /// The terms of the sum.
    #[serde(flatten)]
    pub terms: Terms,
    /// User time per unit.
    #[serde(flatten)]
    pub user: UserTime,
    /// The elapsed and the processor time, with `--elapsed`.
    pub total: Option<Total>,
    /// The times that were measured on this system. `None`: not measured.
    #[serde(flatten)]
    pub measured: Option<MeasuredTimes>,
    /// The reasons to doubt the prediction.
    #[serde(flatten)]
    pub caveats: Caveats,
}

/// The origin of the times.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(tag = "context", rename_all = "snake_case")]
pub enum Origin {
    /// Uses times the costs of benchmarks. Such a prediction is usually too low: benchmarks find
    /// the processor's caches warm.
    Benchmarks {
        /// Why no traced times were used. `None`: the caller gave no reason.
        no_context: Option<String>,
    },
    /// Traced times, scaled by the ratio of the costs on the system to those where the vector was
    /// traced.
    Traced(TraceOrigin),
}

/// How a prediction uses traced times.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TraceOrigin {
    /// The run that stands for the machine of the trace.
    pub traced_on: String,
    /// Whether the costs are those of that run: the prediction is the traced time, apart from
    /// changes.
    pub is_as_traced: bool,
    /// The application whose trace says how long calls take (`--context`). `None`: the vector's own
    /// trace does.
    pub context_from: Option<String>,
    /// Whether calls were removed, replaced or added, or take the times of another application, or
    /// costs were changed.
    pub is_changed: bool,
    /// Half the width of the part of the interval that comes from the spread of the trace's rounds,
    /// as a share of `predicted_ns`. `None`: unknown, since the application was traced in one
    /// round.
    pub trace_spread: Option<f64>,
    /// Half the width of the part of the interval that comes from the border between user and
    /// kernel time in the trace, as a share of `predicted_ns`. `None`: unknown.
    pub trace_border: Option<f64>,
    /// By how much less the calls may take, in ns, since a change removes work that ran between
    /// them. The lower end of the interval is lower by it. `None`: no change removes kernel time.
    pub leaving_ns: Option<f64>,
}

/// A reason to doubt a prediction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Caveats {
    /// Whether some interval of the used costs covers its own launches only, and makes no claim
    /// about another run.
    pub is_within_launches: bool,
    /// The primitives with a cost from a disturbed figure, on the system or where the vector was
    /// traced. Such a cost may be wrong.
    pub disturbed: Vec<String>,
    /// How many waits for events the scheduler of another kernel may add. `None`: none, or the
    /// kernel has the same version.
    pub waits: Option<String>,
    /// Kernel time on this system that the prediction may lack.
    pub limits: Vec<String>,
    /// Entries of the system's run that were not used, with the reason, and limits of the costs.
    pub notes: Vec<String>,
}

/// Predicts the kernel time of `vector` on `system` from benchmarks alone.
///
/// # Errors
/// If nothing is used, if nothing is covered, if something is not and the null call has no cost, or
/// if the sum is 0 or infinite. The text names the primitives without a cost.
pub fn predict(vector: &Vector, system: &str, costs: &Costs) -> Result<Prediction, String> {
    let missing = |missing: Vec<String>| match missing.as_slice() {
        [] => "every count of the vector is 0".to_owned(),
        missing => {
            let named: Vec<String> = missing.iter().map(|name| costs.lacking(name)).collect();
            format!("{system} has no cost of {}", listed(&named, NAMED))
        }
    };
    let (mut products, contained) = plain::products(&vector.primitives, costs).map_err(missing)?;
    let coverage = coverage(vector, &products);
    products.extend(plain::clock_readings(vector, costs));
    let terms = Terms { primitives: products, contained, other: None, coverage };
    let origin = Origin::Benchmarks { no_context: None };
    let mut found = Prediction::new(vector, system, costs, origin, terms)?;
    found.caveats.limits.extend(plain::lacking_clock_readings(vector, costs));
    found.open_above();
    Ok(found)
}

/// Predicts the kernel time of `vector` on `system` from the traced times of `context`, which may
/// be those of the vector before changes.
///
/// # Errors
/// If nothing is used, if no traced primitive has a cost on both systems, if a use without a time
/// has no cost and the null call neither, or if the sum is 0 or infinite.
pub fn predict_in_context(
    vector: &Vector,
    context: &Context,
    system: &str,
    costs: &Costs,
) -> Result<Prediction, String> {
    let traced_on = &context.traced_on;
    let missing = |missing: Vec<String>| {
        let names = listed(&missing, NAMED);
        format!("{system} and {traced_on}, where it was traced, do not both have a cost of {names}")
    };
    let traced = traced::terms(&vector.primitives, context, costs).map_err(missing)?;
    let is_as_traced = context.systems(costs).is_same();
    // On the machine of the trace, clock readings took no kernel time, or are traced calls.
    let readings = plain::clock_readings(vector, costs).filter(|_| !is_as_traced);
    let readings_ns = readings.as_ref().map_or(0.0, |p| p.product_ns);
    let is_own = context.taken_from.is_none();
    let removes_or_adds = context.removed > 0.0 || context.differs_from(vector);
    let mut origin = TraceOrigin {
        traced_on: traced_on.clone(),
        is_as_traced,
        context_from: context.taken_from.clone(),
        is_changed: removes_or_adds || !is_own || costs.has_changes(),
        trace_spread: context.uncertainty.map(|trace| trace.spread),
        trace_border: context.uncertainty.and_then(|trace| trace.border),
        leaving_ns: None,
    };
    let terms = Terms {
        coverage: traced_coverage(&traced),
        primitives: traced.products.into_iter().chain(readings).collect(),
        contained: traced.contained,
        other: traced.other,
    };
    let as_traced = Origin::Traced(origin.clone());
    let mut found = Prediction::new(vector, system, costs, as_traced, terms)?;
    found.caveats.waits = waits::line(traced.further_waits, system, &vector.unit);
    found.add_caveats_of_trace(vector, context, costs);
    if is_as_traced {
        found.remove_intervals();
        found.set_user_time(vector.user_ns);
    }
    if let Some(uncertainty) = context.uncertainty {
        found.widen(uncertainty);
    }
    // The context of another application already lacks the removed work.
    if is_own && removes_or_adds {
        let after_ns = found.predicted_ns - readings_ns;
        origin.leaving_ns = traced::leaving_ns(&found.terms.primitives, after_ns, context, costs);
        found.lower(origin.leaving_ns.unwrap_or(0.0));
        found.origin = Origin::Traced(origin);
    }
    found.open_above();
    Ok(found)
}

impl Prediction {
    /// The sum of these terms, which must be a time.
    fn new(
        vector: &Vector,
        system: &str,
        costs: &Costs,
        origin: Origin,
        mut terms: Terms,
    ) -> Result<Prediction, String> {
        let (predicted_ns, interval_ns) = sum(&terms);
        if !(predicted_ns > 0.0 && predicted_ns.is_finite()) {
            return Err(format!("the sum on {system} is {predicted_ns} ns, which is no time"));
        }
        terms.primitives.sort_by(|a, b| b.product_ns.total_cmp(&a.product_ns));
        let products = &terms.primitives;
        let mut unbounded = vector.losses();
        unbounded.extend(unknown(products, false));
        unbounded.extend(unknown(products, true));
        let caveats = Caveats {
            is_within_launches: products.iter().any(|p| costs.is_within_launches(p.curve())),
            disturbed: costs.disturbed_among(products.iter().map(Product::curve)),
            notes: costs.left_out.clone(),
            ..Caveats::default()
        };
        Ok(Prediction {
            application: vector.application.clone(),
            unit: vector.unit.clone(),
            platform: vector.platform(),
            system: system.to_owned(),
            predicted_ns,
            interval_ns: Some(interval_ns),
            unbounded,
            costs_interval_ns: interval_ns,
            origin,
            terms,
            user: UserTime { user_ns: vector.user_ns, ..UserTime::default() },
            total: None,
            measured: None,
            caveats,
        })
    }

    /// How the prediction uses traced times. `None`: it is from benchmarks alone.
    pub fn trace(&self) -> Option<&TraceOrigin> {
        match &self.origin {
            Origin::Traced(trace) => Some(trace),
            Origin::Benchmarks { .. } => None,
        }
    }

    /// Whether the costs are those of the machine of the trace.
    pub fn is_as_traced(&self) -> bool {
        self.trace().is_some_and(|trace| trace.is_as_traced)
    }

    /// Adds what may be wrong with the costs of the machine of the trace.
    fn add_caveats_of_trace(&mut self, vector: &Vector, context: &Context, costs: &Costs) {
        let (reference, caveats) = (&context.times.costs, &mut self.caveats);
        let curves = || self.terms.primitives.iter().map(Product::curve);
        caveats.notes.extend(context.notes(costs));
        if !context.systems(costs).is_same() {
            caveats.limits.extend(plain::lacking_clock_readings(vector, costs));
            caveats.limits.extend(context.systems(costs).other_page_faults());
        }
        caveats.is_within_launches |= curves().any(|curve| reference.is_within_launches(curve));
        caveats.disturbed.extend(reference.disturbed_among(curves()));
        let systems = context.systems(costs);
        if !systems.have_same_processor() && systems.ratio_of_misses().is_some() {
            for own in [systems.from, systems.to] {
                caveats.disturbed.extend(own.disturbed_among([LOAD].into_iter()));
            }
        }
        caveats.disturbed.sort_unstable();
        caveats.disturbed.dedup();
    }

    /// The times are those of a trace: no cost makes them uncertain. Estimates from other uses keep
    /// the intervals of their costs.
    fn remove_intervals(&mut self) {
        self.interval_ns = None;
        self.caveats.is_within_launches = false;
        let products = self.terms.primitives.iter_mut();
        let traced = products.filter(|p| !p.marks.is_factor_of_others);
        let other = self.terms.other.iter_mut().map(|o: &mut Other| &mut o.interval_ns);
        traced.map(|p| &mut p.interval_ns).chain(other).for_each(|interval| *interval = None);
    }

    /// Adds the uncertainty of the trace to the interval. Costs, spread of the rounds and border
    /// between user and kernel time count as independent: their half-widths are added in
    /// quadrature.
    fn widen(&mut self, trace: Uncertainty) {
        let ns = self.predicted_ns;
        let [low, high] = self.interval_ns.unwrap_or_else(|| sum(&self.terms).1);
        let half = ns * trace.half_width();
        self.interval_ns = Some([(ns - half.hypot(ns - low)).max(0.0), ns + half.hypot(high - ns)]);
    }

    /// Lowers the lower end of the interval.
    fn lower(&mut self, ns: f64) {
        if let Some([low, _]) = &mut self.interval_ns {
            *low = (*low - ns).max(0.0);
        }
    }

    /// Removes the upper end of the interval if the kernel time has no upper bound.
    fn open_above(&mut self) {
        if let Some([_, high]) = self.interval_ns.as_mut().filter(|_| !self.unbounded.is_empty()) {
            *high = f64::INFINITY;
        }
    }
}

/// Names the terms whose time is unknown, since they may wait or their benchmark was not measured.
/// `None`: no such term.
fn unknown(products: &[Product], are_unmeasured: bool) -> Option<String> {
    let is_it = |p: &&Product| p.is_unknown && p.marks.is_unmeasured == are_unmeasured;
    let label = |p: &Product| p.label() + if p.marks.lacks_size { " without a size" } else { "" };
    let names: Vec<String> = products.iter().filter(is_it).map(label).collect();
    let names = (!names.is_empty()).then(|| listed(&names, NAMED))?;
    Some(if are_unmeasured {
        format!(
            "{names}: not measured on this system yet, so that their time is not in the prediction"
        )
    } else {
        format!("no cost is known of {names}, which may wait: their time is not in the prediction")
    })
}
