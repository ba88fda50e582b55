//! Intervals stored by column, because equal fields side by side compress well. The format is JSON, compressed by LZ4.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use yamba_record::event::{Disturbance, Load, Sizing};
use yamba_record::{Benchmark, Interval};

use crate::error::Fault;

/// The fields of all intervals. A field that is added later needs a default for older data.
#[derive(Default, Serialize, Deserialize)]
struct Columns {
    rows: usize,
    passes: Vec<u64>,
    operations: Vec<u64>,
    ns: Vec<f64>,
    dummy_ns: Vec<f64>,
    launch: Vec<u64>,
    process: Vec<u64>,
    cycle_ns: Vec<Option<f64>>,
    dummy_cycle_ns: Vec<Option<f64>>,
    check_cycle_ns: Vec<Option<f64>>,
    involuntary: Vec<u64>,
    voluntary: Vec<u64>,
    migrations: Vec<u64>,
    minor_faults: Vec<u64>,
    major_faults: Vec<u64>,
    stolen_ns: Vec<f64>,
    waited_ns: Vec<Option<f64>>,
    disturbed: Words,
    load: Vec<Option<Load>>,
    group: Vec<Option<u64>>,
    counters: Named<f64>,
    sample: Vec<Option<f64>>,
    evidence: Named<Option<f64>>,
    outside: Words,
    sizing: Vec<Sizing>,
}

/// Lists of words. Each distinct list is stored once, with an index for each row.
#[derive(Default, Serialize, Deserialize)]
struct Words {
    lists: Vec<Vec<String>>,
    which: Vec<usize>,
    #[serde(skip)]
    places: HashMap<Vec<String>, usize>,
}

impl Words {
    fn push(&mut self, list: Vec<String>) {
        let place = match self.places.get(&list) {
            Some(place) => *place,
            None => {
                self.lists.push(list.clone());
                self.places.insert(list, self.lists.len() - 1);
                self.lists.len() - 1
            }
        };
        self.which.push(place);
    }

    fn get(&self, row: usize) -> Option<&Vec<String>> {
        self.lists.get(*self.which.get(row)?)
    }
}

/// Maps: lists of names, and the values one after the other.
#[derive(Serialize, Deserialize)]
struct Named<T> {
    names: Words,
    values: Vec<T>,
}

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named {
            names: Words::default(),
            values: Vec::new(),
        }
    }
}

impl<T: Copy> Named<T> {
    fn push(&mut self, map: &BTreeMap<String, T>) {
        self.names.push(map.keys().cloned().collect());
        self.values.extend(map.values());
    }
}

/// Compresses the intervals and the sizing of an entry.
pub(crate) fn packed(benchmark: &Benchmark) -> serde_json::Result<Vec<u8>> {
    if benchmark.intervals.is_empty() && benchmark.sizing.is_empty() {
        return Ok(Vec::new());
    }
    let mut columns = Columns {
        rows: benchmark.intervals.len(),
        sizing: benchmark.sizing.clone(),
        ..Columns::default()
    };
    for interval in &benchmark.intervals {
        columns.push(interval);
    }
    let text = serde_json::to_vec(&columns)?;
    Ok(lz4_flex::compress_prepend_size(&text))
}

/// Restores the intervals and the sizing of an entry.
pub(crate) fn unpack(bytes: &[u8], benchmark: &mut Benchmark) -> Result<(), Fault> {
    if bytes.is_empty() {
        return Ok(());
    }
    let columns: Columns = serde_json::from_slice(&decompressed(bytes)?)?;
    let intervals = columns.intervals();
    let short = || Fault::Damaged("columns of intervals have different lengths".to_owned());
    benchmark.intervals = intervals.ok_or_else(short)?;
    benchmark.sizing = columns.sizing;
    Ok(())
}

