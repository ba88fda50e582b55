//! Measures the collections of an application.

use crate::gc::Collector;
use crate::gc::log::Kind;

use crate::run::jvm::heap_options;
use crate::run::{Jvm, Limits};

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
    /// The longest pause, in ns.
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
