//! Costs of collections on one machine with one JVM, `yamba-gc-costs/1`, from runs of
//! micro-benchmarks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::gc::Collector;
use crate::gc::dead::dead_weight;
use crate::gc::fit::{Line, least_absolute, non_negative};
use crate::gc::log::{Collection, Kind};
use crate::gc::observation::Observation;
use crate::gc::refinement::{self, RefinementCosts};

/// The schema of the document.
pub const SCHEMA: &str = "yamba-gc-costs/1";

/// Processor time or pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Processor time of the collector's threads.
    Processor,
    /// Time in which the application stops.
    Pause,
}

/// Costs of one sort of collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Terms {
    /// Cost of a collection with nothing alive, in ns.
    pub fixed_ns: f64,
    /// Cost for each live byte by shape of the objects, in ns.
    pub ns_per_byte: BTreeMap<String, f64>,
}

impl Terms {
    /// The mean cost for each byte over the shapes, in ns; 0 without shapes.
    pub fn mean_ns_per_byte(&self) -> f64 {
        self.ns_per_byte.values().sum::<f64>() / self.ns_per_byte.len().max(1) as f64
    }

    /// Estimates the cost of a byte for objects that cost `ns_per_byte` elsewhere, by a straight
    /// line through the logarithms of the shapes' costs. `elsewhere` has the costs of the shapes
    /// there. Also returns the deviation of the logarithms from the line, which is about that of
    /// the cost as a share.
    pub fn at(&self, elsewhere: &BTreeMap<String, f64>, ns_per_byte: f64) -> (f64, f64) {
        let pairs: Vec<(f64, f64)> = self
            .ns_per_byte
            .iter()
            .filter_map(|(shape, y)| Some((*elsewhere.get(shape)?, *y)))
            .filter(|(x, y)| *x > 0.0 && *y > 0.0)
            .map(|(x, y)| (x.ln(), y.ln()))
            .collect();
        if pairs.is_empty() || ns_per_byte <= 0.0 {
            return (0.0, 1.0);
        }
        let (line, deviation) = Line::through(&pairs);
        (line.at(ns_per_byte.ln()).exp(), deviation)
    }
}

/// Costs of one collector, each as processor time and as pause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CollectorCosts {
    /// Young and mixed collections.
    pub young_cpu: Terms,
    /// Pauses of young and mixed collections.
    pub young_pause: Terms,
    /// Collections of the whole heap in one pause.
    pub full_cpu: Terms,
    /// Pauses of these.
    pub full_pause: Terms,
    /// Concurrent cycles, or concurrent marking.
    pub cycle_cpu: Terms,
    /// Pauses of these.
    pub cycle_pause: Terms,
    /// Cost of a dead byte in a collection of the whole heap of Serial or Parallel, relative to a
    /// live one. 0: not measured, or costs of an earlier version of Yamba.
    #[serde(default)]
    pub dead_weight: f64,
    /// Refinement of G1. Costs of G1 without it are from an earlier version of Yamba.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refinement: Option<RefinementCosts>,
    /// Number of benchmarks that had a run.
    pub observations: usize,
    /// How much the processor time of a benchmark differs between its runs, as a share: the
    /// logarithm of the longest to the shortest, the median over the benchmarks. Intervals of
    /// predictions hold it. 0 in costs of an earlier version of Yamba.
    #[serde(default)]
    pub deviation: f64,
    /// Whether all benchmarks ran, three times each, without a limit on the time of all of them.
    #[serde(default)]
    pub is_thorough: bool,
}

impl CollectorCosts {
    /// The costs of young collections.
    pub fn young(&self, time: Time) -> &Terms {
        match time {
            Time::Processor => &self.young_cpu,
            Time::Pause => &self.young_pause,
        }
    }

    /// The costs of collections of the whole heap in one pause.
    pub fn full(&self, time: Time) -> &Terms {
        match time {
            Time::Processor => &self.full_cpu,
            Time::Pause => &self.full_pause,
        }
    }

    /// The costs of concurrent cycles.
    pub fn cycle(&self, time: Time) -> &Terms {
        match time {
            Time::Processor => &self.cycle_cpu,
            Time::Pause => &self.cycle_pause,
        }
    }

    /// Whether there is processor time but no pause. An earlier version of Yamba could not read the
    /// pauses of a JVM in some locales.
    pub fn lacks_pauses(&self) -> bool {
        let is_none = |terms: &&Terms| terms.fixed_ns == 0.0 && terms.ns_per_byte.is_empty();
        let cpu = [&self.young_cpu, &self.full_cpu, &self.cycle_cpu];
        let pauses = [&self.young_pause, &self.full_pause, &self.cycle_pause];
        !cpu.iter().all(is_none) && pauses.iter().all(is_none)
    }

