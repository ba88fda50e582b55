//! Compares simulations with the ordinary runs of the same application, whose heaps and collector
//! are known.

use crate::gc::Collector;
use crate::gc::costs::Time;
use crate::gc::demand::{Demand, PricedRuns};
use crate::gc::log::Kind;
use crate::gc::ordinary::{OrdinaryRun, interpolated};
use crate::gc::policy::{Setting, Simulated, Survivors, simulate};
use crate::gc::price::Prices;

/// A factor outside of these limits shows that a run and its simulation have little in common. It
/// is not used.
const LIMITS: (f64, f64) = (0.5, 2.0);
/// Error of such a run, and the largest one of others: that of the limits, for copied bytes and for
/// collections of the whole heap.
const LARGEST_ERROR: f64 = 2.0 * std::f64::consts::LN_2 * std::f64::consts::LN_2;

/// Candidates for [`Survivors::nepotism`].
const NEPOTISM: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Copies by young collections of an application, by its ordinary runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Copies {
    /// The survivors whose simulations are closest to the ordinary runs. A profile has no
    /// references, so the nepotism is unknown; and in some applications, objects of a certain age
    /// are alive less often at a young collection than at a census.
    pub(crate) survivors: Survivors,
    /// Bytes that young collections copied in the ordinary runs, for each byte in the simulation
    /// with these survivors.
    pub(crate) factor: f64,
}

impl Copies {
    const PROFILED: Self = Self { survivors: Survivors::PROFILED, factor: 1.0 };

    /// The copies of a collector with one heap size. Its ordinary runs count, or those with Serial.
    pub(crate) fn new(demand: &Demand, collector: Collector, heap_bytes: f64) -> Self {
        let (source, priced) = match demand.other(collector) {
            Some(priced) => (collector, priced),
            None => (Collector::Serial, &demand.serial),
        };
        let runs = Runs { demand, collector: source, priced };
        match collector {
            Collector::Serial | Collector::Parallel => {
                let nepotism = runs.nepotism();
                let factors = runs.factors(|_| Survivors { nepotism, ..Survivors::PROFILED });
                let survivors = |heap_bytes| Survivors {
                    factor: factor_at(&factors, heap_bytes).min(1.0),
                    nepotism,
                };
                Self {
                    survivors: survivors(heap_bytes),
                    factor: factor_at(&runs.factors(survivors), heap_bytes),
                }
            }
            // G1 also differs from its simulation for other reasons than its survivors.
            Collector::G1 => {
                let factors = runs.factors(|_| Survivors::PROFILED);
                Self { factor: factor_at(&factors, heap_bytes), ..Self::PROFILED }
            }
            Collector::Shenandoah | Collector::Z => Self::PROFILED,
        }
    }
}

/// The factor with one heap size, from factors of runs with their heap sizes; 1 without any.
fn factor_at(factors: &[(f64, f64)], heap_bytes: f64) -> f64 {
    interpolated(factors.iter().copied(), heap_bytes).unwrap_or(1.0)
}

/// Ordinary runs with a collector.
struct Runs<'a> {
    demand: &'a Demand,
    collector: Collector,
    priced: &'a PricedRuns,
}

impl Runs<'_> {
    /// The nepotism whose simulations are closest to the runs. Of equal ones, the smallest.
    fn nepotism(&self) -> f64 {
        let error = |nepotism: f64| -> f64 {
            let survivors = Survivors { nepotism, ..Survivors::PROFILED };
            let compared = self.priced.runs.iter().map(|run| self.compared(run, survivors));
            compared.map(|compared| compared.error()).sum()
        };
        let all = NEPOTISM.map(|nepotism| (nepotism, error(nepotism)));
        let best = all.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or(0.0, |best| best.0)
    }

    /// The usable factors of the runs with their heap sizes, for survivors by heap size.
    fn factors(&self, survivors: impl Fn(f64) -> Survivors) -> Vec<(f64, f64)> {
        let factor = |run: &OrdinaryRun| {
            let compared = self.compared(run, survivors(run.heap_bytes));
            Some((run.heap_bytes, compared.factor?))
        };
        self.priced.runs.iter().filter_map(factor).collect()
    }

    fn compared(&self, run: &OrdinaryRun, survivors: Survivors) -> Compared {
        let costs = &self.priced.costs;
        let prices =
            Prices::new(self.collector, Time::Processor, costs, self.demand, run.heap_bytes);
        let setting = Setting {
            cycle_ns: prices.cycle_ns(),
            survivors,
            ..Setting::new(self.demand, run.heap_bytes, self.demand.jvm_major())
        };
        let found = simulate(self.collector, &setting).unwrap_or_default();
        Compared::new(run, &found)
    }
}

