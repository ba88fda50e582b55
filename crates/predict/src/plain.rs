//! The terms of a prediction from benchmarks alone: uses times costs.

use crate::contained::{Within, without_contained};
use crate::cost::{At, Costs};
use crate::product::Product;
use crate::vector::Use;
use crate::{NULL_CALL, canonical};

/// The terms and the uses within others. The error lists primitives without a cost that cannot be charged as a null call either.
pub(crate) fn products(
    uses: &[Use],
    costs: &Costs,
) -> Result<(Vec<Product>, Vec<Within>), Vec<String>> {
    let mut rest = uses.to_vec();
    let contained = without_contained(&mut rest, costs, |_| true);
    let null = costs.at(&canonical(NULL_CALL), None);
    let mut missing = Vec::new();
    let mut products = Vec::new();
    for used in rest.iter().filter(|used| used.count > 0.0) {
        let own = costs.at(&used.name, used.size);
        if own.is_none() {
            missing.push(without_cost(used, costs));
        }
        products.extend(
            own.or(null)
                .map(|at| product(used, at, own.is_some(), costs)),
        );
    }
    if products.iter().any(|p| p.is_covered) && (missing.is_empty() || null.is_some()) {
        Ok((products, contained))
    } else {
        Err(missing)
    }
}

/// The primitive as an error names it. The cost of a primitive with sizes is not known without a size.
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
