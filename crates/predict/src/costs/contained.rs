//! Primitives within others: the benchmark of `open(file)` closes the file, too.

use serde::Serialize;

use super::Costs;
use crate::vector::Use;
use crate::vector::names::is_part;

/// Uses of a primitive within another one.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Within {
    /// The primitive.
    pub name: String,
    /// The primitive whose cost includes these uses.
    pub within: String,
    /// Number of uses per unit.
    pub count: f64,
}

/// Removes the uses that are part of another primitive's cost, so that nothing is charged twice.
/// Returns them. Only uses for which `is_whole` holds remove others.
///
/// The dearest primitive comes first, since a whole costs more than its parts: a `fork` within an
/// `execve` then takes no further `wait4` away.
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
            let is_part = |used: &Use| is_part(&part.name, &used.name);
            let count = take(uses, is_part, count * part.count);
            if count > 0.0 {
                found.push(Within { name: part.name.clone(), within: name.clone(), count });
            }
        }
    }
    found
}

/// Takes up to `count` of these uses away, the same share of each. Returns the number taken.
fn take(uses: &mut [Use], is_taken: impl Fn(&Use) -> bool, count: f64) -> f64 {
    let all: f64 = uses.iter().filter(|used| is_taken(used)).map(|u| u.count).sum();
    if all == 0.0 {
        return 0.0;
    }
    let left = (1.0 - count / all).max(0.0);
    for used in uses.iter_mut().filter(|used| is_taken(used)) {
        used.count *= left;
    }
    all.min(count)
}
