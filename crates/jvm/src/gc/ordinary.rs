//! The cost of an application's objects, from its collections in an ordinary run.

use serde::{Deserialize, Serialize};

use crate::gc::costs::{Terms, Time};
use crate::gc::log::{Collection, Kind};

/// The collections of one sort in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Work {
    /// Number of collections.
    pub collections: f64,
    /// Bytes that they copied; of collections of the whole heap, bytes that were alive.
    pub bytes: f64,
    /// Bytes that collections of the whole heap freed.
    #[serde(default)]
    pub dead_bytes: f64,
    /// Their processor time, in ns.
    pub cpu_ns: f64,
    /// Their pauses, in ns.
    pub pause_ns: f64,
}

/// A run with a heap of fixed size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OrdinaryRun {
    /// Size of the heap, in bytes.
    pub heap_bytes: f64,
    /// Young collections.
    pub young: Work,
    /// Collections of the whole heap.
    pub full: Work,
    /// All collections of a concurrent collector. Bytes are not counted.
    #[serde(default, skip_serializing_if = "Work::is_none")]
    pub cycles: Work,
}

/// At least this share of a time counts as the cost of bytes: the fixed costs of the benchmarks may
/// exceed those of the application.
const LEAST_SHARE: f64 = 0.2;

impl Work {
    fn is_none(&self) -> bool {
        self.collections == 0.0
    }

    fn add(&mut self, bytes: f64, pauses_ns: f64) {
        self.collections += 1.0;
        self.bytes += bytes;
        self.pause_ns += pauses_ns;
    }

    /// The time for a live byte beyond the fixed costs of the collections, in ns. A dead byte
    /// weighs `dead_weight` live ones. `None`: the collections processed no byte, or took no time.
    pub fn ns_per_byte(&self, time: Time, terms: &Terms, dead_weight: f64) -> Option<f64> {
        let all_ns = match time {
            Time::Processor => self.cpu_ns,
            Time::Pause => self.pause_ns,
        };
        let fixed_ns = self.collections * terms.fixed_ns;
        let of_bytes = (all_ns - fixed_ns).max(LEAST_SHARE * all_ns);
        let bytes = self.bytes + dead_weight * self.dead_bytes;
        (self.bytes > 0.0 && all_ns > 0.0).then(|| of_bytes / bytes)
    }
}

/// A value with one heap size, from `values` of runs with their heap sizes in bytes: the logarithm
/// of the value is linear in that of the size. Beyond the runs, the nearest one counts. `None`: no
/// run has a positive size and value.
pub(crate) fn interpolated(
    values: impl Iterator<Item = (f64, f64)>,
    heap_bytes: f64,
) -> Option<f64> {
    let positive = values.filter(|(heap_bytes, value)| *heap_bytes > 0.0 && *value > 0.0);
    let mut points: Vec<(f64, f64)> = positive.map(|(x, y)| (x.ln(), y.ln())).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at = heap_bytes.ln();
    let above = points.partition_point(|point| point.0 < at);
    let low = points.get(above.saturating_sub(1))?;
    let high = points.get(above).unwrap_or(low);
    let span = high.0 - low.0;
    let share = if span > 0.0 { ((at - low.0) / span).clamp(0.0, 1.0) } else { 0.0 };
    Some((low.1 + share * (high.1 - low.1)).exp())
}

impl OrdinaryRun {
    /// A run with a concurrent collector. `cpu_ns` is the processor time of all of its threads.
    pub fn concurrent(heap_bytes: f64, collections: &[Collection], cpu_ns: f64) -> Self {
        let mut run = Self { heap_bytes, ..Self::default() };
        for collection in collections {
            run.cycles.add(0.0, collection.pauses_ns.iter().sum());
        }
        run.cycles.cpu_ns = cpu_ns;
        run
    }

