//! User time on another machine, by the work of the application in user mode.
//!
//! ```text
//! user time = starts × cost + base + Σ share × count × cost    over mispredictions, distances
//! ```
//!
//! The start of programs has a cost of its own, if both machines have it (`starts`).
//!
//! The base is what the application takes without any misprediction and with all data in the first
//! cache. It is what is left of the traced user time, and changes between machines by a factor: as
//! additions that wait for each other, or as loads from the first cache. The value is by additions:
//! processors do other instructions while a load from the first cache is on its way. A share is the
//! part of a cost for which the program waits: misses overlap, prefetchers fetch ahead, and
//! processors predict branches better than the simulated predictor. No share is known. But each is
//! between 0 and 1, and the base is taken to have a least and a most time for each instruction
//! (`constants.rs`). The interval has all user times that these bounds permit, each end with the
//! costs at those ends of their intervals that move it furthest; the value has equal shares in the
//! middle of the bounds. Traced time beyond the bounds is of unknown work: the interval lets it
//! change as any of the costs does.

use super::misses::{IN_FIRST_CACHE, LOAD};
use super::neighbours;
use super::pair::{Pair, Systems};
use super::starts::{self, START};
use crate::constants::{MOST_AT_ONCE, OTHER_CORE};
use crate::costs::Cost;
use crate::vector::work::UserWork;

/// A dependent addition of registers.
pub(crate) const ADD: &str = "user(add)";

/// A branch that was predicted wrongly.
pub(crate) const MISPREDICTION: &str = "user(misprediction)";

/// The primitives of user time.
pub(crate) const NAMES: [&str; 4] = [ADD, LOAD, MISPREDICTION, START];

/// User time on another machine, in ns, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UserTime {
    pub ns: f64,
    pub interval_ns: [f64; 2],
    /// The largest share of the traced user time that the counted work can take.
    pub explained: f64,
}

/// The costs of a primitive on both machines, for one use or for all uses of a kind.
type Both = Pair<Cost>;

/// The times of a kind on both machines.
type Times = Pair<f64>;

/// The time of all shares together where the application was traced, in ns: at least and at most.
type Bounds = [f64; 2];

/// The user time per unit of an application whose traced user time was `user_ns`. The error is the
/// reason why it is not known.
pub(crate) fn user_time(
    work: &UserWork,
    starts: Pair<f64>,
    user_ns: f64,
    systems: Systems,
) -> Result<UserTime, String> {
    let kinds = Kinds::new(work, systems)?;
    if user_ns < kinds.least_ns() {
        return Err("the counted instructions need longer than the traced user time".to_owned());
    }
    let Some(start) = starts::costs_of(starts, systems) else {
        return Ok(kinds.beside_neighbours(user_ns, systems));
    };
    if user_ns < kinds.least_ns() + start.from.interval_ns[0] {
        return Err("the start of its programs needs longer than the traced user time".to_owned());
    }
    let rest = |start_ns: f64| (user_ns - start_ns).max(kinds.least_ns());
    let without = |start_ns: f64| kinds.beside_neighbours(rest(start_ns), systems);
    let [low, high] = start.to.interval_ns;
    let [short, long] = start.from.interval_ns;
    let middle = without(start.from.ns);
    let explained = middle.explained * rest(start.from.ns) + start.from.interval_ns[1];
    Ok(UserTime {
        ns: middle.ns + start.to.ns,
        interval_ns: [
            without(long).interval_ns[LOW] + low,
            without(short).interval_ns[HIGH] + high,
        ],
        explained: (explained / user_ns).min(1.0),
    })
}

/// The costs of the work of an application.
struct Kinds {
    /// All instructions, if each takes as long as an addition that waits for another one.
    adds: Both,
    /// All instructions, if each takes as long as a load from the first cache.
    loads: Both,
    /// The times that mispredictions and misses add.
    waits: Vec<Both>,
    /// All that may carry time of unknown work, for one use.
    each: Vec<Both>,
}

