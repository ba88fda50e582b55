//! Hits and misses of an application's file accesses by size of the cache, schema
//! `yamba-page-cache/1`.

use serde::Serialize;

use crate::access::{Kind, PAGE_BYTES};
use crate::curve::Curve;
use crate::document::FileAccesses;
use crate::linux::{Counts, LinuxCache, Share};
use crate::sampled::Sampled;

/// The schema's name.
pub const SCHEMA: &str = "yamba-page-cache/1";

/// Pages of the curve without sampling: 4 GiB of files.
const BUDGET: usize = 1 << 20;

/// Number of sizes, if none is given.
const SIZES: u64 = 8;

/// Hits and misses by size of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Forecast {
    /// Schema of the document: [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Name of the application.
    pub application: String,
    /// One unit of its work.
    pub unit: String,
    /// Number of units in the trace.
    pub units: f64,
    /// Number of accesses.
    pub accesses: u64,
    /// Number of different pages of 4096 bytes. It is an estimate if `sampled_share` is below 1.
    pub pages: f64,
    /// Share of the pages from which the hit ratios of an ideal LRU cache were estimated.
    pub sampled_share: f64,
    /// Number of accesses that the trace has left out.
    pub left_out: u64,
    /// Number of accesses that the trace lacks, because their place in the file is unknown.
    pub unknown: u64,
    /// The sizes, in their order.
    pub sizes: Vec<AtSize>,
}

/// Hits and misses of a cache of one size that is empty at the beginning.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AtSize {
    /// Memory for the page cache, in bytes.
    pub bytes: u64,
    /// Share of all accessed pages that an ideal LRU cache without read-ahead has. `None`: there
    /// are no accesses.
    pub lru_hit_ratio: Option<f64>,
    /// Share of the read or mapped pages that Linux has in its cache when a call or fault begins.
    /// `None`: no such pages.
    pub hit_ratio: Option<f64>,
    /// Pages of read calls.
    pub read: Share,
    /// Pages of page faults of mapped files.
    pub mapped: Share,
    /// Pages of write calls.
    pub written: Share,
    /// Bytes that are read from the device, with read-ahead.
    pub device_bytes: u64,
    /// Number of requests to the device.
    pub requests: u64,
    /// The requests by their number of pages.
    #[serde(skip)]
    pub counts: Counts,
}

/// Simulates caches of these sizes in bytes. Without sizes: eighths of the size from which on a
/// larger ideal LRU cache has no more hits. `read_ahead_bytes` replaces the read-ahead of all
/// devices.
pub fn forecast(files: &FileAccesses, sizes: &[u64], read_ahead_bytes: Option<u64>) -> Forecast {
    let sampled = lru(files);
    let curve = sampled.curve();
    let sizes = match sizes {
        [] => eighths(&curve),
        sizes => sizes.to_vec(),
    };
    let at_sizes = sizes.iter().map(|bytes| {
        let counts = simulated(files, *bytes, read_ahead_bytes);
        at_size(*bytes, &curve, counts)
    });
    Forecast {
        schema: SCHEMA,
        application: files.application.clone(),
        unit: files.unit.clone(),
        units: files.units,
        accesses: files.accesses.iter().map(|run| run.4).sum(),
        pages: curve.pages(),
        sampled_share: sampled.share(),
        left_out: files.left_out,
        unknown: files.unknown,
        sizes: at_sizes.collect(),
    }
}

/// The references to an ideal LRU cache. Their curve is exact up to 4 GiB of files.
pub fn lru(files: &FileAccesses) -> Sampled {
    let mut sampled = Sampled::within(BUDGET);
    files.pages().for_each(|page| sampled.refer(page));
    sampled
}

/// The visits to pages by an ideal LRU cache: accesses to the same page that follow each other are
/// one visit. Several short reads of a page take its lines from memory one after the other, so only
/// an earlier visit can have left them in a processor's cache.
pub fn lru_of_visits(files: &FileAccesses) -> Sampled {
    let mut sampled = Sampled::within(BUDGET);
    let mut last = None;
    for page in files.pages() {
        if last.replace(page) != Some(page) {
            sampled.refer(page);
        }
    }
    sampled
}

/// Hits and misses of all accesses in a cache of this number of bytes.
pub fn simulated(files: &FileAccesses, bytes: u64, read_ahead_bytes: Option<u64>) -> Counts {
    let mut cache = LinuxCache::new(bytes, &files.shapes(read_ahead_bytes));
    files.each().for_each(|access| cache.access(&access));
    cache.counts().clone()
}

/// The read calls by their length in bytes, with their number.
pub fn read_calls(files: &FileAccesses) -> Vec<(u64, u64)> {
    let reads = files.accesses.iter().filter(|run| run.1 == Kind::Read);
    let mut counts = std::collections::BTreeMap::new();
    reads.for_each(|run| *counts.entry(run.3).or_default() += run.4);
    counts.into_iter().collect()
}

/// Eighths of the size from which on a larger ideal LRU cache has no more hits, in bytes.
pub fn eighths(curve: &Curve) -> Vec<u64> {
    let pages = match curve.largest_useful() {
        0 => curve.pages() as u64,
        pages => pages,
    };
    let part = |index: u64| (pages * index).div_ceil(SIZES).max(1) * PAGE_BYTES;
    (1..=SIZES).map(part).collect()
}

fn at_size(bytes: u64, curve: &Curve, counts: Counts) -> AtSize {
    AtSize {
        bytes,
        lru_hit_ratio: curve.hit_ratio(bytes / PAGE_BYTES),
        hit_ratio: counts.all_read().ratio(),
        read: counts.read,
        mapped: counts.mapped,
        written: counts.written,
        device_bytes: counts.device_pages * PAGE_BYTES,
        requests: counts.requests.values().sum(),
        counts,
    }
}
