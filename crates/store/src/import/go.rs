//! The output of Go's benchmarks (`go test -bench`):
//! <https://go.dev/design/14313-benchmark-format>.
//!
//! A process prints a header with its package, a line for each repetition of each benchmark, and
//! `PASS` or `FAIL`. The lines of a benchmark in one process are repetitions, and the figure is
//! their median. Several processes of a package in one file are launches.

mod line;
mod process;

use std::collections::BTreeMap;

use serde_json::json;
use yamba_record::{Parameters, Run, Status};
use yamba_stats::median;

use super::DocumentFault;
use super::foreign::{Figure, Number, Results, note_on_processes, own_export};
use line::{Benchmark, Better, Line, Outcome, is_nameless_row};
use process::{Lines, MACHINE, PACKAGE, Process};

/// The package that Yamba's own export names.
const OWN_PACKAGE: &str = "yamba";

/// Maximum number of lines with a benchmark.
const MOST_ROWS: usize = 200_000;

/// Maximum number of processes.
const MOST_PROCESSES: usize = 1_000;

/// Maximum length of a line of a benchmark.
const LONGEST_LINE: usize = 4_000;

/// The unit of the time of an operation.
const TIME: &str = "ns/op";

/// The note on a number whose better direction is known, and that is no kind of figure with it.
pub const LESS_IS_BETTER: &str = "less is better, and it is no time";

/// The units of memory, which Go prints together.
const MEMORY: [&str; 2] = ["B/op", "allocs/op"];

/// Whether lines of a text are those of Go's benchmarks.
pub(super) fn is_it(head: &str) -> bool {
    let (mut has_system, mut has_package) = (false, false);
    head.lines().any(|line| {
        has_system |= line.starts_with("goos: ");
        has_package |= line.starts_with("pkg: ");
        (has_system && has_package) || matches!(Line::read(line), Line::Result(..))
    })
}

/// Parses the output. `name` is the file name.
///
/// # Errors
/// If it was exported by Yamba, or contains no figure or too many.
pub(super) fn read(name: &str, text: &str) -> Result<Run, DocumentFault> {
    if is_own_export(text) {
        return Err(own_export("a run", "Go's benchmarks"));
    }
    let mut reader = Reader {
        results: Results::new("go", name, without_logs(text)),
        processes: vec![Process::default()],
        units: BTreeMap::new(),
        log: None,
        is_panicking: false,
        rows: 0,
    };
    reader.results.producer = "Go".to_owned();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        // The rest of the last line may be missing.
        let is_cut = lines.peek().is_none() && !text.ends_with('\n');
        reader.line(index + 1, line, is_cut)?;
    }
    reader.finish()
}

/// The text without lines that may name the machine or its owner. Line numbers stay the same.
fn without_logs(text: &str) -> String {
    let is_kept = |line: &str| match Line::read(line) {
        Line::Result(..) | Line::Unit(..) | Line::Passed(_) => true,
        Line::Config(key, _) => key == PACKAGE || MACHINE.contains(&key),
        _ => false,
    };
    text.lines().map(|l| if is_kept(l) { format!("{l}\n") } else { "\n".to_owned() }).collect()
}

struct Reader<'a> {
    results: Results,
    processes: Vec<Process<'a>>,
    /// The better direction of the units of which the file says it.
    units: BTreeMap<&'a str, Better>,
    /// The benchmark that the indented lines that follow belong to.
    log: Option<Log<'a>>,
    /// Whether the lines are those of a panic, up to the end of its process.
    is_panicking: bool,
    rows: usize,
}

#[derive(Clone, Copy)]
enum Log<'a> {
    /// The reason of a failed benchmark.
    Reason(Benchmark<'a>),
    Text,
}

