//! The document of a run, schema `yamba-run/1`. Later versions add fields and never change existing
//! ones.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::circles::Circles;
pub use crate::entry::{
    BuildInputs, Cycles, Evidence, Flags, Provenance, SourceFile, Throughput, UserFlags,
};
use crate::entry::{Declaration, Environment, FigureDetails, Interference, LEAST_QUIET_FACTOR};
use crate::event::{Clock, CommonClock, Placement};
use crate::flat::flat;
use crate::hardware::{self, HardwareParameter};
use crate::machine::Machine;
use crate::note::Note;
use crate::number::rounded;
use crate::parameters::{Parameters, plain};
use crate::records::Records;
use crate::workers::Workers;

/// The schema's name.
pub const SCHEMA: &str = "yamba-run/1";

/// Significant digits of the samples in a summary: a hundredth of a percent is far below what two
/// measurements have in common.
const SUMMARY_DIGITS: usize = 5;

/// Significant digits of the figures of a launch in a summary. A median of its samples is a little
/// finer than the samples.
const LAUNCH_DIGITS: usize = 6;

/// Significant digits of a share of contended probes in a summary. Hundreds of probes have a
/// standard error of more than a thousandth.
const SHARE_DIGITS: usize = 3;

/// All measurements of one command.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Run {
    /// The run without its entries.
    #[serde(flatten)]
    pub head: RunHead,
    /// One entry per benchmark and parameter point.
    pub benchmarks: Vec<Benchmark>,
}

impl Deref for Run {
    type Target = RunHead;

    fn deref(&self) -> &RunHead {
        &self.head
    }
}

impl DerefMut for Run {
    fn deref_mut(&mut self) -> &mut RunHead {
        &mut self.head
    }
}

/// A run without its entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunHead {
    /// Schema of the document: [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The machine that measured.
    pub machine: Machine,
    /// Start of the run, in seconds since 1970 (UTC).
    #[serde(default)]
    pub started_unix_s: Option<f64>,
    /// Whether the run was stopped before its end.
    #[serde(default)]
    pub interrupted: bool,
    /// The measurement plan.
    #[serde(default)]
    pub plan: Plan,
    /// Unique identifier: sixteen random hexadecimal digits, drawn at the start. Empty in documents
    /// of older versions.
    #[serde(default)]
    #[schemars(extend("pattern" = "^([0-9a-f]{16})?$"))]
    pub id: String,
    /// Names that the user gave the run.
    #[serde(default)]
    pub tags: Vec<String>,
    /// End of the run, in seconds since 1970 (UTC). `None` while it runs, or if it was killed.
    #[serde(default)]
    pub finished_unix_s: Option<f64>,
    /// The program that measured.
    #[serde(default)]
    pub producer: Producer,
    /// Source texts of the benchmarks, each under its BLAKE3 hash in hexadecimal.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// The fleet that the run belongs to. `None` for a run on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetMember>,
    /// The vector of an application, `yamba-vector/1`, that `yamba trace` counted. Such a run has
    /// no benchmarks. `None` for a run of benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub vector: Option<Value>,
}

/// The place of a run in a fleet: the runs of one `yamba fleet run`, one on each node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FleetMember {
    /// The name of the fleet.
    pub name: String,
    /// The host name of the node, or its name in the cluster's scheduler.
    pub node: String,
    /// The job in the cluster's scheduler. `None` if the run was started without one.
    #[serde(default)]
    pub job: Option<String>,
    /// The number of the task within the fleet, from 0.
    #[serde(default)]
    pub rank: Option<u64>,
}

/// The program that measured, and its command line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Producer {
    /// `yamba` with its version. For an imported run: the program that measured, as its results
    /// name it.
    pub version: String,
    /// The command-line arguments, without the name of the program.
    pub arguments: Vec<String>,
    /// The C++ compiler's own version text. `None` where nothing was compiled.
    #[serde(default)]
    pub compiler: Option<String>,
    /// The origin of imported figures. `None` where Yamba measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Whether the run was read from a document, which is untrusted: its sources are compiled only
    /// on request. The reader of a document sets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_document: bool,
    /// Whether the programs were built to start on another machine, too, for a benchmark between
    /// two machines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// The study of which these are the measurements. Its text is in [`Run::sources`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<SourceFile>,
    /// The program that timed itself, by the harness that it was written for. `None` where Yamba
    /// timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<Box<HarnessProgram>>,
}

