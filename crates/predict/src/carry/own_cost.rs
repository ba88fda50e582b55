//! Costs without the primitives that a benchmark contains, as a trace has their times apart: a
//! `fork` without its page faults.

use super::pair::{Pair, Systems};
use crate::constants::{DEPTH, LEAST_REST};
use crate::costs::{Cost, Costs};

/// The costs of a primitive without those of its parts. They may be negative, since errors of
/// several costs add up.
pub(crate) struct OwnCost {
    /// Parts of unknown kind, such as page faults, have the middle of the costs of their kinds.
    pub middle: Pair<Cost>,
    /// The cost if every part of unknown kind were of this kind; one element per kind.
    pub by_kind: Vec<Pair<Cost>>,
}

/// The costs of a primitive without those of its parts. `changed` are the whole costs with
/// hypothetical changes. Only parts with a cost on both systems are taken away, so that both costs
/// stand for the same work. `None`: there are no such parts, or they leave too little.
pub(crate) fn without_parts(
    name: &str,
    size: Option<f64>,
    changed: Pair<Cost>,
    costs: Systems,
) -> Option<OwnCost> {
    let whole = on_both(name, size, costs, None)?;
    let own = |kind: Option<&str>| less_parts(name, whole, costs, kind, DEPTH);
    let is_enough = |own: Cost, whole: Cost| own.ns >= LEAST_REST * whole.ns;
    let middle = own(None)?;
    let by_kind: Vec<Pair<Cost>> =
        kinds_of_parts(name, costs, DEPTH).into_iter().filter_map(|kind| own(Some(kind))).collect();
    // A small cost on the first system would make the ratio arbitrarily large.
    let is_usable = is_enough(middle.from, whole.from)
        && is_enough(middle.to, whole.to)
        && by_kind.iter().all(|own| is_enough(own.from, whole.from));
    // A changed cost changes the part that is left, too.
    let factor = changed.zip(whole).map(|(changed, whole)| changed.ns / whole.ns);
    let with_change = |own: Pair<Cost>| own.zip(factor).map(|(own, factor)| own.times(factor));
    is_usable.then(|| OwnCost {
        middle: with_change(middle),
        by_kind: by_kind.into_iter().map(with_change).collect(),
    })
}

/// The costs of a primitive less those of its parts. `None`: no part has a cost on both systems.
fn less_parts(
    name: &str,
    whole: Pair<Cost>,
    costs: Systems,
    kind: Option<&str>,
    depth: u32,
) -> Option<Pair<Cost>> {
    let mut own = None;
    for (part, counts) in parts_on_both(name, costs).filter(|_| depth > 0) {
        let Some(all) = on_both(part, None, costs, kind) else {
            continue;
        };
        let part = less_parts(part, all, costs, kind, depth - 1).unwrap_or(all);
        let parts = part.zip(counts).map(|(part, count)| part.times(count));
        own = Some(own.unwrap_or(whole).zip(parts).map(|(rest, part)| rest.minus(part)));
    }
    own
}

/// The primitives that a primitive contains on both systems, with their numbers.
fn parts_on_both<'a>(
    name: &'a str,
    costs: Systems<'a>,
) -> impl Iterator<Item = (&'a str, Pair<f64>)> {
    costs.from.parts(name).filter_map(move |part| {
        let there = costs.to.parts(name).find(|there| there.name == part.name)?;
        Some((part.name.as_str(), Pair { from: part.count, to: there.count }))
    })
}

