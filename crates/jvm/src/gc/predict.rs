//! The figures of one application with one collector and one heap size.

use serde::{Deserialize, Serialize};

use crate::gc::Collector;
use crate::gc::correction::Correction;
use crate::gc::costs::CollectorCosts;
use crate::gc::demand::Demand;
use crate::gc::outcome::{Outcome, median, simulated};

/// A predicted figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Figure {
    pub predicted: f64,
    /// Where the measured value is expected in 95 of 100 cases.
    pub interval: (f64, f64),
    /// The measured value, if it was measured.
    pub measured: Option<f64>,
}

/// The prediction for one collector and heap size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Prediction {
    pub collector: Collector,
    /// Smallest and largest size of the heap, in bytes.
    pub heap_bytes: u64,
    /// Whether the heap is smaller than in all ordinary runs of the profile: predictions for such
    /// heaps were never compared with measured times, and the intervals may not hold.
    pub is_below_checked: bool,
    /// Number of collections. Concurrent cycles of G1 are counted apart.
    pub collections: Figure,
    /// Number of concurrent marking cycles of G1.
    pub concurrent_cycles: Figure,
    /// Processor time of the collector's threads, in ns.
    pub gc_cpu_ns: Figure,
    /// Sum of all pauses, in ns.
    pub pause_total_ns: Figure,
    /// The longest pause, in ns.
    pub pause_longest_ns: Figure,
}

/// The version of the document of predictions.
pub const SCHEMA: &str = "yamba-gc-predictions/1";

/// The predictions for an application, as `yamba gc predict --json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Predictions {
    /// Always `yamba-gc-predictions/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The application's name.
    pub application: String,
    /// Version of the JVM whose costs were used.
    pub jvm: String,
    /// Wall-clock time of the profiled run without its collections, in ns.
    pub mutator_ns: f64,
    /// By collector and size of the heap.
    pub predictions: Vec<Prediction>,
    /// Combinations without a prediction or a measurement, with the reason.
    pub missing: Vec<String>,
}

/// Factors less 1 by which measured values differ for reasons that the model lacks: count,
/// processor time, total and longest pause. They come from two programs on which the choices of the
/// model were made (docs/notes/java.md).
fn unexplained(collector: Collector) -> [f64; 4] {
    match collector {
        Collector::Serial => [0.15, 0.5, 0.5, 1.0],
        Collector::Parallel | Collector::G1 => [0.35, 0.8, 0.8, 1.5],
        Collector::Shenandoah | Collector::Z => [2.0, 3.0, 3.0, 6.0],
    }
}

/// How to replace costs that lack something.
pub const MEASURE_AGAIN: &str =
    "measure the file again on its machine with `yamba gc characterise --force --json > FILE`";

/// Predicts the collections of an application. An error says why it cannot run.
pub fn predict(
    demand: &Demand,
    collector: Collector,
    costs: &CollectorCosts,
    jvm_major: u32,
    heap_bytes: u64,
) -> Result<Prediction, String> {
    if let Some(reason) = costs.lacking(collector, jvm_major) {
        return Err(format!("{reason}; fix: {MEASURE_AGAIN}"));
    }
    let mut outcomes = simulated(demand, collector, costs, jvm_major, heap_bytes)?;
    let correction = Correction::new(demand, collector, jvm_major, heap_bytes as f64);
    for outcome in &mut outcomes {
        correction.apply(outcome);
    }
    let mut found = summary(collector, heap_bytes, costs.deviation, outcomes);
    let least = demand.least_heap_bytes();
    found.is_below_checked = least.is_some_and(|least| (heap_bytes as f64) < least);
    Ok(found)
}

