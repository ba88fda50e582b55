//! The micro-benchmarks of collectors, with their sizes.

use crate::gc::Collector;

use crate::run::jvm::heap_options;

/// How exactly costs are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Some of the benchmarks, within a limit of time.
    Short,
    /// All benchmarks, three times each.
    Thorough,
}

const MEGABYTE: u64 = 1 << 20;
/// Shapes of the micro-benchmark with the bytes of an object.
const SHAPES: [(&str, u64); 9] = [
    ("list", 24),
    ("tree", 24),
    ("tree", 128),
    ("array", 32),
    ("fan-in", 24),
    ("bytes", 1024),
    ("random", 24),
    ("random", 64),
    ("random", 256),
];
/// The shapes of a short measurement: cheap and dear ones, and those of which G1's refinement needs
/// the costs.
const SHORT_SHAPES: [(&str, u64); 5] =
    [("list", 24), ("tree", 24), ("bytes", 1024), ("random", 24), ("random", 256)];
/// The shape whose dirty cards hold old nodes, as in applications. Those of `random` hold a table,
/// and have several times as many references.
const STORES: (&str, u64) = ("stores", 24);
const WINDOWS_MB: [u64; 2] = [4, 16];
/// Allocation of a run without requested collections that has live objects.
const TOTAL_MB: u64 = 600;
/// Allocation of the run whose objects all die.
const DEAD_TOTAL_MB: u64 = 4000;
/// Allocation of that run in a short measurement.
const SHORT_DEAD_TOTAL_MB: u64 = 1500;
/// Explicit collections of the whole heap in a run that measures these.
const EXPLICIT_COLLECTIONS: u64 = 8;
/// Heap of the benchmarks: large enough that no collection of the whole heap is needed. With
/// concurrent collectors it is smaller, so that cycles are needed.
const HEAP_MB: u64 = 1024;
const CONCURRENT_HEAP_MB: u64 = 192;
/// Young generation of the benchmarks with the large heap.
const YOUNG_MB: u64 = 48;
/// Heaps of the benchmarks of full collections, as multiples of the live bytes: live objects lie
/// among dead ones, as in an application, and have to be moved. The difference between the two
/// shows what dead objects cost.
const LIVE_SETS_OF_FULL_HEAPS: [u64; 2] = [3, 6];
/// Options of a benchmark of G1 that marks all the time: `IHOP_0` starts a marking as soon as the
/// one before and its mixed collections are over.
const IHOP_0: [&str; 2] = ["-XX:InitiatingHeapOccupancyPercent=0", "-XX:-G1UseAdaptiveIHOP"];
/// Live and allocated bytes of these benchmarks, and their heaps with and without live objects. A
/// cycle clears a bitmap of the whole heap, so the heaps are not larger than marking needs.
const MARKED_WINDOW_MB: u64 = 32;
const MARKED_TOTAL_MB: u64 = 800;
const MARKED_HEAP_MB: u64 = 256;
const MARKED_DEAD_HEAP_MB: u64 = 96;

/// A micro-benchmark: the shape and the bytes of its objects, and its sizes.
pub(crate) struct Benchmark {
    shape: (&'static str, u64),
    amounts: Amounts,
}

impl Benchmark {
    /// Shape and size of its objects: `tree/24`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.shape.0, self.shape.1)
    }

    /// Bytes that are alive at each moment.
    pub(crate) fn live_bytes(&self) -> f64 {
        (self.amounts.window_mb * MEGABYTE) as f64
    }

    /// The arguments of `java` after the class path.
    pub(crate) fn arguments(&self, collector: Collector) -> [Vec<String>; 2] {
        let amounts = self.amounts;
        let is_concurrent = collector.is_concurrent();
        let large_mb = if is_concurrent { CONCURRENT_HEAP_MB } else { HEAP_MB };
        let heap_mb = amounts.heap_mb.unwrap_or(large_mb);
        let mut options = heap_options(heap_mb * MEGABYTE).to_vec();
        if !is_concurrent && !amounts.is_full {
            options.insert(0, format!("-Xmn{YOUNG_MB}m"));
        }
        if amounts.is_marking {
            options.splice(0..0, IHOP_0.map(str::to_owned));
        }
        let (shape, size) = self.shape;
        let numbers =
            [size, amounts.window_mb * MEGABYTE, amounts.total_mb * MEGABYTE, amounts.explicit];
        [options, shapes(shape, numbers)]
    }
}

