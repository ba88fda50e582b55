//! `yamba predict --files --memory`: the time of file reads with a page cache of some size.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use yamba_page_cache::forecast::{eighths, lru, lru_of_visits, read_calls, simulated};
use yamba_page_cache::{Counts, FileAccesses, PAGE_BYTES};
use yamba_predict::file_time::{FileTime, ReadNames, Reads, file_costs};
use yamba_record::number::{bytes, number};
use yamba_report::{MissRatios, figure, interval};

use super::system::System;
use super::words::disturbed;
use crate::cli::{Failure, page_cache, quantity};

/// The primitives of reads from memory and from storage.
const READS: ReadNames = ReadNames {
    cached: "read(file)",
    distant: "read(file,memory)",
    uncached: "read(file,uncached)",
    sequential: "read(file,sequential)",
};

#[derive(Args)]
#[command(next_help_heading = "Reads of files")]
pub(super) struct FileOptions {
    /// The accesses of the application to files, `yamba-files/1`: predicts the time of its reads
    #[arg(long, value_name = "FILES", requires = "memory")]
    files: Option<PathBuf>,
    /// Memory for the page cache: 512M; may be repeated
    #[arg(long, value_name = "SIZE", requires = "files", value_parser = quantity::bytes)]
    memory: Vec<u64>,
    /// Largest read-ahead of all devices [default: that of the traced machine]
    #[arg(long, value_name = "SIZE", requires = "files", value_parser = quantity::bytes, hide_short_help = true)]
    read_ahead: Option<u64>,
    /// A measured hit ratio of the page cache, SIZE=PERCENT, for the chart of `--page`: 64M=71.5%;
    /// may be repeated
    #[arg(long, value_name = "POINT", requires_all = ["files", "page"], value_parser = measured_hits, hide_short_help = true)]
    measured_hits: Vec<(u64, f64)>,
}

/// Reads `64M=71.5%`: bytes and a share from 0 to 1.
fn measured_hits(text: &str) -> Result<(u64, f64), String> {
    const FORM: &str = "write SIZE=PERCENT, as 64M=71.5%";
    let (size, percent) = text.split_once('=').ok_or(FORM)?;
    let percent = percent.trim().strip_suffix('%').ok_or(FORM)?;
    let ratio = percent.parse::<f64>().map_err(|_| FORM)? / 100.0;
    if !(0.0..=1.0).contains(&ratio) {
        return Err(format!("{percent} % is no share of hits: {FORM}"));
    }
    Ok((quantity::bytes(size)?, ratio))
}

/// Number of points of the curve of an ideal LRU cache: eight for each doubling of its size, over
/// eight doublings.
const CURVE_POINTS: u32 = 64;

impl FileOptions {
    /// The primitives whose costs are needed.
    pub(super) fn primitives(&self) -> Vec<String> {
        let names =
            [READS.cached, READS.distant, READS.uncached, READS.sequential].map(str::to_owned);
        self.files.iter().flat_map(|_| names.clone()).collect()
    }

    /// The document of file accesses. `None` without `--files`.
    pub(super) fn accesses(&self) -> Result<Option<FileAccesses>, Failure> {
        self.files.as_deref().map(page_cache::read).transpose()
    }

    /// The miss ratios for the page, over all useful sizes.
    pub(super) fn miss_ratios(&self, files: &FileAccesses) -> MissRatios {
        let curve = lru(files).curve();
        let mut sizes = [eighths(&curve), self.memory.clone()].concat();
        sizes.sort_unstable();
        sizes.dedup();
        let largest = sizes.last().copied().unwrap_or(PAGE_BYTES);
        let points = (0..=CURVE_POINTS).map(|index| {
            let doublings = f64::from(index) / 8.0 - f64::from(CURVE_POINTS / 8);
            (largest as f64 * doublings.exp2()) as u64
        });
        let of_lru = points.filter(|bytes| *bytes >= PAGE_BYTES).chain(sizes.clone());
        let lru_misses = |bytes: u64| Some((bytes, 1.0 - curve.hit_ratio(bytes / PAGE_BYTES)?));
        let mut lru: Vec<(u64, f64)> = of_lru.filter_map(lru_misses).collect();
        lru.sort_by_key(|(bytes, _)| *bytes);
        let linux = sizes.into_iter().filter_map(|bytes| {
            let hits = simulated(files, bytes, self.read_ahead).all_read().ratio()?;
            Some((bytes, 1.0 - hits))
        });
        MissRatios {
            application: files.application.clone(),
            lru,
            linux: linux.collect(),
            measured: self.measured_hits.iter().map(|(bytes, hits)| (*bytes, 1.0 - hits)).collect(),
        }
    }

    /// The file times for each size of memory and system.
    pub(super) fn times(
        &self,
        files: &FileAccesses,
        systems: &[System],
    ) -> Result<Vec<FileTime>, Failure> {
        let visits = lru_of_visits(files).curve();
        let mut times = Vec::new();
        for memory in &self.memory {
            let counts = simulated(files, *memory, self.read_ahead);
            for system in systems {
                let near = system
                    .run
                    .machine
                    .last_cache_bytes()
                    .and_then(|bytes| visits.hit_ratio(bytes / PAGE_BYTES));
                times.push(time(files, *memory, &counts, near, system)?);
            }
        }
        Ok(times)
    }
}

fn time(
    files: &FileAccesses,
    memory_bytes: u64,
    counts: &Counts,
    near: Option<f64>,
    system: &System,
) -> Result<FileTime, Failure> {
    let calls = read_calls(files).into_iter();
    let in_bytes = |requests: &BTreeMap<u64, u64>| {
        let each = requests.iter();
        each.map(|(pages, count)| ((pages * PAGE_BYTES) as f64, *count as f64)).collect()
    };
    let names = [READS.cached, READS.distant, READS.uncached, READS.sequential];
    let reads = Reads {
        calls: calls.map(|(bytes, n)| (bytes as f64, n as f64)).collect(),
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
        disturbed: system.costs.disturbed_among(names.into_iter()),
    };
    time.set(costs, files.units);
    Ok(time)
}

/// A file time as a sentence.
pub(super) fn sentence(time: &FileTime) -> String {
    let ns = |value| figure(value, "ns");
    let hits = time.hit_ratio.map_or(100.0, |ratio| 100.0 * ratio);
    let sentence = format!(
        "file reads of {} with {} of page cache on {}: {} {} each {}: {} from memory, {} more from storage; {hits:.1} % of {} pages hit, {} requests to the device",
        time.application,
        bytes(time.memory_bytes),
        time.system,
        ns(time.ns()),
        interval(time.interval_ns, time.ns(), "ns"),
        time.unit,
        ns(time.from_memory_ns),
        ns(time.from_storage_ns),
        number(time.pages),
        number(time.requests),
    );
    match disturbed(&time.disturbed) {
        Some(line) => format!("{sentence}; {line}"),
        None => sentence,
    }
}