    /// Names the missing costs of a collector of a JVM: an earlier version of Yamba did not measure
    /// them, or a benchmark failed.
    pub fn lacking(&self, collector: Collector, jvm_major: u32) -> Option<&'static str> {
        if self.lacks_pauses() {
            return Some("the costs lack pauses");
        }
        if collector != Collector::G1 {
            return None;
        }
        if self.cycle_cpu.ns_per_byte.is_empty() {
            return Some("the costs lack concurrent marking");
        }
        match self.refinement {
            None => Some("the costs lack refinement"),
            Some(refinement) if !refinement.serves(jvm_major) => {
                Some("the costs lack refined cards")
            }
            Some(_) => None,
        }
    }
}

/// Costs of all collectors that were characterised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Costs {
    /// Always `yamba-gc-costs/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of the JVM.
    pub jvm: String,
    /// Processor model and the number of processors.
    pub machine: String,
    /// By name of the collector.
    pub collectors: BTreeMap<String, CollectorCosts>,
    /// Collectors that this JVM lacks or whose benchmarks failed, with the reason.
    pub skipped: BTreeMap<String, String>,
}

impl Costs {
    /// The first number of the JVM's version. 0: it has none.
    pub fn jvm_major(&self) -> u32 {
        jvm_major(&self.jvm)
    }
}

/// The first number of a JVM's version like `17.0.15+6`. 0: it has none.
pub(crate) fn jvm_major(version: &str) -> u32 {
    let digits = version.split(['.', '+', '-']).next();
    digits.and_then(|d| d.parse().ok()).unwrap_or(0)
}

/// A fit makes errors small relative to a time, or relative to this if the time is shorter, in ns.
const LEAST_NS: f64 = 1e5;

/// Bytes whose processing the model charges to a collection. Marking of G1 has threads and a fit of
/// its own; the pauses of a marking do not depend on the live bytes.
fn charged_bytes(design: &Design, collection: &Collection, live_bytes: f64) -> f64 {
    let is_concurrent = design.collector.is_concurrent();
    match collection.kind {
        Some(Kind::Young | Kind::Mixed) if !is_concurrent => collection.copied_bytes(),
        Some(Kind::ConcurrentMark) => 0.0,
        Some(Kind::Full) => live_bytes + design.dead_weight * collection.freed_bytes(),
        _ => live_bytes,
    }
}

/// Columns of a fit: fixed costs of young, full and cycle, then a column for each shape and sort.
struct Design {
    collector: Collector,
    shapes: Vec<String>,
    /// Weight of a dead byte in a collection of the whole heap.
    dead_weight: f64,
}

impl Design {
    fn width(&self) -> usize {
        3 * (1 + self.shapes.len())
    }

    fn collection_row(&self, run: &Observation, collection: &Collection) -> Vec<f64> {
        let mut row = vec![0.0; self.width()];
        let sort = match collection.kind {
            Some(Kind::Young | Kind::Mixed) => 0,
            Some(Kind::Full) => 1,
            _ => 2,
        };
        row[sort] = 1.0;
        if let Some(shape) = self.shapes.iter().position(|s| *s == run.shape) {
            row[3 + 3 * shape + sort] = charged_bytes(self, collection, run.live_bytes);
        }
        row
    }

    /// The sum of the rows of all collections of a run.
    fn run_row(&self, run: &Observation) -> Vec<f64> {
        let rows = run.collections.iter().map(|c| self.collection_row(run, c));
        rows.fold(vec![0.0; self.width()], |sum, row| {
            sum.iter().zip(&row).map(|(a, b)| a + b).collect()
        })
    }

    fn terms(&self, coefficients: &[f64], sort: usize) -> Terms {
        let shapes = self.shapes.iter().enumerate();
        Terms {
            fixed_ns: coefficients[sort],
            ns_per_byte: shapes
                .map(|(i, shape)| (shape.clone(), coefficients[3 + 3 * i + sort]))
                .filter(|(_, ns)| *ns > 0.0)
                .collect(),
        }
    }
}

