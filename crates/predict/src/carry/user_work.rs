//! User time on another machine, by the work of the application in user mode.
//!
//! ```text
//! user time = base + Σ share × count × cost        over mispredictions and distances of reuse
//! ```
//!
//! The base is what the application takes without any misprediction and with all data in the first
//! cache. It is what is left of the traced user time, and changes between machines by a factor: as
//! additions that wait for each other, or as loads from the first cache. A share is the part of a
//! cost for which the program waits: misses overlap, prefetchers fetch ahead, and processors
//! predict branches better than the simulated predictor. No share is known. But each is between 0
//! and 1, and the base has a least and a most time for each instruction. The interval holds all
//! user times that these bounds permit; the value has equal shares in the middle of them.

use super::pair::{Pair, Systems};
use crate::constants::{MOST_AT_ONCE, OTHER_CORE};
use crate::costs::Cost;
use crate::vector::work::UserWork;

/// A dependent addition of registers.
pub(crate) const ADD: &str = "user(add)";

/// A load by the distance of its reuse, in bytes.
pub(crate) const LOAD: &str = "user(load)";

/// A branch that was predicted wrongly.
pub(crate) const MISPREDICTION: &str = "user(misprediction)";

/// The primitives of user time.
pub(crate) const NAMES: [&str; 3] = [ADD, LOAD, MISPREDICTION];

/// The size of data that are in the first cache of any processor.
const IN_FIRST_CACHE: f64 = 16384.0;

/// User time on another machine, in ns, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UserTime {
    pub ns: f64,
    pub interval_ns: [f64; 2],
    /// The share of the traced user time that the counted work explains: all of it, or less if it
    /// takes longer than the work can.
    pub explained: f64,
}

/// The costs of a primitive on both machines, for one use or for all uses of a kind.
type Both = Pair<Cost>;

/// The time of all shares together where the application was traced, in ns: at least and at most.
type Bounds = [f64; 2];

/// The user time per unit of an application whose traced user time was `user_ns`. The error is the
/// reason why it is not known.
pub(crate) fn user_time(
    work: &UserWork,
    user_ns: f64,
    systems: Systems,
) -> Result<UserTime, String> {
    let both = |name, size| cost(systems, name, size);
    let [add, near] = [both(ADD, None)?, both(LOAD, Some(IN_FIRST_CACHE))?];
    let times = |of: Both, count: f64| of.map(|cost| cost.times(count));
    let mut waits = vec![times(both(MISPREDICTION, None)?, work.mispredictions)];
    for [bytes, count] in work.distances().into_iter().filter(|[_, count]| *count > 0.0) {
        waits.push(times(beyond(both(LOAD, Some(bytes))?, near), count));
    }
    let all_ns: f64 = waits.iter().map(|own| own.from.ns).sum();
    // An instruction of the base takes at most a load, and at least a part of an addition.
    let most = user_ns - work.instructions * add.from.ns / MOST_AT_ONCE;
    let most = most.clamp(0.0, all_ns);
    let slowest_ns = work.instructions * near.from.ns;
    let bounds = [(user_ns - slowest_ns).clamp(0.0, most), most];
    let share = if all_ns > 0.0 { bounds[0].midpoint(bounds[1]) / all_ns } else { 0.5 };
    let ratios = [add, near].map(|both| both.to.ns / both.from.ns);
    let ratio = (ratios[0] * ratios[1]).sqrt();
    let ns = ratio * user_ns
        + share * waits.iter().map(|own| own.to.ns - ratio * own.from.ns).sum::<f64>();
    let core = if systems.have_same_processor(ADD) { 1.0 } else { OTHER_CORE };
    let width = [add, near].map(relative).into_iter().fold(0.0, f64::max);
    let slow = ratios[0].max(ratios[1]) * core * (1.0 + width);
    let fast = ratios[0].min(ratios[1]) / core * (1.0 - width).max(0.0);
    let end = |ratio: f64, sign: f64| ratio * user_ns + sign * gain(&waits, ratio, sign, bounds);
    let [below, above] = half_widths(&waits, ratio).map(|half| share * half);
    let [low, high] = [end(fast, -1.0).min(ns) - below, end(slow, 1.0).max(ns) + above];
    let explained = if user_ns > 0.0 { ((slowest_ns + all_ns) / user_ns).min(1.0) } else { 1.0 };
    Ok(UserTime { ns, interval_ns: [low.max(0.0), high], explained })
}

fn cost(systems: Systems, name: &str, size: Option<f64>) -> Result<Both, String> {
    let known = systems.map(|costs| costs.measured(name, size).filter(|at| !at.is_extrapolated));
    let both = known.map(|at| at.map(|at| at.cost).filter(|cost| cost.ns > 0.0)).both();
    both.ok_or_else(|| {
        let at = size.map_or(String::new(), |size| format!("@{size}"));
        format!("a machine has no cost of {name}{at}")
    })
}

