//! The predicted kernel time of a unit of work: the dot product of the application's vector and the
//! system's costs.

use serde::Serialize;

use crate::clock::{self, lacking};
use crate::contained::Within;
use crate::context::Context;
use crate::cost::Costs;
use crate::leaving::leaving_ns;
use crate::plain;
use crate::product::{Other, Product, sum};
use crate::rounds::Uncertainty;
use crate::traced::{self, Terms};
use crate::vector::{Platform, Use, Vector};
use crate::waits;

/// The origin of the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Uses times the costs of benchmarks. Such a prediction is usually too low: benchmarks find
    /// the processor's caches warm.
    Benchmarks,
    /// Traced times, scaled by the ratio of the costs on the system to those where the vector was
    /// traced.
    Traced,
}

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
    /// The interval that compares systems and versions: the costs' part alone.
    #[serde(skip)]
    pub(crate) of_costs_ns: [f64; 2],
    /// The origin of the times.
    pub context: Basis,
    /// Half the width of the part of the interval that comes from the spread of the trace's rounds,
    /// as a share of `predicted_ns`. `None`: unknown, since the application was traced in one
    /// round.
    pub trace_spread: Option<f64>,
    /// Half the width of the part of the interval that comes from the border between user and
    /// kernel time in the trace, as a share of `predicted_ns`. `None`: unknown.
    pub trace_border: Option<f64>,
    /// By how much less the calls may take, in ns, since a change removes work that ran between
    /// them. The lower end of the interval is lower by it. `None`: no change removes kernel time,
    /// or the prediction is from benchmarks alone.
    pub leaving_ns: Option<f64>,
    /// The application whose trace says how long calls take (`--context`). `None`: the vector's own
    /// trace does.
    pub context_from: Option<String>,
    /// Whether calls were removed, replaced or added, or take the times of another application.
    pub is_changed: bool,
    /// Whether the costs are those of the run that stands for the machine of the trace: the
    /// prediction is the traced time, apart from changes.
    pub is_as_traced: bool,
    /// The run that stands for the machine of the trace. `None`: the prediction is from benchmarks
    /// alone.
    pub traced_on: Option<String>,
    /// Why the prediction is from benchmarks alone.
    pub no_context: Option<String>,
    /// Measured kernel time per unit on this system, in ns. `None`: not measured.
    pub measured_ns: Option<f64>,
    /// The part of `measured_ns` that clock ticks count, in ns. The rest is the last part of each
    /// call and page fault, in which Linux takes no tick. `None`: not measured, or not by ticks.
    pub measured_by_ticks_ns: Option<f64>,
    /// Interval of `measured_ns`. It covers the error of the kernel's clock-tick accounting.
    pub measured_interval_ns: Option<[f64; 2]>,
    /// Measured user time per unit on this system, in ns.
    pub measured_user_ns: Option<f64>,
    /// Number of units in the measurement, such as requests.
    pub measured_units: Option<f64>,
    /// `predicted_ns` divided by `measured_ns`, less 1.
    pub error: Option<f64>,
    /// The share of the vector that has costs of its own.
    pub coverage: Coverage,
    /// The products, the largest first.
    pub primitives: Vec<Product>,
    /// Uses that are part of another primitive's cost.
    pub contained: Vec<Within>,
    /// Traced kernel time outside of these primitives. `None`: unknown, or the prediction is from
    /// benchmarks alone.
    pub other: Option<Other>,
    /// User time per unit where the vector was taken, in ns.
    pub user_ns: Option<f64>,
    /// User time per unit on this system, in ns: as traced, or scaled by a figure that the user
    /// named. `None`: unknown.
    pub predicted_user_ns: Option<f64>,
    /// Interval of `predicted_user_ns`, from the intervals of that figure. `None`: unknown.
    pub predicted_user_interval_ns: Option<[f64; 2]>,
    /// The benchmark whose figure scaled the user time from the machine of the trace.
    pub user_scaled_by: Option<String>,
    /// Units of work per second of one core: 1e9 / (`predicted_ns` + `predicted_user_ns`). `None`:
    /// the user time is unknown.
    pub per_second_and_core: Option<f64>,
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