/// The micro-benchmarks of a collector. The first ones give the fixed costs.
pub(crate) fn benchmarks(collector: Collector, effort: Effort) -> Vec<Benchmark> {
    let (all_shapes, windows_mb, dead_mb) = match effort {
        Effort::Short => (&SHORT_SHAPES[..], &WINDOWS_MB[1..], SHORT_DEAD_TOTAL_MB),
        Effort::Thorough => (&SHAPES[..], &WINDOWS_MB[..], DEAD_TOTAL_MB),
    };
    let dead = Amounts { total_mb: dead_mb, ..Amounts::default() };
    let requested = Amounts { total_mb: 1, explicit: EXPLICIT_COLLECTIONS, ..Amounts::default() };
    let young = |window_mb| Amounts { window_mb, total_mb: TOTAL_MB, ..Amounts::default() };
    let of = |shape, amounts| Benchmark { shape, amounts };
    let mut all = vec![of(SHAPES[0], dead), of(SHAPES[0], requested)];
    if collector == Collector::G1 {
        // Before the others: without refined cards there is no prediction, and time may run out.
        all.push(of(SHAPES[0], Amounts::marking(0, MARKED_DEAD_HEAP_MB)));
        all.push(of(STORES, young(WINDOWS_MB[0])));
    }
    for &shape in all_shapes {
        all.extend(windows_mb.iter().map(|mb| of(shape, young(*mb))));
        let full = Amounts::full_collections(collector).into_iter();
        all.extend(full.map(|amounts| of(shape, amounts)));
        if collector == Collector::G1 {
            let marking = Amounts::marking(MARKED_WINDOW_MB, MARKED_HEAP_MB);
            all.push(of(shape, marking));
        }
    }
    all
}

/// The micro-benchmark with its arguments.
fn shapes(shape: &str, numbers: [u64; 4]) -> Vec<String> {
    let names = ["Shapes".to_owned(), shape.to_owned()].into_iter();
    names.chain(numbers.map(|n| n.to_string())).collect()
}

/// Sizes of one run of the micro-benchmark.
#[derive(Clone, Copy, Default)]
struct Amounts {
    window_mb: u64,
    total_mb: u64,
    explicit: u64,
    /// Size of the heap. `None`: the large heap.
    heap_mb: Option<u64>,
    /// Whether the heap is often full, with young and old generations as large as the JVM makes
    /// them.
    is_full: bool,
    /// Whether G1 marks all the time.
    is_marking: bool,
}

impl Amounts {
    /// A run of G1 with concurrent markings.
    fn marking(window_mb: u64, heap_mb: u64) -> Self {
        Self {
            window_mb,
            heap_mb: Some(heap_mb),
            total_mb: MARKED_TOTAL_MB,
            is_marking: true,
            ..Self::default()
        }
    }

    /// Runs with collections of the whole heap. Serial and Parallel make them where the old
    /// generation is full. The others avoid them, so they are requested.
    fn full_collections(collector: Collector) -> Vec<Self> {
        let window_mb = WINDOWS_MB[1];
        match collector {
            Collector::Serial | Collector::Parallel => {
                let full = |live_sets: u64| Self {
                    window_mb,
                    total_mb: TOTAL_MB,
                    heap_mb: Some(live_sets * window_mb),
                    is_full: true,
                    ..Self::default()
                };
                LIVE_SETS_OF_FULL_HEAPS.map(full).into()
            }
            _ => vec![Self {
                window_mb,
                total_mb: window_mb,
                explicit: EXPLICIT_COLLECTIONS,
                ..Self::default()
            }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_measurement_has_some_of_the_benchmarks_of_a_thorough_one() {
        for collector in Collector::ALL {
            let arguments = |effort| -> Vec<[Vec<String>; 2]> {
                let all = benchmarks(collector, effort).into_iter();
                all.map(|benchmark| benchmark.arguments(collector)).collect()
            };
            let (short, all) = (arguments(Effort::Short), arguments(Effort::Thorough));
            // All but the allocation of dead objects are the same.
            let common = short.iter().filter(|own| all.contains(own)).count();
            assert_eq!(common, short.len() - 1, "{collector:?}");
            assert!(2 * short.len() < all.len() + 3, "{collector:?}");
        }
    }
}