/// A program of another harness. Yamba started its processes; each launch of an entry is one of
/// them, and its median is what the harness printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HarnessProgram {
    /// The adapter that read the results: `google-benchmark`, `go`, `command` and others.
    pub adapter: String,
    /// The harness and its version, as the results name them.
    #[serde(default)]
    pub version: String,
    /// The program and its arguments, without those that Yamba adds.
    pub words: Vec<String>,
    /// The folder that it ran in. `None`: that of `yamba`.
    #[serde(default)]
    pub folder: Option<String>,
    /// The number of its processes that failed. Their figures are missing in the run.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failed_processes: u64,
    /// How the last of these failed, with the end of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Producer {
    /// Whether the results are those of a program of another harness: imported, or measured by its
    /// own harness in processes that Yamba started.
    pub fn is_of_another_program(&self) -> bool {
        self.imported.is_some() || self.harness.is_some()
    }

    /// The command that measured the run for its own purpose: `compare`, `selftest`, `predict`, or
    /// `noise` of earlier versions. `None` for a run that the user requested.
    pub fn for_another_command(&self) -> Option<&str> {
        let command = self.arguments.first()?;
        ["compare", "selftest", "predict", "noise"].into_iter().find(|c| c == command)
    }

    /// The parameters to which `yamba run --set NAME=VALUE` gave a value.
    pub fn set_parameters(&self) -> BTreeSet<&str> {
        let mut words = self.arguments.iter().map(String::as_str);
        let mut set = BTreeSet::new();
        if words.next() != Some("run") {
            return set;
        }
        while let Some(word) = words.next().filter(|word| *word != "--") {
            let setting = match word {
                "--set" => words.next(),
                _ => word.strip_prefix("--set="),
            };
            set.extend(setting.and_then(|setting| setting.split_once('=')).map(|(name, _)| name));
        }
        set
    }
}

/// The origin of figures that another program measured. Such a run has no raw batches, and launches
/// only where the program starts several processes. Facts of the machine that the results do not
/// contain are `None`, an empty text, 0 or `false`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Imported {
    /// The format of the results, by the program that wrote them: `lmbench`, `google-benchmark`,
    /// `jmh`, `hyperfine`, `go`, `pytest-benchmark`, `pyperf`, `criterion`, `catch2`, `nanobench`,
    /// `divan`, `sel4bench` or `kanata bench`.
    pub form: String,
    /// `yamba` with the version that imported them.
    pub by: String,
    /// Parts of the results that are not a known figure: the place, and the text or the reason.
    #[serde(default)]
    pub left_out: Vec<String>,
}

/// The measurement plan of a run. The plan of each launch is in [`Launch`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Plan {
    /// Seed of the order in which launches of the benchmarks are interleaved.
    pub seed: u64,
    /// Minimum number of launches per entry.
    pub launches: u64,
    /// Planned minimum number of timed batches per launch. If several numbers of processes or
    /// threads are measured, the least of their minimums. Launches of a slow benchmark may have
    /// fewer.
    pub batches: u64,
    /// Relative half-width of the confidence interval at which measuring may stop early.
    pub precision: f64,
    /// Time budget of one point with all its launches, in ns.
    pub time_ns: u64,
    /// Time budget of a whole benchmark with all its points, in ns. Replaces `time_ns` if present.
    #[serde(default)]
    pub benchmark_time_ns: Option<u64>,
    /// Warm-up time before the first timed batch, in ns. A launch with little time has less.
    pub warmup_ns: u64,
    /// `pinned` or `free`.
    pub placement: String,
    /// Whether a real-time scheduling class was requested.
    pub realtime: bool,
    /// Whether batches beside a neighbour on the same core count like all others:
    /// `YAMBA_NEIGHBOURS=count`.
    #[serde(default)]
    pub counts_neighbours: bool,
    /// Whether single operations were timed, too: `--percentiles`.
    #[serde(default)]
    pub percentiles: bool,
}

impl Run {
    /// A run without measurements.
    pub fn new(machine: Machine) -> Run {
        RunHead::new(machine).into()
    }

    /// A finished run that holds the vector of an application.
    pub fn with_vector(machine: Machine, vector: Value) -> Run {
        let mut run = Run::new(machine);
        run.vector = Some(vector);
        run
    }

