//! The document of a run, schema `yamba-run/1`. Later versions add fields and never change these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Clock, Sizing};
use crate::parameters::Parameters;
use crate::program::{Chart, Physical};

/// The schema's name.
pub const SCHEMA: &str = "yamba-run/1";

/// Everything one command measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: String,
    /// Where it was measured.
    pub machine: Machine,
    /// One entry a benchmark and parameter point.
    pub benchmarks: Vec<Benchmark>,
    /// Whether it was stopped before it was done.
    #[serde(default)]
    pub interrupted: bool,
}

impl Run {
    /// A run with nothing measured yet.
    pub fn new(machine: Machine) -> Run {
        Run {
            schema: SCHEMA.to_owned(),
            machine,
            benchmarks: Vec::new(),
            interrupted: false,
        }
    }

    /// Whether any figure is invalid or any benchmark crashed; what was skipped does not count.
    pub fn failed(&self) -> bool {
        self.benchmarks
            .iter()
            .any(|b| matches!(b.status, Status::Invalid | Status::Crashed))
    }
}

/// What the machine is; nothing that names it or its owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The instruction set.
    pub isa: String,
    /// The operating system.
    pub system: String,
    /// Its version.
    pub kernel: String,
    /// The processor's model.
    pub cpu: Option<String>,
    /// Processors online.
    pub cpus: u64,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Bytes of a page.
    pub page_size: u64,
    /// Whether the run had every privilege.
    pub root: bool,
    /// Whether a hypervisor was seen.
    pub virtual_machine: Option<bool>,
    /// The file system that scratch files are on.
    pub scratch: Option<Scratch>,
}

/// The disk that scratch files are on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scratch {
    /// Whether it is memory: nothing there is ever read from storage.
    pub is_memory: bool,
    /// Bytes that the system reads ahead.
    pub read_ahead: Option<u64>,
}

/// How a measurement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The figure is what its name says.
    Ok,
    /// It is not; `notes` say why.
    Invalid,
    /// There is none: the program ended early.
    Crashed,
    /// There is none: it cannot run here.
    Skipped,
}

/// One benchmark at one parameter point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// The benchmark's name: that of its class.
    pub name: String,
    /// Its class.
    pub class: String,
    /// The ports that completed it here.
    pub ports: Vec<String>,
    /// Its parameters.
    pub parameters: Parameters,
    /// Processes that ran it at the same time.
    pub processes: u64,
    /// How it ended.
    pub status: Status,
    /// Whether it ended well.
    pub valid: bool,
    /// The unit of `median`, `interval` and `samples`.
    pub unit: Option<String>,
    /// Operations of one pass.
    pub operations: Option<f64>,
    /// The figure.
    pub median: Option<f64>,
    /// Its distribution-free 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
    /// What the figure was computed from: the samples whose evidence is inside its bounds; all of them if most are not.
    pub samples: Vec<f64>,
    /// What the evidence said.
    pub evidence: BTreeMap<String, Evidence>,
    /// What a reader must know, reasons first.
    pub notes: Vec<String>,
    /// `latency`, `bandwidth` or `value`.
    #[serde(default)]
    pub figure: Option<String>,
    /// Every interval as it was read, also those that the figure leaves out.
    #[serde(default)]
    pub intervals: Vec<Interval>,
    /// Warm-up, sizing and the growth check.
    #[serde(default)]
    pub sizing: Vec<Sizing>,
    /// The clock that was read.
    #[serde(default)]
    pub clock: Option<Clock>,
    /// The length of a core cycle before and after, in ns.
    #[serde(default)]
    pub cycle_ns: Vec<Option<f64>>,
    /// The figure in core cycles, where their length is known.
    #[serde(default)]
    pub cycles: Option<Cycles>,
    /// What physics allows.
    #[serde(default)]
    pub bounds: Vec<Physical>,
    /// How a person would look at its sweep.
    #[serde(default)]
    pub charts: Vec<Chart>,
    /// The machine's facts as the program saw them.
    #[serde(default)]
    pub platform: BTreeMap<String, Value>,
}

/// A latency in core cycles. Their length is the mean of what was measured before and after; the interval is that of the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycles {
    /// The median.
    pub median: f64,
    /// Its 95 % confidence interval.
    pub interval: [f64; 2],
}

/// What one evidence said over all intervals; none where it never was a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its median.
    pub median: Option<f64>,
    /// Its least value.
    pub min: Option<f64>,
    /// Its greatest value.
    pub max: Option<f64>,
    /// Its bound; an open side is none.
    pub expects: Option<[Option<f64>; 2]>,
    /// In how many intervals it was outside.
    #[serde(default)]
    pub outside: u64,
}

/// One interval as it was read, and what it amounts to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Calls of the benchmark.
    pub passes: u64,
    /// Operations in all of them.
    pub operations: u64,
    /// What they took.
    pub ns: f64,
    /// What as many calls of the dummy took.
    pub dummy_ns: f64,
    /// The sample, in the benchmark's unit.
    pub sample: Option<f64>,
    /// What the evidence said.
    pub evidence: BTreeMap<String, Option<f64>>,
    /// The evidence that was outside its bound; the sample counts only if there is none.
    pub outside: Vec<String>,
}
