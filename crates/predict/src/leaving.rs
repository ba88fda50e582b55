//! The excess of calls over their benchmarks that may vanish when a change removes calls.
//!
//! In an application, other work runs between two uses of a call and displaces its code and data
//! from caches, TLBs and branch predictors. In a benchmark nothing runs between them. So the excess
//! of a call is 0 if nothing runs between its uses, and the trace has the excess with all of that
//! work. A change that removes work reduces the excess by an unknown part: not at all if the
//! remaining work displaces as much, and at most in proportion to the removed work. The second
//! bound holds as long as the displacement never grows faster than the work.

use crate::context::Context;
use crate::cost::Costs;
use crate::product::{Product, sum};
use crate::traced;

/// By how much the calls of a changed application may be cheaper than predicted, in ns. `None`: the
/// change removes no kernel time.
pub(crate) fn leaving_ns(
    products: &[Product],
    after_ns: f64,
    context: &Context,
    costs: &Costs,
) -> Option<f64> {
    let before = traced::terms(context.uses(), context, costs).ok()?;
    let (rest_ns, _) = sum(&before.products, before.other.as_ref());
    let before_ns = rest_ns * (1.0 + context.removed());
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
