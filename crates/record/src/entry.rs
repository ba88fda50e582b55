//! Parts of an entry. A document has their fields in the object of the entry.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::circles::Circles;
use crate::columns::array;
use crate::command::CommandRuns;
use crate::distribution::Distribution;
use crate::event::{Clock, HarnessUse, LowestCurve, Placement};
use crate::flat::flat;
use crate::hardware::HardwareParameter;
use crate::program::{Chart, Physical, Primitive};

flat! {
    /// Declarations of the class of an entry, and its source.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
    pub struct Declaration, read as DeclarationFields {
        /// The class.
        pub class: String,
        /// The ports that completed the class here.
        pub ports: Vec<String>,
        /// The parameters for which the class lists several values, even if this run used one of
        /// them only.
        #[serde(default)]
        pub swept: Vec<String>,
        /// `latency`, `bandwidth` or `value`; of other programs also `rate`: operations in a time,
        /// of which more is better.
        #[serde(default)]
        pub figure: Option<String>,
        /// The primitive that the benchmark stands for, as the class declares it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub primitive: Option<Primitive>,
        /// Physical bounds of the figure, as the class declares them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub bounds: Vec<Physical>,
        /// The charts that the class declares for its sweep.
        #[serde(default)]
        pub charts: Vec<Chart>,
        /// Description and provenance.
        #[serde(default)]
        pub provenance: Provenance,
    }
}

flat! {
    /// The processes of an entry, and the machine as they saw it.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
    pub struct Environment, read as EnvironmentFields {
        /// Number of processes that ran the benchmark at the same time.
        pub processes: u64,
        /// Number of threads of each process that ran it at the same time.
        #[serde(default = "super::event::one")]
        pub threads: u64,
        /// Processor placement of the processes. `cpu` is `null` if launches ran on different
        /// processors: then each launch has its own, as in documents with the timed batches.
        #[serde(default)]
        pub placement: Option<Placement>,
        /// Resources of the harness itself where several processes or threads ran at the same time;
        /// one entry per launch.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub harness: Vec<HarnessUse>,
        /// The clock that the program read. With the batches, each launch has its own.
        #[serde(default)]
        pub clock: Option<Clock>,
        /// Length of a core cycle before and after the measurement, in ns.
        #[serde(default)]
        pub cycle_ns: Vec<Option<f64>>,
        /// Facts about the machine, as the program reads them.
        #[serde(default)]
        pub platform: BTreeMap<String, Value>,
    }
}

/// The least quiet factor. It, and its inverse, are placeholders of an end that the disturbance
/// leaves open.
pub const LEAST_QUIET_FACTOR: f64 = 0.001;

flat! {
    /// Disturbances of the batches of an entry, and their effect on its figure.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
    pub struct Interference, read as InterferenceFields {
        /// Number of discarded batches: those that were disturbed.
        #[serde(default)]
        pub discarded: u64,
        /// Whether disturbed batches are included because too few others were left. `median` may
        /// then include the time of a competing program. `is_bounded` describes the interval.
        #[serde(default)]
        pub is_disturbed: bool,
        /// For a figure that `is_disturbed`: whether its intervals are wide enough to hold the
        /// value of an undisturbed machine. They can then be used like those of other figures.
        /// Absent if not, and in documents of earlier versions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub is_bounded: bool,
        /// Bounds of the figure on a quiet machine, as multiples of `median`, where batches that
        /// may have been disturbed count. `confidence_interval` includes them. 0.001 and 1000 are
        /// placeholders: that end is open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub quiet_factors: Option<[f64; 2]>,
        /// Whether the medians of the launches differ by more than those of comparable figures do
        /// in 95 % of cases. The figure may then have several levels.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub launches_disagree: bool,
        /// Number of batches by kind of disturbance, discarded batches included.
        #[serde(default)]
        pub disturbed: BTreeMap<String, u64>,
        /// Share of the width probes that another hardware thread lengthened, from 0 to 1. `None`
        /// if unknown.
        #[serde(default)]
        pub contended: Option<f64>,
    }
}

