//! The system vector: the cost of each primitive on one machine.
//!
//! `from_run` takes the costs from the run that measured them, `curve` has the cost of a primitive
//! over its size, `blocked` composes the cost of calls that sleep, `contained` removes uses that
//! are part of another cost, and `needs` orders costs by how much they decide.

mod blocked;
pub mod contained;
pub mod curve;
mod from_run;
pub mod needs;

use std::collections::{BTreeMap, BTreeSet};

use crate::constants::ENTERS_KERNEL;
use crate::vector::Use;
use crate::vector::may_wait::may_wait;
use crate::vector::names::{
    CLOCK_READING, MAJOR_FAULT, NULL_CALL, PAGE_FAULT, is_kind, is_minor_fault, stands_for,
};
pub use curve::{At, Cost, Curve};

/// The costs of the primitives on one system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// The primitives by name.
    pub primitives: BTreeMap<String, Measured>,
    /// The primitives with an interval that covers its own launches only, as those of a short run
    /// do.
    pub within_launches: BTreeSet<String>,
    /// The primitives with a cost from a disturbed figure.
    pub disturbed: BTreeSet<String>,
    /// The primitives that have a benchmark and were not measured on the system yet. Their time is
    /// unknown.
    pub unmeasured: BTreeSet<String>,
    /// The model of the processor. `None`: unknown.
    pub processor: Option<String>,
    /// The instruction set.
    pub(crate) isa: String,
    /// The version of the kernel. Empty: unknown.
    pub(crate) kernel: String,
    /// The width of pointers, in bytes. `None`: unknown, as in runs of earlier versions.
    pub(crate) pointer_bytes: Option<u64>,
    /// The mean share by which neighbours on the same core lengthened width probes while the costs
    /// were measured. `None`: unknown.
    pub(crate) lengthening: Option<f64>,
    /// Calls that sleep whose cost is that of the call and of a switch. Their curve is that of the
    /// call.
    pub(crate) composed: BTreeSet<String>,
    /// Entries of the run that stand for a primitive and were not used, with the reason.
    pub left_out: Vec<String>,
    /// The first of these entries for each primitive without any cost.
    pub(crate) unusable: BTreeMap<String, String>,
    /// Hypothetical changes: the factor of the cost of each changed primitive.
    pub(crate) changes: BTreeMap<String, f64>,
}

/// The costs of one primitive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The cost over the size.
    pub curve: Curve,
    /// The primitives that one operation uses. Their cost is in the curve.
    pub contains: Vec<Contained>,
}

/// A primitive within another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Contained {
    /// Its name.
    pub name: String,
    /// Its number per operation.
    pub count: f64,
}