    /// Summarises the collections of a run's log. `gc_cpu_ns` is the processor time of threads that
    /// work only in pauses. Each pause gets a part of it in proportion to its length.
    pub fn new(heap_bytes: f64, collections: &[Collection], gc_cpu_ns: f64) -> Self {
        let mut run = Self { heap_bytes, ..Self::default() };
        let mut all_pauses_ns = 0.0;
        for collection in collections {
            let pauses_ns = collection.pauses_ns.iter().sum();
            all_pauses_ns += pauses_ns;
            match collection.kind {
                Some(Kind::Full) => {
                    run.full.add(collection.left_bytes(), pauses_ns);
                    run.full.dead_bytes += collection.freed_bytes();
                }
                Some(Kind::ConcurrentMark) => {}
                _ => run.young.add(collection.copied_bytes(), pauses_ns),
            }
        }
        if all_pauses_ns > 0.0 {
            let cpu_share = gc_cpu_ns / all_pauses_ns;
            run.young.cpu_ns = run.young.pause_ns * cpu_share;
            run.full.cpu_ns = run.full.pause_ns * cpu_share;
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn young(bytes: f64, pause_ns: f64) -> Collection {
        Collection {
            kind: Some(Kind::Young),
            pauses_ns: vec![pause_ns],
            survivor_bytes: bytes,
            ..Collection::default()
        }
    }

    #[test]
    fn values_are_interpolated_by_heap_size() {
        let points = [(4e6, 80.0), (1e6, 20.0), (2e6, 0.0), (0.0, 7.0)];
        let at = |points: &[(f64, f64)], heap_bytes| {
            interpolated(points.iter().copied(), heap_bytes).map(f64::round)
        };
        // Twice the size has twice the value.
        let found = [0.5e6, 1e6, 2e6, 3e6, 4e6, 9e6].map(|heap| at(&points, heap));
        assert_eq!(found, [20.0, 20.0, 40.0, 60.0, 80.0, 80.0].map(Some));
        assert_eq!(at(&points[..1], 1e6), Some(80.0));
        assert_eq!(at(&points[2..], 1e6), None);
    }

    fn fixed(fixed_ns: f64) -> Terms {
        Terms { fixed_ns, ..Terms::default() }
    }

    #[test]
    fn processor_time_is_divided_by_pauses() {
        let full = Collection {
            kind: Some(Kind::Full),
            pauses_ns: vec![9e6],
            young_bytes: (12e6, 1e6),
            old_bytes: (28e6, 9e6),
            ..Collection::default()
        };
        let all = [young(1e6, 1e6), young(3e6, 2e6), full];
        // Half of each pause was a wait for a processor.
        let run = OrdinaryRun::new(64e6, &all, 6e6);
        let expected =
            Work { collections: 2.0, bytes: 4e6, dead_bytes: 0.0, cpu_ns: 1.5e6, pause_ns: 3e6 };
        assert_eq!(run.young, expected);
        assert_eq!((run.full.bytes, run.full.cpu_ns), (10e6, 4.5e6));
        let price = |time, fixed_ns| run.young.ns_per_byte(time, &fixed(fixed_ns), 0.0);
        assert_eq!(price(Time::Processor, 0.25e6), Some(0.25));
        assert_eq!(price(Time::Pause, 0.5e6), Some(0.5));
        // The fixed cost leaves at least a fifth.
        assert_eq!(price(Time::Processor, 1e6), Some(0.075));
        let nothing = Work::default().ns_per_byte(Time::Processor, &fixed(0.0), 0.0);
        assert_eq!(nothing, None);
        // Of 40 MB, 30 MB were dead. Each costs a fifth of a live byte.
        let of_full = run.full.ns_per_byte(Time::Pause, &fixed(1e6), 0.2);
        assert_eq!(of_full, Some(0.5));
    }

    #[test]
    fn all_collections_of_a_concurrent_collector_are_one_sort() {
        let cycle = Collection {
            kind: Some(Kind::Cycle),
            pauses_ns: vec![1e4, 3e4],
            ..Collection::default()
        };
        let run = OrdinaryRun::concurrent(64e6, &[young(1e6, 2e4), cycle], 9e6);
        let expected = Work { collections: 2.0, cpu_ns: 9e6, pause_ns: 6e4, ..Work::default() };
        assert_eq!(run.cycles, expected);
        assert_eq!((run.young, run.full), (Work::default(), Work::default()));
    }

    /// The pauses of a marking take a third of the processor time, and belong to neither sort.
    #[test]
    fn markings_of_g1_belong_to_no_sort() {
        let marking = Collection {
            kind: Some(Kind::ConcurrentMark),
            pauses_ns: vec![0.5e6, 0.5e6],
            ..Collection::default()
        };
        let run = OrdinaryRun::new(64e6, &[young(1e6, 2e6), marking], 4.5e6);
        assert_eq!((run.young.collections, run.young.cpu_ns), (1.0, 3e6));
        assert_eq!(run.full, Work::default());
    }
}