/// The costs of a collector from runs of the micro-benchmark.
pub fn fit(observations: &[Observation], collector: Collector) -> CollectorCosts {
    let mut shapes: Vec<String> = observations.iter().map(|o| o.shape.clone()).collect();
    shapes.sort();
    shapes.dedup();
    // The logs of other collectors do not tell the dead bytes.
    let dead_weight = match collector {
        Collector::Serial | Collector::Parallel => dead_weight(observations),
        _ => 0.0,
    };
    let design = Design { collector, shapes, dead_weight };
    let cpu = processor_time(&design, observations);
    let pause = pauses(&design, observations);
    let mut cycle_cpu = design.terms(&cpu, 2);
    add_marking(&mut cycle_cpu, observations);
    let young_cpu = design.terms(&cpu, 0);
    let of_nodes = young_cpu.ns_per_byte.get(refinement::NODES);
    let runs: Vec<_> = observations.iter().map(|o| (o.shape.as_str(), o.refined)).collect();
    let refinement = refinement::fit(&runs, of_nodes.copied().unwrap_or(0.0));
    CollectorCosts {
        refinement: (collector == Collector::G1).then_some(refinement),
        young_cpu,
        young_pause: design.terms(&pause, 0),
        full_cpu: design.terms(&cpu, 1),
        full_pause: design.terms(&pause, 1),
        cycle_cpu,
        cycle_pause: design.terms(&pause, 2),
        dead_weight,
        observations: observations.len(),
        ..CollectorCosts::default()
    }
}

/// Coefficients of the processor time, which is known for each run.
fn processor_time(design: &Design, observations: &[Observation]) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = observations.iter().map(|o| design.run_row(o)).collect();
    let ys: Vec<f64> = observations.iter().map(|o| o.gc_cpu_ns).collect();
    non_negative(&rows, &ys, &relative_weights(&ys))
}

/// Weights with which a fit makes errors small relative to the times `ys`.
fn relative_weights(ys: &[f64]) -> Vec<f64> {
    ys.iter().map(|y| 1.0 / y.max(LEAST_NS)).collect()
}

/// Adds the processor time of threads that only mark to the costs of a cycle: one fixed cost, and
/// one for each live byte by shape.
fn add_marking(to: &mut Terms, observations: &[Observation]) {
    let is_marking = |c: &&Collection| c.kind == Some(Kind::ConcurrentMark);
    let cycles = |o: &Observation| o.collections.iter().filter(is_marking).count() as f64;
    let marked: Vec<&Observation> = observations.iter().filter(|o| cycles(o) > 0.0).collect();
    let mut shapes: Vec<&str> = marked.iter().map(|o| o.shape.as_str()).collect();
    shapes.sort_unstable();
    shapes.dedup();
    let row = |o: &&Observation| {
        let bytes = |shape: &&str| {
            if **shape == o.shape { cycles(o) * o.live_bytes } else { 0.0 }
        };
        [cycles(o)].into_iter().chain(shapes.iter().map(bytes)).collect()
    };
    let rows: Vec<Vec<f64>> = marked.iter().map(row).collect();
    let ys: Vec<f64> = marked.iter().map(|o| o.marking_cpu_ns).collect();
    let found = non_negative(&rows, &ys, &relative_weights(&ys));
    let Some((fixed_ns, each)) = found.split_first() else {
        return;
    };
    to.fixed_ns += fixed_ns;
    for (shape, ns) in shapes.iter().zip(each) {
        *to.ns_per_byte.entry((*shape).to_owned()).or_default() += ns;
    }
}

