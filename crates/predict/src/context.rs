//! The context of an application's calls: how much longer they take there than in benchmarks.
//!
//! A benchmark repeats one call, which then finds its code and data in the processor's caches; an
//! application makes different calls. A trace with times has the true level on the machine where it
//! was taken. The costs of the benchmarks there and on another system carry it over, as a ratio.

use crate::blocked::is_blocked;
use crate::contained::without_contained;
use crate::cost::{Contained, Cost, Costs};
use crate::may_wait::may_wait;
use crate::page_fault::is_part;
use crate::rounds::Uncertainty;
use crate::scale::{Scale, Systems, ends, relative};
use crate::vector::{Use, Vector, nearest_size};
use crate::{NULL_CALL, canonical};

/// The traced times of an application beside the costs of benchmarks on the same machine.
#[derive(Clone, Debug)]
pub struct Context {
    /// The run with the costs of the machine where the vector was traced, as the user names it.
    pub traced_on: String,
    reference: Costs,
    uses: Vec<Use>,
    timed: Vec<Timed>,
    /// The factor of all uses. `None`: no timed use has a cost on that machine.
    overall: Option<Factor>,
    outside_ns: Option<f64>,
    clock_reads: Option<f64>,
    uncertainty: Option<Uncertainty>,
    /// The share by which the whole traced time exceeds that of `uses`.
    removed: f64,
    /// The application whose calls the times are from. `None`: the vector's own.
    from: Option<String>,
}

/// A primitive with its time in the application.
#[derive(Clone, Debug)]
struct Timed {
    name: String,
    size: Option<f64>,
    count: f64,
    /// The time of all these uses per unit of work.
    time_ns: f64,
    /// Whether the time is a cost times the factor of other uses, and not from a trace.
    is_of_others: bool,
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

/// Times whose share of all is below this are errors of rounding.
const ROUNDING: f64 = 1e-9;

/// A call that another application makes less often than this share is rare there, as those at the
/// start of a connection are: its code and data may not be in the caches.
const RARE: f64 = 0.01;

impl Context {
    /// Relates the times of a vector to the costs on the machine where it was traced. The error is
    /// the reason why that is impossible.
    pub fn of(vector: &Vector, traced_on: &str, costs: &Costs) -> Result<Context, String> {
        let timed: Vec<Timed> = vector.primitives.iter().filter_map(Timed::of).collect();
        if !timed.iter().any(|t| t.time_ns > 0.0) {
            return Err("the vector has no times".to_owned());
        }
        let mut context = Context {
            traced_on: traced_on.to_owned(),
            reference: costs.unchanged(),
            uses: vector.primitives.clone(),
            timed,
            overall: overall(&vector.primitives, costs),
            outside_ns: None,
            clock_reads: vector.clock_reads,
            uncertainty: vector.uncertainty(),
            removed: 0.0,
            from: None,
        };
        context.outside_ns = vector.kernel_ns.map(|kernel_ns| {
            let rest_ns = kernel_ns - context.listed_ns(&vector.primitives);
            // Scaled times add up to all kernel time but for rounding.
            if rest_ns > kernel_ns * ROUNDING { rest_ns } else { 0.0 }
        });
        Ok(context)
    }

    /// The context in which `vector` is predicted as if its calls took as long as those of another
    /// `application`, whose own context this is. Both were traced on the same machine.
    ///
    /// Calls that both make have the times of that application: a call of another size within a
    /// factor of 2 is scaled by the costs of both sizes. Calls that only `vector` makes, or that
    /// the other application makes rarely, have their cost times the factor of similar calls of
    /// that application. A call without a cost has its time in `own`, the context of `vector`,
    /// scaled as all calls are on average.
    #[must_use]
    pub fn applied_to(
        mut self,
        vector: &Vector,
        application: &str,
        own: Option<&Context>,
    ) -> Context {
        self.forget_rare(&vector.primitives);
        let mut timed = self.timed.clone();
        if let Some(own) = own {
            let others = own.timed.iter().filter(|t| self.timed_use(&t.used()).is_none());
            timed.extend(
                others.map(|t| self.of_near_size(t).unwrap_or_else(|| self.estimated(t, own))),
            );
        }
        self.timed = timed;
        self.outside_ns = own.and_then(|own| own.outside_ns);
        self.uses.clone_from(&vector.primitives);
        self.from = Some(application.to_owned());
        self
    }