impl Costs {
    /// The primitives among these with a cost from a disturbed figure, each once.
    pub fn disturbed_among<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let is_disturbed = |name: &&str| self.is_among(name, &self.disturbed);
        let used: BTreeSet<&str> = names.filter(is_disturbed).collect();
        used.into_iter().map(str::to_owned).collect()
    }

    /// Whether the interval of a primitive's cost covers its own launches only.
    pub(crate) fn is_within_launches(&self, name: &str) -> bool {
        self.is_among(name, &self.within_launches)
    }

    /// Whether the cost of a primitive comes from one of these.
    fn is_among(&self, name: &str, those: &BTreeSet<String>) -> bool {
        let source = self.source(name);
        let is_known = self.primitives.contains_key(source);
        let mut kinds = self.kinds(source).filter(|_| !is_known);
        those.contains(source) || kinds.any(|kind| those.contains(kind))
    }

    /// The primitive whose costs stand for this one: page faults of any kind for those of a kind
    /// without a cost.
    fn source<'a>(&self, name: &'a str) -> &'a str {
        if is_minor_fault(name) && !self.primitives.contains_key(name) { PAGE_FAULT } else { name }
    }

    /// A primitive without a cost as messages name it: with the reason why the run's figure was not
    /// used, if it has one.
    pub(crate) fn lacking(&self, name: &str) -> String {
        match self.unusable.get(name) {
            Some(line) => format!("{name} ({line})"),
            None => name.to_owned(),
        }
    }

    /// Whether there is a cost of the primitive, or of a kind of it, at some size.
    pub fn has(&self, name: &str) -> bool {
        self.primitives.contains_key(name) || self.kinds(name).next().is_some()
    }

    /// Whether these are the costs of the same run, apart from hypothetical changes. Two runs
    /// without costs are the same if their machine is.
    pub fn is_from_same_run(&self, other: &Costs) -> bool {
        let machine = |costs: &Costs| {
            let Costs { processor, isa, kernel, .. } = costs;
            Some((processor.clone()?, isa.clone(), kernel.clone()))
        };
        let has_same_machine = || machine(self).is_some() && machine(self) == machine(other);
        self.primitives == other.primitives && (!self.primitives.is_empty() || has_same_machine())
    }

    /// The cost of a primitive at a size, with hypothetical changes. `None` if it is not known.
    pub fn at(&self, name: &str, size: Option<f64>) -> Option<At> {
        let change = |kind: &str| self.changes.get(kind).copied().unwrap_or(1.0);
        self.changed_by(change, name, size)
    }

    /// The cost of a primitive at a size as it was measured. `None` if it is not known.
    pub(crate) fn measured(&self, name: &str, size: Option<f64>) -> Option<At> {
        self.changed_by(|_| 1.0, name, size)
    }

    /// The cost of a primitive at a size that was measured, without hypothetical changes.
    pub(crate) fn at_knot(&self, name: &str, size: Option<f64>) -> Option<Cost> {
        self.primitives.get(name)?.curve.knot(size)
    }

    /// The sizes at which a primitive was measured.
    pub(crate) fn sizes(&self, name: &str) -> impl Iterator<Item = f64> {
        self.primitives.get(name).into_iter().flat_map(|own| own.curve.sizes())
    }

    /// The largest size at which a primitive was measured.
    pub(crate) fn largest_size(&self, name: &str) -> Option<f64> {
        self.primitives.get(name)?.curve.largest_size()
    }

    /// The cost of a primitive, or of a primitive of unknown kind, with a factor for each kind. A
    /// page fault of a kind without a cost has that of any kind, and no factor: it is none of the
    /// other kinds.
    fn changed_by(
        &self,
        factor: impl Fn(&str) -> f64,
        name: &str,
        size: Option<f64>,
    ) -> Option<At> {
        let source = self.source(name);
        let changed = |kind: &str| {
            let at = if self.composed.contains(kind) {
                self.cost_of_sleeping(&factor, kind, size)?
            } else {
                self.own(kind, size)?
            };
            let factor = if source == name { factor(kind) } else { 1.0 };
            let cost = at.cost.times(factor);
            Some(At { cost, ..at })
        };
        if self.primitives.contains_key(source) {
            changed(source)
        } else {
            midpoint_of_kinds(self.kinds(source).filter_map(changed))
        }
    }

    /// The measured cost of a use that may be of any of these kinds.
    pub(crate) fn at_any_kind<'a>(
        &self,
        kinds: impl Iterator<Item = &'a str>,
        size: Option<f64>,
    ) -> Option<At> {
        midpoint_of_kinds(kinds.filter_map(|kind| self.own(kind, size)))
    }

    /// The measured cost of a primitive with its own name.
    fn own(&self, name: &str, size: Option<f64>) -> Option<At> {
        self.primitives.get(name)?.curve.at(size)
    }

    /// Whether a hypothetical change is for the cost of this primitive, or of a kind of it if the
    /// primitive has no cost of its own.
    pub(crate) fn is_changed(&self, name: &str) -> bool {
        let is_known = self.primitives.contains_key(name);
        let own = self.components(name);
        let mut changed = self.changes.keys();
        changed.any(|other| own.contains(&other.as_str()) || !is_known && is_kind(other, name))
    }

    /// Whether there is a hypothetical change.
    pub(crate) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The costs without hypothetical changes.
    pub(crate) fn unchanged(&self) -> Costs {
        Costs { changes: BTreeMap::new(), ..self.clone() }
    }

    /// The other primitives that one operation of a primitive uses.
    pub(crate) fn parts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Contained> {
        let known = self.primitives.get(name).into_iter();
        let parts = known.flat_map(|measured| &measured.contains);
        parts.filter(move |part| part.name != name)
    }

    /// The kinds of a primitive whose name has none: `page_fault(copy)` and the like of
    /// `page_fault`. Page faults that read from storage are no kind of those that do not.
    pub(crate) fn kinds(&self, name: &str) -> impl Iterator<Item = &str> {
        let names = self.primitives.keys().map(String::as_str);
        names.filter(move |other| is_kind(other, name) && *other != MAJOR_FAULT)
    }
}

