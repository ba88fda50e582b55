//! Corrects the predictions of a concurrent collector by its ordinary runs. When such a collector
//! begins a cycle depends on its own measurements of the application, which the simulation knows
//! roughly.

use crate::gc::Collector;
use crate::gc::demand::{Demand, PricedRuns};
use crate::gc::ordinary::{OrdinaryRun, Work, interpolated};
use crate::gc::outcome::{Outcome, median, simulated};

/// From this version on, Z has a young generation by default (JEP 474). Its collections are other
/// ones.
const GENERATIONAL_Z_FROM: u32 = 23;

/// A ratio outside of these limits shows that a run and its prediction have little in common. It is
/// not used.
const LIMITS: (f64, f64) = (0.125, 8.0);

/// Values of the ordinary runs for each predicted one, with one heap size. The longest pause is not
/// corrected: the predicted one is all of a cycle's pauses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Correction {
    collections: f64,
    cpu: f64,
    pause: f64,
}

impl Correction {
    const NONE: Self = Self { collections: 1.0, cpu: 1.0, pause: 1.0 };

    /// The correction for a version of the JVM and one heap size. None for a collector that stops
    /// the application, without ordinary runs, and if the collector of the profile's JVM has other
    /// generations.
    pub(crate) fn new(
        demand: &Demand,
        collector: Collector,
        jvm_major: u32,
        heap_bytes: f64,
    ) -> Self {
        let is_same =
            is_generational(collector, jvm_major) == is_generational(collector, demand.jvm_major());
        match demand.others.get(collector.name()) {
            Some(priced) if collector.is_concurrent() && is_same => {
                Self::by(demand, collector, priced, heap_bytes)
            }
            _ => Self::NONE,
        }
    }

    fn by(demand: &Demand, collector: Collector, priced: &PricedRuns, heap_bytes: f64) -> Self {
        let jvm_major = demand.jvm_major();
        let costs = &priced.costs;
        let predicted = |run: &OrdinaryRun| {
            let all = simulated(demand, collector, costs, jvm_major, run.heap_bytes as u64).ok()?;
            let of = median(&all);
            Some([of.collections, of.cpu_ns, of.pause_ns])
        };
        let ratios: Vec<(f64, [Option<f64>; 3])> = priced
            .runs
            .iter()
            .filter_map(|run| Some((run.heap_bytes, ratios(&run.cycles, predicted(run)?))))
            .collect();
        let at = |index: usize| {
            let values = ratios.iter().filter_map(|(heap, ratios)| Some((*heap, ratios[index]?)));
            interpolated(values, heap_bytes).unwrap_or(1.0)
        };
        Self { collections: at(0), cpu: at(1), pause: at(2) }
    }

    pub(crate) fn apply(self, to: &mut Outcome) {
        if to.collections > 0.0 {
            to.collections = (to.collections * self.collections).round().max(1.0);
        }
        to.cpu_ns *= self.cpu;
        to.pause_ns *= self.pause;
    }
}

/// Measured over predicted values. `None`: outside of the limits.
fn ratios(run: &Work, predicted: [f64; 3]) -> [Option<f64>; 3] {
    let measured = [run.collections, run.cpu_ns, run.pause_ns];
    let (least, most) = LIMITS;
    [0, 1, 2]
        .map(|index| measured[index] / predicted[index])
        .map(|ratio| (least..=most).contains(&ratio).then_some(ratio))
}

fn is_generational(collector: Collector, jvm_major: u32) -> bool {
    collector == Collector::Z && jvm_major >= GENERATIONAL_Z_FROM
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::costs::{CollectorCosts, Terms};
    use crate::gc::demand::tests::constant_lifetime;
    use crate::gc::predict::predict;

    const HEAP: u64 = 64 << 20;

    /// A demand with two runs, of HEAP and four times as much, and the costs of a cycle: 1 ms, and
    /// 0.1 ms of pauses.
    fn demand(collector: Collector, runs: [Work; 2]) -> (Demand, CollectorCosts) {
        let terms = |fixed_ns| Terms { fixed_ns, ..Terms::default() };
        let costs = CollectorCosts {
            cycle_cpu: terms(1e6),
            cycle_pause: terms(1e5),
            ..CollectorCosts::default()
        };
        let mut demand = constant_lifetime(1000, 2e6);
        let of = |(factor, cycles): (u64, Work)| OrdinaryRun {
            heap_bytes: (factor * HEAP) as f64,
            cycles,
            ..OrdinaryRun::default()
        };
        let runs = [1, 4].into_iter().zip(runs).map(of).collect();
        let priced = PricedRuns { runs, costs: costs.clone() };
        demand.others.insert(collector.name().to_owned(), priced);
        (demand, costs)
    }

    fn cycles(collections: f64, cpu_ns: f64, pause_ns: f64) -> Work {
        Work { collections, cpu_ns, pause_ns, ..Work::default() }
    }

    #[test]
    fn predictions_for_the_heaps_of_the_runs_are_their_values() {
        let runs = [cycles(50.0, 90e6, 8e6), cycles(12.0, 30e6, 2e6)];
        let (mut demand, costs) = demand(Collector::Shenandoah, runs);
        let values = |demand: &Demand, heap| {
            let found = predict(demand, Collector::Shenandoah, &costs, 17, heap).unwrap();
            let figures = [found.collections, found.gc_cpu_ns, found.pause_total_ns];
            figures.map(|figure| figure.predicted)
        };
        let close = |found: &[f64; 3], expected: [f64; 3]| {
            let mut pairs = found.iter().zip(expected);
            pairs.all(|(found, expected)| (found / expected - 1.0).abs() < 1e-6)
        };
        let found = values(&demand, HEAP);
        assert!(close(&found, [50.0, 90e6, 8e6]), "{found:?}");
        let found = values(&demand, 4 * HEAP);
        assert!(close(&found, [12.0, 30e6, 2e6]), "{found:?}");
        let corrected = values(&demand, 2 * HEAP);
        demand.others.clear();
        assert_ne!(values(&demand, 2 * HEAP), corrected);
    }

    /// The profile is that of a JVM of version 17.
    #[test]
    fn generational_z_is_another_collector() {
        let runs = [cycles(50.0, 90e6, 8e6), cycles(12.0, 30e6, 2e6)];
        let (demand, _) = demand(Collector::Z, runs);
        let of = |jvm_major| Correction::new(&demand, Collector::Z, jvm_major, HEAP as f64);
        assert_ne!(of(17), Correction::NONE);
        assert_eq!(of(25), Correction::NONE);
        let serial = Correction::new(&demand, Collector::Serial, 17, HEAP as f64);
        assert_eq!(serial, Correction::NONE);
    }

    #[test]
    fn runs_unlike_their_prediction_correct_nothing() {
        let of = |runs| {
            let (demand, _) = demand(Collector::Z, runs);
            Correction::new(&demand, Collector::Z, 17, HEAP as f64)
        };
        assert_eq!(of([Work::default(); 2]), Correction::NONE);
        // The processor time of one run is too far off, so that of the other run counts alone.
        let (far, near) = (cycles(50.0, 90e9, 8e6), cycles(12.0, 30e6, 2e6));
        assert_eq!(of([far; 2]).cpu, 1.0);
        assert_eq!(of([far, near]).cpu, of([Work::default(), near]).cpu);
        assert_ne!(of([far, near]).cpu, 1.0);
        assert_ne!(of([far; 2]).collections, 1.0);
    }
}
