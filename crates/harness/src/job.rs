//! Benchmarks to measure: the input of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use yamba_record::run::About;

/// A benchmark to measure.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its class.
    pub class: String,
    /// Its program, or why there is none here.
    pub program: Result<Program, NoProgram>,
    /// What is recorded of it besides its figure.
    pub about: About,
    /// The texts of the files that its C++ includes, each under its hash.
    pub texts: BTreeMap<String, String>,
}

/// Why a benchmark has no program. It is told where its figure would stand; the other benchmarks are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoProgram {
    /// It does not exist on this platform, or lacks a port.
    Absent(String),
    /// Its program could not be built.
    Unbuilt(String),
}

/// A built program and how it is started.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// What comes before it on the command line: an emulator, or nothing.
    pub runner: Vec<String>,
    /// Whether the runner stands in for another processor, so that no time means anything.
    pub emulated: bool,
}

/// The parameters were not understood: nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(pub String);
