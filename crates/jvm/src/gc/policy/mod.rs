//! When each collector collects, and what it finds: the policies of HotSpot for a heap of fixed
//! size.

mod average;
mod concurrent;
mod g1;
mod metaspace;
mod parallel;
mod serial;
mod young;

use crate::gc::Collector;
use crate::gc::demand::{Demand, Survival};
use crate::gc::log::Kind;
use yamba_record::number::bytes;

/// A collection of the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// The part of the heap that it collects.
    pub kind: Kind,
    /// Live bytes that it copies or marks.
    pub bytes: f64,
    /// Dead bytes among which a collection of the whole heap finds the live ones. Only of Serial
    /// and Parallel.
    pub dead_bytes: f64,
}

impl Simulated {
    /// A collection without dead bytes that cost time.
    fn new(kind: Kind, bytes: f64) -> Self {
        Self { kind, bytes, dead_bytes: 0.0 }
    }
}

const MIB: f64 = 1048576.0;
/// A heap that is enough with each collector, as a multiple of the live set, and at least in MiB.
const ENOUGH_LIVE_SETS: f64 = 1.75;
const ENOUGH_MIB: f64 = 16.0;

/// Why a heap cannot be simulated.
fn too_small(setting: &Setting) -> String {
    let (heap, live) = (setting.heap_bytes, setting.demand.largest_live_bytes());
    let fix_mib = (ENOUGH_LIVE_SETS * live / MIB).ceil().max(ENOUGH_MIB);
    let (heap, live) = (bytes(heap as u64), bytes(live as u64));
    format!("a heap of {heap} is too small: {live} are alive at once; fix: --heap {fix_mib}M")
}

/// How the survivors of young collections differ from the live objects of the profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Survivors {
    /// Bytes that survive, for each live byte of the profile.
    pub factor: f64,
    /// Share of the dead survivors that dead promoted objects of the same age keep alive.
    pub nepotism: f64,
}

impl Survivors {
    /// The live objects of the profile.
    pub const PROFILED: Self = Self { factor: 1.0, nepotism: 0.0 };
}

/// Input of a simulation.
pub struct Setting<'a> {
    /// The application.
    pub demand: &'a Demand,
    pub survival: Survival<'a>,
    /// Size of the heap, in bytes: both the smallest and the largest.
    pub heap_bytes: f64,
    /// First number of the version of the JVM.
    pub jvm_major: u32,
    /// Duration of a concurrent cycle: fixed in ns, and in ns for each live byte.
    pub cycle_ns: (f64, f64),
    /// The survivors of young collections. Shenandoah and Z have none.
    pub survivors: Survivors,
}

impl<'a> Setting<'a> {
    /// A setting whose concurrent cycles take no time, and whose survivors are those of the
    /// profile.
    pub(crate) fn new(demand: &'a Demand, heap_bytes: f64, jvm_major: u32) -> Self {
        Self {
            demand,
            survival: Survival::new(demand),
            heap_bytes,
            jvm_major,
            cycle_ns: (0.0, 0.0),
            survivors: Survivors::PROFILED,
        }
    }

    /// Bytes that the application allocates in a ns.
    fn rate(&self) -> f64 {
        self.demand.allocated_bytes / self.demand.mutator_ns.max(1.0)
    }

    fn total_bytes(&self) -> f64 {
        self.demand.allocated_bytes
    }
}

/// Time that the application needs with G1 without its collections, in ns.
pub(crate) fn mutator_ns(demand: &Demand) -> f64 {
    demand.mutator_ns / g1::PACE
}

/// The collections of an application, in their order. An error says why it cannot run with this
/// heap.
pub fn simulate(collector: Collector, setting: &Setting) -> Result<Vec<Simulated>, String> {
    if setting.heap_bytes < setting.demand.largest_live_bytes() {
        return Err(too_small(setting));
    }
    match collector {
        Collector::Serial => serial::simulate(setting),
        Collector::Parallel => parallel::simulate(setting),
        Collector::G1 => g1::simulate(setting),
        Collector::Shenandoah | Collector::Z => concurrent::simulate(collector, setting),
    }
}