/// Shares from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Coverage {
    /// Share of the uses that have a cost of their own, or are part of a use that has. The others
    /// are charged as a null call, or their time is carried over. `None` if there are no uses.
    pub calls: Option<f64>,
    /// Share of the traced kernel time in them, including time outside the listed primitives if the
    /// vector has its whole kernel time. `None` if the vector does not have the time of each
    /// primitive.
    pub kernel_time: Option<f64>,
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
            format!("{system} has no cost of {}", listed(&named))
        }
    };
    let (mut products, contained) = plain::products(&vector.primitives, costs).map_err(missing)?;
    let coverage = coverage(vector, &products);
    products.extend(clock::product(vector, costs));
    let whole = Prediction {
        contained,
        coverage,
        limits: lacking(vector, costs).into_iter().collect(),
        ..Prediction::of(vector, system, costs)
    };
    let mut found = whole.summed(products, costs)?;
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
        let names = listed(&missing);
        format!("{system} and {traced_on}, where it was traced, do not both have a cost of {names}")
    };
    let terms = traced::terms(&vector.primitives, context, costs).map_err(missing)?;
    let whole = Prediction {
        coverage: terms.coverage(),
        contained: terms.contained,
        other: terms.other,
        waits: waits::line(terms.further_waits, system, &vector.unit),
        context: Basis::Traced,
        is_as_traced: context.systems(costs).is_same(),
        traced_on: Some(traced_on.clone()),
        context_from: context.taken_from().map(str::to_owned),
        ..Prediction::of(vector, system, costs)
    };
    // On the machine of the trace, clock readings took no kernel time, or are traced calls.
    let readings = clock::product(vector, costs).filter(|_| !whole.is_as_traced);
    let readings_ns = readings.as_ref().map_or(0.0, |p| p.product_ns);
    let products = terms.products.into_iter().chain(readings).collect();
    let mut found = whole.summed(products, costs)?;
    context.notes(costs, &mut found.notes);
    if !found.is_as_traced {
        found.limits.extend(lacking(vector, costs));
        found.limits.extend(context.systems(costs).other_page_faults());
    }
    let is_short = |p: &Product| context.is_within_launches(p.curve());
    found.is_within_launches |= found.primitives.iter().any(is_short);
    let curves: Vec<&str> = found.primitives.iter().map(Product::curve).collect();
    found.disturbed.extend(context.disturbed_among(curves.into_iter()));
    found.disturbed.sort_unstable();
    found.disturbed.dedup();
    if found.is_as_traced {
        found.without_intervals();
        found.set_user_time(vector.user_ns, None);
    }
    if let Some(uncertainty) = context.uncertainty() {
        found.widen(uncertainty);
    }
    // The context of another application already lacks the removed work.
    let is_changed = context.removed() > 0.0 || context.differs_from(vector);
    found.is_changed = is_changed || context.taken_from().is_some();
    if context.taken_from().is_none() && is_changed {
        let after_ns = found.predicted_ns - readings_ns;
        found.leaving_ns = leaving_ns(&found.primitives, after_ns, context, costs);
        found.lower(found.leaving_ns.unwrap_or(0.0));
    }
    found.open_above();
    Ok(found)
}

impl Prediction {
    /// A prediction without its terms.
    fn of(vector: &Vector, system: &str, costs: &Costs) -> Prediction {
        Prediction {
            application: vector.application.clone(),
            unit: vector.unit.clone(),
            platform: vector.platform(),
            system: system.to_owned(),
            predicted_ns: 0.0,
            interval_ns: None,
            unbounded: vector.losses(),
            of_costs_ns: [0.0; 2],
            context: Basis::Benchmarks,
            trace_spread: None,
            trace_border: None,
            leaving_ns: None,
            context_from: None,
            is_changed: false,
            is_as_traced: false,
            traced_on: None,
            no_context: None,
            measured_ns: None,
            measured_by_ticks_ns: None,
            measured_interval_ns: None,
            measured_user_ns: None,
            measured_units: None,
            error: None,
            coverage: Coverage::default(),
            primitives: Vec::new(),
            contained: Vec::new(),
            other: None,
            user_ns: vector.user_ns,
            predicted_user_ns: None,
            predicted_user_interval_ns: None,
            user_scaled_by: None,
            per_second_and_core: None,
            is_within_launches: false,
            disturbed: Vec::new(),
            waits: None,
            limits: Vec::new(),
            notes: costs.left_out.clone(),
        }
    }

    /// Adds the terms and their sum, which must be a time.
    fn summed(mut self, mut products: Vec<Product>, costs: &Costs) -> Result<Prediction, String> {
        let (predicted_ns, interval_ns) = sum(&products, self.other.as_ref());
        if !(predicted_ns > 0.0 && predicted_ns.is_finite()) {
            return Err(format!(
                "the sum on {} is {predicted_ns} ns, which is no time",
                self.system
            ));
        }
        products.sort_by(|a, b| b.product_ns.total_cmp(&a.product_ns));
        self.unbounded.extend(unknown(&products, false));
        self.unbounded.extend(unknown(&products, true));
        let is_short = |p: &Product| costs.is_within_launches(p.curve());
        self.is_within_launches = products.iter().any(is_short);
        self.disturbed = costs.disturbed_among(products.iter().map(Product::curve));
        self.primitives = products;
        (self.predicted_ns, self.of_costs_ns) = (predicted_ns, interval_ns);
        self.interval_ns = Some(interval_ns);
        Ok(self)
    }

    /// The times are those of a trace: no cost makes them uncertain. Estimates from other uses keep
    /// the intervals of their costs.
    fn without_intervals(&mut self) {
        self.interval_ns = None;
        self.is_within_launches = false;
        let traced = self.primitives.iter_mut().filter(|p| !p.is_factor_of_others);
        let of_products = traced.map(|p| &mut p.interval_ns);
        let of_other = self.other.iter_mut().map(|o| &mut o.interval_ns);
        of_products.chain(of_other).for_each(|interval| *interval = None);
    }

