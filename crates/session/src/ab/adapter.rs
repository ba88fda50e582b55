//! An adapter recognises, starts and reads the programs of one harness.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use yamba_harness::{CommandOutput, CommandRun};
use yamba_record::units::nanoseconds;
use yamba_record::{Benchmark, Parameters};
use yamba_store::import::LESS_IS_BETTER;
use yamba_store::{Detail, import};

/// An environment variable of random length: the place of a program's stack depends on the size of
/// its environment (T. Mytkowicz et al., "Producing wrong data without doing anything obviously
/// wrong!", ASPLOS 2009).
pub(super) const LAYOUT: &str = "YAMBA_LAYOUT";

/// A program of some harness, with its answer to `--help`.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// The program and its arguments, as the user wrote them.
    pub words: Vec<String>,
    /// The text of `--help`, on standard output and standard error.
    pub help: String,
    pub file: Option<PathBuf>,
    /// The folder that it runs in. `None`: the present one.
    pub folder: Option<PathBuf>,
    /// The jars among its words.
    pub jars: Vec<PathBuf>,
}

impl Program {
    /// Whether its answer to `--help` has all of these texts.
    pub fn helps_with(&self, texts: &[&str]) -> bool {
        texts.iter().all(|text| self.help.contains(text))
    }

    /// Its words as a shell takes them.
    pub fn line(&self) -> String {
        as_line(&self.words)
    }

    /// Its words with further arguments.
    pub fn with(&self, arguments: impl IntoIterator<Item = String>) -> Vec<String> {
        self.words.iter().cloned().chain(arguments).collect()
    }
}

/// Words as a shell takes them.
pub(super) fn as_line(words: &[String]) -> String {
    let each = || words.iter().map(String::as_str);
    shlex::try_join(each()).unwrap_or_else(|_| words.join(" "))
}

/// One process to start.
pub(super) struct Launch<'a> {
    /// The names of the benchmarks to measure. `None`: all.
    pub only: Option<&'a [String]>,
    /// How long the process is to measure each benchmark.
    pub benchmark_time: Duration,
    /// An empty folder for the results.
    pub folder: &'a Path,
}

impl Launch<'_> {
    /// The file of the standard output, where it has results.
    pub fn output(&self) -> PathBuf {
        self.folder.join("output")
    }

    /// The benchmark's time in seconds, as options of harnesses take it.
    pub fn seconds(&self) -> String {
        format!("{}", self.benchmark_time.as_secs_f64())
    }

    /// A regular expression that matches exactly the names of the benchmarks to measure. `None`:
    /// all.
    pub fn pattern(&self) -> Option<String> {
        let names: Vec<String> = self.only?.iter().map(|name| escaped(name)).collect();
        Some(format!("^({})$", names.join("|")))
    }
}

/// Whether a file holds these bytes.
pub(super) fn holds(file: &Path, wanted: &[u8]) -> bool {
    let bytes = std::fs::read(file).unwrap_or_default();
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// The text as a regular expression that matches it alone. Only letters are escaped that each of
/// the languages of C++, Go, Java and Rust takes so.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if "\\.+*?()|[]{}^$".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// How a process is started, and where its results are.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Start {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// The file or folder of the results.
    pub results: PathBuf,
}

/// The results of one process: a figure of each benchmark, and the version of the harness.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// A figure of each benchmark.
    pub readings: Vec<Reading>,
    /// The harness and its version.
    pub version: String,
    /// Parts that were not understood.
    pub left_out: Vec<String>,
    /// Numbers that are not compared, each with the reason.
    pub not_compared: BTreeSet<String>,
}

/// The figure of one benchmark in one process.
#[derive(Debug)]
pub(super) struct Reading {
    /// Its `median` is the figure.
    pub entry: Benchmark,
    /// Its processor time in the unit of the entry, if the harness reports both.
    pub processor: Option<f64>,
    /// The process itself, if the figure is its time.
    pub command: Option<CommandRun>,
}