impl Kinds {
    fn new(work: &UserWork, systems: Systems) -> Result<Kinds, String> {
        let [add, near] = [(ADD, None), (LOAD, Some(IN_FIRST_CACHE))]
            .map(|(name, size)| cost(systems, name, size).and_then(|of| above_zero(of, name)));
        let (add, near) = (add?, near?);
        let misprediction = cost(systems, MISPREDICTION, None)?;
        let times = |of: Both, count: f64| of.map(|cost| cost.times(count));
        let mut waits = vec![times(misprediction, work.mispredictions)];
        let mut each = vec![add, near, misprediction];
        let distances = work.distances();
        for (index, [bytes, count]) in distances.iter().enumerate() {
            let is_last = index + 1 == distances.len();
            let found = if is_last {
                cost_from(systems, *bytes)
            } else {
                cost(systems, LOAD, Some(*bytes))
            };
            match found {
                Ok(own) => {
                    waits.push(times(beyond(own, near), *count));
                    each.push(own);
                }
                Err(reason) if *count > 0.0 => return Err(reason),
                Err(_) => {}
            }
        }
        let of_all = |of: Both| times(of, work.instructions);
        Ok(Kinds { adds: of_all(add), loads: of_all(near), waits, each })
    }

    /// The least time of the instructions where the application was traced, in ns.
    fn least_ns(&self) -> f64 {
        self.adds.from.interval_ns[0] / MOST_AT_ONCE
    }

    /// The user time without the start of programs, beside the neighbours of both machines.
    fn beside_neighbours(&self, user_ns: f64, systems: Systems) -> UserTime {
        let Pair { from, to } = neighbours::lengthenings(systems);
        let quiet =
            |lengthened: f64| self.user_time((user_ns / lengthened).max(self.least_ns()), systems);
        let middle = quiet(from.value);
        UserTime {
            ns: middle.ns * to.value,
            interval_ns: [
                quiet(from.most).interval_ns[LOW],
                quiet(1.0).interval_ns[HIGH] * to.most,
            ],
            ..middle
        }
    }

    /// The user time of quiet cores without the start of programs.
    fn user_time(&self, user_ns: f64, systems: Systems) -> UserTime {
        let Kinds { adds, loads, waits, each } = self;
        let core = if systems.have_same_processor() { 1.0 } else { OTHER_CORE };
        let [slow, fast] =
            [[adds, loads].map(|of| ratio(of, HIGH)), [adds, loads].map(|of| ratio(of, LOW))];
        let slow = slow[0].max(slow[1]) * core;
        let fast = fast[0].min(fast[1]) / core;
        let bounds = bounds(user_ns, adds.from.interval_ns[0], loads.from.interval_ns[1]);
        let least_known: f64 =
            [loads].into_iter().chain(waits).map(|of| of.from.interval_ns[0]).sum();
        let unknown_ns = (user_ns - least_known).max(0.0);
        let end = |carried: f64, any: f64, end: usize| {
            let times: Vec<Times> = waits.iter().map(|of| at_end(of, end)).collect();
            let sign = if end == HIGH { 1.0 } else { -1.0 };
            carried * user_ns
                + (any - carried) * unknown_ns
                + sign * gain(&times, carried, sign, bounds)
        };
        let any = |end: usize| each.iter().map(move |of| ratio(of, end));
        let low = end(fast, any(LOW).fold(fast, f64::min), LOW);
        let high = end(slow, any(HIGH).fold(slow, f64::max), HIGH);
        let (ns, explained) = self.middle(user_ns);
        UserTime { ns, interval_ns: [low.min(ns).max(0.0), high.max(ns)], explained }
    }

    /// The user time at the measured costs with equal shares, and the share of the traced one that
    /// the work can take.
    fn middle(&self, user_ns: f64) -> (f64, f64) {
        let Kinds { adds, loads, waits, .. } = self;
        let all_ns: f64 = waits.iter().map(|own| own.from.ns).sum();
        let [least, most] = bounds(user_ns, adds.from.ns, loads.from.ns).map(|end| end.min(all_ns));
        let share = if all_ns > 0.0 { least.midpoint(most) / all_ns } else { 0.5 };
        let ratio = adds.to.ns / adds.from.ns;
        let gains = waits.iter().map(|own| own.to.ns - ratio * own.from.ns);
        let explained =
            if user_ns > 0.0 { ((loads.from.ns + all_ns) / user_ns).min(1.0) } else { 1.0 };
        (ratio * user_ns + share * gains.sum::<f64>(), explained)
    }
}

