//! Totals of simulations of one application with one collector and heap size.

use crate::gc::Collector;
use crate::gc::calibration::{Copies, calibrate};
use crate::gc::costs::{CollectorCosts, Time};
use crate::gc::demand::Demand;
use crate::gc::log::Kind;
use crate::gc::policy::{Setting, Simulated, mutator_ns, simulate};
use crate::gc::price::Prices;
use crate::gc::refinement;
use crate::sum;

/// Totals of one simulation.
pub(crate) struct Outcome {
    pub(crate) collections: f64,
    pub(crate) cycles: f64,
    pub(crate) cpu_ns: f64,
    pub(crate) pause_ns: f64,
    pub(crate) longest_ns: f64,
    pub(crate) cpu_deviation: f64,
}

/// Factors of the heap's size in variations of the simulation. A collection more or less before the
/// end of an application, or before its live set falls, is chance. So the variation with the median
/// of the processor time is predicted, and the results of all of them span the interval. The first
/// is the exact size, which must have a prediction.
const HEAP_FACTORS: [f64; 9] = [1.0, 0.96, 0.97, 0.98, 0.99, 1.01, 1.02, 1.03, 1.04];

/// The totals of the variations, in the order of their processor times. An error says why the
/// application cannot run.
pub(crate) fn simulated(
    demand: &Demand,
    collector: Collector,
    costs: &CollectorCosts,
    jvm_major: u32,
    heap_bytes: u64,
) -> Result<Vec<Outcome>, String> {
    let prices = |time| Prices::new(collector, time, costs, demand, heap_bytes as f64);
    let (cpu, pause) = (prices(Time::Processor), prices(Time::Pause));
    let refinement_ns = |collections: f64| {
        let run = refinement::Run {
            allocated_bytes: demand.allocated_bytes,
            mutator_ns: mutator_ns(demand),
            collections,
            ns_per_byte: cpu.young.ns_per_byte,
        };
        let both = costs.refinement.zip(demand.cards.as_ref());
        both.map_or(0.0, |(costs, cards)| costs.cpu_ns(cards, jvm_major, run))
    };
    let cycle_ns = cpu.cycle_ns();
    let copies = Copies::new(demand, collector, heap_bytes as f64);
    let at = |factor: f64| {
        let setting = Setting {
            cycle_ns,
            survivors: copies.survivors,
            ..Setting::new(demand, heap_bytes as f64 * factor, jvm_major)
        };
        let mut collections = simulate(collector, &setting)?;
        calibrate(&mut collections, copies.factor);
        let mut found = outcome(&collections, &cpu, &pause);
        found.cpu_ns += refinement_ns(found.collections);
        Ok::<_, String>(found)
    };
    let [exact, others @ ..] = HEAP_FACTORS;
    let mut outcomes = vec![at(exact)?];
    outcomes.extend(others.into_iter().filter_map(|factor| at(factor).ok()));
    outcomes.sort_by(|a, b| a.cpu_ns.total_cmp(&b.cpu_ns));
    Ok(outcomes)
}

/// The variation with the median of the processor time.
pub(crate) fn median(outcomes: &[Outcome]) -> &Outcome {
    &outcomes[outcomes.len() / 2]
}

fn outcome(collections: &[Simulated], cpu: &Prices, pause: &Prices) -> Outcome {
    let is_cycle = |c: &&Simulated| c.kind == Kind::ConcurrentMark;
    let pauses: Vec<f64> = collections.iter().map(|c| pause.cost(c)).collect();
    let cpu_ns = sum(collections.iter().map(|c| cpu.cost(c)));
    let uncertain: f64 =
        collections.iter().map(|c| cpu.cost(c) * cpu.price(c.kind).deviation).sum();
    Outcome {
        collections: collections.iter().filter(|c| !is_cycle(c)).count() as f64,
        cycles: collections.iter().filter(is_cycle).count() as f64,
        cpu_ns,
        pause_ns: sum(pauses.iter().copied()),
        longest_ns: pauses.iter().copied().fold(0.0, f64::max),
        cpu_deviation: if cpu_ns > 0.0 { uncertain / cpu_ns } else { 0.0 },
    }
}