/// The part of costs beyond others.
fn beyond(of: Both, near: Both) -> Both {
    of.zip(near).map(|(own, near)| {
        let less = |ns: f64| (ns - near.ns).max(0.0);
        Cost { ns: less(own.ns), interval_ns: own.interval_ns.map(less) }
    })
}

/// The larger half-width of a ratio of costs, as a share of it.
fn relative(of: Both) -> f64 {
    let larger = of.map(|cost| cost.relative().into_iter().fold(0.0, f64::max));
    larger.from.hypot(larger.to)
}

/// The half-widths below and above the waiting there that the costs of both machines add, in
/// quadrature.
fn half_widths(waits: &[Both], ratio: f64) -> [f64; 2] {
    let squares = waits.iter().map(|own| {
        let [[from_below, from_above], [below, above]] = [own.from, own.to]
            .map(|cost| [cost.ns - cost.interval_ns[0], cost.interval_ns[1] - cost.ns]);
        [below.hypot(ratio * from_above), above.hypot(ratio * from_below)].map(|half| half * half)
    });
    squares.fold([0.0; 2], |[a, b], [below, above]| [a + below, b + above]).map(f64::sqrt)
}

/// The most by which shares can lengthen the user time there (`sign` 1), or shorten it (-1): each
/// share of a kind takes its time from the base, which a ratio carries. The kinds that do so most
/// for their time come first.
fn gain(waits: &[Both], ratio: f64, sign: f64, [least, most]: Bounds) -> f64 {
    let each_ns = |own: &Both| sign * (own.to.ns - ratio * own.from.ns);
    let rate = |own: &Both| each_ns(own) / own.from.ns.max(f64::MIN_POSITIVE);
    let mut order: Vec<&Both> = waits.iter().collect();
    order.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let (mut used, mut gained) = (0.0, 0.0);
    for own in order {
        let is_gain = each_ns(own) > 0.0;
        let left: f64 = if is_gain { most - used } else { least - used };
        let share = match own.from.ns > 0.0 {
            true => (left / own.from.ns).clamp(0.0, 1.0),
            false => f64::from(u8::from(is_gain)),
        };
        used += share * own.from.ns;
        gained += share * each_ns(own);
    }
    gained
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::Costs;
    use crate::tests::{cost, costs};
    use crate::vector::work::Misses;

    /// A machine by the time of an addition, and of loads from the first and the second cache and
    /// from memory, in ns. A misprediction takes 20 additions.
    fn machine(processor: &str, [add, first, second, memory]: [f64; 4]) -> Costs {
        let exact = |ns: f64| cost(ns, 0.0);
        let mut all = costs(&[
            (ADD, None, exact(add)),
            (MISPREDICTION, None, exact(20.0 * add)),
            (LOAD, Some(IN_FIRST_CACHE), exact(first)),
            (LOAD, Some(65536.0), exact(second)),
            (LOAD, Some(262144.0), exact(memory)),
        ]);
        all.processor = Some(processor.to_owned());
        all
    }

    /// Half of the misses of the first cache miss the second one, too.
    fn work(instructions: f64, mispredictions: f64, misses: f64) -> UserWork {
        let each = [(32768.0, misses), (131072.0, misses / 2.0)];
        UserWork {
            how: "by hand".to_owned(),
            instructions,
            mispredictions,
            misses: each.map(|(bytes, count)| Misses { bytes, count }).to_vec(),
        }
    }

    const HERE: [f64; 4] = [0.25, 1.0, 4.0, 100.0];

    fn predicted(work: &UserWork, user_ns: f64, to: &Costs) -> UserTime {
        user_time(work, user_ns, Systems { from: &machine("a", HERE), to }).unwrap()
    }

    #[test]
    fn user_time_on_the_same_processor_at_the_same_costs_is_the_traced_one() {
        let found = predicted(&work(1e6, 1e3, 1e4), 1e6, &machine("a", HERE));
        assert_eq!(found, UserTime { ns: 1e6, interval_ns: [1e6; 2], explained: 1.0 });
    }

    /// Without misses and mispredictions, a cycle that is twice as long doubles all of the time.
    #[test]
    fn base_is_carried_by_additions_and_loads_of_the_first_cache() {
        let only = work(1e6, 0.0, 0.0);
        let twice = machine("a", [0.5, 2.0, 8.0, 900.0]);
        assert_eq!(
            predicted(&only, 1e6, &twice),
            UserTime { ns: 2e6, interval_ns: [2e6; 2], explained: 1.0 }
        );
        let found = predicted(&only, 1e6, &machine("a", [0.25, 4.0, 4.0, 100.0]));
        assert_eq!(found, UserTime { ns: 2e6, interval_ns: [1e6, 4e6], explained: 1.0 });
        let found = predicted(&only, 1e6, &machine("another", HERE));
        assert_eq!(found.interval_ns, [1e6 / OTHER_CORE, 1e6 * OTHER_CORE]);
    }

    /// A chase through memory, of two instructions for each load: its few instructions cannot take
    /// the time themselves. The known answer is that of the loads.
    #[test]
    fn chase_through_memory_takes_as_long_as_the_memory_there() {
        let mut chase = work(2e6, 0.0, 1e6);
        chase.misses[1].count = 1e6;
        let found = predicted(&chase, 100e6, &machine("a", [0.25, 1.0, 4.0, 300.0]));
        assert!((found.ns / 300e6 - 1.0).abs() < 0.03, "{found:?}");
        let [low, high] = found.interval_ns;
        assert!(low > 290e6 && (300e6..310e6).contains(&high), "{found:?}");
    }

    /// Mispredictions that may take all but the least time of the instructions.
    #[test]
    fn mispredictions_may_be_all_of_the_time_or_none() {
        let branches = work(1e6, 1e5, 0.0);
        let mut to = machine("a", HERE);
        to.primitives.extend(costs(&[(MISPREDICTION, None, cost(10.0, 0.0))]).primitives);
        let found = predicted(&branches, 1e6, &to);
        assert_eq!(found.interval_ns, [1e6, 1e6 + 1e5 * (10.0 - 5.0)]);
        assert!((found.ns - (1e6 + 1e5 * 2.5)).abs() < 1e-6, "{found:?}");
    }

    /// A share of a half of 1e5 mispredictions, whose cost there is off by up to 2 ns.
    #[test]
    fn interval_of_a_cost_there_is_added() {
        let branches = work(1e6, 1e5, 0.0);
        let mut to = machine("a", HERE);
        to.primitives.extend(costs(&[(MISPREDICTION, None, cost(5.0, 2.0))]).primitives);
        let found = predicted(&branches, 1e6, &to);
        assert_eq!(found, UserTime { ns: 1e6, interval_ns: [9e5, 1.1e6], explained: 1.0 });
    }

    /// All shares that the bounds permit, on machines that differ in all costs.
    #[test]
    fn interval_holds_every_mix_of_shares() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let mut tried = 0;
        for _ in 0..20_000 {
            let to = [
                0.2 + 0.3 * random(),
                0.5 + random(),
                2.0 + 4.0 * random(),
                40.0 + 200.0 * random(),
            ];
            let (instructions, user_ns) = (1e6 * random() + 1.0, 1e6);
            let work = work(instructions, 2e5 * random(), 2e4 * random());
            let there = machine("a", to);
            let found = predicted(&work, user_ns, &there);
            let counts = [work.mispredictions, work.misses[0].count / 2.0, work.misses[1].count];
            let here = [5.0, 3.0, 99.0];
            let costs_there = [20.0 * to[0], to[2] - to[1], to[3] - to[1]];
            let shares = [random(), random(), random()];
            let sum =
                |costs: [f64; 3]| -> f64 { (0..3).map(|i| counts[i] * costs[i] * shares[i]).sum() };
            let base = user_ns - sum(here);
            if base < instructions * 0.25 / MOST_AT_ONCE || base > instructions {
                continue;
            }
            tried += 1;
            let ratio = if random() < 0.5 { to[0] / 0.25 } else { to[1] };
            let truth = ratio * base + sum(costs_there);
            let [low, high] = found.interval_ns;
            assert!(low - 1e-6 <= truth && truth <= high + 1e-6, "{truth} is not in {found:?}");
            assert!(low <= found.ns && found.ns <= high);
        }
        assert!(tried > 200, "{tried}");
    }

    /// Instructions take at most 1e6 ns, mispredictions 5e5 ns.
    #[test]
    fn time_that_the_work_cannot_take_is_not_explained() {
        let found = predicted(&work(1e6, 1e5, 0.0), 6e6, &machine("a", HERE));
        assert_eq!((found.ns, found.explained), (6e6, 0.25));
    }

    #[test]
    fn missing_cost_is_the_reason() {
        let lacking = Costs::default();
        let reason = |work: &UserWork, to: &Costs| {
            user_time(work, 1e6, Systems { from: &machine("a", HERE), to }).unwrap_err()
        };
        assert_eq!(reason(&work(1e6, 1.0, 1.0), &lacking), "a machine has no cost of user(add)");
        let mut far = work(1e6, 1.0, 4.0);
        far.misses.push(Misses { bytes: 1e9, count: 1.0 });
        let found = reason(&far, &machine("b", HERE));
        assert!(found.starts_with("a machine has no cost of user(load)@"), "{found}");
    }
}
