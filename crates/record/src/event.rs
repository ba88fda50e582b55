//! What a program says while it measures: one JSON object a line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parameters::Parameters;

/// One line of a raw record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A point begins.
    Begin(Begin),
    /// The benchmark and its dummy were timed, but not as a sample.
    Sizing(Sizing),
    /// One sample.
    Interval(RawInterval),
    /// Locking its memory was tried, so that no page of it is ever taken away.
    Locked {
        /// Whether it is locked.
        held: bool,
    },
    /// What the program has learned of the machine, or of the one at the other end, since it began.
    Platform {
        /// By name.
        facts: BTreeMap<String, Value>,
    },
    /// Something worth knowing.
    Note {
        /// In words.
        text: String,
    },
    /// The benchmark found that it cannot go on.
    Error(Failure),
    /// A signal ended the program.
    Crash(Crash),
    /// What the harness itself used while several processes were measured.
    Harness(HarnessUse),
    /// The point is done.
    End,
}

/// A point begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// The benchmark.
    pub class: String,
    /// Its ports here.
    #[serde(default)]
    pub ports: Vec<String>,
    /// Its parameters.
    #[serde(default)]
    pub parameters: Parameters,
    /// The figure's unit.
    pub unit: String,
    /// `latency`, `bandwidth` or `value`.
    pub figure: String,
    /// The clock that was read.
    #[serde(default)]
    pub clock: Clock,
    /// Where the process runs.
    #[serde(default)]
    pub placement: Placement,
    /// Whether it runs in a real-time class.
    #[serde(default)]
    pub realtime: bool,
    /// Processes that run the benchmark at the same time.
    #[serde(default = "one")]
    pub processes: u64,
    /// The machine's facts as the program sees them.
    #[serde(default)]
    pub platform: BTreeMap<String, Value>,
}

/// A clock and its errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Clock {
    /// Its name.
    pub name: String,
    /// Its smallest step.
    pub resolution_ns: Option<f64>,
    /// What one reading takes.
    pub cost_ns: Option<f64>,
}

fn one() -> u64 {
    1
}

/// Where a process runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Placement {
    /// `pinned` or `free`.
    pub kind: String,
    /// The processors that it was allowed to use when it started.
    #[serde(default)]
    pub allowed: Vec<u64>,
    /// The one that it was kept on; none if it is free, or if each of several processes has its own.
    #[serde(default)]
    pub cpu: Option<u64>,
}

/// What the harness itself used while several processes were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HarnessUse {
    /// Processes that ran the benchmark.
    pub processes: u64,
    /// Rounds in which each of them timed one interval.
    pub rounds: u64,
    /// File descriptors that the parent held.
    pub descriptors: u64,
    /// Processor time that the parent took in all rounds, without starting and ending the processes.
    pub parent_cpu_ns: f64,
    /// Memory that parent and processes share.
    pub shared_bytes: u64,
}

/// Why a stretch was timed that is not a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Caches and clock rate settle.
    WarmUp,
    /// How many passes make an interval?
    #[default]
    Size,
    /// Does the time grow with the number of passes?
    Growth,
}

/// The benchmark and its dummy, timed once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sizing {
    /// Why.
    #[serde(default)]
    pub purpose: Purpose,
    /// Calls of the benchmark.
    pub passes: u64,
    /// What they took.
    pub ns: f64,
    /// What as many calls of the dummy took.
    pub dummy_ns: f64,
}

/// One sample as it was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RawInterval {
    /// Which one, from 0.
    pub index: u64,
    /// Calls of the benchmark.
    pub passes: u64,
    /// Operations in all of them.
    pub operations: u64,
    /// What they took.
    pub ns: f64,
    /// What as many calls of the dummy took.
    pub dummy_ns: f64,
    /// What the evidence said; none where it was no number.
    #[serde(default)]
    pub evidence: BTreeMap<String, Option<f64>>,
    /// Of a quantity, its value.
    pub value: Option<f64>,
    /// Which process, from 0.
    #[serde(default)]
    pub process: u64,
    /// The length of a core cycle around the benchmark's stretch, in ns: the mean of the reference chain right before and right after it.
    #[serde(default)]
    pub cycle_ns: Option<f64>,
    /// The same around the dummy's stretch.
    #[serde(default)]
    pub dummy_cycle_ns: Option<f64>,
    /// The same as `cycle_ns` by a second chain, on another unit of the processor. Not read around every interval.
    #[serde(default)]
    pub check_cycle_ns: Option<f64>,
    /// What happened meanwhile.
    #[serde(default)]
    pub disturbance: Disturbance,
    /// What of it the harness holds against the interval: `switch`, `wait`, `queue`, `migration`, `fault`, `stolen` or `clock`.
    #[serde(default)]
    pub disturbed: Vec<String>,
    /// Under load, when this process ran the benchmark.
    #[serde(default)]
    pub load: Option<Load>,
    /// Of a circle, the group of tests, from 0.
    #[serde(default)]
    pub group: Option<u64>,
    /// What the processor's counters counted in the benchmark's stretch, where it has any.
    #[serde(default)]
    pub counters: BTreeMap<String, f64>,
}

/// What the system did to a process while an interval, benchmark and dummy, was timed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// Times that the processor was taken away.
    #[serde(default)]
    pub involuntary: u64,
    /// Times that the process gave it away.
    #[serde(default)]
    pub voluntary: u64,
    /// 1 if it ended on another processor than it began on.
    #[serde(default)]
    pub migrations: u64,
    /// Page faults that were served without reading storage.
    #[serde(default)]
    pub minor_faults: u64,
    /// Page faults that needed to read storage.
    #[serde(default)]
    pub major_faults: u64,
    /// The gap between the clock and the thread's processor time, in ns.
    #[serde(default)]
    pub stolen_ns: f64,
    /// How long the thread was ready to run while something else had its processor, in ns; none where the system does not say.
    #[serde(default)]
    pub waited_ns: Option<f64>,
}

/// When one of several processes ran the benchmark, in ns on one clock of the whole system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Load {
    /// It began to run the benchmark.
    pub ready_ns: f64,
    /// Its timed interval began.
    pub begin_ns: f64,
    /// Its timed interval ended.
    pub end_ns: f64,
    /// It stopped running the benchmark.
    pub left_ns: f64,
}

/// The benchmark found that it cannot go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Why.
    pub text: String,
    /// The class that said so.
    #[serde(default)]
    pub class: Option<String>,
    /// Where.
    #[serde(default)]
    pub file: Option<String>,
    /// Where.
    #[serde(default)]
    pub line: Option<u64>,
}

/// A signal ended the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crash {
    /// Its name.
    pub signal: String,
    /// Its number.
    pub number: i32,
    /// Where the program was; 0 if unknown.
    #[serde(default)]
    pub pc: u64,
    /// What it touched.
    #[serde(default)]
    pub address: u64,
    /// The composed code there, if it was in any.
    #[serde(default)]
    pub code: Option<Code>,
}

/// A piece of composed code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// The bitstring that was called.
    pub member: String,
    /// The address of the first byte.
    pub base: u64,
    /// The bytes, in hexadecimal.
    pub bytes: String,
    /// Their instruction set.
    pub isa: String,
    /// Who contributed which bits.
    #[serde(default)]
    pub parts: Vec<Part>,
}

/// One member's contribution to composed code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The member with its arguments.
    pub name: String,
    /// Its first bit.
    pub start: u64,
    /// The bit after its last.
    pub end: u64,
    /// How many members it is nested in.
    pub depth: u64,
}
