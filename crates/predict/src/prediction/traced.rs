//! The terms of a prediction in the application's context: traced times, scaled from the machine of
//! the trace to another system.

use super::plain::unknown;
use super::product::{Marks, Other, Product, Terms, sum};
use crate::carry::Context;
use crate::carry::pair::Systems;
use crate::carry::scale::Scale;
use crate::carry::waits::further_waits;
use crate::costs::contained::{Within, without_contained};
use crate::costs::{At, Costs};
use crate::vector::Use;
use crate::vector::names::NULL_CALL;

/// The terms of a prediction, and what is not a primitive.
pub(crate) struct TracedTerms {
    pub products: Vec<Product>,
    /// Traced time per unit of each product. `None`: unknown.
    pub traced_ns: Vec<Option<f64>>,
    pub contained: Vec<Within>,
    pub other: Option<Other>,
    /// Number of waits per unit that a system with another kernel may add. Their time is in the
    /// intervals of the products.
    pub further_waits: f64,
}

/// The factors that carry traced times to a system.
struct Carrier<'a> {
    context: &'a Context,
    /// The costs on both systems, as they were measured.
    measured: Systems<'a>,
    /// The costs on both systems, with hypothetical changes.
    changed: Systems<'a>,
    /// The ratio of time without a ratio of its own.
    mean: Scale,
}

/// The terms. The error lists the primitives without a cost on both systems.
pub(crate) fn terms(
    uses: &[Use],
    context: &Context,
    costs: &Costs,
) -> Result<TracedTerms, Vec<String>> {
    let unchanged = costs.unchanged();
    let measured = context.systems(&unchanged);
    let Some(mean) = context.times.mean_scale(measured) else {
        return Err(uses.iter().map(|used| costs.label_without_cost(used)).collect());
    };
    let carrier = Carrier { context, measured, changed: context.systems(costs), mean };
    let mut rest = uses.to_vec();
    let contained = without_contained(&mut rest, costs, |used| context.each_ns(used).is_none());
    let mut terms = TracedTerms {
        products: Vec::new(),
        traced_ns: Vec::new(),
        contained,
        other: context.outside_ns.map(|ns| outside(ns, mean)),
        further_waits: 0.0,
    };
    let mut missing = Vec::new();
    for used in rest.iter().filter(|used| used.count > 0.0) {
        let traced_ns = context.each_ns(used).map(|each| each * used.count);
        let product = match traced_ns {
            Some(ns) => Some(carrier.scaled(used, ns)),
            None => untimed(used, context, costs),
        };
        let Some(mut product) = product else {
            missing.push(costs.label_without_cost(used));
            continue;
        };
        let waits = further_waits(used, product.product_ns, carrier.changed);
        if let Some([_, high]) = &mut product.interval_ns {
            *high += waits.ns;
        }
        terms.further_waits += waits.count;
        terms.products.push(product);
        terms.traced_ns.push(traced_ns);
    }
    if missing.is_empty() { Ok(terms) } else { Err(missing) }
}

impl Carrier<'_> {
    /// A traced time, carried over by its own costs, else of the primitive that contains it, else
    /// as the others are on average.
    fn scaled(&self, used: &Use, traced_ns: f64) -> Product {
        let times = &self.context.times;
        let found = times.scale(&used.name, used.size, self.measured, self.changed);
        let to = self.changed.to;
        let is_carried_over = found.is_none();
        let is_unmeasured = to.is_unmeasured(&used.name);
        let mean = if is_unmeasured { self.mean.unmeasured() } else { self.mean };
        let (scale, scaled_by) = found.unwrap_or((mean, None));
        let (product_ns, interval_ns) = scale.carry(traced_ns, used.count);
        let is_own = !is_carried_over && scaled_by.is_none();
        let cost = to.at(&used.name, used.size).filter(|_| is_own);
        Product {
            cost_ns: cost.map(|at| at.cost.ns),
            context_factor: cost.map(|at| product_ns / (used.count * at.cost.ns)),
            product_ns,
            interval_ns: Some(interval_ns),
            is_covered: !is_carried_over,
            scaled_by,
            is_carried_over,
            marks: Marks {
                lacks_size: is_carried_over && to.primitives.contains_key(&used.name),
                is_extrapolated: scale.is_extrapolated,
                is_of_any_kind: scale.is_of_any_kind,
                is_factor_of_others: self.context.is_estimated(used),
                is_unmeasured: is_carried_over && is_unmeasured,
            },
            ..Product::new(used)
        }
    }
}

/// Uses without a time: their cost, else that of the null call unless nothing is known of them,
/// times the factor of similar uses. `None`: neither cost is known, or no factor is.
fn untimed(used: &Use, context: &Context, costs: &Costs) -> Option<Product> {
    let own = costs.at(&used.name, used.size);
    if own.is_none() && costs.is_unknown(used) {
        return Some(unknown(used, costs));
    }
    let At { cost, .. } = own.or_else(|| costs.at(NULL_CALL, None))?;
    let factor = context.times.factor_with_size(used, cost.ns)?;
    let ns = used.count * cost.ns * factor.ratio;
    let [below, above] = cost.relative();
    let [factor_below, factor_above] = factor.widths;
    let interval =
        [ns * (1.0 - below.hypot(factor_below)).max(0.0), ns * (1.0 + above.hypot(factor_above))];
    Some(Product {
        cost_ns: Some(cost.ns),
        context_factor: Some(factor.ratio),
        product_ns: ns,
        interval_ns: Some(interval),
        is_covered: own.is_some(),
        marks: Marks {
            lacks_size: own.is_none() && costs.primitives.contains_key(&used.name),
            is_extrapolated: own.is_some_and(|at| at.is_extrapolated),
            is_of_any_kind: own.is_some_and(|at| at.is_of_any_kind),
            is_factor_of_others: true,
            is_unmeasured: false,
        },
        ..Product::new(used)
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

/// By how much the calls of a changed application may be cheaper than predicted, in ns. `None`: the
/// change removes no kernel time.
///
/// In an application, other work runs between two uses of a call and displaces its code and data
/// from caches, TLBs and branch predictors. In a benchmark nothing runs between them. So the excess
/// of a call is 0 if nothing runs between its uses, and the trace has the excess with all of that
/// work. A change that removes work reduces the excess by an unknown part: not at all if the
/// remaining work displaces as much, and at most in proportion to the removed work. The second
/// bound holds as long as the displacement never grows faster than the work.
pub(crate) fn leaving_ns(
    products: &[Product],
    after_ns: f64,
    context: &Context,
    costs: &Costs,
) -> Option<f64> {
    let before = terms(&context.uses, context, costs).ok()?;
    let before = Terms { primitives: before.products, other: before.other, ..Terms::default() };
    let (rest_ns, _) = sum(&before);
    let before_ns = rest_ns * (1.0 + context.removed);
    let removed = 1.0 - after_ns / before_ns;
    let leaving_ns = removed * excess(products)? * after_ns;
    (leaving_ns > 0.0).then_some(leaving_ns)
}

/// The excess over benchmarks as a share of the time of the primitives with costs. `None`: no
/// primitive has a cost.
fn excess(products: &[Product]) -> Option<f64> {
    let with_costs = products.iter().filter_map(|p| Some((p, p.context_factor?)));
    let [excess_ns, all_ns] = with_costs.fold([0.0; 2], |[excess, all], (product, factor)| {
        let own = product.product_ns * (1.0 - 1.0 / factor).max(0.0);
        [excess + own, all + product.product_ns]
    });
    (all_ns > 0.0).then(|| excess_ns / all_ns)
}
