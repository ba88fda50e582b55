//! The costs in a run: the latencies of its benchmarks that stand for a primitive.

use yamba_record::machine::Contention;
use yamba_record::program::Primitive;
use yamba_record::run::IntervalScope;
use yamba_record::units::nanoseconds;
use yamba_record::{Benchmark, Machine, Run, Status};
use yamba_stats::mean;

use super::{Contained, Cost, Costs, Curve, Measured};
use crate::vector::names::{canonical, processor_name};

impl Costs {
    /// Takes the costs from the entries of a run whose benchmarks stand for a primitive. A
    /// disturbed figure is a cost where no other figure has the primitive and size: its interval
    /// holds the undisturbed value. If the run does not bound that value, the interval begins at 0.
    pub fn from_run(run: &Run) -> Costs {
        let mut costs = Costs {
            processor: processor_name(&run.machine),
            isa: run.machine.isa.clone(),
            kernel: run.machine.kernel.clone(),
            lengthening: lengthening(&run.machine),
            pointer_bytes: run.benchmarks.iter().find_map(pointer_bytes),
            ..Costs::default()
        };
        let mut entries: Vec<&Benchmark> = run.benchmarks.iter().collect();
        // The others first, since the first figure of a primitive and size counts.
        entries.sort_by_key(|entry| entry.interference.is_disturbed);
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
        let Some(primitive) = &entry.declaration.primitive else {
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
                if entry.interference.is_disturbed {
                    continue;
                }
                return Err("an earlier point of the run has this primitive and size");
            }
            if entry.interference.is_disturbed {
                self.disturbed.insert(name.clone());
            }
            if !entry.interval_scope.is_some_and(IntervalScope::covers_other_runs) {
                self.within_launches.insert(name);
            }
        }
        Ok(())
    }
}

/// The canonical names of a primitive.
fn names(primitive: &Primitive) -> impl Iterator<Item = String> {
    let names = primitive.also.iter().chain([&primitive.name]);
    names.map(|name| canonical(name))
}

fn contained(primitive: &Primitive, entry: &Benchmark) -> Result<Vec<Contained>, &'static str> {
    let measured = |name: &String| entry.details.evidence.get(name).map(|e| e.median);
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

/// The mean lengthening of the width probes on the processors of a machine, as a share. `None`: no
/// run probed them.
fn lengthening(machine: &Machine) -> Option<f64> {
    // A neighbour takes at most half of the core, so that the share of its time is a bound.
    let of = |c: &Contention| c.lengthening.unwrap_or(c.contended);
    let each: Vec<f64> = machine.contention.values().map(of).collect();
    mean(&each)
}

/// The width of pointers of the program that measured an entry, in bytes.
fn pointer_bytes(entry: &Benchmark) -> Option<u64> {
    entry.environment.platform.get("pointer_size")?.as_u64()
}

/// The latency of an entry in ns, or the reason why it has none that can be used.
fn cost(entry: &Benchmark) -> Result<Cost, &'static str> {
    if entry.status != Status::Ok {
        return Err("it has no valid figure");
    }
    if entry.workers().are_several() {
        return Err("several processes ran at the same time");
    }
    if entry.declaration.figure.as_deref() != Some("latency") {
        return Err("its figure is no latency");
    }
    let unit = entry.unit.as_deref().and_then(nanoseconds);
    let (Some(median), Some(unit)) = (entry.median, unit) else {
        return Err("it has no figure in a unit of time");
    };
    let [low, high] = entry.confidence_interval.ok_or("it has no interval")?;
    // Without a disturbance, the cost may be lower by an unknown part.
    let low = if entry.is_sound() { low } else { 0.0 };
    Ok(Cost { ns: median, interval_ns: [low, high] }.times(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of 500 ns that stands for these primitives.
    fn entry(name: &str, of: &[&str], is_disturbed: bool) -> Benchmark {
        let mut names = of.iter().map(|name| (*name).to_owned());
        let mut entry = Benchmark::ended(name, Status::Ok, Vec::new());
        entry.declaration.primitive = Some(Primitive {
            name: names.next().unwrap(),
            also: names.collect(),
            by: None,
            contains: Vec::new(),
        });
        entry.declaration.figure = Some("latency".to_owned());
        entry.unit = Some("ns".to_owned());
        entry.median = Some(500.0);
        entry.confidence_interval = Some([499.0, 501.0]);
        entry.interference.is_disturbed = is_disturbed;
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
        let costs = Costs::from_run(&run);
        assert_eq!(costs.lacking("dup2"), "dup2 (lat_dup: it has no valid figure)");
        assert_eq!(costs.lacking("open"), "open");
        assert_eq!(costs.unusable.len(), 2, "lstat has a cost");
    }

    #[test]
    fn lengthening_of_a_machine_is_the_mean_of_its_processors() {
        let mut machine = Machine::default();
        assert_eq!(lengthening(&machine), None);
        for (cpu, contended, lengthening) in [("0", 0.5, Some(0.25)), ("1", 0.75, None)] {
            let found = Contention { contended, lengthening, unix_s: 0.0 };
            machine.contention.insert(cpu.to_owned(), found);
        }
        assert_eq!(lengthening(&machine), Some(0.5));
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
            |run: &Run, name| Costs::from_run(run).at(name, None).unwrap().cost.interval_ns;
        assert_eq!(interval(&run, "dup"), [0.0, 501.0], "no lower bound");
        run.benchmarks[2].interference.is_bounded = true;
        assert_eq!(interval(&run, "dup"), [499.0, 501.0]);
        let costs = Costs::from_run(&run);
        assert_eq!(costs.at("lstat", None).unwrap().cost.ns, 500.0);
        assert_eq!(costs.at("dup", None).unwrap().cost.ns, 500.0);
        let used = ["stat", "dup", "lstat", "dup"].into_iter();
        assert_eq!(costs.disturbed_among(used), ["dup"]);
    }
}