    /// The run with the summaries of its entries.
    #[must_use]
    pub fn summary(self) -> Run {
        let summaries = self.benchmarks.into_iter().map(Benchmark::summary);
        Run { head: self.head, benchmarks: summaries.collect() }
    }

    /// Replaces values by reasons where other parameters of this machine explain the curves, too.
    pub fn refuse_unclear(&self, parameters: &mut [HardwareParameter]) {
        hardware::refuse_hidden(parameters, &self.machine.hardware);
        let jumps = self.benchmarks.iter().find(|b| b.name == hardware::JUMPS.1);
        let distance = jumps.and_then(|b| plain(b.parameters.get("distance")?).parse().ok());
        let measured = self.benchmarks.iter().flat_map(|b| &b.details.hardware);
        let known = measured.chain(self.machine.hardware.iter().map(|kept| &kept.parameter));
        let is_cache = |p: &&HardwareParameter| hardware::CODE_CACHES.contains(&p.name.as_str());
        let found = known.filter(is_cache).filter_map(|p| Some((p.name.as_str(), p.found?)));
        let claimed = hardware::CODE_CACHES.into_iter();
        let claimed = claimed.filter_map(|name| Some((name, self.machine.claimed(name)?)));
        let caches: Vec<(&str, f64)> = found.chain(claimed).collect();
        hardware::refuse_ends_of_caches(parameters, distance.unwrap_or(16.0), &caches);
    }

    /// The values of another program's results that this run does not have.
    pub fn left_out(&self) -> &[String] {
        self.producer.imported.as_ref().map_or(&[], |imported| &imported.left_out)
    }

    /// A warning about a run that another program measured. `None` for a run of Yamba.
    pub fn whose(&self) -> Option<String> {
        let imported = self.producer.imported.as_ref()?;
        let (version, by) = (&self.producer.version, &imported.by);
        let numbers = self.about_intervals(&imported.form);
        if imported.form == "jmh" {
            return Some(format!("Measured by {version} ({by} read its results): {numbers}."));
        }
        // Earlier versions read exports of Yamba as results of other programs.
        let is_foreign = !version.starts_with("yamba ");
        let foreign = if is_foreign { ", not by Yamba" } else { "" };
        Some(format!(
            "Measured by {version}{foreign} ({by} read its results): {numbers}; of the machine there is only what they say."
        ))
    }

    /// The launches behind the intervals of results of this form.
    fn about_intervals(&self, form: &str) -> String {
        let launches = match form {
            "jmh" => "forks",
            "sel4bench" => "iterations",
            "kanata bench" => "tables",
            _ => "processes",
        };
        if self.benchmarks.iter().any(|b| b.confidence_interval.is_some()) {
            format!("an interval is that of its {launches}")
        } else if self.benchmarks.iter().any(|b| b.launches.len() > 1) {
            format!("too few {launches} for an interval")
        } else {
            "single numbers without intervals".to_owned()
        }
    }

    /// Whether any figure is invalid or any benchmark crashed. Skipped benchmarks do not count.
    pub fn failed(&self) -> bool {
        self.benchmarks.iter().any(|b| matches!(b.status, Status::Invalid | Status::Crashed))
    }
}

/// A run without entries.
impl From<RunHead> for Run {
    fn from(head: RunHead) -> Run {
        Run { head, benchmarks: Vec::new() }
    }
}

impl RunHead {
    /// A run that has not started.
    pub fn new(machine: Machine) -> RunHead {
        RunHead {
            schema: SCHEMA.to_owned(),
            machine,
            started_unix_s: None,
            interrupted: false,
            plan: Plan::default(),
            id: String::new(),
            tags: Vec::new(),
            finished_unix_s: None,
            producer: Producer::default(),
            sources: BTreeMap::new(),
            fleet: None,
            vector: None,
        }
    }

    /// The name of the application whose vector the run holds. `None` for a run of benchmarks.
    pub fn application(&self) -> Option<&str> {
        self.vector.as_ref()?.get("application")?.as_str()
    }
}

