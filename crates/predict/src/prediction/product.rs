//! The terms of a prediction and their sum.

use serde::Serialize;

use super::widths::Widths;
use crate::costs::contained::Within;
use crate::vector::Use;
use crate::vector::names::{NULL_CALL, without_blocked};

/// The terms of the sum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Terms {
    /// The share of the vector that has costs of its own.
    pub coverage: Coverage,
    /// The products, the largest first.
    pub primitives: Vec<Product>,
    /// Uses that are part of another primitive's cost.
    pub contained: Vec<Within>,
    /// Traced kernel time outside of these primitives. `None`: unknown, or the prediction is from
    /// benchmarks alone.
    pub other: Option<Other>,
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

/// One term of the sum.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Product {
    /// The primitive.
    pub name: String,
    /// Its size.
    pub size: Option<f64>,
    /// Number of uses per unit, without those that are part of another primitive.
    pub count: f64,
    /// Cost of one use in a benchmark on the system, in ns. `None`: the traced time is not scaled
    /// by costs of this primitive.
    pub cost_ns: Option<f64>,
    /// Time of a use in the application divided by its cost in a benchmark. `None`: unknown, or
    /// `cost_ns` is.
    pub context_factor: Option<f64>,
    /// Predicted kernel time of the uses per unit, in ns. If `cost_ns` is known: `count` times
    /// `cost_ns`, and times `context_factor` if that is known.
    pub product_ns: f64,
    /// Interval of `product_ns`, from the intervals of the costs. `None`: the time is that of the
    /// trace. The upper end of an unknown time is infinite, which is null in JSON.
    #[schemars(with = "Option<[Option<f64>; 2]>")]
    pub interval_ns: Option<[f64; 2]>,
    /// Whether the primitive has costs of its own. Otherwise it is charged as a null call, or
    /// `is_carried_over`, or `is_unknown`.
    pub is_covered: bool,
    /// The primitive whose costs scale the traced time: one that contains this one, or a kind of
    /// it. `None`: its own costs do.
    pub scaled_by: Option<String>,
    /// Whether no benchmark scales the traced time: it is scaled as the covered primitives are on
    /// average.
    pub is_carried_over: bool,
    /// Whether the uses have no cost, and may wait or are those of a benchmark that was not
    /// measured yet: their time is unknown and not in the prediction.
    pub is_unknown: bool,
    /// Details of these.
    #[serde(flatten)]
    pub marks: Marks,
}

/// Details of a term's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Marks {
    /// Whether the system has costs of the primitive by size, but the vector has no size.
    pub lacks_size: bool,
    /// Whether the size is outside the measured sizes.
    pub is_extrapolated: bool,
    /// Whether the use does not say the kind of the primitive: the interval is from the cheapest
    /// kind to the dearest, and `cost_ns` is its middle.
    pub is_of_any_kind: bool,
    /// Whether no trace has the time of these uses: it is estimated from that of other uses.
    pub is_factor_of_others: bool,
    /// Whether a benchmark stands for them that was not measured on the system yet.
    pub is_unmeasured: bool,
}

/// Kernel time outside of the listed primitives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Other {
    /// The time per unit where the vector was traced, in ns.
    pub traced_ns: f64,
    /// Predicted time per unit, in ns: scaled as the covered primitives are on average.
    pub product_ns: f64,
    /// Interval of `product_ns`: scaled as the primitive that the system speeds up most, or least.
    /// `None` where the vector was traced.
    pub interval_ns: Option<[f64; 2]>,
}

/// The key of all terms that are carried over: they share one ratio.
const CARRIED_OVER: &str = "";

impl Product {
    /// The term of these uses, without a cost or a time yet.
    pub(crate) fn new(used: &Use) -> Product {
        Product {
            name: used.name.clone(),
            size: used.size,
            count: used.count,
            ..Product::default()
        }
    }

    /// The primitive with its size, as users write it: `read(file)@4096`.
    pub(crate) fn label(&self) -> String {
        let size = self.size.map_or(String::new(), |size| format!("@{size}"));
        format!("{}{size}", self.name)
    }

    /// The primitive whose costs decide the term. Terms with the same one are off together.
    pub(crate) fn curve(&self) -> &str {
        match &self.scaled_by {
            _ if self.is_carried_over => CARRIED_OVER,
            _ if self.is_unknown => &self.name,
            Some(whole) => whole,
            None if self.is_covered => &self.name,
            None => NULL_CALL,
        }
    }
}

/// The sum of the known terms and its interval.
pub(crate) fn sum(terms: &Terms) -> (f64, [f64; 2]) {
    let (total, widths) = sum_with_widths(terms);
    (total, widths.interval(total))
}

/// The sum of the known terms with its half-widths. The sources are the curves of the costs: terms
/// that share a curve are off together, as a call that sleeps and the same call that does not.
pub(crate) fn sum_with_widths(terms: &Terms) -> (f64, Widths) {
    let known = terms.primitives.iter().filter(|p| !p.is_unknown);
    let products = known.map(|p| (without_blocked(p.curve()), p.product_ns, p.interval_ns));
    let other = terms.other.map(|o| (CARRIED_OVER, o.product_ns, o.interval_ns));
    let (mut total, mut widths) = (0.0, Widths::default());
    for (curve, ns, interval) in products.chain(other) {
        let [low, high] = interval.unwrap_or([ns, ns]);
        widths.add(curve, [ns - low, high - ns]);
        total += ns;
    }
    (total, widths)
}
