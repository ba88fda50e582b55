//! The terms of a prediction in the application's context: traced times, scaled from the machine of
//! the trace to another system.

use crate::contained::{Within, without_contained};
use crate::context::Context;
use crate::cost::{At, Costs};
use crate::plain::{is_unknown, unknown, without_cost};
use crate::product::{Other, Product};
use crate::scale::{Scale, Systems, relative};
use crate::vector::Use;
use crate::waits;
use crate::{NULL_CALL, canonical};

/// The terms of a prediction, and what is not a primitive.
pub(crate) struct Terms {
    pub products: Vec<Product>,
    /// Traced time per unit of each product. `None`: unknown.
    pub traced_ns: Vec<Option<f64>>,
    pub contained: Vec<Within>,
    pub other: Option<Other>,
    /// Waits per unit that a system with another kernel may add.
    pub further_waits: f64,
}

/// The terms. The error lists the primitives without a cost on both systems.
pub(crate) fn terms(uses: &[Use], context: &Context, costs: &Costs) -> Result<Terms, Vec<String>> {
    let unchanged = costs.unchanged();
    let measured = context.systems(&unchanged);
    let changed = context.systems(costs);
    let Some(mean) = context.mean_scale(&measured) else {
        return Err(uses.iter().map(|used| without_cost(used, costs)).collect());
    };
    let mut rest = uses.to_vec();
    let contained = without_contained(&mut rest, costs, |used| context.each_ns(used).is_none());
    let mut terms = Terms {
        products: Vec::new(),
        traced_ns: Vec::new(),
        contained,
        other: context.outside_ns().map(|ns| outside(ns, mean)),
        further_waits: 0.0,
    };
    let mut missing = Vec::new();
    for used in rest.iter().filter(|used| used.count > 0.0) {
        let time = context.each_ns(used).map(|each| each * used.count);
        let product = match time {
            Some(ns) => Some(scaled(used, ns, mean, context, [&measured, &changed])),
            None => untimed(used, context, costs),
        };
        match product {
            Some(mut product) => {
                terms.further_waits += waits::widen(&mut product, &changed);
                terms.products.push(product);
                terms.traced_ns.push(time);
            }
            None => missing.push(without_cost(used, costs)),
        }
    }
    if missing.is_empty() { Ok(terms) } else { Err(missing) }
}

/// A traced time, carried over by its own costs, else of the primitive that contains it, else as
/// the others are on average.
fn scaled(
    used: &Use,
    traced_ns: f64,
    mean: Scale,
    context: &Context,
    [measured, changed]: [&Systems; 2],
) -> Product {
    let found = context.scale(used, measured, changed);
    let is_carried_over = found.is_none();
    let is_unmeasured = changed.to.is_unmeasured(&used.name);
    let mean = if is_unmeasured { mean.unmeasured() } else { mean };
    let (scale, scaled_by) = found.unwrap_or((mean, None));
    let (product_ns, interval_ns) = scale.carry(traced_ns, used.count);
    let is_own = !is_carried_over && scaled_by.is_none();
    let cost = changed.to.at(&used.name, used.size).filter(|_| is_own);
    Product {
        name: used.name.clone(),
        size: used.size,
        count: used.count,
        cost_ns: cost.map(|at| at.cost.ns),
        context_factor: cost.map(|at| product_ns / (used.count * at.cost.ns)),
        product_ns,
        interval_ns: Some(interval_ns),
        is_covered: !is_carried_over,
        lacks_size: is_carried_over && changed.to.primitives.contains_key(&used.name),
        is_extrapolated: scale.is_extrapolated,
        is_of_any_kind: scale.is_of_any_kind,
        scaled_by,
        is_carried_over,
        is_factor_of_others: context.is_of_others(used),
        is_unknown: false,
        is_unmeasured: is_carried_over && is_unmeasured,
    }
}

/// Uses without a time: their cost, else that of the null call unless nothing is known of them,
/// times the factor of similar uses. `None`: neither cost is known, or no factor is.
fn untimed(used: &Use, context: &Context, costs: &Costs) -> Option<Product> {
    let own = costs.at(&used.name, used.size);
    if own.is_none() && is_unknown(used, costs) {
        return Some(unknown(used, costs));
    }
    let At { cost, .. } = own.or_else(|| costs.at(&canonical(NULL_CALL), None))?;
    let factor = context.factor_of_use(used, cost.ns)?;
    let ns = used.count * cost.ns * factor.ratio;
    let [below, above] = if cost.ns > 0.0 { relative(cost) } else { [0.0; 2] };
    let [factor_below, factor_above] = factor.widths;
    let interval =
        [ns * (1.0 - below.hypot(factor_below)).max(0.0), ns * (1.0 + above.hypot(factor_above))];
    Some(Product {
        name: used.name.clone(),
        size: used.size,
        count: used.count,
        cost_ns: Some(cost.ns),
        context_factor: Some(factor.ratio),
        product_ns: ns,
        interval_ns: Some(interval),
        is_covered: own.is_some(),
        lacks_size: own.is_none() && costs.primitives.contains_key(&used.name),
        is_extrapolated: own.is_some_and(|at| at.is_extrapolated),
        is_of_any_kind: own.is_some_and(|at| at.is_of_any_kind),
        is_factor_of_others: true,
        ..Product::default()
    })
}

/// Time outside of the primitives.
fn outside(traced_ns: f64, mean: Scale) -> Other {
    Other {
        traced_ns,
        product_ns: traced_ns * mean.ratio,
        interval_ns: Some(mean.interval.map(|end| traced_ns * end)),
    }
}
