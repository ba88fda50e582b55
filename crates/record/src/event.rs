//! The events that a benchmark program prints while it measures: one JSON object per line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::batch::Batch;
use crate::columns::{Array, Column, Numbers, array, columns};
use crate::distribution::Singles;
use crate::machine::CorePair;
use crate::parameters::Parameters;

/// One event line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A point begins.
    Begin(Begin),
    /// One timing of benchmark and dummy that is not a sample.
    Sizing(Sizing),
    /// One sample.
    Batch(RawBatch),
    /// A curve, with every pass behind it.
    Curve(Curve),
    /// Width probes without a benchmark.
    Probes {
        /// The processor that the program was fixed to.
        #[serde(default)]
        cpu: Option<u64>,
        /// The probes, in core cycles of 10 000 instructions. `None` if the probe was interrupted.
        widths: Vec<Option<f64>>,
        /// At each probe, the entries of the core's reorder buffer that the program had at least.
        /// `None` if that is not clear.
        #[serde(default)]
        windows: Vec<Option<f64>>,
    },
    /// Which processors share a core.
    CorePairs {
        /// The tested pairs.
        pairs: Vec<CorePair>,
    },
    /// A partner of the benchmark runs on another hardware thread of the core that the benchmark
    /// runs on.
    Partner {
        /// The partner's processor.
        cpu: u64,
    },
    /// Result of the attempt to lock the program's memory, which prevents page-outs.
    Locked {
        /// Whether the memory is locked.
        held: bool,
    },
    /// Facts about this machine, or about the remote machine, found since `Begin`.
    Platform {
        /// The facts by name.
        facts: BTreeMap<String, Value>,
    },
    /// Times of single operations.
    Singles(Singles),
    /// A remark for the reader of the result.
    Note {
        /// The remark.
        text: String,
    },
    /// The benchmark failed and cannot continue.
    Error(Failure),
    /// A signal ended the program.
    Crash(Crash),
    /// Resources that the harness itself used while several processes or threads were measured.
    Harness(HarnessUse),
    /// How the clock of this node was related to that of the first node of its fleet while all
    /// nodes measured at the same time.
    CommonClock(CommonClock),
    /// The point is done.
    End,
}

/// A point begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// The benchmark.
    pub class: String,
    /// The ports that completed the benchmark here.
    #[serde(default)]
    pub ports: Vec<String>,
    /// Its parameters.
    #[serde(default)]
    pub parameters: Parameters,
    /// The figure's unit.
    pub unit: String,
    /// `latency`, `bandwidth` or `value`.
    pub figure: String,
    /// The clock that the program read.
    #[serde(default)]
    pub clock: Clock,
    /// The processor placement of the process.
    #[serde(default)]
    pub placement: Placement,
    /// Whether the process runs in a real-time scheduling class.
    #[serde(default)]
    pub realtime: bool,
    /// Number of processes that run the benchmark at the same time.
    #[serde(default = "one")]
    pub processes: u64,
    /// Number of threads of each process that run the benchmark at the same time.
    #[serde(default = "one")]
    pub threads: u64,
    /// Facts about the machine, as the program reads them.
    #[serde(default)]
    pub platform: BTreeMap<String, Value>,
}

/// A clock with its resolution and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Clock {
    /// Name of the clock.
    pub name: String,
    /// Step of the clock. If its steps are too short to be seen, the shortest time between two
    /// readings.
    pub resolution_ns: Option<f64>,
    /// Duration of one reading.
    pub cost_ns: Option<f64>,
}

pub(crate) fn one() -> u64 {
    1
}

/// Relates the clock of the first node of a fleet to the clock of this node, right before and right
/// after a launch. The first clock's time is this one's plus an offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CommonClock {
    /// The offset before and after the launch, in ns.
    pub offset_ns: [f64; 2],
    /// Bounds of the error of each offset, in ns: half of the shortest round trip of a message.
    pub error_ns: [f64; 2],
}

/// The processor placement of a process at its start. A benchmark may then choose another one, and
/// says so in its evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Placement {
    /// `pinned` or `free`.
    pub kind: String,
    /// The affinity mask at the start of the process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<u64>,
    /// The processor that the process is pinned to. `None` if it is free, or if several processes
    /// or threads each have their own.
    #[serde(default)]
    pub cpu: Option<u64>,
    /// The probes by which the process chose its processor. Empty if it did not choose, and in
    /// documents without the timed batches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probed: Vec<ProcessorProbes>,
}

/// Probes of a processor, before a launch chose its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProcessorProbes {
    /// The processor.
    pub cpu: u64,
    /// The width of its core without neighbours, in cycles of 10 000 instructions. `None` if it was
    /// unknown.
    #[serde(default)]
    pub quiet_width: Option<f64>,
    /// Share of the time in which nothing else used the processor or its core, from 0 to 1.
    #[serde(default)]
    pub quiet_share: Option<f64>,
    /// Share of the time in which the process waited for the processor, from 0 to 1.
    #[serde(default)]
    pub waited_share: Option<f64>,
    /// The width probes, in cycles of 10 000 instructions. `None` if the probe was interrupted.
    #[serde(default)]
    pub widths: Vec<Option<f64>>,
    /// At each probe, the entries of the core's reorder buffer that the process had at least.
    /// `None` if that is not clear.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Option<f64>>,
}

/// Resources that the harness itself used while several processes or threads were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HarnessUse {
    /// Number of processes that ran the benchmark.
    pub processes: u64,
    /// Number of threads of each process that ran the benchmark.
    #[serde(default = "one")]
    pub threads: u64,
    /// Number of rounds. In a round each process or thread times one batch.
    pub rounds: u64,
    /// Open file descriptors of the parent process.
    pub descriptors: u64,
    /// Processor time that the parent used during all rounds. The start and the end of the measured
    /// processes are not included.
    pub parent_cpu_ns: f64,
    /// Bytes of memory that the parent shares with the processes.
    pub shared_bytes: u64,
}