/// The lower end of an interval.
const LOW: usize = 0;

/// The upper end of an interval.
const HIGH: usize = 1;

/// The ends of the intervals of both machines that move the time there furthest to its `end`.
fn at_end(of: &Both, end: usize) -> Times {
    Pair { from: of.from.interval_ns[1 - end], to: of.to.interval_ns[end] }
}

fn ratio(of: &Both, end: usize) -> f64 {
    let Times { from, to } = at_end(of, end);
    to / from
}

/// The bounds of the time of all shares: an instruction of the base takes at most a load from the
/// first cache, and at least a part of an addition.
fn bounds(user_ns: f64, adds_ns: f64, loads_ns: f64) -> Bounds {
    let most = (user_ns - adds_ns / MOST_AT_ONCE).max(0.0);
    [(user_ns - loads_ns).clamp(0.0, most), most]
}

/// The costs, which both machines must have measured at this size: the size of a cache may be
/// between two others.
fn cost(systems: Systems, name: &str, size: Option<f64>) -> Result<Both, String> {
    let known = systems.map(|costs| costs.at_knot(name, size).filter(|cost| cost.ns > 0.0)).both();
    known.ok_or_else(|| {
        let at = size.map_or(String::new(), |size| format!("@{size}"));
        format!("a machine has no cost of {name}{at}")
    })
}

/// The costs of loads from a distance on: the interval reaches from the cost at that distance,
/// which may be a hit of the last cache, to that at the largest measured one.
fn cost_from(systems: Systems, bytes: f64) -> Result<Both, String> {
    let own = cost(systems, LOAD, Some(bytes))?;
    let farthest = systems.map(|costs| costs.largest_size(LOAD).filter(|size| *size > bytes));
    let farthest = farthest
        .both()
        .ok_or_else(|| format!("a machine has no cost of {LOAD} above {bytes} bytes"))?;
    let farthest =
        farthest.zip(systems).map(|(size, costs)| costs.at_knot(LOAD, Some(size))).both();
    Ok(own.zip(farthest.unwrap_or(own)).map(|(own, farthest)| own.or(farthest)))
}

/// Costs whose ratio has an upper end.
fn above_zero(of: Both, name: &str) -> Result<Both, String> {
    match of.from.interval_ns[0] > 0.0 {
        true => Ok(of),
        false => {
            Err(format!("the interval of the cost of {name} reaches 0 where the vector was taken"))
        }
    }
}

/// The part of costs beyond others. It is at least 0.
fn beyond(of: Both, near: Both) -> Both {
    of.zip(near).map(|(own, near)| {
        let less = own.minus(near);
        Cost { ns: less.ns.max(0.0), interval_ns: less.interval_ns.map(|end| end.max(0.0)) }
    })
}