/// The kinds of those parts whose kind is unknown, and that may be of several.
fn kinds_of_parts<'a>(name: &'a str, costs: Systems<'a>, depth: u32) -> Vec<&'a str> {
    let mut kinds = Vec::new();
    for (part, _) in parts_on_both(name, costs).filter(|_| depth > 0) {
        let own = costs.kinds(part);
        if own.len() > 1 {
            kinds.extend(own);
        }
        kinds.extend(kinds_of_parts(part, costs, depth - 1));
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The measured costs of a primitive. A primitive of unknown kind has the cost of `kind`, if that
/// is one of its kinds, and else the middle of the costs of the kinds that both systems know.
fn on_both(
    name: &str,
    size: Option<f64>,
    costs: Systems,
    kind: Option<&str>,
) -> Option<Pair<Cost>> {
    let is_known = costs.map(|costs| costs.primitives.contains_key(name));
    if is_known.from != is_known.to {
        return None;
    }
    let kinds = costs.kinds(name);
    let kind = kind.filter(|kind| kinds.contains(kind));
    let at = |costs: &Costs| match kind.or(is_known.from.then_some(name)) {
        Some(one) => costs.measured(one, size),
        None => costs.at_any_kind(kinds.iter().copied(), size),
    };
    Some(costs.map(at).both()?.map(|at| at.cost))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::Contained;
    use crate::tests::{cost, costs};

    /// A system with a `fork` that contains these parts, and with the costs of some primitives.
    fn system(fork: f64, parts: &[(&str, f64)], others: &[(&str, f64)]) -> Costs {
        let all = [&[("fork", fork)], others].concat();
        let all: Vec<_> = all.iter().map(|(n, ns)| (*n, None, cost(*ns, 0.0))).collect();
        let mut costs = costs(&all);
        let part =
            |(name, count): &(&str, f64)| Contained { name: (*name).to_owned(), count: *count };
        costs.primitives.get_mut("fork").unwrap().contains = parts.iter().map(part).collect();
        costs
    }

    fn own_cost(a: &Costs, b: &Costs) -> Option<OwnCost> {
        let systems = Pair { from: a, to: b };
        let whole = systems.map(|costs| costs.at("fork", None).unwrap().cost);
        without_parts("fork", None, whole, systems)
    }

    fn ns(own: Pair<Cost>) -> [f64; 2] {
        [own.from.ns, own.to.ns]
    }

    fn own(a: &Costs, b: &Costs) -> Option<[f64; 2]> {
        Some(ns(own_cost(a, b)?.middle))
    }

    /// A disturbed figure leaves one system without the cost of a part.
    #[test]
    fn part_with_a_cost_on_one_system_stays() {
        let parts = [("wait4", 1.0), ("close", 2.0)];
        let a = system(1000.0, &parts, &[("wait4", 100.0), ("close", 50.0)]);
        let b = system(3000.0, &parts, &[("close", 80.0)]);
        assert_eq!(own(&a, &b), Some([900.0, 2840.0]));
        let without = system(3000.0, &parts, &[]);
        assert_eq!(own(&a, &without), None);
        let contains_less = system(3000.0, &[("close", 2.0)], &[("wait4", 1.0), ("close", 80.0)]);
        assert_eq!(own(&a, &contains_less), Some([900.0, 2840.0]));
    }

    #[test]
    fn kind_with_a_cost_on_one_system_is_no_part() {
        let parts = [("page_fault", 2.0)];
        let fault = |kinds: &[(&'static str, f64)]| system(1000.0, &parts, kinds);
        let a = fault(&[("page_fault(copy)", 100.0), ("page_fault(zero)", 300.0)]);
        let b = fault(&[("page_fault(copy)", 150.0), ("page_fault(file)", 400.0)]);
        assert_eq!(own(&a, &b), Some([800.0, 700.0]));
    }

    #[test]
    fn whole_stays_if_its_parts_leave_too_little() {
        let parts = [("wait4", 1.0)];
        let of = |wait: f64| system(1000.0, &parts, &[("wait4", wait)]);
        assert_eq!(own(&of(890.0), &of(500.0)), Some([110.0, 500.0]));
        assert_eq!(own(&of(910.0), &of(500.0)), None);
        assert_eq!(own(&of(500.0), &of(910.0)), None);
    }

    /// One kind may leave nothing on the other system, but not too little on the first one.
    #[test]
    fn each_kind_of_the_parts_leaves_a_cost() {
        let of = |copy: f64, zero: f64| {
            let kinds = [("page_fault(copy)", copy), ("page_fault(zero)", zero)];
            system(1000.0, &[("page_fault", 2.0)], &kinds)
        };
        let left = |a: &Costs, b: &Costs| {
            Some(own_cost(a, b)?.by_kind.into_iter().map(ns).collect::<Vec<_>>())
        };
        let (low, high) = (of(100.0, 300.0), of(600.0, 200.0));
        assert_eq!(left(&low, &high), Some(vec![[800.0, -200.0], [400.0, 600.0]]));
        assert_eq!(left(&high, &low), None);
    }
}