flat! {
    /// The figure of an entry in other units, and the samples and evidence behind it.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
    pub struct FigureDetails, read as FigureDetailsFields {
        /// Operations per pass.
        #[serde(default)]
        pub operations: Option<f64>,
        /// The figure in core cycles, where the length of a cycle is known.
        #[serde(default)]
        pub cycles: Option<Cycles>,
        /// Total operations (for a bandwidth: bytes) of all processes and threads.
        #[serde(default)]
        pub throughput: Option<Throughput>,
        /// The median of the medians of the processes or threads, where several ran at the same
        /// time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub median_of_medians: Option<f64>,
        /// The samples behind the figure: those with all evidence within bounds, or all samples if
        /// most are outside. Without `--raw`, a document has five significant digits of each.
        #[serde(serialize_with = "array")]
        pub samples: Vec<f64>,
        /// Summary of each evidence.
        pub evidence: BTreeMap<String, Evidence>,
        /// The distribution of single operations. Present with `--percentiles`, where an operation
        /// is long enough to be timed alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub distribution: Option<Distribution>,
        /// The runs of a whole command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub command: Option<CommandRuns>,
        /// A summary of the curves from which the figure is inferred.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub lowest_curve: Option<LowestCurve>,
        /// The parameters of the processor that the curves show.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub hardware: Vec<HardwareParameter>,
        /// For a measuring circle: the groups of tests.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub circles: Option<Circles>,
    }
}

/// The combined rate of all processes or threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Throughput {
    /// The sum of the medians of the processes or threads.
    pub sum: f64,
    /// `operations/s`, or the bandwidth's unit.
    pub unit: String,
}

/// A latency in core cycles. Each sample is converted with the length of a cycle at its own time.
/// `confidence_interval` has the scope of the figure's interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cycles {
    /// The median in core cycles.
    pub median: f64,
    /// The 95 % confidence interval of the median.
    pub confidence_interval: [f64; 2],
}

/// Summary of one evidence over all batches. The values are `None` if it was never a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Evidence {
    /// The median.
    pub median: Option<f64>,
    /// The minimum.
    pub min: Option<f64>,
    /// The maximum.
    pub max: Option<f64>,
    /// The bounds; an open side is `None`.
    pub expects: Option<[Option<f64>; 2]>,
    /// Number of batches with a value outside the bounds.
    #[serde(default)]
    pub outside: u64,
}

/// Description and provenance of a benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Provenance {
    /// The heading of the benchmark in tables: `memory`, `processes`.
    #[serde(default)]
    pub topic: Option<String>,
    /// The first sentence of the benchmark's documentation.
    #[serde(default)]
    pub summary: Option<String>,
    /// The tags of the benchmark.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The files of the benchmark's class, those of the library included.
    #[serde(default)]
    pub files: Vec<SourceFile>,
    /// A hash of every input that decides the program's behaviour: the generated C++, the runtime,
    /// included files, the compiler and its options, libraries, and the machine code itself.
    #[serde(default)]
    pub program: Option<String>,
    /// The inputs of its program besides `files`. `None`: the version that measured the run did not
    /// record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<BuildInputs>,
}

/// The inputs of a program besides source files in Yamba.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BuildInputs {
    /// Files that the C++ code includes, except those of the system, of the compiler and of Yamba.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub includes: Vec<SourceFile>,
    /// The include folders of the compiler, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Options of the compiler that the user chose.
    #[serde(default, skip_serializing_if = "UserFlags::is_empty")]
    pub flags: UserFlags,
    /// Inputs whose text the run does not hold: `compiler`, `assembler`, `options`, `command line`
    /// and `compile clauses` (options without folders), `system headers`, `system libraries`,
    /// `library libfoo.a`, and `file PATH` for an included file that is too large or not UTF-8. A
    /// value contains a hash where its text alone does not identify the input.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// Environment variables that selected files, such as `CPATH`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Why the list of files is incomplete. `None` if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<String>,
}

/// Options of the compiler that the user chose, by origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UserFlags {
    /// From the command line.
    #[serde(default, skip_serializing_if = "Flags::is_empty")]
    pub command_line: Flags,
    /// From the `compile` clauses of the benchmark's classes.
    #[serde(default, skip_serializing_if = "Flags::is_empty")]
    pub clauses: Flags,
}

impl UserFlags {
    /// Whether the user chose none.
    pub fn is_empty(&self) -> bool {
        self.command_line.is_empty() && self.clauses.is_empty()
    }
}

/// Arguments of the compiler. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Flags {
    /// Arguments that compile the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compile: Vec<String>,
    /// Arguments that link it: libraries and their folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<String>,
}

impl Flags {
    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.compile.is_empty() && self.link.is_empty()
    }
}

/// A source file in Yamba, as it was when the benchmark was compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SourceFile {
    /// Path of the file. For embedded files: relative to the root of the checkout.
    pub path: String,
    /// The key of its text in the `sources` of the run.
    pub hash: String,
}
