//! Measures what collections cost on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use yamba_gc::Collector;
use yamba_gc::costs::{CollectorCosts, Costs, SCHEMA, fit};
use yamba_gc::observation::Observation;
use yamba_gc::refinement::Refined;

use crate::classes::Classes;
use crate::jvm::{Finished, heap_options, in_rounds};
use crate::{Jvm, Limits};

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
/// The shape whose dirty cards hold old nodes, as in applications. Those of `random` hold a table, and have several times as many references.
const STORES: (&str, u64) = ("stores", 24);
const WINDOWS_MB: [u64; 2] = [4, 16];
/// Allocation of a run without requested collections that has live objects.
const TOTAL_MB: u64 = 600;
/// Allocation of the run whose objects all die.
const DEAD_TOTAL_MB: u64 = 4000;
/// Explicit collections of the whole heap in a run that measures these.
const EXPLICIT_COLLECTIONS: u64 = 8;
/// Heap of the benchmarks: large enough that no collection of the whole heap is needed. With concurrent collectors it is smaller, so that cycles are needed.
const HEAP_MB: u64 = 1024;
const CONCURRENT_HEAP_MB: u64 = 192;
/// Young generation of the benchmarks with the large heap.
const YOUNG_MB: u64 = 48;
/// Heaps of the benchmarks of full collections, as multiples of the live bytes: live objects lie among dead ones, as in an application, and have to be moved. The difference
/// between the two shows what dead objects cost.
const LIVE_SETS_OF_FULL_HEAPS: [u64; 2] = [3, 6];
/// Options of a benchmark of G1 that marks all the time: `IHOP_0` starts a marking as soon as the one before and its mixed collections are over.
const IHOP_0: [&str; 2] = [
    "-XX:InitiatingHeapOccupancyPercent=0",
    "-XX:-G1UseAdaptiveIHOP",
];
/// Live and allocated bytes of these benchmarks, and their heaps with and without live objects. A cycle clears a bitmap of the whole heap, so the heaps are not larger than
/// marking needs.
const MARKED_WINDOW_MB: u64 = 32;
const MARKED_TOTAL_MB: u64 = 800;
const MARKED_HEAP_MB: u64 = 256;
const MARKED_DEAD_HEAP_MB: u64 = 96;
/// Runs of each benchmark, of which that with the least time counts.
const ROUNDS: usize = 3;
const LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    resident_bytes: 2 << 30,
};

/// The log of G1 with copied bytes and cards.
pub(crate) const G1_DETAILS: &str = "gc*,gc+phases=debug,gc+refine+stats=debug,safepoint";

/// Changes with the benchmarks, so that kept costs of other benchmarks are not used.
const REVISION: u32 = 6;

/// The file with the costs of a JVM, in a folder of this machine.
pub fn costs_path(folder: &Path, jvm: &Jvm) -> PathBuf {
    let version = jvm.version.replace('/', "-");
    folder.join(format!("costs-{REVISION}-{version}.json"))
}

/// The costs of collectors, with those that the file at `path` has already. It calls `progress` before each collector.
pub fn characterise(
    jvm: &Jvm,
    collectors: &[Collector],
    path: &Path,
    is_forced: bool,
    progress: &mut dyn FnMut(Collector),
) -> Result<Costs, String> {
    let mut costs = read(path)
        .filter(|c| c.machine == machine())
        .unwrap_or_else(|| Costs {
            schema: SCHEMA.to_owned(),
            jvm: jvm.version.clone(),
            machine: machine(),
            collectors: BTreeMap::new(),
            skipped: BTreeMap::new(),
        });
    for &collector in collectors {
        let name = collector.name().to_owned();
        if costs.collectors.contains_key(&name) && !is_forced {
            continue;
        }
        progress(collector);
        match one(jvm, collector) {
            Ok(found) => {
                costs.skipped.remove(&name);
                costs.collectors.insert(name, found);
            }
            Err(reason) => {
                costs.skipped.insert(name, reason);
            }
        }
        write(path, &costs)?;
    }
    Ok(costs)
}

fn read(path: &Path) -> Option<Costs> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn write(path: &Path, costs: &Costs) -> Result<(), String> {
    let text = serde_json::to_string_pretty(costs).map_err(|e| e.to_string())?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let stored = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    stored.map_err(|e| format!("{}: {e}", path.display()))
}

/// The processor model and the number of processors.
fn machine() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|l| l.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, name)| name);
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {count} processors")
}