impl<'a> Reader<'a> {
    fn process(&mut self) -> &mut Process<'a> {
        self.processes.last_mut().expect("there is always one")
    }

    /// The process of a benchmark's line.
    fn going_on(&mut self) -> &mut Process<'a> {
        self.rows += 1;
        if self.process().is_ended {
            self.processes.push(Process::default());
        }
        self.process()
    }

    fn leave_out(&mut self, number: usize, text: &str) {
        self.results.leave_out(&format!("line {number}"), text);
    }

    fn line(&mut self, number: usize, text: &'a str, is_cut: bool) -> Result<(), DocumentFault> {
        let log = self.log.take();
        if text.starts_with([' ', '\t']) && !is_nameless_row(text) && self.logged(log, text) {
            return Ok(());
        }
        let line = if text.len() > LONGEST_LINE { Line::Other } else { Line::read(text) };
        if is_cut && !matches!(line, Line::Empty | Line::Passed(_) | Line::Failed) {
            self.leave_out(number, &format!("the text ends within it: {text}"));
            self.results.is_cut_off = true;
            return Ok(());
        }
        match line {
            Line::Empty => self.log = log,
            Line::Config(key, value) => self.config(number, key, value),
            Line::Unit(unit, better) => self.units.extend(better.map(|better| (unit, better))),
            Line::Result(benchmark, row) => self.going_on().push(benchmark, row),
            Line::Begin(benchmark) => {
                self.going_on().begin(number, benchmark);
                self.log = Some(Log::Text);
            }
            Line::Damaged(benchmark, rest) => self.damaged(number, benchmark, text, rest),
            Line::Outcome(outcome, benchmark) => self.outcome(outcome, benchmark),
            Line::Passed(package) => self.passed(number, text, package),
            Line::Failed => self.failed(number, text),
            Line::Panic => self.panicked(number, text),
            Line::Other if self.is_panicking => {}
            Line::Other => self.leave_out(number, text),
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<(), DocumentFault> {
        if self.rows > MOST_ROWS || self.processes.len() > MOST_PROCESSES {
            let message = "has too many benchmarks, or output of too many processes".to_owned();
            return Err((message, Some("divide it into several files")));
        }
        Ok(())
    }

    /// Takes a line of a log. `false`: there is no log.
    fn logged(&mut self, log: Option<Log<'a>>, text: &str) -> bool {
        if let Some(Log::Reason(benchmark)) = log {
            let failure = self.process().lines(benchmark).failure.as_mut();
            if let Some((_, reason)) = failure {
                *reason = text.trim().to_owned();
            }
        }
        self.log = log.and(Some(Log::Text));
        log.is_some()
    }

    fn config(&mut self, number: usize, key: &'a str, value: &'a str) {
        if self.process().is_before(key) {
            self.processes.push(Process::default());
        }
        if !self.process().configure(key, value) {
            self.leave_out(number, &format!("{key}: {value}"));
        }
    }

    /// A benchmark without its result: other output stands in its place.
    fn damaged(&mut self, number: usize, benchmark: Benchmark<'a>, text: &str, rest: &str) {
        self.leave_out(number, text);
        let is_panic = line::is_panic(rest);
        self.results.is_cut_off |= is_panic;
        self.is_panicking = is_panic;
        let lines = self.going_on().lines(benchmark);
        if is_panic {
            lines.failure = Some((Status::Crashed, rest.to_owned()));
        } else {
            lines.fault.get_or_insert(format!("line {number} is no result"));
        }
    }

    fn outcome(&mut self, outcome: Outcome, benchmark: Benchmark<'a>) {
        let (status, reason) = match outcome {
            Outcome::Failed => (Status::Crashed, "the benchmark failed"),
            Outcome::Skipped => (Status::Skipped, "the benchmark was skipped"),
            Outcome::Logged => {
                self.log = Some(Log::Text);
                return;
            }
        };
        self.going_on().lines(benchmark).failure = Some((status, reason.to_owned()));
        self.log = Some(Log::Reason(benchmark));
    }

    fn passed(&mut self, number: usize, text: &str, package: Option<&str>) {
        let process = self.process();
        let known = process.package();
        process.is_ended = true;
        if package.is_some() && known.is_some() && package != known {
            let other = format!("the header names {}: {text}", known.unwrap_or_default());
            self.leave_out(number, &other);
        }
    }

    fn failed(&mut self, number: usize, text: &str) {
        self.is_panicking = false;
        let process = self.process();
        process.is_ended = true;
        if !std::mem::replace(&mut process.is_failed, true) {
            let text = if text == "FAIL" { "FAIL: a test or a benchmark failed" } else { text };
            self.leave_out(number, text);
        }
    }

    fn panicked(&mut self, number: usize, text: &str) {
        self.leave_out(number, text);
        self.results.is_cut_off = true;
        self.is_panicking = true;
    }

    fn finish(mut self) -> Result<Run, DocumentFault> {
        self.results.is_cut_off |= self.processes.iter().any(Process::is_cut_off);
        self.processes.retain(|process| !process.benchmarks.is_empty());
        let processes = std::mem::take(&mut self.processes);
        if let Some(first) = processes.first() {
            self.set_machine(first);
        }
        let mut same: Vec<Process<'a>> = Vec::new();
        for mut process in processes {
            for (number, name) in process.without_result() {
                self.leave_out(number, &format!("{name} has no result"));
            }
            if let Some(other) = same.first().and_then(|first| difference(&process, first)) {
                let package = process.package().unwrap_or("without a package");
                self.results.leave_out(&format!("a process, {package}"), &other);
                continue;
            }
            process.check_counts();
            if let Some(lines) = process.uncertain() {
                let name = lines.benchmark.name;
                self.results.leave_out(name, "without PASS or FAIL, lines may be missing");
            }
            same.push(process);
        }
        for launches in launches(&same) {
            self.add(&launches)?;
        }
        self.results.run()
    }

    fn set_machine(&mut self, process: &Process<'_>) {
        let value = |key| process.config.get(key).copied().unwrap_or_default();
        let isa = match value("goarch") {
            "amd64" => "x86_64",
            "arm64" => "aarch64",
            "386" => "i686",
            other => other,
        };
        let machine = &mut self.results.machine;
        machine.isa = isa.to_owned();
        machine.system = value("goos").to_owned();
        machine.cpu = process.config.get("cpu").map(|cpu| (*cpu).to_owned());
    }

    /// Adds the figures of a benchmark, one for each unit.
    fn add(&mut self, launches: &Launches<'_, 'a>) -> Result<(), DocumentFault> {
        if let Some(failure) = launches.failure() {
            let number = Number::new(launches.benchmark.name, Figure::Latency, "ns", Err(failure));
            return self.results.push(Number { parameters: launches.parameters(None), ..number });
        }
        let shown = launches.shown();
        for fault in launches.lines.iter().filter_map(|lines| lines.fault.as_ref()) {
            self.results.leave_out(&shown, fault);
        }
        let units = launches.units();
        if !units.is_empty() && !units.contains(&TIME) {
            self.results.leave_out(&shown, "no ns/op in it");
        }
        for [unit, other] in [MEMORY, [MEMORY[1], MEMORY[0]]] {
            if units.contains(&unit) && !units.contains(&other) {
                self.results.leave_out(&shown, &format!("{unit} without {other}"));
            }
        }
        let mut missing = None;
        for unit in units {
            match launches.number(unit, self.units.get(unit).copied()) {
                Ok(number) => self.results.push(number)?,
                Err(reason) => self.results.leave_out(&shown, &reason),
            }
            missing = missing.or_else(|| launches.missing(unit));
        }
        if let Some(missing) = missing {
            self.results.leave_out(&shown, &missing);
        }
        Ok(())
    }
}

/// The unit of time in a unit such as `p99-ns`, `ns/req` or `sec/op`.
fn time_in(unit: &str) -> Option<&str> {
    let dividend = unit.split('/').next().unwrap_or(unit);
    match dividend.rsplit('-').next()? {
        "sec" => Some("s"),
        time @ ("ps" | "ns" | "us" | "ms" | "s") => Some(time),
        _ => None,
    }
}

/// Whether Yamba's own export wrote the text.
fn is_own_export(text: &str) -> bool {
    let mut lines = text.lines();
    let is_run = lines.next().is_some_and(|line| line.starts_with("# run "));
    is_run && lines.any(|line| matches!(Line::read(line), Line::Config(PACKAGE, OWN_PACKAGE)))
}

/// One run has one machine and one configuration: figures of others are not comparable with its
/// own. Says how a process differs from the first.
fn difference(process: &Process<'_>, first: &Process<'_>) -> Option<String> {
    let mut shared = process.config.iter().filter(|(key, _)| **key != PACKAGE);
    shared.find_map(|(key, value)| {
        let other = first.config.get(key).filter(|other| *other != value)?;
        Some(format!("its {key} is {value}, and that of the first is {other}"))
    })
}

/// All benchmarks with their lines, in the order of the file.
fn launches<'p, 'a>(processes: &'p [Process<'a>]) -> Vec<Launches<'p, 'a>> {
    let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for process in processes {
        *counts.entry(process.package()).or_default() += 1;
    }
    let mut places = BTreeMap::new();
    let mut all: Vec<Launches<'p, 'a>> = Vec::new();
    for process in processes {
        let package = process.package();
        for lines in &process.benchmarks {
            let benchmark = lines.benchmark;
            let place = *places.entry((package, benchmark)).or_insert(all.len());
            if place == all.len() {
                let processes = counts[&package];
                all.push(Launches { package, benchmark, lines: Vec::new(), processes });
            }
            all[place].lines.push(lines);
        }
    }
    all
}

