//! Measures the collections of an application within bounds of time and memory.

use std::time::Duration;

use crate::gc::Collector;
use crate::gc::log::Kind;
use crate::run::Jvm;
use crate::run::jvm::heap_options;

/// Figures of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Young, mixed and full collections; with concurrent collectors each GC id.
    pub collections: f64,
    /// Concurrent marking cycles of G1.
    pub concurrent_cycles: f64,
    /// Processor time of the collector's threads, in ns.
    pub gc_cpu_ns: f64,
    /// Sum of all pauses, in ns.
    pub pause_total_ns: f64,
    pub pause_longest_ns: f64,
}

/// Runs an application once with a collector and a heap of fixed size. `application` are the
/// arguments of `java`.
pub fn measure(
    jvm: &Jvm,
    application: &[String],
    collector: Collector,
    heap_bytes: u64,
    limits: Limits,
) -> Result<Measured, String> {
    let arguments = [&heap_options(heap_bytes)[..], application].concat();
    let finished = jvm.run(collector, &arguments, "gc*,safepoint", limits)?;
    let collections = finished.collections;
    let is_cycle = |kind: Option<Kind>| kind == Some(Kind::ConcurrentMark);
    let cycles = collections.iter().filter(|c| is_cycle(c.kind)).count();
    let pauses = collections.iter().flat_map(|c| &c.pauses_ns);
    Ok(Measured {
        collections: (collections.len() - cycles) as f64,
        concurrent_cycles: cycles as f64,
        gc_cpu_ns: finished.cpu.all_ns(),
        pause_total_ns: pauses.clone().sum(),
        pause_longest_ns: pauses.copied().fold(0.0, f64::max),
    })
}

/// Bounds of one run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall-clock time after which the JVM is killed.
    pub time: Duration,
    /// Resident memory above which it is killed, in bytes.
    pub resident_bytes: u64,
}

/// Bounds for applications.
pub const LIMITS: Limits = Limits { time: Duration::from_secs(300), resident_bytes: 6 << 30 };
