//! The document of a run, schema `yamba-run/1`. Later versions add fields and never change these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::circles::Circles;
use crate::event::{Clock, Disturbance, HarnessUse, Load, Placement, Sizing};
use crate::machine::Machine;
use crate::parameters::Parameters;
use crate::program::{Chart, Physical};

/// The schema's name.
pub const SCHEMA: &str = "yamba-run/1";

/// Everything one command measured; its entries as they are, or in another form that serialises alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run<B = Benchmark> {
    /// The form of the document: [`SCHEMA`].
    #[cfg_attr(test, schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Where it was measured.
    pub machine: Machine,
    /// One entry a benchmark and parameter point.
    pub benchmarks: Vec<B>,
    /// When it began, in seconds since 1970 (UTC).
    #[serde(default)]
    pub started_unix_s: Option<f64>,
    /// Whether it was stopped before it was done.
    #[serde(default)]
    pub interrupted: bool,
    /// What was asked for.
    #[serde(default)]
    pub plan: Plan,
    /// What tells it from all other runs: sixteen hexadecimal digits, drawn when it began. Empty in documents of before.
    #[serde(default)]
    #[cfg_attr(test, schemars(extend("pattern" = "^([0-9a-f]{16})?$")))]
    pub id: String,
    /// Names that a person gave it.
    #[serde(default)]
    pub tags: Vec<String>,
    /// When it ended, in seconds since 1970 (UTC); none while it runs, or if it was killed.
    #[serde(default)]
    pub finished_unix_s: Option<f64>,
    /// What measured.
    #[serde(default)]
    pub producer: Producer,
    /// The texts of which the benchmarks were made, each under its BLAKE3 hash in hexadecimal.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

/// The program that measured, and how it was called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Producer {
    /// `yamba` with its version; of an imported run the program that measured it, as its results name it.
    pub version: String,
    /// The words of the command line after the program's own name.
    pub arguments: Vec<String>,
    /// The C++ compiler as it names itself; none where nothing was compiled.
    #[serde(default)]
    pub compiler: Option<String>,
    /// How the figures of another program came here; none where Yamba measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Whether the run was read from a document, which anybody may have written: then its sources are not compiled unasked. Whoever reads a document sets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_document: bool,
    /// The study whose measurements these are: its text is in [`Run::sources`] like those of benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<SourceFile>,
}

impl Producer {
    /// The command that measured the run for a purpose of its own: `compare` or `noise`. None of a run that a person asked for.
    pub fn for_another_command(&self) -> Option<&str> {
        let command = self.arguments.first()?;
        ["compare", "noise"].into_iter().find(|c| c == command)
    }
}

/// Where figures come from that another program measured. Such a run has no launches and no raw intervals, and of the machine it has what the
/// results say: what they do not say is none, an empty text, 0 or false.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Imported {
    /// The form of the results: `lmbench` or `google-benchmark`.
    pub form: String,
    /// `yamba` with the version that read them.
    pub by: String,
    /// What of them is left out, since it is no figure that is known: the place and the text.
    #[serde(default)]
    pub left_out: Vec<String>,
}

/// What a reader wants to know of a benchmark besides its figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct About {
    /// The heading under which it stands in a table: `memory`, `processes`.
    #[serde(default)]
    pub group: Option<String>,
    /// The first sentence of its documentation.
    #[serde(default)]
    pub summary: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The files that its class was made of, the library's too.
    #[serde(default)]
    pub files: Vec<SourceFile>,
    /// A hash of all that decides what its program does: the generated C++, the runtime, included files, the compiler and its options,
    /// libraries, and the machine code itself.
    #[serde(default)]
    pub program: Option<String>,
    /// The inputs of its program besides `files`. `None`: the version that measured the run did not record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<BuildInputs>,
}

/// The inputs of a program besides files of the language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BuildInputs {
    /// Files that its C++ includes, without those of the system, the compiler and Yamba.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub includes: Vec<SourceFile>,
    /// The folders in which the compiler looked for them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Inputs that the run does not keep as text: `compiler`, `assembler`, `options`, `system headers`, `system libraries`, `library libfoo.a`, and `file PATH` of
    /// an included file that is too large or not UTF-8. A value has a hash where its text does not identify the input.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// Variables of the environment that chose the files: `CPATH` and others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Why the list of files is not complete; `None` if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<String>,
}

/// A file of the language, as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceFile {
    /// Where it was found; of what is embedded, from the root of the checkout.
    pub path: String,
    /// The key of its text in [`Run::sources`].
    pub hash: String,
}

