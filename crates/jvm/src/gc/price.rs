//! Prices of collections: those by the benchmarks of a collector, for objects as dear as those of
//! the application.

use crate::gc::Collector;
use crate::gc::costs::{CollectorCosts, Terms, Time};
use crate::gc::demand::{Demand, PricedRuns};
use crate::gc::log::Kind;
use crate::gc::ordinary::{OrdinaryRun, interpolated};
use crate::gc::policy::Simulated;

/// Costs for this application's objects: fixed, and for each live byte.
pub(crate) struct Price {
    pub(crate) fixed_ns: f64,
    pub(crate) ns_per_byte: f64,
    /// Weight of a dead byte.
    dead_weight: f64,
    /// Deviation of the shapes from the line that gave the price, as a share.
    pub(crate) deviation: f64,
}

impl Price {
    /// The price by `terms` of objects whose price is `profiled`.
    fn new(terms: &Terms, dead_weight: f64, profiled: Profiled) -> Self {
        let (ns_per_byte, deviation) = terms.at(&profiled.terms.ns_per_byte, profiled.ns_per_byte);
        Self { fixed_ns: terms.fixed_ns, ns_per_byte, dead_weight, deviation }
    }

    fn cost(&self, of: &Simulated) -> f64 {
        self.fixed_ns + self.ns_per_byte * (of.bytes + self.dead_weight * of.dead_bytes)
    }
}

/// The price of a byte of the application in its profile, with the costs of the benchmarks there.
#[derive(Clone, Copy)]
struct Profiled<'a> {
    terms: &'a Terms,
    ns_per_byte: f64,
}

/// The prices of young and of full collections in the runs of the profile, for one heap size.
/// `None`: the runs or the benchmarks had no collections of that sort.
fn profiled(time: Time, priced: &PricedRuns, heap_bytes: f64) -> [Option<Profiled<'_>>; 2] {
    let costs = &priced.costs;
    [
        profiled_sort(priced, heap_bytes, costs.young(time), |run, terms| {
            run.young.ns_per_byte(time, terms, 0.0)
        }),
        profiled_sort(priced, heap_bytes, costs.full(time), |run, terms| {
            run.full.ns_per_byte(time, terms, costs.dead_weight)
        }),
    ]
}

/// The price of one sort of collections, whose costs by the benchmarks are `terms`. `price` has it
/// in one run.
fn profiled_sort<'a>(
    priced: &PricedRuns,
    heap_bytes: f64,
    terms: &'a Terms,
    price: impl Fn(&OrdinaryRun, &Terms) -> Option<f64>,
) -> Option<Profiled<'a>> {
    if terms.ns_per_byte.is_empty() {
        return None;
    }
    let of_run = |run: &OrdinaryRun| Some((run.heap_bytes, price(run, terms)?));
    let prices = priced.runs.iter().filter_map(of_run);
    let ns_per_byte = interpolated(prices, heap_bytes)?;
    Some(Profiled { terms, ns_per_byte })
}

/// Cost of a live byte in a cycle, relative to the benchmarks. There, whole regions die at once, so
/// that Shenandoah has little to evacuate. From two programs on which the choices of the model were
/// made (docs/notes/java.md).
fn evacuation(collector: Collector) -> f64 {
    if collector == Collector::Shenandoah { 2.5 } else { 1.0 }
}

/// All prices of a collector, as processor time or as pause.
pub(crate) struct Prices {
    pub(crate) young: Price,
    pub(crate) full: Price,
    pub(crate) cycle: Price,
}

impl Prices {
    /// The prices of a collector with one heap size, from the collector's `costs`. Ordinary runs
    /// with this collector count before those with Serial. Where no run had collections of a sort,
    /// the benchmarks stand for them.
    pub(crate) fn new(
        collector: Collector,
        time: Time,
        costs: &CollectorCosts,
        demand: &Demand,
        heap_bytes: f64,
    ) -> Self {
        let serial = &demand.serial.costs;
        let [young, full] = profiled(time, &demand.serial, heap_bytes);
        let young = young.unwrap_or_else(|| Profiled {
            terms: serial.young(time),
            ns_per_byte: serial.young(time).mean_ns_per_byte(),
        });
        let full = full.unwrap_or_else(|| Profiled {
            terms: serial.full(time),
            ns_per_byte: serial.full(time).at(&young.terms.ns_per_byte, young.ns_per_byte).0,
        });
        let other = demand.other(collector);
        let [own_young, own_full] = other.map_or([None; 2], |o| profiled(time, o, heap_bytes));
        // A marking of G1 visits the whole live set, as a collection of the whole heap does: its
        // costs by shape are closer to those.
        let cycle = if collector == Collector::G1 { full } else { young };
        let mut cycle = Price::new(costs.cycle(time), 0.0, cycle);
        if time == Time::Processor {
            cycle.ns_per_byte *= evacuation(collector);
        }
        Self {
            young: Price::new(costs.young(time), 0.0, own_young.unwrap_or(young)),
            full: Price::new(costs.full(time), costs.dead_weight, own_full.unwrap_or(full)),
            cycle,
        }
    }

    pub(crate) fn cost(&self, of: &Simulated) -> f64 {
        self.price(of.kind).cost(of)
    }