/// The purpose of a timing that is not a sample.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Lets caches and clock rate settle.
    WarmUp,
    /// Finds the number of passes per batch.
    #[default]
    Size,
    /// Checks that the time grows with the number of passes.
    Growth,
}

columns! {
    /// One timing of benchmark and dummy that is not a sample.
    record Sizing;
    /// Timings of benchmark and dummy that are not samples. Each field is one array with a value
    /// for each timing; `ns` is always there. A number that is the same in all timings stands
    /// alone, without an array.
    columns SizingColumns;

    /// The purpose of the timing. Absent if it is `size` for all.
    #[serde(default)]
    purpose: Purpose as Purposes,
    /// Calls of the benchmark.
    passes: u64 as Numbers<u64>,
    /// Duration of these calls, in ns.
    ns: f64 as Array,
    /// Duration of the same number of calls of the dummy, in ns.
    dummy_ns: f64 as Numbers<f64>,
}

/// The purpose of each timing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Purposes(Vec<Purpose>);

impl Column for Purposes {
    type Value = Purpose;

    fn push(&mut self, _: usize, purpose: Purpose) {
        self.0.push(purpose);
    }

    fn get(&self, place: usize) -> Purpose {
        self.0.get(place).copied().unwrap_or_default()
    }

    fn fits(&self, count: usize) -> bool {
        self.0.is_empty() || self.0.len() == count
    }

    fn is_blank(&self) -> bool {
        self.0.iter().all(|purpose| *purpose == Purpose::default())
    }
}

impl SizingColumns {
    /// The number of timings.
    pub(crate) fn len(&self) -> usize {
        self.ns.0.len()
    }
}

/// One timed batch, as the program read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RawBatch {
    /// Index of the batch, from 0.
    pub index: u64,
    /// The value, for a benchmark of figure `value`.
    pub value: Option<f64>,
    /// The timing. The harness adds the launch, the sample and the evidence outside its bounds.
    #[serde(flatten)]
    pub batch: Batch,
}

/// A curve of times against a size. Each list has one value for each pass; several passes can have
/// the same size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Curve {
    /// Name of the curve, such as `load_latency`.
    pub name: String,
    /// The unit of the sizes, such as `B`.
    pub x_unit: String,
    /// The launch that measured it, counted from 0. The harness adds it.
    #[serde(default)]
    pub launch: u64,
    /// The size of each pass.
    #[serde(serialize_with = "array")]
    pub x: Vec<f64>,
    /// The time of each pass, in ns per operation.
    #[serde(serialize_with = "array")]
    pub ns: Vec<f64>,
    /// The length of a core cycle around each pass, in ns. `None` if it is unknown or changed
    /// meanwhile. Empty if the curve has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle_ns: Vec<Option<f64>>,
    /// The width probe before each pass, in core cycles of 10 000 instructions. `None` if it is
    /// unknown. Empty without probes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes_before: Vec<Option<f64>>,
    /// The width probe after each pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes_after: Vec<Option<f64>>,
    /// 1 if another thread had a part of the core's reorder buffer before or after a pass. Empty if
    /// that is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divided: Vec<u64>,
    /// Share of the memory in huge pages, from 0 to 1. `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub huge_share: Option<f64>,
}

impl Curve {
    /// Whether another thread had a part of the reorder buffer at the pass with this index.
    pub fn is_divided(&self, place: usize) -> bool {
        self.divided.get(place).is_some_and(|divided| *divided > 0)
    }
}

/// A summary of the curves of all launches: the lowest time of each size. The time never falls with
/// the size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LowestCurve {
    /// Name of the curve.
    pub name: String,
    /// The unit of the sizes.
    pub x_unit: String,
    /// The sizes, ascending.
    #[serde(serialize_with = "array")]
    pub x: Vec<f64>,
    /// The time of an operation at each size, in ns.
    #[serde(serialize_with = "array")]
    pub ns: Vec<f64>,
}

/// A failure that the benchmark reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The message.
    pub text: String,
    /// The class that reported it.
    #[serde(default)]
    pub class: Option<String>,
    /// The source file.
    #[serde(default)]
    pub file: Option<String>,
    /// The line of the source file.
    #[serde(default)]
    pub line: Option<u64>,
    /// Whether the benchmark's own threads need more processors than the one that the program was
    /// pinned to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_free: bool,
}

/// The signal that ended the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crash {
    /// Name of the signal.
    pub signal: String,
    /// Number of the signal.
    pub number: i32,
    /// Program counter; 0 if unknown.
    #[serde(default)]
    pub pc: u64,
    /// The memory address of the faulting access.
    #[serde(default)]
    pub address: u64,
    /// The composed code at the program counter, if there is any.
    #[serde(default)]
    pub code: Option<Code>,
}

/// A piece of composed code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// The bitstring member that was called.
    pub member: String,
    /// The address of the first byte.
    pub base: u64,
    /// The bytes in hexadecimal.
    pub bytes: String,
    /// The instruction set of the code.
    pub isa: String,
    /// The members that contributed bits, with their ranges.
    #[serde(default)]
    pub parts: Vec<Part>,
}

/// One member's contribution to composed code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The member with its arguments.
    pub name: String,
    /// First bit of the contribution.
    pub start: u64,
    /// The bit after the last one of the contribution.
    pub end: u64,
    /// Nesting depth.
    pub depth: u64,
}
