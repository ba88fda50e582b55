//! How much longer calls take in an application than in benchmarks, for uses without a traced time.

use super::pair::Systems;
use super::scale::{Scale, ends};
use crate::costs::contained::without_contained;
use crate::costs::{Contained, Cost, Costs};
use crate::vector::Use;
use crate::vector::may_wait::may_wait;
use crate::vector::names::{NULL_CALL, call, is_blocked, is_part};

/// The traced times of an application beside the costs of benchmarks on the same machine.
#[derive(Clone, Debug)]
pub(crate) struct TracedTimes {
    /// The costs where the application was traced, without hypothetical changes.
    pub costs: Costs,
    /// The primitives with a time.
    pub each: Vec<Timed>,
    /// The factor of all uses. `None`: no timed use has a cost on that machine.
    pub overall: Option<Factor>,
}

/// A primitive with its time in the application.
#[derive(Clone, Debug)]
pub(crate) struct Timed {
    pub name: String,
    pub size: Option<f64>,
    pub count: f64,
    /// The time of all these uses per unit of work.
    pub time_ns: f64,
    /// Whether the time is a cost times the factor of other uses, and not from a trace.
    pub is_of_others: bool,
}

/// Time in the application by time in benchmarks, with the relative half-widths below and above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub ratio: f64,
    pub widths: [f64; 2],
}

/// A timed use that is smaller than another one.
#[derive(Clone, Copy)]
struct Smaller {
    size: f64,
    /// Traced time of one use.
    each_ns: f64,
    /// Its excess over the benchmark, divided by the size.
    excess_ns: f64,
}

impl TracedTimes {
    /// The times of these uses, traced where benchmarks have these costs.
    pub fn new(uses: &[Use], costs: &Costs) -> TracedTimes {
        // A hypothetical change does not alter how long the traced calls took.
        let costs = costs.unchanged();
        TracedTimes {
            each: uses.iter().filter_map(Timed::new).collect(),
            overall: overall(uses, &costs),
            costs,
        }
    }

    /// The time of a use. `None`: it was not traced.
    pub fn find(&self, name: &str, size: Option<f64>) -> Option<&Timed> {
        self.each.iter().find(|t| t.name == name && t.size == size)
    }

    /// The factor of uses without a time: that of the same primitive at other sizes, else of the
    /// same call on other kinds, but at least 1, else of all. `None`: no timed use has a cost.
    pub fn factor(&self, name: &str) -> Option<Factor> {
        let own = self.factor_among(|t| t.name == name);
        // Most of the time of a call that sleeps is that of a switch.
        let is_other_kind =
            |t: &Timed| call(&t.name) == call(name) && is_blocked(&t.name) == is_blocked(name);
        let same_call = || self.factor_among(is_other_kind).map(Factor::at_least_1);
        own.or_else(same_call).or(self.overall)
    }

    fn factor_among(&self, is_in: impl Fn(&Timed) -> bool) -> Option<Factor> {
        let timed = self.each.iter().filter(|t| is_in(t));
        let each = timed.filter_map(|t| {
            let cost = self.costs.at(&t.name, t.size)?.cost;
            Some((self.whole_ns(t), cost.times(t.count)))
        });
        Factor::new(each)
    }

    /// The factor of uses without a time. A larger call of a timed primitive displaces more data
    /// from the caches: its excess over the benchmark grows with the size. It takes at most as long
    /// as timed calls of its size together, less the entries into the kernel that it saves.
    ///
    /// The processor fetches data from memory ahead of its use, also while a call enters the
    /// kernel. So the excess of smaller calls lacks a part of the time for this data, and a larger
    /// call, which has fewer entries, shows more of it. The part is unknown: without it, the time
    /// is the lower bound, and if it fills all entries, the upper one. The value is halfway between
    /// both, and the interval reaches to both. `None`: no timed use has a cost.
    pub fn factor_with_size(&self, used: &Use, cost_ns: f64) -> Option<Factor> {
        let factor = self.factor(&used.name)?;
        let smaller = used.size.zip(used.size.and_then(|size| self.smaller(&used.name, size)));
        let Some((size, smaller)) = smaller else {
            return Some(factor);
        };
        let least = factor.ratio.max(1.0 + smaller.excess_ns * size / cost_ns);
        let own = self.costs.at(&used.name, used.size);
        let own_ns = own.map(|at| at.cost.ns);
        let most = match (self.most_ns(smaller, size), own_ns) {
            (Some(ns), Some(own_ns)) => least.max(1.0 + (ns - own_ns) / cost_ns),
            _ => least,
        };
        let ratio = least.midpoint(most);
        let [below, above] = factor.widths;
        Some(Factor {
            ratio,
            widths: [
                1.0 - least * (1.0 - below) / ratio,
                most.max(least * (1.0 + above)) / ratio - 1.0,
            ],
        })
    }