impl Benchmark {
    /// The entry without its timed batches and curves, without plan and process of its launches,
    /// and with fewer significant digits: [`SUMMARY_DIGITS`] of each sample and each test of a
    /// measuring circle, [`LAUNCH_DIGITS`] of the figures of a launch and of the lengths of a
    /// cycle.
    #[must_use]
    pub fn summary(mut self) -> Benchmark {
        self.records = Records::default();
        if let Some(distribution) = &mut self.details.distribution {
            distribution.histogram = Vec::new();
        }
        if let Some(command) = &mut self.details.command {
            (command.wall_ns, command.shell_ns) = (Vec::new(), Vec::new());
        }
        round(&mut self.details.samples, SUMMARY_DIGITS);
        round(self.environment.cycle_ns.iter_mut().flatten(), LAUNCH_DIGITS);
        round(&mut self.interference.contended, SHARE_DIGITS);
        let has_processor = self.environment.placement.as_ref().is_some_and(|p| p.cpu.is_some());
        for launch in &mut self.launches {
            launch.summarise(has_processor);
        }
        for group in self.details.circles.iter_mut().flat_map(Circles::groups) {
            round(&mut group.accumulated, SUMMARY_DIGITS);
        }
        self
    }

    /// A copy of the entry without its samples, too.
    #[must_use]
    pub fn figures(&self) -> Benchmark {
        let mut figures = self.clone().summary();
        figures.details.samples.clear();
        figures
    }

    /// Whether the figure is valid, and its intervals, if it has any, hold the value of an
    /// undisturbed machine. Its median and those of its launches may still be those of a disturbed
    /// one.
    pub fn is_sound(&self) -> bool {
        self.status == Status::Ok
            && (!self.interference.is_disturbed || self.interference.is_bounded)
    }

    /// Whether the figure is sound and has an interval.
    pub fn has_sound_interval(&self) -> bool {
        self.is_sound() && self.confidence_interval.is_some()
    }

    /// Bounds of a figure of this entry on an undisturbed machine: `median` with `interval`, a time
    /// or a rate in any unit. `None` if no batch may have been disturbed. Where the bounds of the
    /// disturbance alone are known, they are these: launches show the rest of the interval.
    pub fn undisturbed_bounds(&self, median: f64, interval: Option<[f64; 2]>) -> Option<[f64; 2]> {
        let of_disturbance =
            self.interference.quiet_factors.map(|factors| factors.map(|f| f * median));
        of_disturbance.or(interval.filter(|_| self.interference.is_disturbed))
    }

    /// Whether the disturbance leaves each end of the interval open. The number there is then a
    /// placeholder.
    fn open_ends(&self) -> [bool; 2] {
        const ROUNDING: f64 = 1e-9;
        let least = LEAST_QUIET_FACTOR * (1.0 + ROUNDING);
        let factors = self.interference.quiet_factors;
        factors.map_or([false; 2], |[low, high]| [low <= least, high >= 1.0 / least])
    }

    /// Whether the disturbance leaves an end of the interval open.
    pub fn has_open_end(&self) -> bool {
        self.open_ends().contains(&true)
    }

    /// The confidence interval for readers. An end that the disturbance leaves open is infinite.
    pub fn shown_interval(&self) -> Option<[f64; 2]> {
        self.confidence_interval.map(|ends| self.with_open_ends(ends))
    }

    /// An interval of the figure or its cycles for readers, in the same way.
    pub fn with_open_ends(&self, [low, high]: [f64; 2]) -> [f64; 2] {
        let [is_low_open, is_high_open] = self.open_ends();
        let low = if is_low_open { f64::NEG_INFINITY } else { low };
        [low, if is_high_open { f64::INFINITY } else { high }]
    }

    /// The ends of the confidence interval for other programs: `None` for an open end, and without
    /// an interval.
    pub fn known_ends(&self) -> [Option<f64>; 2] {
        let ends = self.shown_interval().map_or([None; 2], |ends| ends.map(Some));
        ends.map(|end| end.filter(|end| end.is_finite()))
    }

    /// The confidence interval for drawings. It ends at the figure where the disturbance leaves an
    /// end open.
    pub fn drawn_interval(&self) -> Option<[f64; 2]> {
        let median = self.median?;
        Some(self.shown_interval()?.map(|end| if end.is_finite() { end } else { median }))
    }

    /// The width of the confidence interval as a share of the figure.
    pub fn relative_width(&self) -> Option<f64> {
        let [low, high] = self.confidence_interval?;
        Some((high - low) / self.median?)
    }

    /// Why the figure is not valid. `None` for a valid one.
    pub fn reason(&self) -> Option<&Note> {
        self.notes.first().filter(|_| self.status != Status::Ok)
    }

    /// Restores what a document has only as text.
    pub(crate) fn recognise_notes(&mut self) {
        let Some(first) = self.notes.first_mut().filter(|_| self.status == Status::Skipped) else {
            return;
        };
        first.recognise_report(&self.name);
        if *first == Note::NotStarted {
            self.status = Status::NotStarted;
        }
    }

