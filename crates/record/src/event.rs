//! The events that a benchmark program prints while it measures: one JSON object per line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    Interval(RawInterval),
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
    /// A remark for the reader of the result.
    Note {
        /// The remark.
        text: String,
    },
    /// The benchmark failed and cannot continue.
    Error(Failure),
    /// A signal ended the program.
    Crash(Crash),
    /// Resources that the harness itself used while several processes were measured.
    Harness(HarnessUse),
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
    /// Facts about the machine, as the program reads them.
    #[serde(default)]
    pub platform: BTreeMap<String, Value>,
}

/// A clock with its resolution and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Clock {
    /// Name of the clock.
    pub name: String,
    /// Smallest step of the clock.
    pub resolution_ns: Option<f64>,
    /// Duration of one reading.
    pub cost_ns: Option<f64>,
}

fn one() -> u64 {
    1
}

/// The processor placement of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Placement {
    /// `pinned` or `free`.
    pub kind: String,
    /// The affinity mask at the start of the process.
    #[serde(default)]
    pub allowed: Vec<u64>,
    /// The processor that the process is pinned to. `None` if it is free, or if several processes each have their own.
    #[serde(default)]
    pub cpu: Option<u64>,
}

/// Resources that the harness itself used while several processes were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HarnessUse {
    /// Number of processes that ran the benchmark.
    pub processes: u64,
    /// Number of rounds. In a round each process times one interval.
    pub rounds: u64,
    /// Open file descriptors of the parent process.
    pub descriptors: u64,
    /// Processor time of the parent in all rounds, without the start and end of the processes.
    pub parent_cpu_ns: f64,
    /// Bytes of memory that the parent shares with the processes.
    pub shared_bytes: u64,
}

/// The purpose of a timing that is not a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Lets caches and clock rate settle.
    WarmUp,
    /// Finds the number of passes per interval.
    #[default]
    Size,
    /// Checks that the time grows with the number of passes.
    Growth,
}

/// One timing of benchmark and dummy that is not a sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sizing {
    /// The purpose of the timing.
    #[serde(default)]
    pub purpose: Purpose,
    /// Calls of the benchmark.
    pub passes: u64,
    /// Duration of these calls, in ns.
    pub ns: f64,
    /// Duration of the same number of calls of the dummy, in ns.
    pub dummy_ns: f64,
}

/// One sample, as the program read it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RawInterval {
    /// Index of the interval, from 0.
    pub index: u64,
    /// Calls of the benchmark.
    pub passes: u64,
    /// Operations in all calls.
    pub operations: u64,
    /// Duration of these calls, in ns.
    pub ns: f64,
    /// Duration of the same number of calls of the dummy, in ns.
    pub dummy_ns: f64,
    /// Value of each evidence. `None` where it was not a number.
    #[serde(default)]
    pub evidence: BTreeMap<String, Option<f64>>,
    /// The value, for a benchmark of figure `value`.
    pub value: Option<f64>,
    /// Index of the process, from 0.
    #[serde(default)]
    pub process: u64,
    /// Length of a core cycle, in ns: the mean of the reference chain right before and right after the calls of the benchmark.
    #[serde(default)]
    pub cycle_ns: Option<f64>,
    /// Length of a core cycle around the calls of the dummy, in ns.
    #[serde(default)]
    pub dummy_cycle_ns: Option<f64>,
    /// Length of a core cycle by a second chain, which uses another execution unit. Not every interval has it.
    #[serde(default)]
    pub check_cycle_ns: Option<f64>,
    /// Events of the system during the interval.
    #[serde(default)]
    pub disturbance: Disturbance,
    /// The kinds of disturbance that disqualify the interval: `switch`, `wait`, `queue`, `migration`, `fault`, `stolen` or `clock`.
    #[serde(default)]
    pub disturbed: Vec<String>,
    /// With several processes: when this process ran the benchmark.
    #[serde(default)]
    pub load: Option<Load>,
    /// For a measuring circle: index of the group of tests, from 0.
    #[serde(default)]
    pub group: Option<u64>,
    /// Hardware counters of the timed calls, where the processor has any.
    #[serde(default)]
    pub counters: BTreeMap<String, f64>,
}

/// Events of the system during one interval, which consists of the benchmark's calls and those of the dummy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// Involuntary context switches.
    #[serde(default)]
    pub involuntary: u64,
    /// Voluntary context switches.
    #[serde(default)]
    pub voluntary: u64,
    /// 1 if the interval ended on a different processor than it began.
    #[serde(default)]
    pub migrations: u64,
    /// Page faults without a read from storage.
    #[serde(default)]
    pub minor_faults: u64,
    /// Page faults with a read from storage.
    #[serde(default)]
    pub major_faults: u64,
    /// Elapsed time minus the thread's processor time, in ns.
    #[serde(default)]
    pub stolen_ns: f64,
    /// Run-queue wait: time the thread was runnable without a processor, in ns. `None` where the system does not report it.
    #[serde(default)]
    pub waited_ns: Option<f64>,
}

/// Times of one process in a round of several processes, in ns on one system-wide clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Load {
    /// The process began to run the benchmark.
    pub ready_ns: f64,
    /// The timed interval began.
    pub begin_ns: f64,
    /// The timed interval ended.
    pub end_ns: f64,
    /// The process stopped running the benchmark.
    pub left_ns: f64,
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