/// A benchmark in the processes of its package.
struct Launches<'p, 'a> {
    package: Option<&'a str>,
    benchmark: Benchmark<'a>,
    lines: Vec<&'p Lines<'a>>,
    /// Number of processes of the package.
    processes: usize,
}

impl<'p, 'a> Launches<'p, 'a> {
    /// The name for messages.
    fn shown(&self) -> String {
        let processors = self.benchmark.processors.map(|number| format!("-{number}"));
        let package = self.package.map(|package| format!(" of {package}"));
        let name = self.benchmark.name;
        format!("{name}{}{}", processors.unwrap_or_default(), package.unwrap_or_default())
    }

    fn failure(&self) -> Option<(Status, String)> {
        self.lines.iter().find_map(|lines| lines.failure.clone())
    }

    fn good(&self) -> impl Iterator<Item = &&'p Lines<'a>> {
        self.lines.iter().filter(|lines| lines.fault.is_none())
    }

    fn units(&self) -> Vec<&'a str> {
        let mut units: Vec<&str> = Vec::new();
        for unit in self.good().flat_map(|lines| lines.units()) {
            if !units.contains(&unit) {
                units.push(unit);
            }
        }
        units
    }

    /// A process may lack a benchmark, or its lines are damaged.
    fn missing(&self, unit: &str) -> Option<String> {
        let present = self.good().filter(|lines| lines.has(unit)).count();
        let all = self.processes;
        (present < all).then(|| format!("values of {present} of {all} processes"))
    }

    /// The figure with a unit.
    ///
    /// # Errors
    /// If only some lines have the unit.
    fn number(&self, unit: &str, better: Option<Better>) -> Result<Number, String> {
        let values = self.good().map(|lines| lines.values(unit));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let medians: Vec<f64> = values.iter().filter_map(|each| median(each)).collect();
        let samples = values.concat();
        let value = median(&medians).ok_or_else(|| format!("no {unit} in it"))?;
        let mut notes = Vec::new();
        if self.processes > 1 {
            notes.push(note_on_processes(medians.len()));
        } else if samples.len() > 1 {
            notes.push(format!("the median of {} repetitions in one process", samples.len()));
        }
        notes.extend(self.missing(unit));
        let (figure, unit_name) = match (unit, better) {
            (TIME, _) => (Figure::Latency, "ns"),
            ("MB/s", _) => (Figure::Bandwidth, unit),
            (_, Some(Better::Higher)) => (Figure::Rate, unit),
            (_, Some(Better::Lower)) => match time_in(unit) {
                Some(time) => (Figure::Latency, time),
                None => {
                    notes.push(LESS_IS_BETTER.to_owned());
                    (Figure::Value, unit)
                }
            },
            _ => (Figure::Value, unit),
        };
        let counter = (unit != TIME).then_some(unit);
        Ok(Number {
            parameters: self.parameters(counter),
            samples: if samples.len() > 1 { samples } else { Vec::new() },
            launches: if self.processes > 1 { medians } else { Vec::new() },
            notes,
            ..Number::new(self.benchmark.name, figure, unit_name, Ok(value))
        })
    }

    fn parameters(&self, counter: Option<&str>) -> Parameters {
        let processors = self.benchmark.processors.map(|number| ("gomaxprocs", json!(number)));
        let package = self.package.map(|package| (PACKAGE, json!(package)));
        let counter = counter.map(|unit| ("counter", json!(unit)));
        let all = processors.into_iter().chain(package).chain(counter);
        Parameters(all.map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

#[cfg(test)]
mod tests;
