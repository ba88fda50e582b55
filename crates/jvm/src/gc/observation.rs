//! The data of a run of the micro-benchmark.

use crate::gc::log::Collection;
use crate::gc::refinement::Refined;

/// One run of the micro-benchmark.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Shape and size of its objects: `tree/24`.
    pub shape: String,
    /// Bytes that are alive at each moment.
    pub live_bytes: f64,
    /// Processor time of the collector's threads, without those that only mark or refine, in ns.
    pub gc_cpu_ns: f64,
    /// Processor time of threads that only mark, as those of G1.
    pub marking_cpu_ns: f64,
    /// Refinement by G1, also in repeats of this run.
    pub refined: Refined,
    /// The collections of its log.
    pub collections: Vec<Collection>,
}
