//! The terms of a prediction from benchmarks alone: uses times costs.

use crate::contained::{Within, without_contained};
use crate::cost::{At, Costs};
use crate::may_wait::may_wait;
use crate::product::Product;
use crate::vector::Use;
use crate::{NULL_CALL, canonical};

/// The terms and the uses within others. A primitive without a cost is charged as a null call,
/// unless it may wait or was not measured yet: then its term is unknown. The error lists the
/// primitives without a cost, if no term is covered or the null call has no cost.
pub(crate) fn products(
    uses: &[Use],
    costs: &Costs,
) -> Result<(Vec<Product>, Vec<Within>), Vec<String>> {
    let mut rest = uses.to_vec();
    let contained = without_contained(&mut rest, costs, |_| true);
    let null = costs.at(&canonical(NULL_CALL), None);
    let (mut missing, mut needs_null) = (Vec::new(), false);
    let mut products = Vec::new();
    for used in rest.iter().filter(|used| used.count > 0.0) {
        let own = costs.at(&used.name, used.size);
        if own.is_none() {
            missing.push(without_cost(used, costs));
            if is_unknown(used, costs) {
                products.push(unknown(used, costs));
                continue;
            }
            needs_null = true;
        }
        products.extend(own.or(null).map(|at| product(used, at, own.is_some(), costs)));
    }
    if products.iter().any(|p| p.is_covered) && (!needs_null || null.is_some()) {
        Ok((products, contained))
    } else {
        Err(missing)
    }
}

/// Whether nothing is known of a use without a cost: it may wait, or its benchmark was not measured
/// yet.
pub(crate) fn is_unknown(used: &Use, costs: &Costs) -> bool {
    may_wait(&used.name) || is_unmeasured(used, costs)
}

/// Whether a use without a cost lacks one since a benchmark was not measured yet: its own, or that
/// of the null call.
fn is_unmeasured(used: &Use, costs: &Costs) -> bool {
    costs.is_unmeasured(&used.name) || costs.is_unmeasured(NULL_CALL) && !may_wait(&used.name)
}

/// The term of a use of which nothing is known: its time is not in the sum.
pub(crate) fn unknown(used: &Use, costs: &Costs) -> Product {
    Product {
        name: used.name.clone(),
        size: used.size,
        count: used.count,
        interval_ns: Some([0.0, f64::INFINITY]),
        lacks_size: costs.primitives.contains_key(&used.name),
        is_unknown: true,
        is_unmeasured: is_unmeasured(used, costs),
        ..Product::default()
    }
}

/// The primitive as an error names it. The cost of a primitive with sizes is not known without a
/// size.
pub(crate) fn without_cost(used: &Use, costs: &Costs) -> String {
    let is_known = costs.primitives.contains_key(&used.name);
    let reason = if is_known { " without a size" } else { "" };
    used.label() + reason
}

/// The term of a use with this cost.
pub(crate) fn product(used: &Use, at: At, is_covered: bool, costs: &Costs) -> Product {
    let product = at.cost.times(used.count);
    Product {
        name: used.name.clone(),
        size: used.size,
        count: used.count,
        cost_ns: Some(at.cost.ns),
        product_ns: product.ns,
        interval_ns: Some(product.interval_ns),
        is_covered,
        lacks_size: !is_covered && costs.primitives.contains_key(&used.name),
        is_extrapolated: at.is_extrapolated,
        is_of_any_kind: is_covered && at.is_of_any_kind,
        ..Product::default()
    }
}
