//! Compares a simulation with the ordinary run of the same application, whose heap and collector are known.

use crate::Collector;
use crate::demand::{Demand, Survival};
use crate::log::Kind;
use crate::policy::{Setting, Simulated, simulate};

/// A factor outside of these limits shows that the run and the simulation have little in common. It is not used.
const LIMITS: (f64, f64) = (0.5, 2.0);

/// Bytes that young collections copied in the ordinary run, for each byte in the simulation of that run. The run with the same collector counts, or that with Serial. 1: the run
/// copied nothing, cannot be simulated, or has little in common with the simulation. `cycle_ns` is the duration of a concurrent cycle: fixed, and for each live byte.
pub(crate) fn copy_factor(demand: &Demand, collector: Collector, cycle_ns: (f64, f64)) -> f64 {
    let (collector, run) = match demand.other(collector) {
        Some(priced) => (collector, &priced.run),
        None => (Collector::Serial, &demand.ordinary),
    };
    if run.young.bytes <= 0.0 {
        return 1.0;
    }
    let factor = run.young.bytes / simulated_bytes(demand, collector, run.heap_bytes, cycle_ns);
    let (least, most) = LIMITS;
    if (least..=most).contains(&factor) {
        factor
    } else {
        1.0
    }
}

/// Bytes that young collections copy in the simulation of a run; 0 if it cannot be simulated.
fn simulated_bytes(
    demand: &Demand,
    collector: Collector,
    heap_bytes: f64,
    cycle_ns: (f64, f64),
) -> f64 {
    let setting = Setting {
        demand,
        survival: Survival::of(demand),
        heap_bytes,
        jvm_major: demand.jvm_major(),
        cycle_ns,
        allocation_factor: 1.0,
    };
    let found = simulate(collector, &setting).unwrap_or_default();
    found.iter().filter(|c| is_young(c)).map(|c| c.bytes).sum()
}

/// Multiplies the bytes that young collections copy.
pub(crate) fn calibrate(collections: &mut [Simulated], factor: f64) {
    for collection in collections.iter_mut().filter(|c| is_young(c)) {
        collection.bytes *= factor;
    }
}

fn is_young(collection: &Simulated) -> bool {
    matches!(collection.kind, Kind::Young | Kind::Mixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::PricedRun;
    use crate::demand::tests::constant_lifetime;

    /// Objects live for 2 MB, so that each collection of an Eden of 34 944 KiB copies 2 MB: 27 collections of 1 GB.
    #[test]
    fn factor_is_copied_bytes_over_simulated_ones() {
        let mut demand = constant_lifetime(1000, 2e6);
        let factor = |demand: &Demand, collector| copy_factor(demand, collector, (0.0, 0.0));
        assert_eq!(factor(&demand, Collector::Serial), 1.0);
        demand.ordinary.heap_bytes = 128.0 * 1048576.0;
        demand.ordinary.young.bytes = 0.8 * 27.0 * 2e6;
        for collector in [Collector::Serial, Collector::Parallel] {
            let found = factor(&demand, collector);
            assert!((found / 0.8 - 1.0).abs() < 0.05, "{found}");
        }
        let mut priced = PricedRun {
            run: demand.ordinary,
            ..PricedRun::default()
        };
        let bytes = 1.2 * 27.0 * 2e6;
        priced.run.young.bytes = 10.0 * bytes;
        demand.others.insert("parallel".to_owned(), priced.clone());
        assert_eq!(factor(&demand, Collector::Parallel), 1.0);
        // The run with Parallel counts for it, and that with Serial for the others.
        priced.run.young.bytes = bytes;
        demand.others.insert("parallel".to_owned(), priced);
        let by =
            |collector| simulated_bytes(&demand, collector, demand.ordinary.heap_bytes, (0.0, 0.0));
        assert_ne!(by(Collector::Parallel), by(Collector::Serial));
        assert_eq!(
            factor(&demand, Collector::Parallel),
            bytes / by(Collector::Parallel)
        );
        assert_eq!(
            factor(&demand, Collector::G1),
            factor(&demand, Collector::Serial)
        );
        let mut collections = [Simulated {
            kind: Kind::Young,
            bytes: 3.0,
            dead_bytes: 0.0,
        }];
        calibrate(&mut collections, 2.0);
        assert_eq!(collections[0].bytes, 6.0);
    }
}