    /// The largest timed use of a primitive below this size.
    fn smaller(&self, name: &str, size: f64) -> Option<Smaller> {
        let smaller = self.each.iter().filter_map(|t| {
            let own = t.size.filter(|own| t.name == name && *own > 0.0 && *own < size)?;
            let (each_ns, cost) = (t.time_ns / t.count, self.costs.at(name, t.size)?.cost);
            Some(Smaller { size: own, each_ns, excess_ns: (each_ns - cost.ns).max(0.0) / own })
        });
        smaller.max_by(|a, b| a.size.total_cmp(&b.size))
    }

    /// Time of the smaller uses that together have this size, with one entry into the kernel.
    fn most_ns(&self, smaller: Smaller, size: f64) -> Option<f64> {
        let null_ns = self.costs.at(NULL_CALL, None)?.cost.ns;
        let calls = (size / smaller.size).ceil();
        Some(calls * smaller.each_ns - (calls - 1.0) * null_ns.min(smaller.each_ns))
    }

    /// The time of a primitive with that of the primitives that its benchmark contains, as its cost
    /// has them.
    pub fn whole_ns(&self, timed: &Timed) -> f64 {
        let parts = self.costs.parts(&timed.name).map(|part| {
            let own = || self.each.iter().filter(|t| is_part(&part.name, &t.name));
            let count: f64 = own().map(|t| t.count).sum();
            let time_ns: f64 = own().map(|t| t.time_ns).sum();
            if count > 0.0 { time_ns * (timed.count * part.count / count).min(1.0) } else { 0.0 }
        });
        timed.time_ns + parts.sum::<f64>()
    }

    /// Kernel time of these primitives. That of primitives without a time is estimated.
    pub fn listed_ns(&self, uses: &[Use]) -> f64 {
        let mut rest = uses.to_vec();
        without_contained(&mut rest, &self.costs, |used| used.time_ns.is_none());
        let null = self.costs.at(NULL_CALL, None);
        let estimate = |used: &Use| {
            let null = null.filter(|_| !may_wait(&used.name));
            let cost = self.costs.at(&used.name, used.size).or(null);
            let factor = |ns| self.factor_with_size(used, ns).map_or(1.0, |factor| factor.ratio);
            cost.map_or(0.0, |at| used.count * at.cost.ns * factor(at.cost.ns))
        };
        let untimed = rest.iter().filter(|used| used.time_ns.is_none());
        let timed: f64 = uses.iter().filter_map(|used| used.time_ns).sum();
        timed + untimed.map(estimate).sum::<f64>()
    }

    /// The ratio by which a traced use is carried over: of its own costs, else of a kind of it
    /// whose size the trace does not have, else of the primitive that contains it and takes the
    /// longest here. The name is that of the other primitive.
    ///
    /// Hypothetical changes are those of `changed`. They are for a primitive's own costs, and not
    /// for its share of another one.
    pub fn scale(
        &self,
        name: &str,
        size: Option<f64>,
        measured: Systems,
        changed: Systems,
    ) -> Option<(Scale, Option<String>)> {
        if let Some(own) = changed.scale(name, size) {
            return Some((own, None));
        }
        if let Some(found) = self.scale_of_sized_kind(name, size, changed) {
            return Some(found);
        }
        let is_part_of_it = |part: &Contained| is_part(&part.name, name);
        let contains = |t: &&Timed| self.costs.parts(&t.name).any(is_part_of_it);
        let wholes = self.each.iter().filter(contains);
        let longest = wholes.max_by(|a, b| a.time_ns.total_cmp(&b.time_ns))?;
        let whole = measured.scale(&longest.name, longest.size)?;
        let scale = Scale { from_ns: None, ..whole };
        Some((scale, Some(longest.name.clone())))
    }

