//! Compares simulations with the ordinary runs of the same application, whose heaps and collector are known.

use crate::Collector;
use crate::demand::{Demand, Survival};
use crate::log::Kind;
use crate::ordinary::OrdinaryRun;
use crate::policy::{Setting, Simulated, simulate};

/// A factor outside of these limits shows that the run and the simulation have little in common. It is not used.
const LIMITS: (f64, f64) = (0.5, 2.0);

/// Shares of dead objects that old ones may keep alive: those that are tried.
const KEPT_SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Properties of an application's copies that its survival does not tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Copies {
    /// Share of the dead survivors that old dead objects keep alive. A profile has no references, so the share is the one whose simulations copy as many bytes as the
    /// ordinary runs.
    pub(crate) kept_share: f64,
    /// Bytes that young collections copied in the ordinary runs, for each byte in their simulation with that share.
    pub(crate) factor: f64,
}

impl Copies {
    /// The copies with a heap of a size. The runs with the same collector count, or those with Serial. `cycle_ns` is the duration of a concurrent cycle: fixed, and for each live
    /// byte. A factor of 1: the runs copied nothing, cannot be simulated, or have little in common with the simulation.
    pub(crate) fn of(
        demand: &Demand,
        collector: Collector,
        cycle_ns: (f64, f64),
        heap_bytes: f64,
    ) -> Self {
        let (collector, priced) = match demand.other(collector) {
            Some(priced) => (collector, priced),
            None => (Collector::Serial, &demand.serial),
        };
        let factor = |run: &OrdinaryRun, share| {
            let simulated = simulated_bytes(demand, collector, run.heap_bytes, cycle_ns, share);
            let factor = run.young.bytes / simulated;
            (factor > 0.0 && factor.is_finite()).then_some(factor)
        };
        // G1 has other errors, which are not those of kept objects: cards, regions, and when it marks.
        let shares = match collector {
            Collector::Serial | Collector::Parallel => &KEPT_SHARES[..],
            _ => &KEPT_SHARES[..1],
        };
        let error = |share: f64| -> f64 {
            let factors = priced.runs.iter().filter_map(|run| factor(run, share));
            factors.map(|factor| factor.ln().powi(2)).sum()
        };
        let by_error = |a: &&f64, b: &&f64| error(**a).total_cmp(&error(**b));
        let kept_share = *shares.iter().min_by(by_error).unwrap_or(&0.0);
        let (least, most) = LIMITS;
        let factor = priced.at(heap_bytes, |run| {
            factor(run, kept_share).filter(|factor| (least..=most).contains(factor))
        });
        Self {
            kept_share,
            factor: factor.unwrap_or(1.0),
        }
    }
}

/// Bytes that young collections copy in the simulation of a run; 0 if it cannot be simulated.
fn simulated_bytes(
    demand: &Demand,
    collector: Collector,
    heap_bytes: f64,
    cycle_ns: (f64, f64),
    kept_share: f64,
) -> f64 {
    let setting = Setting {
        demand,
        survival: Survival::of(demand),
        heap_bytes,
        jvm_major: demand.jvm_major(),
        cycle_ns,
        allocation_factor: 1.0,
        kept_share,
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
    use crate::demand::PricedRuns;
    use crate::demand::tests::constant_lifetime;

    const HEAP: f64 = 128.0 * 1048576.0;

    /// Runs with these heaps and copied bytes.
    fn runs(all: &[(f64, f64)]) -> PricedRuns {
        let run = |(heap_bytes, bytes): &(f64, f64)| {
            let mut run = OrdinaryRun {
                heap_bytes: *heap_bytes,
                ..OrdinaryRun::default()
            };
            run.young.bytes = *bytes;
            run
        };
        PricedRuns {
            runs: all.iter().map(run).collect(),
            ..PricedRuns::default()
        }
    }

    fn copies(demand: &Demand, collector: Collector, heap_bytes: f64) -> Copies {
        Copies::of(demand, collector, (0.0, 0.0), heap_bytes)
    }

    fn simulated(demand: &Demand, collector: Collector, heap_bytes: f64, kept_share: f64) -> f64 {
        simulated_bytes(demand, collector, heap_bytes, (0.0, 0.0), kept_share)
    }

    /// Objects live for 2 MB, so that each collection of an Eden of 34 944 KiB copies 2 MB: 27 collections of 1 GB.
    #[test]
    fn factor_is_copied_bytes_over_simulated_ones() {
        let mut demand = constant_lifetime(1000, 2e6);
        let factor =
            |demand: &Demand, collector, heap_bytes| copies(demand, collector, heap_bytes).factor;
        assert_eq!(factor(&demand, Collector::Serial, HEAP), 1.0);
        demand.serial = runs(&[(HEAP, 0.8 * 27.0 * 2e6)]);
        for collector in [Collector::Serial, Collector::Parallel] {
            let found = factor(&demand, collector, HEAP);
            assert!((found / 0.8 - 1.0).abs() < 0.05, "{found}");
        }
        let bytes = 1.2 * 27.0 * 2e6;
        let parallel = |bytes| ("parallel".to_owned(), runs(&[(HEAP, bytes)]));
        demand.others.extend([parallel(10.0 * bytes)]);
        assert_eq!(factor(&demand, Collector::Parallel, HEAP), 1.0);
        // The runs with Parallel count for it, and those with Serial for the others.
        demand.others.extend([parallel(bytes)]);
        let by = |collector| simulated(&demand, collector, HEAP, 0.0);
        assert_ne!(by(Collector::Parallel), by(Collector::Serial));
        let found = factor(&demand, Collector::Parallel, HEAP);
        assert!((found * by(Collector::Parallel) / bytes - 1.0).abs() < 1e-9);
        assert_eq!(
            factor(&demand, Collector::G1, HEAP),
            factor(&demand, Collector::Serial, HEAP)
        );
        // A second run with four times the heap copies as many bytes as its simulation.
        let larger = simulated(&demand, Collector::Serial, 4.0 * HEAP, 0.0);
        demand.serial = runs(&[(HEAP, 0.81 * by(Collector::Serial)), (4.0 * HEAP, larger)]);
        let found = factor(&demand, Collector::Serial, 2.0 * HEAP);
        assert!((found / 0.9 - 1.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn calibration_changes_young_collections() {
        let mut collections = [Kind::Young, Kind::Full].map(|kind| Simulated {
            kind,
            bytes: 3.0,
            dead_bytes: 0.0,
        });
        calibrate(&mut collections, 2.0);
        assert_eq!(collections.map(|c| c.bytes), [6.0, 3.0]);
    }

    /// Objects live for 20 MB, of which some are promoted in each collection while others of the same age stay.
    #[test]
    fn kept_share_is_that_of_runs_whose_dead_objects_are_kept() {
        let mut demand = constant_lifetime(1000, 20e6);
        let heaps = [HEAP, 2.0 * HEAP];
        for share in [0.0, 0.5, 1.0] {
            let bytes = heaps.map(|heap| simulated(&demand, Collector::Serial, heap, share));
            let priced = runs(&[(heaps[0], bytes[0]), (heaps[1], bytes[1])]);
            demand.serial = priced;
            let found = copies(&demand, Collector::Serial, HEAP);
            assert_eq!(found.kept_share, share);
            assert!((found.factor - 1.0).abs() < 0.1, "{found:?}");
        }
    }
}