    /// Adds the uncertainty of the trace to the interval. Costs, spread of the rounds and border
    /// between user and kernel time count as independent: their half-widths are added in
    /// quadrature.
    fn widen(&mut self, trace: Uncertainty) {
        let ns = self.predicted_ns;
        let of_estimates = || sum(&self.primitives, self.other.as_ref()).1;
        let [low, high] = self.interval_ns.unwrap_or_else(of_estimates);
        let half = ns * trace.half_width();
        self.interval_ns = Some([(ns - half.hypot(ns - low)).max(0.0), ns + half.hypot(high - ns)]);
        self.trace_spread = Some(trace.spread);
        self.trace_border = trace.border;
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

    /// Sets the user time per unit on this system, in ns, if it is known, and its interval.
    pub fn set_user_time(&mut self, user_ns: Option<f64>, interval_ns: Option<[f64; 2]>) {
        self.predicted_user_ns = user_ns;
        self.predicted_user_interval_ns = interval_ns;
        self.per_second_and_core = user_ns.map(|user| 1e9 / (self.predicted_ns + user));
    }

    /// Puts the measured times of a unit beside the prediction: kernel time with its interval, and
    /// user time, in ns. They are means of this number of units.
    pub fn compare_with(
        &mut self,
        kernel_ns: f64,
        interval_ns: [f64; 2],
        user_ns: f64,
        units: f64,
    ) {
        self.measured_ns = Some(kernel_ns);
        self.measured_interval_ns = Some(interval_ns);
        self.measured_user_ns = Some(user_ns);
        self.measured_units = Some(units);
        self.error = (kernel_ns > 0.0).then(|| self.predicted_ns / kernel_ns - 1.0);
    }
}

/// Names the terms whose time is unknown, since they may wait or their benchmark was not measured.
/// `None`: no such term.
fn unknown(products: &[Product], are_unmeasured: bool) -> Option<String> {
    let is_it = |p: &&Product| p.is_unknown && p.is_unmeasured == are_unmeasured;
    let label = |p: &Product| p.label() + if p.lacks_size { " without a size" } else { "" };
    let names: Vec<String> = products.iter().filter(is_it).map(label).collect();
    let names = (!names.is_empty()).then(|| listed(&names))?;
    Some(if are_unmeasured {
        format!(
            "{names}: not measured on this system yet, so that their time is not in the prediction"
        )
    } else {
        format!("no cost is known of {names}, which may wait: their time is not in the prediction")
    })
}

/// The first few names, and the number of the others.
fn listed(names: &[String]) -> String {
    const NAMED: usize = 6;
    let shown = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        others => format!("{shown} and {others} others"),
    }
}

fn coverage(vector: &Vector, products: &[Product]) -> Coverage {
    let uncovered = |used: &&Use| {
        let is_it = |p: &&Product| p.name == used.name && p.size == used.size;
        products.iter().find(is_it).is_some_and(|p| !p.is_covered)
    };
    let sum = |of: &dyn Fn(&Use) -> Option<f64>| -> Option<[f64; 2]> {
        let all = vector.primitives.iter().map(of).sum::<Option<f64>>()?;
        let open = vector.primitives.iter().filter(uncovered);
        Some([all - open.map(of).sum::<Option<f64>>()?, all])
    };
    let share = |[own, all]: [f64; 2]| (all > 0.0).then(|| own / all);
    let of_time = sum(&|used| used.time_ns);
    // The kernel's coarse clock can give less than the sum of the calls.
    let whole = |[own, all]: [f64; 2]| [own, vector.kernel_ns.map_or(all, |ns| ns.max(all))];
    Coverage {
        calls: sum(&|used| Some(used.count)).and_then(share),
        kernel_time: of_time.map(whole).and_then(share),
    }
}

impl Terms {
    fn coverage(&self) -> Coverage {
        let each = || self.products.iter().zip(&self.traced_ns);
        let sum = |of: &dyn Fn(&Product, Option<f64>) -> Option<f64>| -> Option<[f64; 2]> {
            let all = each().map(|(p, ns)| of(p, *ns)).sum::<Option<f64>>()?;
            let covered = each().filter(|(p, _)| p.is_covered);
            Some([covered.map(|(p, ns)| of(p, *ns)).sum::<Option<f64>>()?, all])
        };
        let share = |[own, all]: [f64; 2]| (all > 0.0).then(|| own / all);
        let outside = self.other.map_or(0.0, |other| other.traced_ns);
        let within: f64 = self.contained.iter().map(|c| c.count).sum();
        let of_time = sum(&|_, traced| traced).map(|[own, all]| [own, all + outside]);
        Coverage {
            calls: sum(&|p, _| Some(p.count))
                .and_then(|[own, all]| share([own + within, all + within])),
            kernel_time: of_time.and_then(share),
        }
    }
}