/// How a run was to measure; what each launch was told is in [`Launch`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plan {
    /// Decides the order in which launches of the run's benchmarks took turns.
    pub seed: u64,
    /// Fresh processes an entry, at least.
    pub launches: u64,
    /// Timed intervals a launch, at least, whatever its number of processes.
    pub intervals: u64,
    /// Relative half width of the interval at which measuring may stop early.
    pub precision: f64,
    /// Time for one point with all its launches, in ns.
    pub time_ns: u64,
    /// Time for a whole benchmark with all its points, in ns, which then decides instead.
    #[serde(default)]
    pub benchmark_time_ns: Option<u64>,
    /// Running before anything is timed, in ns; less where a launch has little time.
    pub warmup_ns: u64,
    /// `pinned` or `free`.
    pub placement: String,
    /// Whether a real-time class was asked for.
    pub realtime: bool,
}

impl<B> Run<B> {
    /// A run with nothing measured yet.
    pub fn new(machine: Machine) -> Run<B> {
        Run {
            schema: SCHEMA.to_owned(),
            machine,
            benchmarks: Vec::new(),
            started_unix_s: None,
            interrupted: false,
            plan: Plan::default(),
            id: String::new(),
            tags: Vec::new(),
            finished_unix_s: None,
            producer: Producer::default(),
            sources: BTreeMap::new(),
        }
    }

    /// The same run with its entries in another form.
    pub fn map<C>(self, form: impl FnMut(B) -> C) -> Run<C> {
        Run {
            schema: self.schema,
            machine: self.machine,
            benchmarks: self.benchmarks.into_iter().map(form).collect(),
            started_unix_s: self.started_unix_s,
            interrupted: self.interrupted,
            plan: self.plan,
            id: self.id,
            tags: self.tags,
            finished_unix_s: self.finished_unix_s,
            producer: self.producer,
            sources: self.sources,
        }
    }
}

impl<B> Run<B> {
    /// What a reader must know of a run that another program measured; none of ours.
    pub fn whose(&self) -> Option<String> {
        let imported = self.producer.imported.as_ref()?;
        Some(format!(
            "Measured by {}, not by Yamba ({} read its results): single numbers without intervals; of the machine there is only what they say.",
            self.producer.version, imported.by
        ))
    }
}

impl Run {
    /// Whether any figure is invalid or any benchmark crashed; what was skipped does not count.
    pub fn failed(&self) -> bool {
        self.benchmarks
            .iter()
            .any(|b| matches!(b.status, Status::Invalid | Status::Crashed))
    }
}

impl Benchmark {
    /// An entry without a figure.
    pub fn ended(class: &str, status: Status, notes: Vec<String>) -> Benchmark {
        Benchmark {
            name: class.to_owned(),
            class: class.to_owned(),
            ports: Vec::new(),
            parameters: Parameters::default(),
            swept: Vec::new(),
            processes: 1,
            status,
            valid: false,
            unit: None,
            operations: None,
            median: None,
            interval: None,
            interval_kind: None,
            launches: Vec::new(),
            set_aside: 0,
            is_disturbed: false,
            disturbed: BTreeMap::new(),
            throughput: None,
            median_of_medians: None,
            placement: None,
            harness: Vec::new(),
            samples: Vec::new(),
            evidence: BTreeMap::new(),
            notes,
            figure: None,
            intervals: Vec::new(),
            sizing: Vec::new(),
            clock: None,
            cycle_ns: Vec::new(),
            cycles: None,
            circles: None,
            bounds: Vec::new(),
            charts: Vec::new(),
            platform: BTreeMap::new(),
            about: About::default(),
        }
    }
}

/// How a measurement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transform = crate::published::good_has_a_figure))]
pub struct Benchmark {
    /// The benchmark's name: that of its class.
    pub name: String,
    /// Its class.
    pub class: String,
    /// The ports that completed it here.
    pub ports: Vec<String>,
    /// Its parameters.
    pub parameters: Parameters,
    /// Those of them that the class takes several values of, also where this run took one.
    #[serde(default)]
    pub swept: Vec<String>,
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
    /// What the interval speaks of: `between launches`, or `within launches`, which claims nothing about the next run.
    #[serde(default)]
    pub interval_kind: Option<IntervalKind>,
    /// What each fresh process measured, in the order in which they ran.
    #[serde(default)]
    pub launches: Vec<Launch>,
    /// Intervals that were set aside because they were disturbed.
    #[serde(default)]
    pub set_aside: u64,
    /// Whether disturbed intervals had to count because too few others were left: the figure may be that of a competitor too, and is no
    /// evidence in a comparison.
    #[serde(default)]
    pub is_disturbed: bool,
    /// How often each kind of disturbance was seen in an interval, set aside or not.
    #[serde(default)]
    pub disturbed: BTreeMap<String, u64>,
    /// Operations (of a bandwidth: bytes) of all processes together.
    #[serde(default)]
    pub throughput: Option<Throughput>,
    /// The median of the processes' medians, where several ran at the same time.
    #[serde(default)]
    pub median_of_medians: Option<f64>,
    /// Where its processes ran; each launch says it for itself.
    #[serde(default)]
    pub placement: Option<Placement>,
    /// What the harness itself used where several processes ran at the same time, one entry a launch.
    #[serde(default)]
    pub harness: Vec<HarnessUse>,
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
    /// The clock that was read; each launch says it for itself.
    #[serde(default)]
    pub clock: Option<Clock>,
    /// The length of a core cycle before and after, in ns.
    #[serde(default)]
    pub cycle_ns: Vec<Option<f64>>,
    /// The figure in core cycles, where their length is known.
    #[serde(default)]
    pub cycles: Option<Cycles>,
    /// Of a measuring circle, the groups of tests.
    #[serde(default)]
    pub circles: Option<Circles>,
    /// What physics allows.
    #[serde(default)]
    pub bounds: Vec<Physical>,
    /// How a person would look at its sweep.
    #[serde(default)]
    pub charts: Vec<Chart>,
    /// The machine's facts as the program saw them.
    #[serde(default)]
    pub platform: BTreeMap<String, Value>,
    /// What it is, and what it was made of.
    #[serde(default)]
    pub about: About,
}

