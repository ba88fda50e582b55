//! The time of an application's file reads with a page cache of some size.

use std::collections::BTreeMap;

use yamba_page_cache::forecast::{eighths, lru, lru_of_visits, read_calls, simulated};
use yamba_page_cache::{Counts, FileAccesses, PAGE_BYTES};
use yamba_predict::file_time::{FileTime, ReadNames, Reads, file_costs};

use super::systems::System;
use crate::Failure;

/// The primitives of reads from memory and from storage.
const READS: ReadNames = ReadNames {
    cached: "read(file)",
    distant: "read(file,memory)",
    uncached: "read(file,uncached)",
    sequential: "read(file,sequential)",
};

/// Number of points of the curve of an ideal LRU cache: eight for each doubling of its size, over
/// eight doublings.
const CURVE_POINTS: u32 = 64;

/// File reads whose time is predicted.
#[derive(Debug)]
pub struct FileReads {
    /// The accesses of the application.
    pub accesses: FileAccesses,
    /// The sizes of the page cache, in bytes.
    pub memory: Vec<u64>,
    /// Largest read-ahead of all devices, in bytes. `None`: that of the traced machine.
    pub read_ahead: Option<u64>,
}

/// Shares of misses over the size of the page cache in bytes.
#[derive(Debug)]
pub struct MissCurves {
    /// Of an ideal LRU cache.
    pub lru: Vec<(u64, f64)>,
    /// Of the simulated cache of Linux.
    pub linux: Vec<(u64, f64)>,
}

/// The primitives whose costs are needed.
pub(super) fn primitives() -> [&'static str; 4] {
    [READS.cached, READS.distant, READS.uncached, READS.sequential]
}

impl FileReads {
    /// The miss ratios over all useful sizes.
    pub fn miss_curves(&self) -> MissCurves {
        let curve = lru(&self.accesses).curve();
        let mut sizes = [eighths(&curve), self.memory.clone()].concat();
        sizes.sort_unstable();
        sizes.dedup();
        let largest = sizes.last().copied().unwrap_or(PAGE_BYTES);
        let points = (0..=CURVE_POINTS).map(|index| {
            let doublings = f64::from(index) / 8.0 - f64::from(CURVE_POINTS / 8);
            (largest as f64 * doublings.exp2()) as u64
        });
        let all = points.filter(|bytes| *bytes >= PAGE_BYTES).chain(sizes.clone());
        let lru_misses = |bytes: u64| Some((bytes, 1.0 - curve.hit_ratio(bytes / PAGE_BYTES)?));
        let mut lru: Vec<(u64, f64)> = all.filter_map(lru_misses).collect();
        lru.sort_by_key(|(bytes, _)| *bytes);
        let linux = sizes.into_iter().filter_map(|bytes| {
            let hits = simulated(&self.accesses, bytes, self.read_ahead).all_read().ratio()?;
            Some((bytes, 1.0 - hits))
        });
        MissCurves { lru, linux: linux.collect() }
    }

    /// The file times for each size of memory and system.
    pub(super) fn times(&self, systems: &[System]) -> Result<Vec<FileTime>, Failure> {
        let visits = lru_of_visits(&self.accesses).curve();
        let calls = read_calls(&self.accesses).into_iter();
        let calls: Vec<(f64, f64)> =
            calls.map(|(bytes, count)| (bytes as f64, count as f64)).collect();
        let mut times = Vec::new();
        for memory in &self.memory {
            let counts = simulated(&self.accesses, *memory, self.read_ahead);
            for system in systems {
                let machine = &system.run.machine;
                let near = machine
                    .last_cache_bytes()
                    .and_then(|bytes| visits.hit_ratio(bytes / PAGE_BYTES));
                times.push(self.time(*memory, &counts, &calls, near, system)?);
            }
        }
        Ok(times)
    }

    /// The file time on a system. `calls` are the sizes of all read calls with their numbers, and
    /// `near` is the share of the data in the processor's last cache.
    fn time(
        &self,
        memory_bytes: u64,
        counts: &Counts,
        calls: &[(f64, f64)],
        near: Option<f64>,
        system: &System,
    ) -> Result<FileTime, Failure> {
        let files = &self.accesses;
        let in_bytes = |requests: &BTreeMap<u64, u64>| {
            let each = requests.iter();
            each.map(|(pages, count)| ((pages * PAGE_BYTES) as f64, *count as f64)).collect()
        };
        let reads = Reads {
            calls: calls.to_vec(),
            near_share: near.unwrap_or(1.0),
            awaited: in_bytes(&counts.awaited()),
            ahead: in_bytes(&counts.ahead),
        };
        let costs = file_costs(&system.costs, READS, &reads).map_err(|e| {
            Failure::new(format!("--files, on {}: {e}", system.name)).help(
                "`yamba run --only-tag primitive` measures the costs of reads from memory and from storage",
            )
        })?;
        let mut time = FileTime {
            application: files.application.clone(),
            unit: files.unit.clone(),
            system: system.name.clone(),
            memory_bytes,
            hit_ratio: counts.all_read().ratio(),
            processor_cache_ratio: near,
            pages: counts.all_read().pages as f64 / files.units,
            requests: counts.requests.values().sum::<u64>() as f64 / files.units,
            from_memory_ns: 0.0,
            from_storage_ns: 0.0,
            interval_ns: [0.0; 2],
            missing_accesses: files.left_out + files.unknown,
            disturbed: system.costs.disturbed_among(primitives().into_iter()),
        };
        time.set(costs, files.units);
        Ok(time)
    }
}
