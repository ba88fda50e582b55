//! Benchmarks to measure: the input of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use yamba_record::run::Provenance;

/// A benchmark to measure.
#[derive(Clone, Debug)]
pub struct Job {
    pub class: String,
    /// The built program, or why the benchmark has none.
    pub program: Result<Program, NoProgram>,
    /// Recorded facts about the benchmark besides its figure.
    pub provenance: Provenance,
    /// The texts of the files that its C++ includes, each under its hash.
    pub texts: BTreeMap<String, String>,
}

/// Why a benchmark has no program. The reason takes the place of its figure; other benchmarks are
/// measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoProgram {
    /// It does not exist on this platform, or lacks a port.
    Absent(String),
    /// Its program could not be built.
    Unbuilt(String),
}

impl NoProgram {
    /// The reason.
    pub fn text(&self) -> &str {
        match self {
            NoProgram::Absent(reason) | NoProgram::Unbuilt(reason) => reason,
        }
    }
}

/// A built program and how it is started.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// The command that runs the executable, for example an emulator; may be empty.
    pub runner: Vec<String>,
    /// Whether the runner emulates another processor, so that times mean nothing.
    pub emulated: bool,
}

/// The parameters were not understood: nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(pub String);
