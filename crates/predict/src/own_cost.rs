//! Costs without the primitives that a benchmark contains, as a trace has their times apart: a `fork` without its page faults.

use crate::cost::{Cost, Costs};

/// The least share of a whole's cost that is taken to be left without its parts. Below it, the errors of the costs prevail.
const LEAST_SHARE: f64 = 0.1;

/// How deep primitives contain others: `execve` contains a `fork`, which contains page faults.
const DEPTH: u32 = 4;

/// A cost in ns for three prices of the parts: the lower ends of their intervals, their costs, and the upper ends. The kind of a part, such as a page fault, is unknown, but the same on both systems.
pub(crate) type ByParts = [f64; 3];

/// The costs of a primitive on two systems without those of its parts. Only parts with a cost on both systems are taken away, so that both costs stand for the same work. `None`: there are no such parts, or at
/// their costs they leave too little on one of the systems.
pub(crate) fn without_parts(
    name: &str,
    size: Option<f64>,
    costs: [&Costs; 2],
) -> Option<[ByParts; 2]> {
    let whole = on_both(name, size, costs)?;
    let own = less_parts(name, whole, costs, DEPTH)?;
    let left = |i: usize| {
        let least = LEAST_SHARE * whole[i].ns;
        // A changed cost changes the part that is left, too.
        let factor = costs[i].at(name, size)?.cost.ns / whole[i].ns;
        let is_enough = own[i][1] >= least;
        is_enough.then(|| own[i].map(|ns| ns.max(least) * factor))
    };
    Some([left(0)?, left(1)?])
}

/// The costs of a primitive less those of its parts. `None`: no part has a cost on both systems.
fn less_parts(
    name: &str,
    whole: [Cost; 2],
    costs: [&Costs; 2],
    depth: u32,
) -> Option<[ByParts; 2]> {
    let mut own = None;
    for part in costs[0].parts(name).filter(|_| depth > 0) {
        let there = costs[1].parts(name).find(|there| there.name == part.name);
        let (Some(there), Some(all)) = (there, on_both(&part.name, None, costs)) else {
            continue;
        };
        let of_part = less_parts(&part.name, all, costs, depth - 1).unwrap_or(all.map(prices));
        let [from, to] = own.unwrap_or(whole.map(|cost| [cost.ns; 3]));
        own = Some([
            less(from, part.count, of_part[0]),
            less(to, there.count, of_part[1]),
        ]);
    }
    own
}

fn prices(cost: Cost) -> ByParts {
    let [low, high] = cost.interval_ns;
    [low, cost.ns, high]
}

fn less(whole: ByParts, count: f64, part: ByParts) -> ByParts {
    [0, 1, 2].map(|i| whole[i] - count * part[i])
}

/// The measured costs of a primitive on two systems. Where the use does not say the kind, both have the kinds that both know.
fn on_both(name: &str, size: Option<f64>, costs: [&Costs; 2]) -> Option<[Cost; 2]> {
    let of = |i: usize| {
        let knows = |kind: &&str| costs[1 - i].primitives.contains_key(*kind);
        let at = match costs[i].primitives.contains_key(name) {
            true if knows(&name) => costs[i].measured(name, size),
            true => None,
            false => costs[i].of_kinds(costs[i].kinds(name).filter(knows), size),
        };
        Some(at?.cost)
    };
    Some([of(0)?, of(1)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Contained;
    use crate::tests::{cost, costs};

    /// A system with a `fork` that contains these parts, and with the costs of some primitives.
    fn system(fork: f64, parts: &[(&str, f64)], others: &[(&str, f64)]) -> Costs {
        let all = [&[("fork", fork)], others].concat();
        let all: Vec<_> = all
            .iter()
            .map(|(n, ns)| (*n, None, cost(*ns, 0.0)))
            .collect();
        let mut costs = costs(&all);
        let part = |(name, count): &(&str, f64)| Contained {
            name: (*name).to_owned(),
            count: *count,
        };
        costs.primitives.get_mut("fork").unwrap().contains = parts.iter().map(part).collect();
        costs
    }

    fn own(a: &Costs, b: &Costs) -> Option<[f64; 2]> {
        let own = without_parts("fork", None, [a, b])?;
        Some(own.map(|[_, ns, _]| ns))
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
        let contains_less = system(
            3000.0,
            &[("close", 2.0)],
            &[("wait4", 1.0), ("close", 80.0)],
        );
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
    }

    /// The dear kind would leave less than a tenth.
    #[test]
    fn least_share_is_left_at_the_dearest_kind() {
        let kinds = [("page_fault(copy)", 300.0), ("page_fault(zero)", 500.0)];
        let a = system(1000.0, &[("page_fault", 2.0)], &kinds);
        let [from, _] = without_parts("fork", None, [&a, &a]).unwrap();
        assert_eq!(from, [400.0, 200.0, 100.0]);
    }
}
