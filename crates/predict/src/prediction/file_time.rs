//! The time of an application's file reads with a page cache of some size.
//!
//! The hybrid method of HBench: a simulated cache says how many reads hit and miss, and the costs
//! of cached and uncached reads are two primitives (Zhang, "Application-Specific Benchmarking",
//! section 3.1.3).

use serde::Serialize;

use crate::constants::SEQUENTIAL_BYTES;
use crate::costs::{Cost, Costs};

/// The time of the file reads of one unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct FileTime {
    /// Name of the application.
    pub application: String,
    /// The unit of its work.
    pub unit: String,
    /// The system: the run that measured its costs.
    pub system: String,
    /// Memory for the page cache, in bytes.
    pub memory_bytes: u64,
    /// Share of the pages that are in memory when a call begins. `None`: no page is read.
    pub hit_ratio: Option<f64>,
    /// Share of the visits to pages whose data the processor's last cache may still have, by an
    /// ideal LRU cache of its size; neighbouring accesses to one page are one visit. `None`: the
    /// size is unknown, or no page is read. Then all data is assumed to be there.
    pub processor_cache_ratio: Option<f64>,
    /// Pages that read calls ask for, per unit.
    pub pages: f64,
    /// Requests to the device per unit, with read-ahead.
    pub requests: f64,
    /// Time of the read calls as if all pages were in memory, in ns per unit.
    pub from_memory_ns: f64,
    /// Additional time of the requests to the device, in ns per unit. The application waits less if
    /// the kernel reads ahead while it computes.
    pub from_storage_ns: f64,
    /// Interval of the sum, from the intervals of the costs. The upper end is infinite, which is
    /// null in JSON, if accesses are missing.
    #[schemars(with = "[Option<f64>; 2]")]
    pub interval_ns: [f64; 2],
    /// Number of accesses that the trace lacks: those left out, and those whose place is unknown.
    pub missing_accesses: u64,
    /// The primitives of reads whose cost is from a disturbed figure. Such a cost may be wrong.
    pub disturbed: Vec<String>,
}

/// The names of the primitives.
#[derive(Clone, Copy, Debug)]
pub struct ReadNames<'a> {
    /// A read of a file that is in memory and in the processor's caches.
    pub cached: &'a str,
    /// A read of a file that is in memory only.
    pub distant: &'a str,
    /// A read of a file that is not in memory.
    pub uncached: &'a str,
    /// A read of 4096 bytes of a file that is not in memory, which is read from one end to the
    /// other.
    pub sequential: &'a str,
}

/// The reads of an application: pairs of a size in bytes and a number.
#[derive(Clone, Debug)]
pub struct Reads {
    /// The read calls.
    pub calls: Vec<(f64, f64)>,
    /// Share of their bytes that are taken to come from the processor's caches if they are in
    /// memory.
    pub near_share: f64,
    /// The requests to the device that a call waited for.
    pub awaited: Vec<(f64, f64)>,
    /// The requests that the kernel made ahead. The device has several of them at a time.
    pub ahead: Vec<(f64, f64)>,
}

/// The costs of an application's file reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileCosts {
    /// Of the read calls, as if all data were in memory.
    pub memory: Cost,
    /// The additional cost of requests to the device.
    pub storage: Cost,
}

/// The costs of these reads.
///
/// # Errors
/// If a primitive has no cost. The text names it.
pub fn file_costs(costs: &Costs, names: ReadNames, reads: &Reads) -> Result<FileCosts, String> {
    let cost = |name: &str, bytes: f64| {
        let at = costs.at(name, Some(bytes));
        at.map(|at| at.cost).ok_or_else(|| format!("it has no cost of {}", costs.lacking(name)))
    };
    let from_memory = |bytes: f64| -> Result<Cost, String> {
        let near = cost(names.cached, bytes)?.times(reads.near_share);
        if reads.near_share == 1.0 {
            return Ok(near);
        }
        let distant = cost(names.distant, bytes)?.times(1.0 - reads.near_share);
        Ok(near.plus(distant))
    };
    let mut sums = FileCosts::default();
    for (bytes, count) in &reads.calls {
        sums.memory = sums.memory.plus(from_memory(*bytes)?.times(*count));
    }
    for (bytes, count) in &reads.awaited {
        let (stored, cached) = (cost(names.uncached, *bytes)?, from_memory(*bytes)?);
        sums.storage = sums.storage.plus(above(stored, cached).times(*count));
    }
    for (bytes, count) in &reads.ahead {
        let stored = cost(names.sequential, SEQUENTIAL_BYTES)?.times(bytes / SEQUENTIAL_BYTES);
        let cached = from_memory(*bytes)?;
        sums.storage = sums.storage.plus(above(stored, cached).times(*count));
    }
    Ok(sums)
}

/// The part of a cost above another one, at least 0.
fn above(cost: Cost, other: Cost) -> Cost {
    let [low, high] = cost.interval_ns;
    let [other_low, other_high] = other.interval_ns;
    Cost {
        ns: (cost.ns - other.ns).max(0.0),
        interval_ns: [low - other_high, high - other_low].map(|end| end.max(0.0)),
    }
}

impl FileTime {
    /// Sets the times to these sums over all units.
    pub fn set(&mut self, FileCosts { memory, storage }: FileCosts, units: f64) {
        let whole = memory.plus(storage);
        self.from_memory_ns = memory.ns / units;
        self.from_storage_ns = storage.ns / units;
        self.interval_ns = whole.interval_ns.map(|end| end / units);
        if self.missing_accesses > 0 {
            self.interval_ns[1] = f64::INFINITY;
        }
    }

    /// The whole time per unit, in ns.
    pub fn ns(&self) -> f64 {
        self.from_memory_ns + self.from_storage_ns
    }
}