    /// Its name with the parameters and the number of processes or threads.
    pub fn label(&self) -> String {
        named(&self.name, &self.parameters, self.workers())
    }

    /// How often the benchmark ran at the same time.
    pub fn workers(&self) -> Workers {
        Workers { processes: self.environment.processes, threads: self.environment.threads }
    }

    /// An entry without a figure.
    pub fn ended(class: &str, status: Status, notes: Vec<Note>) -> Benchmark {
        Benchmark {
            name: class.to_owned(),
            parameters: Parameters::default(),
            status,
            valid: false,
            unit: None,
            median: None,
            confidence_interval: None,
            interval_scope: None,
            launches: Vec::new(),
            notes,
            declaration: Declaration { class: class.to_owned(), ..Declaration::default() },
            environment: Environment { processes: 1, threads: 1, ..Environment::default() },
            interference: Interference::default(),
            details: FigureDetails::default(),
            records: Records::default(),
        }
    }
}

/// A name with parameters and a number of processes or threads, which is omitted if it is 1.
pub fn named(name: &str, parameters: &Parameters, workers: Workers) -> String {
    let mut text = name.to_owned();
    let parameters = parameters.to_string();
    if !parameters.is_empty() {
        text.push_str(&format!(" {parameters}"));
    }
    if workers.are_several() {
        text.push_str(&format!(" {workers}"));
    }
    text
}

/// The outcome of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The figure is valid.
    Ok,
    /// The figure is invalid; `notes` give the reasons.
    Invalid,
    /// No figure: the program ended early.
    Crashed,
    /// No figure: the benchmark cannot run here.
    Skipped,
    /// No figure: the run was stopped before the first launch. A document has `skipped`, and the
    /// note [`Note::NotStarted`].
    #[serde(rename(serialize = "skipped"), skip_deserializing)]
    NotStarted,
}

impl Status {
    /// Whether there was no launch: the benchmark cannot run here, or the run was stopped before.
    pub fn is_skipped(self) -> bool {
        matches!(self, Status::Skipped | Status::NotStarted)
    }
}

flat! {
    /// One benchmark at one parameter point.
    #[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
    #[schemars(transform = crate::schema::good_has_a_figure)]
    pub struct Benchmark, read as BenchmarkFields {
        /// The benchmark's name, which is the name of its class.
        pub name: String,
        /// The parameters of this point.
        pub parameters: Parameters,
        /// The outcome.
        pub status: Status,
        /// Whether `status` is `ok`.
        pub valid: bool,
        /// The unit of `median`, `confidence_interval` and `samples`.
        #[serde(default)]
        pub unit: Option<String>,
        /// The figure of the benchmark.
        #[serde(default)]
        pub median: Option<f64>,
        /// The interval of `median`; `interval_scope` says which.
        #[serde(default)]
        pub confidence_interval: Option<[f64; 2]>,
        /// Scope of `confidence_interval`: a distribution-free 95 % confidence interval `between
        /// launches`; an interval `between runs`, which holds the figure of the next run in 90 % of
        /// cases; or a 95 % confidence interval `within launches`, which makes no claim about other
        /// runs.
        #[serde(default)]
        pub interval_scope: Option<IntervalScope>,
        /// The launches, in the order in which they ran.
        #[serde(default)]
        pub launches: Vec<Launch>,
        /// Notes to the reader, reasons of an invalid figure first.
        pub notes: Vec<Note>,
        flat {
            /// Declarations of the class of an entry, and its source.
            pub declaration: Declaration,
            /// The processes of an entry, and the machine as they saw it.
            pub environment: Environment,
            /// Disturbances of the batches of an entry, and their effect on its figure.
            pub interference: Interference,
            /// The figure of an entry in other units, and the samples and evidence behind it.
            pub details: FigureDetails,
            /// The timed batches, the sizing and the curves. Absent without `--raw`.
            pub records: Records,
        }
    }
}

/// The scope of a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum IntervalScope {
    /// Covers the variation between launches, and so other runs under the same conditions.
    #[serde(rename = "between launches")]
    BetweenLaunches,
    /// Holds the figure of the next run of the same kind in 90 % of cases. The figure has too few
    /// launches for an interval of its own: the variance between launches is estimated from all
    /// figures of the run.
    #[serde(rename = "between runs")]
    BetweenRuns,
    /// Covers these processes only.
    #[serde(rename = "within launches")]
    WithinLaunches,
}

