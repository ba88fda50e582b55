//! Primitives within others: the benchmark of `open(file)` closes the file, too.

use serde::Serialize;

use crate::cost::{At, Cost, Costs};
use crate::vector::Use;

/// Uses of a primitive within another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Within {
    /// The primitive.
    pub name: String,
    /// The primitive whose cost includes these uses.
    pub within: String,
    /// Number of uses per unit.
    pub count: f64,
}

/// Removes the uses that are part of another primitive's cost, so that nothing is charged twice. Returns them. Only uses for which `is_whole` holds remove others.
///
/// The dearest primitive comes first, since a whole costs more than its parts: a `fork` within an `execve` then takes no further `wait4` away.
pub(crate) fn without_contained(
    uses: &mut [Use],
    costs: &Costs,
    is_whole: impl Fn(&Use) -> bool,
) -> Vec<Within> {
    let cost_of = |used: &Use| Some(costs.at(&used.name, used.size)?.cost.ns);
    let cost_at = |(i, used): (usize, &Use)| Some((i, cost_of(used)?));
    let mut order: Vec<(usize, f64)> = uses.iter().enumerate().filter_map(cost_at).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut found = Vec::new();
    for (whole, _) in order {
        let (name, count) = (uses[whole].name.clone(), uses[whole].count);
        if !is_whole(&uses[whole]) {
            continue;
        }
        for part in costs.parts(&name) {
            let count = take(uses, &part.name, count * part.count);
            if count > 0.0 {
                found.push(Within {
                    name: part.name.clone(),
                    within: name.clone(),
                    count,
                });
            }
        }
    }
    found
}

/// The least share of a whole's cost that must be left without its parts. Below it, the errors of the costs prevail.
const LEAST_SHARE: f64 = 0.1;

/// How deep primitives contain others: `execve` contains a `fork`, which contains page faults.
const DEPTH: u32 = 4;

/// The costs of a primitive on two systems without the primitives that its benchmarks contain, as a trace has their times apart: a `fork` without its page faults. With them if that leaves too little on one of
/// the systems, or if one of them has no such cost.
pub(crate) fn without_parts(name: &str, whole: [At; 2], costs: [&Costs; 2]) -> [At; 2] {
    let has_parts = |costs: &&Costs| costs.parts(name).next().is_some();
    if !costs.iter().all(has_parts) {
        return whole;
    }
    let mut found = whole;
    for (at, costs) in found.iter_mut().zip(costs) {
        let unchanged = costs.unchanged();
        let (Some(all), Some(own)) = (unchanged.at(name, None), own_cost(name, &unchanged, DEPTH))
        else {
            return whole;
        };
        if own.ns < LEAST_SHARE * all.cost.ns {
            return whole;
        }
        // A changed cost changes this part, too.
        at.cost = own.times(at.cost.ns / all.cost.ns);
    }
    found
}

/// The cost of a primitive less those of its parts. `None`: none of them has a cost.
fn own_cost(name: &str, costs: &Costs, depth: u32) -> Option<Cost> {
    let mut own = costs.at(name, None)?.cost;
    let mut has_parts = false;
    for part in costs.parts(name).filter(|_| depth > 0) {
        let of_part = own_cost(&part.name, costs, depth - 1)
            .or_else(|| Some(costs.at(&part.name, None)?.cost));
        if let Some(cost) = of_part {
            own = own.minus(cost.times(part.count));
            has_parts = true;
        }
    }
    has_parts.then_some(own)
}

/// Takes up to `count` uses of a primitive away, over all its sizes. Returns the number taken.
fn take(uses: &mut [Use], name: &str, count: f64) -> f64 {
    let mut left = count;
    for used in uses.iter_mut().filter(|used| used.name == name) {
        let taken = left.min(used.count);
        used.count -= taken;
        left -= taken;
    }
    count - left
}