impl Reading {
    /// A figure that the harness printed.
    pub fn new(entry: Benchmark) -> Reading {
        Reading { entry, processor: None, command: None }
    }
}

/// A harness.
pub(super) trait Adapter: Sync {
    /// Its name for `--adapter`.
    fn name(&self) -> &'static str;

    /// Whether the program is one of this harness.
    fn is_it(&self, program: &Program) -> bool;

    /// How a process of the program is started.
    fn start(&self, program: &Program, launch: &Launch<'_>) -> Start;

    /// Where a process writes its standard output to.
    fn output(&self, launch: &Launch<'_>) -> CommandOutput {
        CommandOutput::File(launch.output())
    }

    /// Reads the results of a process that ended well. The error says what is wrong with them.
    fn read(
        &self,
        _program: &Program,
        start: &Start,
        _ended: &CommandRun,
    ) -> Result<Results, String> {
        read_file(&start.results)
    }
}

/// Reads results as `yamba import` does, with times in ns. Rates that are computed from a time of
/// the same benchmark say nothing new, and numbers without a better direction cannot be slower:
/// both are not compared.
pub(super) fn read_file(path: &Path) -> Result<Results, String> {
    let run = import::read(path, import::LARGEST, Detail::Figures).map_err(|e| e.to_string())?;
    // A benchmark's own parameter may be called `counter`, too.
    let plain: BTreeSet<String> = run.benchmarks.iter().map(without_counter(false)).collect();
    let imported = run.head.producer.imported;
    let form = imported.as_ref().map_or("", |imported| imported.form.as_str());
    let obstacle = |entry: &Benchmark| {
        let figure = entry.declaration.figure.as_deref();
        if !matches!(figure, Some("latency" | "bandwidth" | "rate")) {
            let is_less = entry.notes.iter().any(|note| *note == LESS_IS_BETTER);
            let no_time = "is no time, and less of it is better";
            return Some(if is_less { no_time } else { "has no better direction" });
        }
        let is_derived = is_derived(entry, form) && plain.contains(&without_counter(true)(entry));
        is_derived.then_some("follows from the time")
    };
    let (mut readings, mut not_compared) = (Vec::new(), BTreeSet::new());
    for entry in run.benchmarks {
        match obstacle(&entry) {
            Some(why) => {
                not_compared.insert(format!("{} {why}", counter(&entry)));
            }
            None => readings.push(Reading::new(in_one_unit(entry))),
        }
    }
    Ok(Results {
        readings,
        version: run.head.producer.version,
        left_out: imported.map(|i| i.left_out).unwrap_or_default(),
        not_compared,
    })
}

/// Whether the harness computes this number from the time. Programs of Go print rates of their own,
/// too: only the one of `SetBytes` is computed.
fn is_derived(entry: &Benchmark, form: &str) -> bool {
    let counter = entry.parameters.get("counter");
    counter.is_some_and(|counter| form != "go" || counter.as_str() == Some("MB/s"))
}

/// The name of a number beside the time.
fn counter(entry: &Benchmark) -> &str {
    let counter = entry.parameters.get("counter").and_then(Value::as_str);
    counter.or(entry.unit.as_deref()).unwrap_or(&entry.name)
}

/// The entry with a time in ns, or a rate of one second: both sides may print the same figure in
/// different units.
fn in_one_unit(mut entry: Benchmark) -> Benchmark {
    let unit = entry.unit.as_deref().unwrap_or_default();
    let converted = match entry.declaration.figure.as_deref() {
        Some("latency") => nanoseconds(unit).map(|ns| (ns, "ns".to_owned())),
        Some("rate") => a_second(unit),
        _ => None,
    };
    if let Some((factor, unit)) = converted {
        entry.median = entry.median.map(|figure| figure * factor);
        entry.unit = Some(unit);
    }
    entry
}

/// The factor that converts a rate from a unit such as `ops/ms` to that of a second, `ops/s`, and
/// the latter.
fn a_second(unit: &str) -> Option<(f64, String)> {
    let (of, time) = unit.rsplit_once('/')?;
    let seconds = match time {
        "hr" => 3600.0,
        "day" => 86_400.0,
        _ => nanoseconds(time)? / 1e9,
    };
    Some((1.0 / seconds, format!("{of}/s")))
}

/// The name of an entry with its parameters, if asked without that of a counter.
fn without_counter(is_asked: bool) -> impl Fn(&Benchmark) -> String {
    move |entry| {
        let is_kept = |(name, _): &&(String, Value)| !is_asked || name != "counter";
        let parameters = entry.parameters.0.iter().filter(is_kept).cloned().collect();
        format!("{} {}", entry.name, Parameters(parameters))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(name: &str, text: &str) -> Results {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        read_file(&file).unwrap()
    }

    #[test]
    fn own_rate_is_compared_and_a_derived_one_is_named() {
        let text = "Unit req/s better=higher\nBenchmarkX-2 10 100 ns/op 50 req/s 7 MB/s 3 B/op 1 allocs/op\n";
        let found = results("go.txt", text);
        let units: Vec<&str> =
            found.readings.iter().map(|r| r.entry.unit.as_deref().unwrap()).collect();
        assert_eq!(units, ["ns", "req/s"]);
        let not_compared: Vec<&str> = found.not_compared.iter().map(String::as_str).collect();
        let expected = [
            "B/op has no better direction",
            "MB/s follows from the time",
            "allocs/op has no better direction",
        ];
        assert_eq!(not_compared, expected);
    }

    #[test]
    fn times_are_read_in_nanoseconds() {
        let text = r#"{"context": {"library_version": "v1.8.0"}, "benchmarks": [{"name": "BM",
            "run_type": "iteration", "real_time": 1.5, "cpu_time": 1.4, "time_unit": "us"}]}"#;
        let entry = &results("google.json", text).readings[0].entry;
        assert_eq!((entry.median, entry.unit.as_deref()), (Some(1500.0), Some("ns")));
    }

    #[test]
    fn rates_are_read_for_a_second() {
        let of = |unit: &str| {
            let text = format!("Unit {unit} better=higher\nBenchmarkX 10 100 ns/op 3 {unit}\n");
            let entry = results("go.txt", &text).readings.pop().unwrap().entry;
            (entry.median.unwrap().round(), entry.unit.unwrap())
        };
        assert_eq!(of("ops/ms"), (3000.0, "ops/s".to_owned()));
        assert_eq!(of("ops/s"), (3.0, "ops/s".to_owned()));
        assert_eq!(of("hits/op"), (3.0, "hits/op".to_owned()));
        assert_eq!(a_second("ops/hr").map(|(factor, _)| 1.0 / factor), Some(3600.0));
    }

    #[test]
    fn time_of_which_less_is_better_is_compared_and_another_number_is_named() {
        let text = "Unit p99-us better=lower\nUnit widgets better=lower\n\
            BenchmarkX-2 10 100 ns/op 5 p99-us 7 widgets\n";
        let found = results("go.txt", text);
        let times: Vec<f64> = found.readings.iter().filter_map(|r| r.entry.median).collect();
        assert_eq!(times, [100.0, 5000.0]);
        assert!(found.not_compared.contains("widgets is no time, and less of it is better"));
    }

    #[test]
    fn pattern_matches_only_the_names() {
        let names = ["BM_sort<int>/8".to_owned(), "a.b[x]".to_owned()];
        let mut launch = Launch {
            only: Some(&names),
            benchmark_time: Duration::from_millis(50),
            folder: Path::new("/tmp"),
        };
        assert_eq!(launch.pattern().as_deref(), Some(r"^(BM_sort<int>/8|a\.b\[x\])$"));
        assert_eq!(launch.seconds(), "0.05");
        launch.only = None;
        assert_eq!(launch.pattern(), None);
    }
}