impl IntervalScope {
    /// All scopes.
    pub const ALL: [IntervalScope; 3] =
        [IntervalScope::BetweenLaunches, IntervalScope::BetweenRuns, IntervalScope::WithinLaunches];

    /// The interval in words.
    pub fn meaning(self) -> &'static str {
        match self {
            IntervalScope::BetweenLaunches => {
                "a distribution-free 95 % confidence interval between launches"
            }
            IntervalScope::BetweenRuns => {
                "one that holds the figure of the next run of this kind in 90 % of cases"
            }
            IntervalScope::WithinLaunches => {
                "a 95 % confidence interval within launches, which says nothing of other runs"
            }
        }
    }

    /// Whether the interval covers other runs under the same conditions.
    pub fn covers_other_runs(self) -> bool {
        matches!(self, IntervalScope::BetweenLaunches | IntervalScope::BetweenRuns)
    }
}

/// The measurement of one fresh process, or of one set of concurrent processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Launch {
    /// Median of the samples, in the benchmark's unit. `None` if no sample counted.
    pub median: Option<f64>,
    /// Median in core cycles.
    pub cycles: Option<f64>,
    /// Number of samples that counted.
    pub samples: u64,
    /// Median length of a core cycle, in ns.
    pub cycle_ns: Option<f64>,
    /// Processor placement of the process. Documents without the timed batches have it only if
    /// launches ran on different processors, and then without `allowed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Whether a partner of the benchmark ran on another hardware thread of the same core. The
    /// width probes then show the partner, and neighbours are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_core: bool,
    /// The clock that the process read. Documents without the timed batches have only that of the
    /// benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Whether the memory of the process was locked. `None` if locking was not attempted, and in
    /// documents without the timed batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locked: Option<bool>,
    /// Whether the process ran in a real-time scheduling class.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub realtime: bool,
    /// The round of the run, from 0. In a round each entry has one launch.
    #[serde(default)]
    pub round: u64,
    /// Start of the launch, in ns since the start of the run.
    #[serde(default)]
    pub started_ns: u64,
    /// Duration of the launch, in ns.
    #[serde(default)]
    pub took_ns: u64,
    /// Share of the launch's width probes that another hardware thread lengthened. `None` if
    /// unknown.
    #[serde(default)]
    pub contended: Option<f64>,
    /// The plan of the launch. Documents without the timed batches do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<LaunchRequest>,
    /// For a launch that all nodes of a fleet measured at the same time: the clock of the first
    /// node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_clock: Option<CommonClock>,
}

impl Launch {
    /// Leaves out the plan, the clock and the locked memory of the process, and digits beyond
    /// [`LAUNCH_DIGITS`]. Its processor stays, unless the benchmark has it.
    fn summarise(&mut self, benchmark_has_processor: bool) {
        (self.request, self.clock, self.locked) = (None, None, None);
        let placement = self.placement.take();
        let placement = placement.filter(|p| p.cpu.is_some() && !benchmark_has_processor);
        self.placement = placement.map(|placement| Placement {
            allowed: Vec::new(),
            probed: Vec::new(),
            ..placement
        });
        let figures = [&mut self.median, &mut self.cycles, &mut self.cycle_ns];
        round(figures.into_iter().flatten(), LAUNCH_DIGITS);
        round(&mut self.contended, SHARE_DIGITS);
    }
}

/// Rounds each number to this many significant digits.
fn round<'a>(numbers: impl IntoIterator<Item = &'a mut f64>, digits: usize) {
    for number in numbers {
        *number = rounded(*number, digits);
    }
}

/// The plan of one launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LaunchRequest {
    /// Minimum number of timed batches; the exact number if several processes or threads run.
    pub batches: u64,
    /// Time budget of all batches, in ns.
    pub time_ns: u64,
    /// Warm-up time before the first timed batch, in ns.
    pub warmup_ns: u64,
    /// Relative half-width of the launch's own interval at which it may stop early.
    pub precision: f64,
    /// Least length of a batch, in ns, if it is not that of the programs: batches beside a
    /// neighbour are shorter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_ns: Option<u64>,
    /// The width of an undisturbed core: batches with wider probes are not enough. In cycles of 10
    /// 000 instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_width: Option<f64>,
}