    /// The ratio of a kind of a traced use, such as `exit_group(pages)`, at the size at which its
    /// benchmark takes the traced time here.
    fn scale_of_sized_kind(
        &self,
        name: &str,
        size: Option<f64>,
        systems: Systems,
    ) -> Option<(Scale, Option<String>)> {
        let timed = self.find(name, size)?;
        let each_ns = timed.time_ns / timed.count;
        let mut kinds = self.costs.kinds(name);
        kinds.find_map(|kind| {
            let (size, is_its_cost) = self.costs.primitives[kind].curve.size_at(each_ns)?;
            let scale = systems.scale(kind, Some(size))?;
            let scale = Scale {
                from_ns: None,
                is_extrapolated: scale.is_extrapolated || !is_its_cost,
                ..scale
            };
            Some((scale, Some(kind.to_owned())))
        })
    }

    /// The ratio of time without a ratio of its own: the traced time of all covered primitives here
    /// and there. Its interval reaches from the smallest ratio to the largest.
    pub fn mean_scale(&self, systems: Systems) -> Option<Scale> {
        if systems.is_same() {
            return Some(Scale::SAME);
        }
        let each = self.each.iter().filter_map(|t| {
            let (scale, _) = self.scale(&t.name, t.size, systems, systems)?;
            (t.time_ns > 0.0).then_some((t, scale))
        });
        let all: Vec<(&Timed, Scale)> = each.collect();
        let scales: Vec<Scale> = all.iter().map(|(_, scale)| *scale).collect();
        let here: f64 = all.iter().map(|(t, _)| t.time_ns).sum();
        let carried = all.iter().map(|(t, s)| s.carry(t.time_ns, t.count).0);
        Some(Scale { ratio: carried.sum::<f64>() / here, interval: ends(&scales)?, ..Scale::SAME })
    }
}

impl Timed {
    /// A use with a time. `None`: it has none.
    fn new(used: &Use) -> Option<Timed> {
        let time_ns = used.time_ns.filter(|_| used.count > 0.0)?;
        Some(Timed {
            name: used.name.clone(),
            size: used.size,
            count: used.count,
            time_ns,
            is_of_others: false,
        })
    }
}

impl Factor {
    /// From traced times with the costs of the same uses in benchmarks, whose half-widths are
    /// added.
    fn new(each: impl Iterator<Item = (f64, Cost)>) -> Option<Factor> {
        let (time, cost) = each
            .fold((0.0, Cost::default()), |(sum, all), (time, cost)| (sum + time, all.plus(cost)));
        if !(time > 0.0 && cost.ns > 0.0) {
            return None;
        }
        let [below, above] = cost.relative();
        Some(Factor { ratio: time / cost.ns, widths: [above, below] })
    }

    /// The factor of a call on another kind of descriptor. If it is below 1, that benchmark may do
    /// other work than the application's call. The interval still reaches to the factor.
    fn at_least_1(self) -> Factor {
        let ratio = self.ratio.max(1.0);
        let [below, above] = self.widths;
        Factor { ratio, widths: [1.0 - self.ratio * (1.0 - below) / ratio, above] }
    }
}

/// The factor of all timed uses with a cost, or within another use.
fn overall(uses: &[Use], costs: &Costs) -> Option<Factor> {
    let mut rest = uses.to_vec();
    without_contained(&mut rest, costs, |_| true);
    let each = uses.iter().zip(&rest).filter_map(|(used, own)| {
        let time = used.time_ns.filter(|_| used.count > 0.0)?;
        match costs.at(&used.name, used.size) {
            Some(at) => Some((time, at.cost.times(own.count))),
            None => Some((time * (1.0 - own.count / used.count), Cost::default())),
        }
    });
    Factor::new(each)
}