/// An ordinary run beside its simulation.
struct Compared {
    /// Bytes that young collections copied, for each byte in the simulation. `None`: outside of the
    /// limits, or one of them copied nothing.
    factor: Option<f64>,
    /// Collections of the whole heap in the run and in the simulation.
    full: (f64, f64),
}

impl Compared {
    fn new(run: &OrdinaryRun, simulated: &[Simulated]) -> Self {
        let full = simulated.iter().filter(|c| c.kind == Kind::Full).count();
        let factor = run.young.bytes / copied_bytes(simulated);
        let (least, most) = LIMITS;
        Self {
            factor: (least..=most).contains(&factor).then_some(factor),
            full: (run.full.collections, full as f64),
        }
    }

    /// Sum of the squared logarithms of both ratios.
    fn error(&self) -> f64 {
        let full = (self.full.0 + 1.0) / (self.full.1 + 1.0);
        self.factor.map_or(LARGEST_ERROR, |factor| {
            (factor.ln().powi(2) + full.ln().powi(2)).min(LARGEST_ERROR)
        })
    }
}

/// Bytes that young collections copy.
fn copied_bytes(collections: &[Simulated]) -> f64 {
    let young = collections.iter().filter(|c| is_young(c));
    young.map(|c| c.bytes).sum()
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
    use crate::gc::demand::tests::constant_lifetime;

    const HEAP: f64 = 128.0 * 1048576.0;

    /// Runs with these heaps and copied bytes, without collections of the whole heap.
    fn runs(all: &[(f64, f64)]) -> PricedRuns {
        let run = |(heap_bytes, bytes): &(f64, f64)| {
            let mut run = OrdinaryRun { heap_bytes: *heap_bytes, ..OrdinaryRun::default() };
            run.young.bytes = *bytes;
            run
        };
        PricedRuns { runs: all.iter().map(run).collect(), ..PricedRuns::default() }
    }

    /// The run that is as the simulation with these survivors.
    fn simulated(
        demand: &Demand,
        collector: Collector,
        heap_bytes: f64,
        survivors: Survivors,
    ) -> OrdinaryRun {
        let setting = Setting { survivors, ..Setting::new(demand, heap_bytes, demand.jvm_major()) };
        let found = simulate(collector, &setting).unwrap();
        let mut run = runs(&[(heap_bytes, copied_bytes(&found))]).runs[0];
        run.full.collections = found.iter().filter(|c| c.kind == Kind::Full).count() as f64;
        run
    }

    fn with(factor: f64, nepotism: f64) -> Survivors {
        Survivors { factor, nepotism }
    }

    fn close(found: f64, expected: f64) -> bool {
        (found / expected - 1.0).abs() < 1e-9
    }

    /// Objects live for 2 MB, so that each collection of an Eden of 34 944 KiB copies 2 MB: 27
    /// collections of 1 GB.
    #[test]
    fn factor_is_copied_bytes_over_simulated_ones() {
        let mut demand = constant_lifetime(1000, 2e6);
        let of = |demand: &Demand, collector| Copies::new(demand, collector, HEAP);
        assert_eq!(of(&demand, Collector::Serial), Copies::PROFILED);
        demand.serial = runs(&[(HEAP, 1.2 * 27.0 * 2e6)]);
        for collector in [Collector::Serial, Collector::Parallel] {
            let found = of(&demand, collector);
            assert!((found.factor / 1.2 - 1.0).abs() < 0.05, "{found:?}");
            assert_eq!(found.survivors, Survivors::PROFILED);
        }
        let bytes = 1.3 * 27.0 * 2e6;
        let parallel = |bytes| ("parallel".to_owned(), runs(&[(HEAP, bytes)]));
        demand.others.extend([parallel(10.0 * bytes)]);
        assert_eq!(of(&demand, Collector::Parallel), Copies::PROFILED);
        // The runs with Parallel count for it, and those with Serial for G1, which has none.
        demand.others.extend([parallel(bytes)]);
        let simulation = simulated(&demand, Collector::Parallel, HEAP, Survivors::PROFILED);
        let found = of(&demand, Collector::Parallel).factor;
        assert!(close(found, bytes / simulation.young.bytes));
        assert_eq!(of(&demand, Collector::G1), of(&demand, Collector::Serial));
        assert_eq!(of(&demand, Collector::Z), Copies::PROFILED);
    }

    #[test]
    fn factors_are_interpolated_between_runs_with_a_usable_one() {
        let mut demand = constant_lifetime(1000, 2e6);
        let bytes = |heap_bytes| {
            let found = simulated(&demand, Collector::Serial, heap_bytes, Survivors::PROFILED);
            found.young.bytes
        };
        let (small, large) = (bytes(HEAP), bytes(4.0 * HEAP));
        demand.serial = runs(&[(HEAP, 1.44 * small), (4.0 * HEAP, large)]);
        let factor =
            |demand: &Demand, heap_bytes| Copies::new(demand, Collector::Serial, heap_bytes).factor;
        assert!(close(factor(&demand, 2.0 * HEAP), 1.2));
        demand.serial.runs[0].young.bytes = 3.0 * small;
        assert!(close(factor(&demand, 2.0 * HEAP), 1.0));
    }

    /// Objects live for 20 MB. In each collection, some of an age are promoted and others stay.
    #[test]
    fn survivors_are_those_of_the_runs() {
        let mut demand = constant_lifetime(1000, 20e6);
        for survivors in [with(1.0, 0.0), with(1.0, 0.5), with(1.0, 1.0), with(0.8, 0.0)] {
            let run = |heap_bytes| simulated(&demand, Collector::Serial, heap_bytes, survivors);
            demand.serial.runs = vec![run(HEAP), run(2.0 * HEAP)];
            let found = Copies::new(&demand, Collector::Serial, HEAP);
            assert_eq!(found.survivors.nepotism, survivors.nepotism, "{found:?}");
            // Where fewer objects survive, the simulation already promotes fewer of them.
            let expected = survivors.factor..survivors.factor + 0.08;
            assert!(expected.contains(&found.survivors.factor), "{found:?}");
            assert!((found.factor - 1.0).abs() < 0.05, "{found:?}");
            let g1 = Copies::new(&demand, Collector::G1, HEAP);
            assert_eq!(g1.survivors, Survivors::PROFILED);
        }
    }

    /// As many copied bytes with other collections of the whole heap are another nepotism.
    #[test]
    fn collections_of_the_whole_heap_count() {
        let full = Simulated { kind: Kind::Full, bytes: 9e6, dead_bytes: 0.0 };
        let young = Simulated { kind: Kind::Young, bytes: 2e6, ..full };
        let mut run = runs(&[(HEAP, 2e6)]).runs[0];
        run.full.collections = 1.0;
        let error =
            |run: &OrdinaryRun, simulated: &[Simulated]| Compared::new(run, simulated).error();
        assert_eq!(error(&run, &[young, full]), 0.0);
        assert!(close(error(&run, &[young]), std::f64::consts::LN_2.powi(2)));
        run.full.collections = 10.0;
        assert_eq!(error(&run, &[young]), LARGEST_ERROR);
        run.full.collections = 1.0;
        run.young.bytes *= 3.0;
        assert_eq!(error(&run, &[young, full]), LARGEST_ERROR);
        assert_eq!(error(&run, &[full]), LARGEST_ERROR);
    }

    #[test]
    fn calibration_changes_young_collections() {
        let mut collections =
            [Kind::Young, Kind::Full].map(|kind| Simulated { kind, bytes: 3.0, dead_bytes: 0.0 });
        calibrate(&mut collections, 2.0);
        assert_eq!(collections.map(|c| c.bytes), [6.0, 3.0]);
    }
}