/// The prediction from the outcomes of all variations. `deviation` is that of the costs.
fn summary(
    collector: Collector,
    heap_bytes: u64,
    deviation: f64,
    outcomes: Vec<Outcome>,
) -> Prediction {
    let [count, cpu, pause, longest] = unexplained(collector);
    let median = median(&outcomes);
    let objects = 2.0 * median.cpu_deviation;
    let figure = |value: fn(&Outcome) -> f64, share: f64, least: f64| {
        let values = outcomes.iter().map(value);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(0.0, f64::max);
        Figure {
            predicted: value(median),
            interval: ((low / (1.0 + share) - least).max(0.0), high * (1.0 + share) + least),
            measured: None,
        }
    };
    let of_time = |share: f64| share.hypot(objects).hypot(deviation);
    Prediction {
        collector,
        heap_bytes,
        is_below_checked: false,
        collections: figure(|o| o.collections, count, 1.0),
        concurrent_cycles: figure(|o| o.cycles, count, 1.0),
        gc_cpu_ns: figure(|o| o.cpu_ns, of_time(cpu), 2e6),
        pause_total_ns: figure(|o| o.pause_ns, of_time(pause), 1e6),
        pause_longest_ns: figure(|o| o.longest_ns, of_time(longest), 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::costs::Terms;
    use crate::gc::demand::tests::constant_lifetime;
    use crate::gc::ordinary::{OrdinaryRun, Work};
    use crate::gc::refinement::{Cards, RefinementCosts};

    /// Costs of one shape: 100 us for a young collection and 1 ns for each byte.
    fn costs(cycle_ns_per_byte: Option<f64>) -> CollectorCosts {
        let terms = |fixed_ns: f64, ns: Option<f64>| Terms {
            fixed_ns,
            ns_per_byte: ns.map(|ns| ("list/24".to_owned(), ns)).into_iter().collect(),
        };
        let young = || terms(1e5, Some(1.0));
        CollectorCosts {
            young_cpu: young(),
            young_pause: young(),
            full_cpu: young(),
            full_pause: young(),
            cycle_cpu: terms(2e6, cycle_ns_per_byte),
            cycle_pause: terms(5e5, None),
            refinement: Some(RefinementCosts { wake_ns: 2e6, bytes_per_card: Some(400.0) }),
            observations: 1,
            ..CollectorCosts::default()
        }
    }

    /// The ordinary run copied 0.8 of what its simulation copies: 27 collections of 2 MB. Each byte
    /// costs 1 ns.
    #[test]
    fn copied_bytes_are_those_of_the_ordinary_run() {
        let mut demand = constant_lifetime(1000, 2e6);
        let costs = costs(None);
        let bytes = 0.8 * 27.0 * 2e6;
        let young =
            Work { collections: 27.0, bytes, cpu_ns: 27.0 * 1e5 + bytes, ..Work::default() };
        demand.serial.runs.push(OrdinaryRun {
            heap_bytes: 128.0 * 1048576.0,
            young,
            ..OrdinaryRun::default()
        });
        demand.serial.costs = costs.clone();
        let found = predict(&demand, Collector::Serial, &costs, 25, 128 << 20).unwrap();
        let expected = 27.0 * 1e5 + bytes;
        let error = found.gc_cpu_ns.predicted / expected - 1.0;
        assert!(error.abs() < 0.05, "{found:?}");
    }

    #[test]
    fn figures_without_collections_are_positive_zeros() {
        let mut demand = constant_lifetime(100, 1e6);
        demand.serial.costs = costs(None);
        let found = predict(&demand, Collector::Serial, &costs(None), 25, 8 << 30).unwrap();
        for figure in [found.collections, found.gc_cpu_ns, found.pause_total_ns] {
            assert_eq!(figure.predicted, 0.0);
            assert!(figure.predicted.is_sign_positive(), "{figure:?}");
        }
    }

    #[test]
    fn heap_that_is_too_small_is_refused_with_one_that_is_enough() {
        let mut demand = constant_lifetime(1000, 20e6);
        demand.serial.costs = costs(None);
        let live = yamba_record::number::bytes(demand.largest_live_bytes() as u64);
        for collector in Collector::ALL {
            let of = |bytes| predict(&demand, collector, &costs(Some(1.0)), 25, bytes);
            for heap_bytes in [1, 1 << 20, 8 << 20] {
                let refused = of(heap_bytes).unwrap_err();
                let begin = format!(" is too small: {live} are alive at once; fix: --heap ");
                let (_, rest) = refused.split_once(&begin).expect(&refused);
                let mib: u64 = rest.strip_suffix('M').unwrap().parse().unwrap();
                assert!((20..60).contains(&mib), "{collector:?}: {refused}");
                assert!(of(mib << 20).is_ok(), "{collector:?}: {refused}");
            }
        }
    }

    #[test]
    fn variation_with_the_median_is_predicted() {
        let outcome = |cpu_ns: f64| Outcome {
            collections: cpu_ns,
            cycles: 0.0,
            cpu_ns,
            pause_ns: cpu_ns,
            longest_ns: 1.0,
            cpu_deviation: 0.0,
        };
        let all_outcomes = || [1e9, 2e9, 9e9].map(outcome).into();
        let found = summary(Collector::Serial, 1 << 20, 0.0, all_outcomes());
        let cpu = found.gc_cpu_ns;
        assert_eq!((cpu.predicted, found.collections.predicted), (2e9, 2e9));
        assert!(cpu.interval.0 < 1e9 && cpu.interval.1 > 9e9);
        let rough = summary(Collector::Serial, 1 << 20, 1.2, all_outcomes());
        // 0.5 and 1.2 make 1.3.
        assert!((rough.gc_cpu_ns.interval.1 - (9e9 * 2.3 + 2e6)).abs() < 1.0);
        assert_eq!(rough.collections, found.collections);
    }

    #[test]
    fn marking_adds_to_the_processor_time_of_g1() {
        let mut demand = constant_lifetime(1000, 20e6);
        demand.serial.costs = costs(None);
        let of = |each: f64| predict(&demand, Collector::G1, &costs(Some(each)), 25, 80 << 20);
        let (cheap, dear) = (of(0.001).unwrap(), of(0.002).unwrap());
        let cycles = cheap.concurrent_cycles.predicted;
        assert!(cycles > 3.0, "{cycles}");
        // Each cycle marks 20 MB.
        let more = dear.gc_cpu_ns.predicted - cheap.gc_cpu_ns.predicted;
        let expected = cycles * 20e6 * 0.001;
        assert!((more / expected - 1.0).abs() < 0.05, "{more} {expected}");
    }

    #[test]
    fn refinement_adds_to_the_processor_time_of_g1() {
        let mut demand = constant_lifetime(1000, 2e6);
        demand.serial.costs = costs(None);
        let cpu_ns = |demand: &Demand, jvm| {
            let found = predict(demand, Collector::G1, &costs(Some(1.0)), jvm, 80 << 20).unwrap();
            (found.gc_cpu_ns.predicted, found.collections.predicted)
        };
        let without = demand.clone();
        demand.cards = Some(Cards { allocated_bytes: 0.5e9, dirty: 1e5, woken_share: 1.0 });
        let more = |jvm| {
            let (with, collections) = cpu_ns(&demand, jvm);
            (with - cpu_ns(&without, jvm).0, collections)
        };
        // Each collection wakes the thread for 2 ms. Before JDK 20, the run of 1 GB also refines
        // 200 000 cards of 400 bytes that cost 1 ns each.
        let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-6;
        let (of_25, collections) = more(25);
        assert!(close(of_25, 2e6 * collections), "{of_25} {collections}");
        let (of_17, collections) = more(17);
        let expected = 2e6 * collections + 2e5 * 400.0;
        assert!(close(of_17, expected), "{of_17} {expected}");
    }

    #[test]
    fn costs_of_g1_without_marking_or_refinement_are_refused() {
        let demand = constant_lifetime(100, 1e6);
        let of =
            |collector, costs: &CollectorCosts| predict(&demand, collector, costs, 25, 80 << 20);
        let no_refinement = CollectorCosts { refinement: None, ..costs(Some(1.0)) };
        for outdated in [costs(None), no_refinement] {
            let refused = of(Collector::G1, &outdated).unwrap_err();
            assert!(refused.contains("--force --json > FILE"), "{refused}");
            assert!(of(Collector::Serial, &outdated).is_ok());
        }
        // The benchmark of cards failed: JDK 17 needs it, JDK 25 does not.
        let no_cards =
            CollectorCosts { refinement: Some(RefinementCosts::default()), ..costs(Some(1.0)) };
        let at = |jvm| predict(&demand, Collector::G1, &no_cards, jvm, 80 << 20);
        let refused = at(17).unwrap_err();
        assert!(refused.starts_with("the costs lack refined cards; fix: "), "{refused}");
        assert!(at(25).is_ok());
        assert!(of(Collector::G1, &costs(Some(1.0))).is_ok());
    }
}
