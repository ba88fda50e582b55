//! The system vector: the cost of each primitive on one machine, from the run that measured it.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::program::Primitive;
use yamba_record::run::IntervalScope;
use yamba_record::units::nanoseconds;
use yamba_record::{Benchmark, Run, Status};

use crate::canonical;
pub use crate::curve::{At, Cost, Curve};
use crate::machine::processor_name;
use crate::page_fault::{MAJOR_FAULT, PAGE_FAULT, is_minor_fault};

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
    /// Takes the costs from the entries of a run whose benchmarks stand for a primitive. A
    /// disturbed figure is a cost where no other figure has the primitive and size: its interval
    /// holds the undisturbed value. If the run does not bound that value, the interval begins at 0.
    pub fn of_run(run: &Run) -> Costs {
        let mut costs = Costs {
            processor: processor_name(&run.machine),
            isa: run.machine.isa.clone(),
            kernel: run.machine.kernel.clone(),
            pointer_bytes: run.benchmarks.iter().find_map(pointer_bytes),
            ..Costs::default()
        };
        let mut entries: Vec<&Benchmark> = run.benchmarks.iter().collect();
        // The others first, since the first figure of a primitive and size counts.
        entries.sort_by_key(|entry| entry.is_disturbed);
        for entry in entries {
            costs.take(entry);
        }
        let Costs { primitives, unusable, .. } = &mut costs;
        unusable.retain(|name, _| !primitives.contains_key(name));
        costs.add_blocked();
        costs
    }

    /// Takes the cost of an entry, or notes why it has none.
    fn take(&mut self, entry: &Benchmark) {
        let Some(primitive) = &entry.primitive else {
            return;
        };
        let Err(reason) = self.add(entry, primitive) else {
            return;
        };
        let line = format!("{}: {reason}", entry.name);
        for name in names(primitive) {
            self.unusable.entry(name).or_insert_with(|| line.clone());
        }
        // A benchmark with a sweep may have the same fault at each point.
        if !self.left_out.contains(&line) {
            self.left_out.push(line);
        }
    }

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

    fn add(&mut self, entry: &Benchmark, primitive: &Primitive) -> Result<(), &'static str> {
        let cost = cost(entry)?;
        let contains = contained(primitive, entry)?;
        let size = match &primitive.by {
            None => None,
            Some(by) => Some(
                entry
                    .parameters
                    .get(by)
                    .and_then(serde_json::Value::as_f64)
                    .ok_or("its size is not a number")?,
            ),
        };
        for name in names(primitive) {
            let known = self.primitives.entry(name.clone());
            let measured = known.or_insert_with(|| Measured {
                curve: Curve::default(),
                contains: contains.clone(),
            });
            if !measured.curve.add(size, cost) {
                if entry.is_disturbed {
                    continue;
                }
                return Err("an earlier point of the run has this primitive and size");
            }
            if entry.is_disturbed {
                self.disturbed.insert(name.clone());
            }
            if !entry.interval_scope.is_some_and(IntervalScope::covers_other_runs) {
                self.within_launches.insert(name);
            }
        }
        Ok(())
    }

    /// Whether there is a cost of the primitive, or of a kind of it, at some size.
    pub fn has(&self, name: &str) -> bool {
        self.primitives.contains_key(name) || self.kinds(name).next().is_some()
    }

    /// Whether these are the costs of the same run, apart from hypothetical changes. Two runs
    /// without costs are the same if their machine is.
    pub fn is_of_same_run(&self, other: &Costs) -> bool {
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
                self.of_blocked(&factor, kind, size)?
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
            of_any_kind(self.kinds(source).filter_map(changed))
        }
    }

    /// The measured cost of a use that may be of any of these kinds.
    pub(crate) fn of_kinds<'a>(
        &self,
        kinds: impl Iterator<Item = &'a str>,
        size: Option<f64>,
    ) -> Option<At> {
        of_any_kind(kinds.filter_map(|kind| self.own(kind, size)))
    }

    /// The measured cost of a primitive with its own name.
    fn own(&self, name: &str, size: Option<f64>) -> Option<At> {
        self.primitives.get(name)?.curve.at(size)
    }

    /// Whether a hypothetical change is for the cost of this primitive, or of a kind of it if the
    /// primitive has no cost of its own.
    pub(crate) fn is_changed(&self, name: &str) -> bool {
        let is_known = self.primitives.contains_key(name);
        let is_kind = |other: &String| {
            let kind = other.strip_prefix(name);
            !is_known && kind.is_some_and(|k| k.starts_with('('))
        };
        let own = self.components(name);
        let mut changed = self.changes.keys();
        changed.any(|other| own.contains(&other.as_str()) || is_kind(other))
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
        let is_kind = move |other: &&str| {
            let kind = other.strip_prefix(name);
            kind.is_some_and(|k| k.starts_with('(')) && *other != MAJOR_FAULT
        };
        self.primitives.keys().map(String::as_str).filter(is_kind)
    }
}