    /// Price of a concurrent cycle: fixed, and for each live byte.
    pub(crate) fn cycle_ns(&self) -> (f64, f64) {
        (self.cycle.fixed_ns, self.cycle.ns_per_byte)
    }

    pub(crate) fn price(&self, kind: Kind) -> &Price {
        match kind {
            Kind::Young | Kind::Mixed => &self.young,
            Kind::Full => &self.full,
            Kind::Cycle | Kind::ConcurrentMark => &self.cycle,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::gc::demand::tests::constant_lifetime;
    use crate::gc::ordinary::Work;

    const HEAP: f64 = 64e6;

    /// Costs whose pauses are `share` of the processor time: two shapes, 1 and 2 ns for a byte of a
    /// young collection, twice as much for one of the whole heap.
    fn costs(share: f64, dead_weight: f64) -> CollectorCosts {
        let terms = |factor: f64| Terms {
            fixed_ns: 1e5 * factor,
            ns_per_byte: BTreeMap::from([("a".to_owned(), factor), ("b".to_owned(), 2.0 * factor)]),
        };
        CollectorCosts {
            young_cpu: terms(1.0),
            young_pause: terms(share),
            full_cpu: terms(2.0),
            full_pause: terms(2.0 * share),
            dead_weight,
            ..CollectorCosts::default()
        }
    }

    /// Collections of a MB each, with the time for each beyond the fixed cost.
    fn work(collections: f64, cpu_ns: f64, pause_ns: f64) -> Work {
        Work {
            collections,
            bytes: 1e6 * collections,
            dead_bytes: 0.0,
            cpu_ns: (1e5 + cpu_ns) * collections,
            pause_ns,
        }
    }

    /// One run with these young collections.
    fn runs(costs: CollectorCosts, young: Work) -> PricedRuns {
        let run = OrdinaryRun { heap_bytes: HEAP, young, ..OrdinaryRun::default() };
        PricedRuns { runs: vec![run], costs }
    }

    fn close(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-9
    }

    /// With Serial a byte costs 1.5 ns. With Parallel it costs 1.8 ns, and the pauses are 0.9 of
    /// that, where the benchmarks have a half.
    #[test]
    fn run_with_the_same_collector_counts_before_the_one_with_serial() {
        let mut demand = constant_lifetime(10, 1e6);
        demand.serial = runs(costs(1.0, 0.0), work(10.0, 1.5e6, 16e6));
        let parallel = costs(0.5, 0.0);
        let price = |demand: &Demand, time| {
            Prices::new(Collector::Parallel, time, &parallel, demand, HEAP).young.ns_per_byte
        };
        assert!(close(price(&demand, Time::Processor), 1.5));
        assert!(close(price(&demand, Time::Pause), 0.75));
        let young = work(20.0, 1.8e6, 20.0 * (0.5e5 + 0.9 * 1.8e6));
        let priced = runs(parallel.clone(), young);
        demand.others.insert("parallel".to_owned(), priced);
        assert!(close(price(&demand, Time::Processor), 1.8));
        assert!(close(price(&demand, Time::Pause), 0.9 * 1.8));
        let g1 = Prices::new(Collector::G1, Time::Pause, &parallel, &demand, HEAP);
        assert!(close(g1.young.ns_per_byte, 0.75));
        // The run had no collection of the whole heap, so the price follows from Serial: 1.5 ns are
        // 3 ns there.
        let of = |demand: &Demand, heap_bytes| {
            let processor = Time::Processor;
            Prices::new(Collector::Parallel, processor, &parallel, demand, heap_bytes)
        };
        let full = of(&demand, HEAP).full;
        assert!(close(full.ns_per_byte, 3.0), "{}", full.ns_per_byte);
        // A second run has four times the heap, and bytes twice as dear.
        let runs = &mut demand.others.get_mut("parallel").unwrap().runs;
        let mut larger = runs[0];
        larger.heap_bytes = 4.0 * HEAP;
        larger.young.cpu_ns = (1e5 + 3.6e6) * 20.0;
        runs.push(larger);
        assert!(close(of(&demand, 2.0 * HEAP).young.ns_per_byte, 1.8 * 2f64.sqrt()));
    }

    /// 10 MB are alive. Of 30 MB dead bytes each costs a tenth of a live one.
    #[test]
    fn dead_bytes_cost_their_weight() {
        let mut demand = constant_lifetime(10, 1e6);
        let costs = costs(1.0, 0.1);
        demand.serial = runs(costs.clone(), Work::default());
        demand.serial.runs[0].full = Work {
            collections: 1.0,
            bytes: 10e6,
            dead_bytes: 30e6,
            cpu_ns: 2e5 + 3.0 * (10e6 + 3e6),
            pause_ns: 0.0,
        };
        let prices = Prices::new(Collector::Serial, Time::Processor, &costs, &demand, HEAP);
        assert!(close(prices.full.ns_per_byte, 3.0));
        let full = Simulated { kind: Kind::Full, bytes: 5e6, dead_bytes: 100e6 };
        assert!(close(prices.cost(&full), 2e5 + 3.0 * (5e6 + 10e6)));
    }
}
