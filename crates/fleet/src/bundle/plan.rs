//! The plan of a bundle: its programs and how they are measured.

use serde::{Deserialize, Serialize};
use yamba_record::run::{Producer, Provenance};

/// The programs of a bundle and their settings. A bundle contains its plan, and so does each
/// capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The instruction set of the programs.
    pub isa: String,
    /// The operating system of the programs.
    pub system: String,
    /// Whether sweeps are shorter.
    pub quick: bool,
    /// Launches of each entry.
    pub launches: u64,
    /// Time of an entry with all its launches, in ns.
    pub time_ns: u64,
    /// Fewest batches of a launch.
    pub batches: u64,
    /// Time of the batches of a launch, in ns.
    pub launch_time_ns: u64,
    /// Warm-up of a launch, in ns.
    pub warmup_ns: u64,
    /// Relative half width of the confidence interval at which a launch may stop.
    pub precision: f64,
    /// The programs, in the order of the bundle.
    pub programs: Vec<PlannedProgram>,
    /// Benchmarks without a program: class and reason.
    #[serde(default)]
    pub absent: Vec<(String, String)>,
    /// A hash of the runtime, library and suite that the programs were built from, as Yamba
    /// contains them. Empty: they were those of a checkout.
    #[serde(default)]
    pub home: String,
    /// The program that made the bundle.
    #[serde(default)]
    pub producer: Producer,
}

/// A benchmark of the bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlannedProgram {
    pub class: String,
    /// Facts about it besides its figure.
    #[serde(default)]
    pub provenance: Provenance,
}

impl Plan {
    /// The plan without the facts that are not needed to compute figures, for a serial line.
    pub fn brief(&self) -> Plan {
        let programs = self.programs.iter().map(|program| PlannedProgram {
            class: program.class.clone(),
            provenance: Provenance {
                program: program.provenance.program.clone(),
                ..Provenance::default()
            },
        });
        Plan { programs: programs.collect(), ..self.clone() }
    }
}