/// The cost of a primitive whose kind the use does not say, such as `page_fault`, from the costs of
/// its kinds: halfway between the cheapest and the dearest.
fn of_any_kind(each: impl Iterator<Item = At>) -> Option<At> {
    let whole = each.reduce(|a, b| At {
        cost: a.cost.or(b.cost),
        is_extrapolated: a.is_extrapolated || b.is_extrapolated,
        is_of_any_kind: true,
    })?;
    let [low, high] = whole.cost.interval_ns;
    let ns = low.midpoint(high);
    Some(At { cost: Cost { ns, ..whole.cost }, is_of_any_kind: true, ..whole })
}

/// The canonical names of a primitive.
fn names(primitive: &Primitive) -> impl Iterator<Item = String> {
    let names = primitive.also.iter().chain([&primitive.name]);
    names.map(|name| canonical(name))
}

fn contained(primitive: &Primitive, entry: &Benchmark) -> Result<Vec<Contained>, &'static str> {
    let measured = |name: &String| entry.evidence.get(name).map(|e| e.median);
    let each = primitive.contains.iter().map(|part| {
        let count = match (&part.evidence, part.count) {
            (Some(evidence), _) => {
                measured(evidence).flatten().filter(|n| *n >= 0.0 && n.is_finite())
            }
            (None, count) => count.map(|n| n as f64),
        };
        Ok(Contained {
            name: canonical(&part.name),
            count: count.ok_or("the number of a primitive within it was not measured")?,
        })
    });
    each.collect()
}

/// The width of pointers of the program that measured an entry, in bytes.
fn pointer_bytes(entry: &Benchmark) -> Option<u64> {
    entry.platform.get("pointer_size")?.as_u64()
}

/// The latency of an entry in ns, or the reason why it has none that can be used.
fn cost(entry: &Benchmark) -> Result<Cost, &'static str> {
    if entry.status != Status::Ok {
        return Err("it has no valid figure");
    }
    if entry.workers().are_several() {
        return Err("several processes ran at the same time");
    }
    if entry.figure.as_deref() != Some("latency") {
        return Err("its figure is no latency");
    }
    let unit = entry.unit.as_deref().and_then(nanoseconds);
    let (Some(median), Some(unit)) = (entry.median, unit) else {
        return Err("it has no figure in a unit of time");
    };
    let [low, high] = entry.confidence_interval.ok_or("it has no interval")?;
    // Without a disturbance, the cost may be lower by an unknown part.
    let low = if entry.has_sound_interval() { low } else { 0.0 };
    Ok(Cost { ns: median, interval_ns: [low, high] }.times(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of 500 ns that stands for these primitives.
    fn entry(name: &str, of: &[&str], is_disturbed: bool) -> Benchmark {
        let mut names = of.iter().map(|name| (*name).to_owned());
        let mut entry = Benchmark::ended(name, Status::Ok, Vec::new());
        entry.primitive = Some(Primitive {
            name: names.next().unwrap(),
            also: names.collect(),
            by: None,
            contains: Vec::new(),
        });
        entry.figure = Some("latency".to_owned());
        entry.unit = Some("ns".to_owned());
        entry.median = Some(500.0);
        entry.confidence_interval = Some([499.0, 501.0]);
        entry.is_disturbed = is_disturbed;
        entry
    }

    #[test]
    fn primitive_without_a_cost_is_named_with_the_reason() {
        let mut run = Run::new(yamba_record::machine::Machine::default());
        let crashed = |names: &[&str]| {
            let mut entry = entry("lat_dup", names, false);
            entry.status = Status::Crashed;
            entry
        };
        run.benchmarks = vec![
            entry("lat_stat", &["stat", "lstat"], false),
            crashed(&["lstat"]),
            crashed(&["dup", "dup2"]),
        ];
        let costs = Costs::of_run(&run);
        assert_eq!(costs.lacking("dup2"), "dup2 (lat_dup: it has no valid figure)");
        assert_eq!(costs.lacking("open"), "open");
        assert_eq!(costs.unusable.len(), 2, "lstat has a cost");
    }

    #[test]
    fn disturbed_figures_are_costs_where_no_other_figure_is() {
        let mut run = Run::new(yamba_record::machine::Machine::default());
        run.benchmarks = vec![
            entry("lat_other_stat", &["lstat"], true),
            entry("lat_stat", &["stat", "lstat"], false),
            entry("lat_dup", &["dup"], true),
        ];
        run.benchmarks[0].median = Some(900.0);
        let interval =
            |run: &Run, name| Costs::of_run(run).at(name, None).unwrap().cost.interval_ns;
        assert_eq!(interval(&run, "dup"), [0.0, 501.0], "no lower bound");
        run.benchmarks[2].is_bounded = true;
        assert_eq!(interval(&run, "dup"), [499.0, 501.0]);
        let costs = Costs::of_run(&run);
        assert_eq!(costs.at("lstat", None).unwrap().cost.ns, 500.0);
        assert_eq!(costs.at("dup", None).unwrap().cost.ns, 500.0);
        let used = ["stat", "dup", "lstat", "dup"].into_iter();
        assert_eq!(costs.disturbed_among(used), ["dup"]);
    }
}