    /// Forgets the times of calls that are rare here beside these uses.
    fn forget_rare(&mut self, uses: &[Use]) {
        let timed = self.timed.clone();
        self.timed.retain(|t| {
            let same = |name: &str| call(name) == call(&t.name);
            let here = timed.iter().filter(|other| same(&other.name));
            let there = uses.iter().filter(|used| same(&used.name));
            let here: f64 = here.map(|other| other.count).sum();
            let there: f64 = there.map(|used| used.count).sum();
            here >= RARE * there
        });
    }

    /// A call of another application with the time of the same call here at the nearest size, less
    /// than twice or more than half of its own: sizes of a trace are means.
    fn of_near_size(&self, other: &Timed) -> Option<Timed> {
        let is_same = |t: &&Timed| t.name == other.name;
        let sizes = self.timed.iter().filter(is_same).filter_map(|t| t.size);
        let size = nearest_size(sizes, other.size?)?;
        let nearest = self.timed.iter().filter(is_same).find(|t| t.size == Some(size))?;
        let cost = |size| Some(self.reference.at(&other.name, size)?.cost.ns);
        let scale = match (cost(other.size), cost(nearest.size)) {
            (Some(theirs), Some(ours)) if ours > 0.0 => theirs / ours,
            _ => 1.0,
        };
        Some(Timed {
            time_ns: other.count * nearest.time_ns / nearest.count * scale,
            ..other.clone()
        })
    }

    /// A call of another application, with its estimated time in this context.
    fn estimated(&self, other: &Timed, own: &Context) -> Timed {
        let time_ns = match self.reference.at(&other.name, other.size) {
            Some(at) => {
                let factor = self.factor(&other.name).map_or(1.0, |factor| factor.ratio);
                let whole_ns = other.count * at.cost.ns * factor;
                // The benchmark may contain other calls, which the trace has apart.
                let traced_ns = own.whole_ns(other);
                if traced_ns > 0.0 { whole_ns * other.time_ns / traced_ns } else { 0.0 }
            }
            None => match (self.overall, own.overall) {
                (Some(here), Some(there)) => other.time_ns * here.ratio / there.ratio,
                _ => other.time_ns,
            },
        };
        Timed { time_ns, is_of_others: true, ..other.clone() }
    }

    /// Why the traced times cannot be carried to a system: no timed use has a cost, and the system
    /// is not the machine of the trace. `None`: they can.
    pub fn lacking_costs(&self, system: &Costs) -> Option<String> {
        let is_carried = self.overall.is_some() || self.systems(system).is_same();
        (!is_carried)
            .then(|| format!("{} has no cost of a primitive with a traced time", self.traced_on))
    }

    /// Notes that the traced application took `ns` more kernel time per unit, which the vector of
    /// this context lacks.
    #[must_use]
    pub fn with_removed(mut self, ns: f64) -> Context {
        let listed_ns: f64 = self.timed.iter().map(|t| t.time_ns).sum();
        self.removed = ns / (listed_ns + self.outside_ns.unwrap_or_default());
        self
    }

    /// The share by which the whole traced time exceeds that of the uses.
    pub(crate) fn removed(&self) -> f64 {
        self.removed
    }

    /// The other application whose context this is. `None`: the vector's own.
    pub(crate) fn taken_from(&self) -> Option<&str> {
        self.from.as_deref()
    }

    /// Whether the time of a use is an estimate from other uses.
    pub(crate) fn is_of_others(&self, used: &Use) -> bool {
        self.timed_use(used).is_none_or(|t| t.is_of_others)
    }

    fn timed_use(&self, used: &Use) -> Option<&Timed> {
        self.timed.iter().find(|t| used.is_of(&t.name, t.size))
    }

    /// Traced kernel time per unit outside of the primitives of the vector. `None`: the whole
    /// kernel time is unknown.
    pub(crate) fn outside_ns(&self) -> Option<f64> {
        self.outside_ns
    }

    /// The traced primitives, before changes.
    pub(crate) fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// Whether a vector has other uses than the traced ones.
    pub(crate) fn differs_from(&self, vector: &Vector) -> bool {
        vector.primitives != self.uses || vector.clock_reads != self.clock_reads
    }

    /// How far the traced times may be off. `None`: unknown.
    pub(crate) fn uncertainty(&self) -> Option<Uncertainty> {
        self.uncertainty
    }

    /// Adds the figures of this machine that were not used.
    pub(crate) fn notes(&self, system: &Costs, notes: &mut Vec<String>) {
        if !self.systems(system).is_same() {
            let of_reference = self.reference.left_out.iter();
            notes.extend(of_reference.map(|line| format!("{}: {line}", self.traced_on)));
        }
    }

    /// Whether the cost here has an interval that covers its own launches only.
    pub(crate) fn is_within_launches(&self, primitive: &str) -> bool {
        self.reference.is_within_launches(primitive)
    }