fn one(jvm: &Jvm, collector: Collector) -> Result<CollectorCosts, String> {
    jvm.has(collector)?;
    let classes = Classes::compile(jvm)?;
    let benchmarks = benchmarks(collector);
    let all = in_rounds(ROUNDS, &benchmarks, |benchmark| {
        let (shape, size) = benchmark.shape;
        run(jvm, &classes, collector, benchmark)
            .map_err(|reason| format!("{shape}/{size}: {reason}"))
    });
    let (mut observations, mut failures) = (Vec::new(), Vec::new());
    for (benchmark, (runs, failure)) in benchmarks.iter().zip(all) {
        match failure {
            None => observations.extend(observation(benchmark, runs)),
            Some(reason) => failures.push(reason),
        }
    }
    if failures.len() > observations.len() {
        return Err(failures.swap_remove(0));
    }
    Ok(fit(&observations, collector))
}

/// A micro-benchmark: the shape and the bytes of its objects, and its sizes.
struct Benchmark {
    shape: (&'static str, u64),
    amounts: Amounts,
}

/// The micro-benchmarks of a collector.
fn benchmarks(collector: Collector) -> Vec<Benchmark> {
    let dead = Amounts {
        total_mb: DEAD_TOTAL_MB,
        ..Amounts::default()
    };
    let requested = Amounts {
        total_mb: 1,
        explicit: EXPLICIT_COLLECTIONS,
        ..Amounts::default()
    };
    let young = |window_mb| Amounts {
        window_mb,
        total_mb: TOTAL_MB,
        ..Amounts::default()
    };
    let of = |shape, amounts| Benchmark { shape, amounts };
    let mut all = vec![of(SHAPES[0], dead), of(SHAPES[0], requested)];
    for shape in SHAPES {
        all.extend(WINDOWS_MB.map(|window_mb| of(shape, young(window_mb))));
        let full = Amounts::of_full(collector).into_iter();
        all.extend(full.map(|amounts| of(shape, amounts)));
        if collector == Collector::G1 {
            let marking = Amounts::of_marking(MARKED_WINDOW_MB, MARKED_HEAP_MB);
            all.push(of(shape, marking));
        }
    }
    if collector == Collector::G1 {
        let marking = Amounts::of_marking(0, MARKED_DEAD_HEAP_MB);
        all.push(of(SHAPES[0], marking));
        all.push(of(STORES, young(WINDOWS_MB[0])));
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
    /// Whether the heap is often full, with young and old generations as large as the JVM makes them.
    is_full: bool,
    /// Whether G1 marks all the time.
    is_marking: bool,
}

impl Amounts {
    /// A run of G1 with concurrent markings.
    fn of_marking(window_mb: u64, heap_mb: u64) -> Self {
        Self {
            window_mb,
            heap_mb: Some(heap_mb),
            total_mb: MARKED_TOTAL_MB,
            is_marking: true,
            ..Self::default()
        }
    }

    /// Runs with collections of the whole heap. Serial and Parallel make them where the old generation is full. The others avoid them, so they are requested.
    fn of_full(collector: Collector) -> Vec<Self> {
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

fn run(
    jvm: &Jvm,
    classes: &Classes,
    collector: Collector,
    benchmark: &Benchmark,
) -> Result<Finished, String> {
    let Benchmark { shape, amounts } = *benchmark;
    let (shape, size) = shape;
    let is_concurrent = collector.is_concurrent();
    let large_mb = if is_concurrent {
        CONCURRENT_HEAP_MB
    } else {
        HEAP_MB
    };
    let heap_mb = amounts.heap_mb.unwrap_or(large_mb);
    let numbers = [
        size,
        amounts.window_mb * MEGABYTE,
        amounts.total_mb * MEGABYTE,
        amounts.explicit,
    ];
    let class_path = ["-cp".to_owned(), classes.jar().display().to_string()];
    let mut arguments = [heap_options(heap_mb * MEGABYTE), class_path].concat();
    if !is_concurrent && !amounts.is_full {
        arguments.insert(0, format!("-Xmn{YOUNG_MB}m"));
    }
    if amounts.is_marking {
        arguments.splice(0..0, IHOP_0.map(str::to_owned));
    }
    arguments.extend(shapes(shape, numbers));
    // Details cost time, and only those of G1 are read.
    let logged = match collector {
        Collector::G1 => G1_DETAILS,
        _ => "gc*,safepoint",
    };
    jvm.run(collector, &arguments, logged, LIMITS)
}

/// The run with the least time, with the refinement in all `runs`. `None`: `runs` is empty.
fn observation(of: &Benchmark, runs: Vec<Finished>) -> Option<Observation> {
    let refined: Vec<_> = runs
        .iter()
        .map(|run| (run.collections.clone(), run.cpu.refining_ns))
        .collect();
    let (shape, size) = of.shape;
    let least = Finished::least(runs)?;
    Some(Observation {
        shape: format!("{shape}/{size}"),
        live_bytes: (of.amounts.window_mb * MEGABYTE) as f64,
        gc_cpu_ns: least.cpu.collecting_ns,
        marking_cpu_ns: least.cpu.marking_ns,
        refined: Refined::of(&refined),
        collections: least.collections,
    })
}