/// Maximum expansion of an LZ4 block. A larger length is damaged, and must not allocate memory.
const GROWTH: usize = 255;

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let damaged = |text: String| Fault::Damaged(text);
    let (length, block) =
        lz4_flex::block::uncompressed_size(bytes).map_err(|e| damaged(e.to_string()))?;
    if length / GROWTH > block.len() {
        return Err(damaged("intervals have no such length".to_owned()));
    }
    lz4_flex::decompress(block, length).map_err(|e| damaged(e.to_string()))
}

impl Columns {
    fn push(&mut self, interval: &Interval) {
        // Exhaustive pattern without `..`, so that a new field needs a column.
        let Interval {
            passes,
            operations,
            ns,
            dummy_ns,
            launch,
            process,
            cycle_ns,
            dummy_cycle_ns,
            check_cycle_ns,
            disturbance,
            disturbed,
            load,
            group,
            counters,
            sample,
            evidence,
            outside,
        } = interval;
        self.passes.push(*passes);
        self.operations.push(*operations);
        self.ns.push(*ns);
        self.dummy_ns.push(*dummy_ns);
        self.launch.push(*launch);
        self.process.push(*process);
        self.cycle_ns.push(*cycle_ns);
        self.dummy_cycle_ns.push(*dummy_cycle_ns);
        self.check_cycle_ns.push(*check_cycle_ns);
        self.disturbance(disturbance);
        self.disturbed.push(disturbed.clone());
        self.load.push(*load);
        self.group.push(*group);
        self.counters.push(counters);
        self.sample.push(*sample);
        self.evidence.push(evidence);
        self.outside.push(outside.clone());
    }

    fn disturbance(&mut self, disturbance: &Disturbance) {
        let Disturbance {
            involuntary,
            voluntary,
            migrations,
            minor_faults,
            major_faults,
            stolen_ns,
            waited_ns,
        } = disturbance;
        self.involuntary.push(*involuntary);
        self.voluntary.push(*voluntary);
        self.migrations.push(*migrations);
        self.minor_faults.push(*minor_faults);
        self.major_faults.push(*major_faults);
        self.stolen_ns.push(*stolen_ns);
        self.waited_ns.push(*waited_ns);
    }

    /// The intervals, or `None` if a column is too short.
    fn intervals(&self) -> Option<Vec<Interval>> {
        let mut counters = self.counters.values.iter();
        let mut evidence = self.evidence.values.iter();
        let mut all = Vec::new();
        for row in 0..self.rows {
            all.push(Interval {
                passes: *self.passes.get(row)?,
                operations: *self.operations.get(row)?,
                ns: *self.ns.get(row)?,
                dummy_ns: *self.dummy_ns.get(row)?,
                launch: *self.launch.get(row)?,
                process: *self.process.get(row)?,
                cycle_ns: *self.cycle_ns.get(row)?,
                dummy_cycle_ns: *self.dummy_cycle_ns.get(row)?,
                check_cycle_ns: *self.check_cycle_ns.get(row)?,
                disturbance: Disturbance {
                    involuntary: *self.involuntary.get(row)?,
                    voluntary: *self.voluntary.get(row)?,
                    migrations: *self.migrations.get(row)?,
                    minor_faults: *self.minor_faults.get(row)?,
                    major_faults: *self.major_faults.get(row)?,
                    stolen_ns: *self.stolen_ns.get(row)?,
                    waited_ns: *self.waited_ns.get(row)?,
                },
                disturbed: self.disturbed.get(row)?.clone(),
                load: *self.load.get(row)?,
                group: *self.group.get(row)?,
                counters: map(self.counters.names.get(row)?, &mut counters)?,
                sample: *self.sample.get(row)?,
                evidence: map(self.evidence.names.get(row)?, &mut evidence)?,
                outside: self.outside.get(row)?.clone(),
            });
        }
        Some(all)
    }
}

fn map<'a, T: Copy + 'a>(
    names: &[String],
    values: &mut impl Iterator<Item = &'a T>,
) -> Option<BTreeMap<String, T>> {
    names
        .iter()
        .map(|name| Some((name.clone(), *values.next()?)))
        .collect()
}
