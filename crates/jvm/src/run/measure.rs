//! Measures the collections of an application.

use crate::gc::Collector;
use crate::gc::log::Kind;

use crate::run::jvm::application_options;
use crate::run::{Jvm, Limits};
use crate::sum;

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

/// Runs an application once with a collector and a heap of fixed size. `System.gc()` does nothing,
/// as in the prediction. `application` are the arguments of `java`.
pub fn measure(
    jvm: &Jvm,
    application: &[String],
    collector: Collector,
    heap_bytes: u64,
    limits: Limits,
) -> Result<Measured, String> {
    let arguments = [&application_options(heap_bytes)[..], application].concat();
    let finished = jvm.run(collector, &arguments, "gc*,safepoint", limits)?;
    let collections = finished.collections;
    let is_cycle = |kind: Option<Kind>| kind == Some(Kind::ConcurrentMark);
    let cycles = collections.iter().filter(|c| is_cycle(c.kind)).count();
    let pauses = collections.iter().flat_map(|c| &c.pauses_ns);
    Ok(Measured {
        collections: (collections.len() - cycles) as f64,
        concurrent_cycles: cycles as f64,
        gc_cpu_ns: finished.cpu.all_ns(),
        pause_total_ns: sum(pauses.clone().copied()),
        pause_longest_ns: pauses.copied().fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::LIMITS;
    use crate::run::jvm::tests::jdk;

    #[test]
    fn explicit_collections_are_off_as_in_the_prediction() {
        let folder = tempfile::tempdir().unwrap();
        let java = jdk(folder.path(), "17.0.15");
        let jvm = Jvm::of_program(java.to_str().unwrap()).unwrap();
        let application = ["-cp", ".", "Main"].map(str::to_owned);
        let found = measure(&jvm, &application, Collector::Serial, 64 << 20, LIMITS).unwrap();
        assert!(found.pause_total_ns.is_sign_positive());
        let arguments = fs::read_to_string(folder.path().join("17.0.15/arguments")).unwrap();
        let expected = "-Xms67108864 -Xmx67108864 -XX:+DisableExplicitGC -cp . Main\n";
        assert!(arguments.ends_with(expected), "{arguments}");
    }
}