/// Coefficients of the pauses, which are known for each collection. A pause that another process
/// disturbed has little weight.
fn pauses(design: &Design, observations: &[Observation]) -> Vec<f64> {
    let (mut rows, mut ys) = (Vec::new(), Vec::new());
    for run in observations {
        for collection in &run.collections {
            rows.push(design.collection_row(run, collection));
            ys.push(collection.pauses_ns.iter().sum::<f64>());
        }
    }
    least_absolute(&rows, &ys, &relative_weights(&ys))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::refinement::Refined;

    /// A run with young collections, or with full ones, of `bytes` live bytes.
    fn run(shape: &str, kind: Kind, bytes: f64, ns_per_byte: f64) -> Observation {
        let fixed_ns = if kind == Kind::Full { 4e5 } else { 1e5 };
        let collection = Collection {
            kind: Some(kind),
            pauses_ns: vec![fixed_ns + bytes * ns_per_byte],
            survivor_bytes: bytes,
            ..Collection::default()
        };
        let collections = vec![collection; 10];
        Observation {
            shape: shape.to_owned(),
            live_bytes: bytes,
            gc_cpu_ns: collections.iter().flat_map(|c| &c.pauses_ns).sum(),
            marking_cpu_ns: 0.0,
            refined: Refined::default(),
            collections,
        }
    }

    /// A collection costs 0.4 ms, 2 ns for each live byte, and a quarter of that for each dead one.
    #[test]
    fn dead_bytes_are_charged_to_full_collections() {
        let full = |live: f64, dead: f64| {
            let mut found = run("a", Kind::Full, live, 2.0);
            for collection in &mut found.collections {
                collection.young_bytes = (dead, 0.0);
                collection.old_bytes = (live, live);
                collection.pauses_ns[0] += 0.5 * dead;
            }
            found.gc_cpu_ns += 10.0 * 0.5 * dead;
            found
        };
        let runs = [full(0.0, 0.0), full(16e6, 32e6), full(16e6, 80e6)];
        let costs = fit(&runs, Collector::Serial);
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.03;
        assert!(close(costs.dead_weight, 0.25), "{costs:?}");
        assert!(close(costs.full_cpu.ns_per_byte["a"], 2.0), "{costs:?}");
        assert!(close(costs.full_pause.ns_per_byte["a"], 2.0), "{costs:?}");
        assert_eq!(fit(&runs, Collector::G1).dead_weight, 0.0);
    }

    /// A cycle of G1 costs 2 ms in its pauses, 3 ms in its own threads, and there 1.5 ns for each
    /// live byte.
    #[test]
    fn marking_is_charged_to_cycles() {
        let marking = |bytes: f64| {
            let collections = vec![
                Collection {
                    kind: Some(Kind::ConcurrentMark),
                    pauses_ns: vec![2e6],
                    ..Collection::default()
                };
                5
            ];
            let marking_cpu_ns = 5.0 * (3e6 + 1.5 * bytes);
            Observation {
                shape: "a".to_owned(),
                live_bytes: bytes,
                gc_cpu_ns: 5.0 * 2e6,
                marking_cpu_ns,
                refined: Refined::default(),
                collections,
            }
        };
        let runs = [
            run("a", Kind::Young, 4e6, 1.0),
            run("a", Kind::Young, 16e6, 1.0),
            marking(0.0),
            marking(32e6),
        ];
        let costs = fit(&runs, Collector::G1);
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.03;
        assert!(close(costs.cycle_cpu.fixed_ns, 5e6), "{costs:?}");
        assert!(close(costs.cycle_cpu.ns_per_byte["a"], 1.5), "{costs:?}");
        assert!(close(costs.cycle_pause.fixed_ns, 2e6), "{costs:?}");
        assert!(close(costs.young_cpu.ns_per_byte["a"], 1.0), "{costs:?}");
    }

    /// Costs that are three times as high as expected weigh as much as those of a third.
    #[test]
    fn costs_elsewhere_scatter_by_factors() {
        let shapes = |costs: [f64; 4]| {
            let names = ["a", "b", "c", "d"].map(str::to_owned);
            names.into_iter().zip(costs).collect::<BTreeMap<_, _>>()
        };
        let elsewhere = shapes([1.0, 1.0, 4.0, 4.0]);
        let terms = Terms { fixed_ns: 0.0, ns_per_byte: shapes([6.0, 2.0 / 3.0, 24.0, 8.0 / 3.0]) };
        let (found, deviation) = terms.at(&elsewhere, 2.0);
        assert!((found / 4.0 - 1.0).abs() < 1e-9, "{found}");
        assert!((deviation / 3f64.ln() - 1.0).abs() < 1e-9, "{deviation}");
        assert_eq!(terms.at(&BTreeMap::new(), 2.0), (0.0, 1.0));
    }

    #[test]
    fn costs_without_any_pause_lack_them() {
        let with = fit(&[run("a", Kind::Young, 4e6, 1.0)], Collector::Serial);
        assert_eq!(with.lacking(Collector::Serial, 17), None);
        let without = CollectorCosts { young_pause: Terms::default(), ..with };
        let reason = without.lacking(Collector::Serial, 17);
        assert_eq!(reason, Some("the costs lack pauses"));
        assert!(!CollectorCosts::default().lacks_pauses());
    }

    #[test]
    fn costs_of_two_shapes_are_told_apart() {
        let runs = [
            run("a", Kind::Young, 0.0, 1.0),
            run("a", Kind::Young, 4e6, 1.0),
            run("a", Kind::Young, 16e6, 1.0),
            run("b", Kind::Young, 16e6, 2.0),
            run("a", Kind::Full, 0.0, 3.0),
            run("a", Kind::Full, 16e6, 3.0),
            run("b", Kind::Full, 16e6, 6.0),
        ];
        let costs = fit(&runs, Collector::Serial);
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.03;
        assert!(close(costs.young_cpu.fixed_ns, 1e5), "{costs:?}");
        assert!(close(costs.young_pause.ns_per_byte["b"], 2.0), "{costs:?}");
        assert!(close(costs.full_cpu.ns_per_byte["a"], 3.0), "{costs:?}");
        let (at, deviation) = costs.full_cpu.at(&costs.young_cpu.ns_per_byte, 1.5);
        assert!(close(at, 4.5) && deviation < 0.03, "{at} {deviation}");
    }
}
