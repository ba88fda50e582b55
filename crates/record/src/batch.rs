//! A timed batch. This is the only list of its fields: the event, the columns of the document and
//! of the store derive from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::columns::{Array, Column, Named, Numbers, Words, columns};

columns! {
    /// One timed batch of benchmark and dummy, with the sample computed from it.
    record Batch;
    /// All timed batches. Each field is one array with a value for each batch; `ns` is always
    /// there. A number that is the same in all batches stands alone, without an array. A field that
    /// is 0 or unknown in all batches is omitted.
    columns BatchColumns;

    /// Calls of the benchmark.
    passes: u64 as Numbers<u64>,
    /// Operations in all calls.
    operations: u64 as Numbers<u64>,
    /// Duration of these calls, in ns.
    ns: f64 as Array,
    /// Duration of the same number of calls of the dummy, in ns.
    dummy_ns: f64 as Numbers<f64>,
    /// Index of the launch, from 0.
    #[serde(skip)]
    launch: u64 as Numbers<u64>,
    /// Index of the process within the launch, from 0.
    #[serde(default)]
    process: u64 as Numbers<u64>,
    /// Index of the thread within its process, from 0.
    #[serde(default)]
    thread: u64 as Numbers<u64>,
    /// Length of a core cycle, in ns: the mean of the reference chain right before and right after
    /// the calls of the benchmark.
    cycle_ns: Option<f64> as Numbers<Option<f64>>,
    /// Length of a core cycle around the calls of the dummy, in ns.
    dummy_cycle_ns: Option<f64> as Numbers<Option<f64>>,
    /// Length of a core cycle by a second chain, which uses another execution unit, in ns. Batches
    /// in which the clock rate changed do not have it, and of the others not every batch.
    check_cycle_ns: Option<f64> as Numbers<Option<f64>>,
    /// Readings that show whether another hardware thread used the same core.
    #[serde(default)]
    probes: Probes as ProbesColumns,
    /// Events of the system during the batch.
    #[serde(default)]
    disturbance: Disturbance as Disturbances,
    /// The kinds of disturbance that disqualify batches: `switch`, `wait`, `queue`, `migration`,
    /// `fault`, `stolen`, `clock` or `neighbour`. Each has the indices of its batches, from 0.
    #[serde(default)]
    disturbed: Vec<String> as Words,
    /// With several processes or threads: when this one ran the benchmark.
    load: Option<Load> as Loads,
    /// For a measuring circle: index of the group of tests, from 0.
    group: Option<u64> as Numbers<Option<u64>>,
    /// Hardware counters of the timed calls, where the processor has any.
    #[serde(default)]
    counters: BTreeMap<String, Option<f64>> as Named,
    /// The sample, in the benchmark's unit.
    #[serde(skip)]
    sample: Option<f64> as Numbers<Option<f64>>,
    /// Value of each evidence. `None` where it was not a number.
    #[serde(default)]
    evidence: BTreeMap<String, Option<f64>> as Named,
    /// The evidence outside its bounds, with the indices of the batches, from 0. The samples of
    /// these batches do not count.
    #[serde(skip)]
    outside: Vec<String> as Words,
}

columns! {
    /// Readings around one batch. The width probe is a loop of independent instructions that uses
    /// the full width of the core: it slows down when another hardware thread of the core works,
    /// perhaps for another virtual machine.
    #[serde(default)]
    record Probes;
    /// Readings around each batch.
    columns ProbesColumns;

    /// Core cycles of 10 000 instructions of the width probe, right before the calls of the
    /// benchmark.
    before: Option<f64> as Numbers<Option<f64>>,
    /// The same after the calls of the benchmark, before those of the dummy.
    between: Option<f64> as Numbers<Option<f64>>,
    /// The same after the calls of the dummy.
    after: Option<f64> as Numbers<Option<f64>>,
    /// 1 if another thread had a part of the core's reorder buffer at the first probe. Known only
    /// where the entries of the whole buffer are.
    divided_before: u64 as Numbers<u64>,
    /// 1 if it had one at the second probe.
    divided_between: u64 as Numbers<u64>,
    /// 1 if it had one at the third probe.
    divided_after: u64 as Numbers<u64>,
    /// Change of the length of a core cycle from before to after the calls of the benchmark, in
    /// parts per million.
    cycle_change_ppm: Option<f64> as Numbers<Option<f64>>,
    /// The same for the calls of the dummy.
    dummy_cycle_change_ppm: Option<f64> as Numbers<Option<f64>>,
}

columns! {
    /// Events of the system during one batch, which consists of the benchmark's calls and those of
    /// the dummy.
    #[serde(default)]
    record Disturbance;
    /// Events of the system during each batch.
    columns Disturbances;

    /// Involuntary context switches.
    involuntary: u64 as Numbers<u64>,
    /// Voluntary context switches.
    voluntary: u64 as Numbers<u64>,
    /// 1 if the batch ended on a different processor than it began.
    migrations: u64 as Numbers<u64>,
    /// Page faults without a read from storage.
    minor_faults: u64 as Numbers<u64>,
    /// Page faults with a read from storage.
    major_faults: u64 as Numbers<u64>,
    /// Elapsed time minus the thread's processor time, in ns.
    stolen_ns: f64 as Numbers<f64>,
    /// Run-queue wait: time the thread was runnable without a processor, in ns. `None` where the
    /// system does not report it.
    waited_ns: Option<f64> as Numbers<Option<f64>>,
    /// Processor time of the process and of its child processes around the calls of the benchmark,
    /// in ns. `None` where the system does not report it.
    processor_ns: Option<f64> as Numbers<Option<f64>>,
}

/// Times of one process or thread in a round of several, in ns on one system-wide clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The process began to run the benchmark.
    pub ready_ns: f64,
    /// The timed batch began.
    pub begin_ns: f64,
    /// The timed batch ended.
    pub end_ns: f64,
    /// The process stopped running the benchmark.
    pub left_ns: f64,
}

/// Times of the processes or threads in rounds of several, in ns on one system-wide clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Loads {
    /// The process began to run the benchmark.
    ready_ns: Numbers<Option<f64>>,
    /// The timed batch began.
    begin_ns: Numbers<Option<f64>>,
    /// The timed batch ended.
    end_ns: Numbers<Option<f64>>,
    /// The process stopped running the benchmark.
    left_ns: Numbers<Option<f64>>,
}

impl Column for Loads {
    type Value = Option<Load>;

    fn push(&mut self, place: usize, load: Option<Load>) {
        self.ready_ns.push(place, load.map(|l| l.ready_ns));
        self.begin_ns.push(place, load.map(|l| l.begin_ns));
        self.end_ns.push(place, load.map(|l| l.end_ns));
        self.left_ns.push(place, load.map(|l| l.left_ns));
    }

    fn get(&self, place: usize) -> Option<Load> {
        Some(Load {
            ready_ns: self.ready_ns.get(place)?,
            begin_ns: self.begin_ns.get(place)?,
            end_ns: self.end_ns.get(place)?,
            left_ns: self.left_ns.get(place)?,
        })
    }

    fn fits(&self, count: usize) -> bool {
        let all = [&self.ready_ns, &self.begin_ns, &self.end_ns, &self.left_ns];
        all.iter().all(|column| column.fits(count))
    }

    fn is_blank(&self) -> bool {
        self.ready_ns.is_blank()
    }
}

impl BatchColumns {
    /// The number of batches.
    pub(crate) fn len(&self) -> usize {
        self.ns.0.len()
    }
}