    /// The primitives among these whose cost here is from a disturbed figure.
    pub(crate) fn disturbed_among<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        self.reference.disturbed_among(names)
    }

    /// This machine and another system.
    pub(crate) fn systems<'a>(&'a self, to: &'a Costs) -> Systems<'a> {
        Systems { from: &self.reference, to }
    }

    /// Traced time of one use. `None`: the trace does not have it.
    pub(crate) fn each_ns(&self, used: &Use) -> Option<f64> {
        self.timed_use(used).map(|t| t.time_ns / t.count)
    }

    /// The factor of uses without a time: that of the same primitive at other sizes, else of the
    /// same call on other kinds, but at least 1, else of all. `None`: no timed use has a cost.
    pub(crate) fn factor(&self, name: &str) -> Option<Factor> {
        let own = self.of_group(|t| t.name == name);
        // Most of the time of a call that sleeps is that of a switch.
        let is_other_kind =
            |t: &Timed| call(&t.name) == call(name) && is_blocked(&t.name) == is_blocked(name);
        let same_call = || self.of_group(is_other_kind).map(Factor::at_least_1);
        own.or_else(same_call).or(self.overall)
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
    pub(crate) fn factor_of_use(&self, used: &Use, cost_ns: f64) -> Option<Factor> {
        let factor = self.factor(&used.name)?;
        let smaller = used.size.zip(used.size.and_then(|size| self.smaller(&used.name, size)));
        let Some((size, smaller)) = smaller else {
            return Some(factor);
        };
        let least = factor.ratio.max(1.0 + smaller.excess_ns * size / cost_ns);
        let own = self.reference.at(&used.name, used.size);
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
        let smaller = self.timed.iter().filter_map(|t| {
            let own = t.size.filter(|own| t.name == name && *own > 0.0 && *own < size)?;
            let (each_ns, cost) = (t.time_ns / t.count, self.reference.at(name, t.size)?.cost);
            Some(Smaller { size: own, each_ns, excess_ns: (each_ns - cost.ns).max(0.0) / own })
        });
        smaller.max_by(|a, b| a.size.total_cmp(&b.size))
    }

    /// Time of the smaller uses that together have this size, with one entry into the kernel.
    fn most_ns(&self, smaller: Smaller, size: f64) -> Option<f64> {
        let null_ns = self.reference.at(&canonical(NULL_CALL), None)?.cost.ns;
        let calls = (size / smaller.size).ceil();
        Some(calls * smaller.each_ns - (calls - 1.0) * null_ns.min(smaller.each_ns))
    }

    fn of_group(&self, is_in: impl Fn(&Timed) -> bool) -> Option<Factor> {
        let timed = self.timed.iter().filter(|t| is_in(t));
        let each = timed.filter_map(|t| {
            let cost = self.reference.at(&t.name, t.size)?.cost;
            Some((self.whole_ns(t), cost.times(t.count)))
        });
        Factor::of(each)
    }

    /// The time of a primitive with that of the primitives that its benchmark contains, as its cost
    /// has them.
    fn whole_ns(&self, timed: &Timed) -> f64 {
        let parts = self.reference.parts(&timed.name).map(|part| {
            let own = || {
                let timed = self.timed.iter();
                timed.filter(|t| is_part(&part.name, &t.name))
            };
            let count: f64 = own().map(|t| t.count).sum();
            let time_ns: f64 = own().map(|t| t.time_ns).sum();
            if count > 0.0 { time_ns * (timed.count * part.count / count).min(1.0) } else { 0.0 }
        });
        timed.time_ns + parts.sum::<f64>()
    }

    /// The ratio of a traced use: of its own costs, else of a kind of it whose size the trace does
    /// not have, else of the primitive that contains it and takes the longest here. The name is
    /// that of the other primitive.
    ///
    /// Hypothetical changes are those of `changed`. They are for a primitive's own costs, and not
    /// for its share of another one.
    pub(crate) fn scale(
        &self,
        used: &Use,
        measured: &Systems,
        changed: &Systems,
    ) -> Option<(Scale, Option<String>)> {
        if let Some(own) = changed.scale(&used.name, used.size) {
            return Some((own, None));
        }
        if let Some(found) = self.scale_of_sized_kind(used, changed) {
            return Some(found);
        }
        let is_part_of_it = |part: &Contained| is_part(&part.name, &used.name);
        let contains = |t: &&Timed| self.reference.parts(&t.name).any(is_part_of_it);
        let wholes = self.timed.iter().filter(contains);
        let longest = wholes.max_by(|a, b| a.time_ns.total_cmp(&b.time_ns))?;
        let of_whole = measured.scale(&longest.name, longest.size)?;
        let scale = Scale { from_ns: None, ..of_whole };
        Some((scale, Some(longest.name.clone())))
    }

    /// The ratio of a kind of a traced use, such as `exit_group(pages)`, at the size at which its
    /// benchmark takes the traced time here.
    fn scale_of_sized_kind(
        &self,
        used: &Use,
        systems: &Systems,
    ) -> Option<(Scale, Option<String>)> {
        let each_ns = self.each_ns(used)?;
        let mut kinds = self.reference.kinds(&used.name);
        kinds.find_map(|kind| {
            let (size, is_its_cost) = self.reference.primitives[kind].curve.size_of(each_ns)?;
            let of_kind = systems.scale(kind, Some(size))?;
            let scale = Scale {
                from_ns: None,
                is_extrapolated: of_kind.is_extrapolated || !is_its_cost,
                ..of_kind
            };
            Some((scale, Some(kind.to_owned())))
        })
    }

    /// The ratio of time without a ratio of its own: the traced time of all covered primitives here
    /// and there. Its interval reaches from the smallest ratio to the largest.
    pub(crate) fn mean_scale(&self, systems: &Systems) -> Option<Scale> {
        if systems.is_same() {
            return Some(Scale::SAME);
        }
        let each = self.timed.iter().filter_map(|t| {
            let (scale, _) = self.scale(&t.used(), systems, systems)?;
            (t.time_ns > 0.0).then_some((t, scale))
        });
        let all: Vec<(&Timed, Scale)> = each.collect();
        let scales: Vec<Scale> = all.iter().map(|(_, scale)| *scale).collect();
        let here: f64 = all.iter().map(|(t, _)| t.time_ns).sum();
        let carried = all.iter().map(|(t, s)| s.carry(t.time_ns, t.count).0);
        Some(Scale {
            ratio: carried.sum::<f64>() / here,
            interval: ends(&scales)?,
            from_ns: None,
            has_same_processor: false,
            is_extrapolated: false,
            is_of_any_kind: false,
        })
    }

    /// Kernel time of the listed primitives. That of primitives without a time is estimated.
    fn listed_ns(&self, uses: &[Use]) -> f64 {
        let mut rest = uses.to_vec();
        without_contained(&mut rest, &self.reference, |used| used.time_ns.is_none());
        let null = self.reference.at(&canonical(NULL_CALL), None);
        let estimate = |used: &Use| {
            let null = null.filter(|_| !may_wait(&used.name));
            let cost = self.reference.at(&used.name, used.size).or(null);
            let factor = |ns| self.factor_of_use(used, ns).map_or(1.0, |factor| factor.ratio);
            cost.map_or(0.0, |at| used.count * at.cost.ns * factor(at.cost.ns))
        };
        let untimed = rest.iter().filter(|used| used.time_ns.is_none());
        let timed: f64 = uses.iter().filter_map(|used| used.time_ns).sum();
        timed + untimed.map(estimate).sum::<f64>()
    }
}

impl Timed {
    fn of(used: &Use) -> Option<Timed> {
        let time_ns = used.time_ns.filter(|_| used.count > 0.0)?;
        Some(Timed {
            name: used.name.clone(),
            size: used.size,
            count: used.count,
            time_ns,
            is_of_others: false,
        })
    }

    fn used(&self) -> Use {
        Use {
            name: self.name.clone(),
            size: self.size,
            count: self.count,
            errors: None,
            started: None,
            time_ns: Some(self.time_ns),
        }
    }
}

impl Factor {
    /// The factor of a call on another kind of descriptor. If it is below 1, that benchmark may do
    /// other work than the application's call. The interval still reaches to the factor.
    fn at_least_1(self) -> Factor {
        let ratio = self.ratio.max(1.0);
        let [below, above] = self.widths;
        Factor { ratio, widths: [1.0 - self.ratio * (1.0 - below) / ratio, above] }
    }

    /// From traced times with the costs of the same uses in benchmarks, whose half-widths are
    /// added.
    fn of(each: impl Iterator<Item = (f64, Cost)>) -> Option<Factor> {
        let (time, cost) = each
            .fold((0.0, Cost::default()), |(sum, all), (time, cost)| (sum + time, all.plus(cost)));
        if !(time > 0.0 && cost.ns > 0.0) {
            return None;
        }
        let [below, above] = relative(cost);
        Some(Factor { ratio: time / cost.ns, widths: [above, below] })
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
    Factor::of(each)
}

/// The system call of a primitive, without its kind.
fn call(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}