/// The most by which shares can lengthen the user time there (`sign` 1), or shorten it (-1): each
/// share of a kind takes its time from the base, which a ratio carries. The kinds that do so most
/// for their time come first.
fn gain(waits: &[Times], ratio: f64, sign: f64, [least, most]: Bounds) -> f64 {
    let each_ns = |own: &Times| sign * (own.to - ratio * own.from);
    let rate = |own: &Times| each_ns(own) / own.from.max(f64::MIN_POSITIVE);
    let mut order: Vec<&Times> = waits.iter().collect();
    order.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let (mut used, mut gained) = (0.0, 0.0);
    for own in order {
        let is_gain = each_ns(own) > 0.0;
        let left: f64 = if is_gain { most - used } else { least - used };
        let share = match own.from > 0.0 {
            true => (left / own.from).clamp(0.0, 1.0),
            false => f64::from(u8::from(is_gain)),
        };
        used += share * own.from;
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
            (LOAD, Some(1e9), exact(memory)),
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

    /// No program is started.
    const NONE: Pair<f64> = Pair { from: 0.0, to: 0.0 };

    const HERE: [f64; 4] = [0.25, 1.0, 4.0, 100.0];

    fn predicted(work: &UserWork, user_ns: f64, to: &Costs) -> UserTime {
        user_time(work, NONE, user_ns, Systems { from: &machine("a", HERE), to }).unwrap()
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
        assert_eq!(found, UserTime { ns: 1e6, interval_ns: [1e6, 4e6], explained: 1.0 });
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

    /// Two starts of 2e5 ns, which are 5e4 ns there. The rest takes as long on both machines.
    #[test]
    fn starts_of_programs_have_their_own_cost() {
        let with = |start_ns: f64, half_width: f64| {
            let mut all = machine("a", HERE);
            all.primitives.extend(costs(&[(START, None, cost(start_ns, half_width))]).primitives);
            all
        };
        let only = work(1e6, 0.0, 0.0);
        let found = |from: &Costs, to: &Costs, user_ns: f64, there: f64| {
            user_time(&only, Pair { from: 2.0, to: there }, user_ns, Systems { from, to })
        };
        let (from, to) = (with(2e5, 0.0), with(5e4, 0.0));
        let time = |ns: f64| Ok(UserTime { ns, interval_ns: [ns; 2], explained: 1.0 });
        assert_eq!(found(&from, &to, 1e6, 2.0), time(7e5));
        // A change removed one of them.
        assert_eq!(found(&from, &to, 1e6, 1.0), time(6.5e5));
        // Without a cost there, starts change as other instructions do.
        assert_eq!(found(&from, &machine("a", HERE), 1e6, 2.0), time(1e6));
        let reason = found(&from, &to, 4e5, 2.0).unwrap_err();
        assert_eq!(reason, "the start of its programs needs longer than the traced user time");
        let [low, high] = found(&with(2e5, 1e4), &with(5e4, 1e4), 1e6, 2.0).unwrap().interval_ns;
        assert!((low - 6.6e5).abs() < 1.0 && (high - 7.4e5).abs() < 1.0, "{low} {high}");
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

    /// All of 1e5 mispredictions, which cost 3 to 7 ns there and 5 ns here.
    #[test]
    fn ends_have_the_costs_at_their_own_ends() {
        let branches = work(1e6, 1e5, 0.0);
        let mut to = machine("a", HERE);
        to.primitives.extend(costs(&[(MISPREDICTION, None, cost(5.0, 2.0))]).primitives);
        let found = predicted(&branches, 1e6, &to);
        assert_eq!(found, UserTime { ns: 1e6, interval_ns: [8e5, 1.2e6], explained: 1.0 });
        // The same error here as there: 3 to 7 ns.
        let from = to.clone();
        let found = user_time(&branches, NONE, 1e6, Systems { from: &from, to: &to }).unwrap();
        assert_eq!(found.interval_ns, [1e6 - 1e5 * 4.0, 1e6 + 1e5 * 4.0]);
        // Additions and loads that are 10 % uncertain on both machines.
        let mut from = machine("a", HERE);
        let near = [(ADD, None, cost(0.25, 0.025)), (LOAD, Some(IN_FIRST_CACHE), cost(1.0, 0.1))];
        from.primitives.extend(costs(&near).primitives);
        let found =
            user_time(&work(1e6, 0.0, 0.0), NONE, 1e6, Systems { from: &from, to: &from }).unwrap();
        for (end, expected) in found.interval_ns.into_iter().zip([0.9 / 1.1, 1.1 / 0.9]) {
            assert!((end / 1e6 - expected).abs() < 1e-9, "{found:?}");
        }
    }

    /// Loads beyond the last cache may be hits of a larger one or go to memory, on both machines.
    #[test]
    fn last_distance_has_the_costs_up_to_the_largest_one() {
        let mut far = work(1e5, 0.0, 1e4);
        far.misses[1].count = 1e4;
        let mut to = machine("a", HERE);
        let add = |costs: &mut Costs, ns: f64| {
            let mut curve = costs.primitives[LOAD].curve.clone();
            assert!(curve.add(Some(2e9), cost(ns, 0.0)));
            costs.primitives.get_mut(LOAD).unwrap().curve = curve;
        };
        add(&mut to, 400.0);
        let from = machine("a", HERE);
        let found = user_time(&far, NONE, 1.09e6, Systems { from: &from, to: &to }).unwrap();
        // At least 9.9e5 ns are loads; each is 99 ns here, and up to 399 ns there.
        let [low, high] = found.interval_ns;
        assert!((found.ns / 1.09e6 - 1.0).abs() < 1e-9 && (low / 1.09e6 - 1.0).abs() < 1e-9);
        assert!((high - (1e5 + 399e4)).abs() < 1.0, "{found:?}");
        let mut short = machine("b", HERE);
        short.primitives.extend(
            costs(&[
                (LOAD, Some(IN_FIRST_CACHE), cost(1.0, 0.0)),
                (LOAD, Some(65536.0), cost(4.0, 0.0)),
                (LOAD, Some(262_144.0), cost(100.0, 0.0)),
            ])
            .primitives,
        );
        let reason =
            user_time(&far, NONE, 1.09e6, Systems { from: &from, to: &short }).unwrap_err();
        assert_eq!(reason, "a machine has no cost of user(load) above 262144 bytes");
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

    /// Instructions take at most 1e6 ns, mispredictions 5e5 ns. The rest changes as any cost does:
    /// memory is three times as fast there, and the second cache twice as slow.
    #[test]
    fn rest_that_the_work_cannot_take_may_change_as_any_cost() {
        let to = machine("a", [0.25, 1.0, 8.0, 100.0 / 3.0]);
        let found = predicted(&work(1e6, 1e5, 0.0), 6e6, &to);
        assert_eq!((found.ns, found.explained), (6e6, 0.25));
        let [low, high] = found.interval_ns;
        assert!((low - (1.5e6 + 4.5e6 / 3.0)).abs() < 1.0, "{found:?}");
        assert!((high - (1.5e6 + 4.5e6 * 2.0)).abs() < 1.0, "{found:?}");
    }

    /// The probe of the machine of the trace took a quarter longer, and that of the other one twice
    /// as long: 1e6 ns are 8e5 to 1e6 ns on a quiet core.
    #[test]
    fn neighbours_of_both_machines_lengthen_user_time() {
        let beside = |lengthening: f64| Costs {
            lengthening: Some(lengthening),
            ..machine("a", [0.25, 1.0, 4.0, 100.0 + lengthening])
        };
        let (from, to) = (beside(0.25), beside(1.0));
        let found = |from: &Costs, to: &Costs| {
            user_time(&work(1e6, 0.0, 0.0), NONE, 1e6, Systems { from, to }).unwrap()
        };
        let UserTime { ns, interval_ns, .. } = found(&from, &to);
        assert!((ns - 1e6 / 1.125 * 1.5).abs() < 1e-6, "{ns}");
        assert_eq!(interval_ns, [8e5, 2e6]);
        assert_eq!(found(&to, &to).interval_ns, [1e6; 2]);
    }

    #[test]
    fn counts_that_need_longer_than_the_traced_time_are_refused() {
        let machine = machine("a", HERE);
        let systems = Systems { from: &machine, to: &machine };
        let least_ns = 1e6 * 0.25 / MOST_AT_ONCE;
        assert!(user_time(&work(1e6, 0.0, 0.0), NONE, least_ns, systems).is_ok());
        let reason = user_time(&work(1e6, 0.0, 0.0), NONE, 0.99 * least_ns, systems).unwrap_err();
        assert_eq!(reason, "the counted instructions need longer than the traced user time");
    }

    #[test]
    fn missing_cost_is_the_reason() {
        let lacking = Costs::default();
        let reason = |work: &UserWork, to: &Costs| {
            user_time(work, NONE, 1e6, Systems { from: &machine("a", HERE), to }).unwrap_err()
        };
        assert_eq!(reason(&work(1e6, 1.0, 1.0), &lacking), "a machine has no cost of user(add)");
        let mut far = work(1e6, 1.0, 4.0);
        far.misses.push(Misses { bytes: 1e9, count: 1.0 });
        let found = reason(&far, &machine("b", HERE));
        assert!(found.starts_with("a machine has no cost of user(load)@"), "{found}");
        // Costs of sizes around it do not stand for it.
        let mut between = work(1e6, 1.0, 4.0);
        between.misses[1].bytes = 65536.0;
        let found = reason(&between, &machine("b", HERE));
        assert!(found.starts_with("a machine has no cost of user(load)@46340"), "{found}");
    }
}
