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
    /// The length of a core cycle now; none where there is no reference.
    Cycle {
        /// Nanoseconds.
        ns: Option<f64>,
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
    /// The machine's facts as the program sees them.
    #[serde(default)]
    pub platform: BTreeMap<String, Value>,
}

/// A clock and its errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Its name.
    pub name: String,
    /// Its smallest step.
    pub resolution_ns: Option<f64>,
    /// What one reading takes.
    pub cost_ns: Option<f64>,
}

/// Why a stretch was timed that is not a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