/// What an interval of confidence speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum IntervalKind {
    /// Another run's median, as far as launches of this one differ.
    #[serde(rename = "between launches")]
    BetweenLaunches,
    /// These processes alone.
    #[serde(rename = "within launches")]
    WithinLaunches,
}

/// What one fresh process, or one set of processes at the same time, measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launch {
    /// The median of its samples, in the benchmark's unit; none if none counted.
    pub median: Option<f64>,
    /// The median in core cycles.
    pub cycles: Option<f64>,
    /// Samples that counted.
    pub samples: u64,
    /// The median length of a core cycle, in ns.
    pub cycle_ns: Option<f64>,
    /// Where it ran.
    #[serde(default)]
    pub placement: Option<Placement>,
    /// The clock that it read.
    #[serde(default)]
    pub clock: Option<Clock>,
    /// Whether its memory was locked; none where that was not tried.
    #[serde(default)]
    pub locked: Option<bool>,
    /// Whether it ran in a real-time class.
    #[serde(default)]
    pub realtime: bool,
    /// In which round of the run it had its turn, from 0. In a round each entry has one launch.
    #[serde(default)]
    pub round: u64,
    /// When it was started after the run began, in ns.
    #[serde(default)]
    pub started_ns: u64,
    /// How long it took from its start to its end, in ns.
    #[serde(default)]
    pub took_ns: u64,
    /// What it was told.
    #[serde(default)]
    pub told: Option<Told>,
}

/// What a launch was to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Told {
    /// Timed intervals, at least; under load exactly.
    pub intervals: u64,
    /// Time for all of them, in ns.
    pub time_ns: u64,
    /// Running before anything is timed, in ns.
    pub warmup_ns: u64,
    /// Relative half width of its own interval at which it may stop early.
    pub precision: f64,
}

/// What all processes did together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Throughput {
    /// The sum of the processes' medians.
    pub sum: f64,
    /// `operations/s`, or the bandwidth's unit.
    pub unit: String,
}

/// A latency in core cycles, each sample by the length of a cycle at its own moment. The interval is of the same kind as the figure's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cycles {
    /// The median.
    pub median: f64,
    /// Its 95 % confidence interval.
    pub interval: [f64; 2],
}

/// What one evidence said over all intervals; none where it never was a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    /// Calls of the benchmark.
    pub passes: u64,
    /// Operations in all of them.
    pub operations: u64,
    /// What they took.
    pub ns: f64,
    /// What as many calls of the dummy took.
    pub dummy_ns: f64,
    /// Which fresh process, from 0.
    #[serde(default)]
    pub launch: u64,
    /// Which of the processes of that launch, from 0.
    #[serde(default)]
    pub process: u64,
    /// The length of a core cycle then, in ns.
    #[serde(default)]
    pub cycle_ns: Option<f64>,
    /// The same around the dummy.
    #[serde(default)]
    pub dummy_cycle_ns: Option<f64>,
    /// The same by the second chain.
    #[serde(default)]
    pub check_cycle_ns: Option<f64>,
    /// What happened meanwhile.
    #[serde(default)]
    pub disturbance: Disturbance,
    /// What of it counts against the interval.
    #[serde(default)]
    pub disturbed: Vec<String>,
    /// Under load, when this process ran the benchmark.
    #[serde(default)]
    pub load: Option<Load>,
    /// Of a circle, the group of tests.
    #[serde(default)]
    pub group: Option<u64>,
    /// What the processor's counters counted.
    #[serde(default)]
    pub counters: BTreeMap<String, f64>,
    /// The sample, in the benchmark's unit.
    pub sample: Option<f64>,
    /// What the evidence said.
    pub evidence: BTreeMap<String, Option<f64>>,
    /// The evidence that was outside its bound; the sample counts only if there is none.
    pub outside: Vec<String>,
}