/// Clock readings: Linux maps code into each process that reads clocks in user mode (vDSO). Where
/// no counter of the processor is usable as a clock, as in some virtual machines, this code makes a
/// system call.
impl Costs {
    /// Whether clock readings enter the kernel. `None`: the costs are unknown.
    pub(crate) fn clock_readings_enter_kernel(&self) -> Option<bool> {
        let reading = self.measured(CLOCK_READING, None)?;
        let null = self.measured(NULL_CALL, None)?;
        Some(reading.cost.ns >= ENTERS_KERNEL * null.cost.ns)
    }

    /// The kernel time of a clock reading. `None`: it does not enter the kernel, or its cost is
    /// unknown.
    pub(crate) fn clock_reading(&self) -> Option<Cost> {
        let at = self.at(CLOCK_READING, None)?;
        self.clock_readings_enter_kernel()?.then_some(at.cost)
    }
}

/// Uses without a cost: the null call stands for them, unless they may wait or their benchmark was
/// not measured yet.
impl Costs {
    /// Whether a benchmark that was not measured yet would give the cost of a primitive, or of a
    /// kind of it.
    pub(crate) fn is_unmeasured(&self, name: &str) -> bool {
        !self.has(name) && self.unmeasured.iter().any(|benchmark| stands_for(benchmark, name))
    }

    /// Whether nothing is known of a use without a cost: it may wait, or its benchmark was not
    /// measured yet.
    pub(crate) fn is_unknown(&self, used: &Use) -> bool {
        may_wait(&used.name) || self.lacks_measurement(used)
    }

    /// Whether a use without a cost lacks one since a benchmark was not measured yet: its own, or
    /// that of the null call.
    pub(crate) fn lacks_measurement(&self, used: &Use) -> bool {
        self.is_unmeasured(&used.name) || self.is_unmeasured(NULL_CALL) && !may_wait(&used.name)
    }

    /// A use without a cost as an error names it. The cost of a primitive with sizes is not known
    /// without a size.
    pub(crate) fn label_without_cost(&self, used: &Use) -> String {
        let is_known = self.primitives.contains_key(&used.name);
        let reason = if is_known { " without a size" } else { "" };
        used.label() + reason
    }
}

/// The cost of a primitive whose kind the use does not say, such as `page_fault`, from the costs of
/// its kinds: halfway between the cheapest and the dearest.
fn midpoint_of_kinds(each: impl Iterator<Item = At>) -> Option<At> {
    let whole = each.reduce(|a, b| At {
        cost: a.cost.or(b.cost),
        is_extrapolated: a.is_extrapolated || b.is_extrapolated,
        is_of_any_kind: true,
    })?;
    let [low, high] = whole.cost.interval_ns;
    let ns = low.midpoint(high);
    Some(At { cost: Cost { ns, ..whole.cost }, is_of_any_kind: true, ..whole })
}

#[cfg(test)]
mod tests {
    use crate::tests::{cost, costs};

    #[test]
    fn benchmark_that_was_not_measured_is_that_of_the_call_and_of_its_kinds() {
        let mut costs = costs(&[("dup", None, cost(1.0, 0.0))]);
        let names = ["dup", "page_fault(copy)", "poll"].map(str::to_owned);
        costs.unmeasured = names.into();
        for name in ["page_fault", "page_fault(copy)", "poll(blocked)"] {
            assert!(costs.is_unmeasured(name), "{name}");
        }
        for name in ["dup", "dup2", "page"] {
            assert!(!costs.is_unmeasured(name), "{name}");
        }
    }
}
