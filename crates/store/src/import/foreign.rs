//! Conversion of other programs' results to a run: single numbers, marked as imported.
//!
//! Such a figure has no raw batches. It has launches only if the program runs each benchmark in
//! processes of its own, and a confidence interval only if these are several. So code that needs
//! them does not treat it as measured by Yamba.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::circles::Circles;
use yamba_record::entry::Declaration;
use yamba_record::machine::Machine;
use yamba_record::program::Primitive;
use yamba_record::run::{Imported, IntervalScope, Launch, Producer, Provenance, SourceFile};
use yamba_record::{Benchmark, Note, Parameters, Run, Status};
use yamba_stats::{launch_interval, median_interval};

use super::DocumentFault;

/// Maximum number of figures per file. Each takes about a hundred times the memory of its line.
const MOST_FIGURES: usize = 50_000;

/// Maximum number of listed positions that were left out.
const MOST_LEFT_OUT: usize = 100;

/// Maximum length of a name in bytes. PostgreSQL's index of names takes 2704 bytes for a run's id,
/// the name and its row.
pub const LONGEST_NAME: usize = 2000;

/// Maximum length of other texts of the file in characters.
const LONGEST_TEXT: usize = 200;

/// Maximum file size in bytes. Files that these programs write have about a hundredth of it.
pub(super) const LARGEST: usize = 16 << 20;

/// The confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// The quantity of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// A time, in its unit.
    Latency,
    /// A bandwidth in bytes per second.
    Bandwidth,
    /// Operations or items in a time, of which more is better.
    Rate,
    /// Any other quantity.
    Value,
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Figure::Latency => "latency",
            Figure::Bandwidth => "bandwidth",
            Figure::Rate => "rate",
            Figure::Value => "value",
        }
    }

    /// Why no benchmark can have this number.
    fn fault(self, value: f64, unit: &str) -> Option<String> {
        match self {
            Figure::Latency if value <= 0.0 => {
                Some(format!("{value} {unit}: nothing takes no time"))
            }
            Figure::Bandwidth | Figure::Rate if value <= 0.0 => {
                Some(format!("{value} {unit} is not above 0"))
            }
            Figure::Value if value < 0.0 => Some(format!("{value} {unit} is below 0")),
            _ => None,
        }
    }
}

/// A number of another program.
pub(super) struct Number {
    pub(super) name: String,
    pub(super) parameters: Parameters,
    pub(super) threads: u64,
    pub(super) figure: Figure,
    pub(super) unit: String,
    /// The number, or the status and reason without one.
    pub(super) value: Result<f64, (Status, String)>,
    /// The repetitions behind the number, if the file has them.
    pub(super) samples: Vec<f64>,
    /// Whether the figure of a launch is the mean of its samples instead of their median.
    pub(super) is_mean: bool,
    /// The figures of the processes that measured it one after another, if the file has them.
    pub(super) launches: Vec<f64>,
    /// The tests of a measuring circle, with the inferred latency of one circle.
    pub(super) circles: Option<Circles>,
    pub(super) primitive: Option<Primitive>,
    pub(super) notes: Vec<String>,
}

impl Number {
    /// A number of one thread, without parameters.
    pub(super) fn new(
        name: &str,
        figure: Figure,
        unit: &str,
        value: Result<f64, (Status, String)>,
    ) -> Number {
        Number {
            name: name.to_owned(),
            parameters: Parameters::default(),
            threads: 1,
            figure,
            unit: unit.to_owned(),
            value,
            samples: Vec::new(),
            is_mean: false,
            launches: Vec::new(),
            circles: None,
            primitive: None,
            notes: Vec::new(),
        }
    }

    /// The interval of `value`, by the rule for runs of Yamba. From six launches on it is between
    /// them. With fewer, it is that of all their samples, and covers these launches alone. A
    /// program that ran the benchmark once gives one number.
    fn interval(&self, value: f64) -> Option<([f64; 2], IntervalScope)> {
        if let Some(between) = launch_interval(&self.launches, CONFIDENCE) {
            return Some(([between.low, between.high], IntervalScope::BetweenLaunches));
        }
        if self.launches.len() < 2 || self.is_mean {
            return None;
        }
        let within = median_interval(&self.samples, CONFIDENCE)?;
        // The median of all samples differs a little from the median of the launches' medians.
        let ends = [within.low.min(value), within.high.max(value)];
        (within.coverage >= CONFIDENCE).then_some((ends, IntervalScope::WithinLaunches))
    }

    /// The parameters that distinguish it from others of the file.
    fn key(&self) -> String {
        let mut parameters = self.parameters.0.clone();
        parameters.sort_by(|(a, _), (b, _)| a.cmp(b));
        format!("{} {} {}", bounded(&self.name), Parameters(parameters), self.threads)
    }
}

/// Collects the figures of a file of another program.
pub(super) struct Results {
    form: &'static str,
    pub(super) producer: String,
    pub(super) machine: Machine,
    pub(super) started_unix_s: Option<f64>,
    pub(super) is_cut_off: bool,
    /// Name and text of the file.
    source: (String, String),
    numbers: Vec<Number>,
    keys: BTreeSet<String>,
    left_out: Vec<String>,
    left_out_unnamed: usize,
}

impl Results {
    /// An empty collection. `name` and `text` are those of the file.
    pub(super) fn new(form: &'static str, name: &str, text: String) -> Results {
        Results {
            form,
            producer: form.to_owned(),
            machine: Machine::default(),
            started_unix_s: None,
            is_cut_off: false,
            source: (name.to_owned(), text),
            numbers: Vec::new(),
            keys: BTreeSet::new(),
            left_out: Vec::new(),
            left_out_unnamed: 0,
        }
    }

    /// Replaces the text that is kept. It must not name the machine or its owner.
    pub(super) fn set_text(&mut self, text: String) {
        self.source.1 = text;
    }

    /// Adds a figure. A second one under the same name is left out.
    ///
    /// # Errors
    /// If there are more than [`MOST_FIGURES`].
    pub(super) fn push(&mut self, number: Number) -> Result<(), DocumentFault> {
        if self.numbers.len() == MOST_FIGURES {
            let message = format!("has more than {MOST_FIGURES} figures");
            return Err((message, Some("divide it into several files")));
        }
        if self.keys.insert(number.key()) {
            self.numbers.push(number);
        } else {
            let name = format!("{} {}", short(&number.name), number.parameters);
            self.leave_out(name.trim_end(), "stands in the file again; the first counts");
        }
        Ok(())
    }

    /// Records that the text at `place` is not a known figure.
    pub(super) fn leave_out(&mut self, place: &str, text: &str) {
        if self.left_out.len() < MOST_LEFT_OUT {
            // A terminal gets no tabs: the numbers between them would become one.
            let text = text.trim().replace('\t', " ");
            self.left_out.push(format!("{place}: {}", short(&text)));
        } else {
            self.left_out_unnamed += 1;
        }
    }

    /// The run of all figures.
    ///
    /// # Errors
    /// If there is no figure.
    pub(super) fn run(mut self) -> Result<Run, DocumentFault> {
        if self.numbers.is_empty() {
            let mut message = format!("holds no figure of the form {}", self.form);
            if let Some(first) = self.left_out.first() {
                message.push_str(&format!("; left out: {first}"));
            }
            return Err((message, Some("is the file whole?")));
        }
        if self.left_out_unnamed > 0 {
            let more = format!("and {} more", self.left_out_unnamed);
            self.left_out.push(more);
        }
        let (name, text) = self.source;
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let mut run = Run::new(self.machine);
        let file = SourceFile { path: name, hash: hash.clone() };
        let numbers = self.numbers.into_iter();
        run.benchmarks = numbers.map(|n| benchmark(n, &file)).collect();
        run.sources = BTreeMap::from([(hash, text)]);
        run.started_unix_s = self.started_unix_s;
        run.interrupted = self.is_cut_off;
        run.producer = Producer {
            version: short(&self.producer),
            imported: Some(Imported {
                form: self.form.to_owned(),
                by: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
                left_out: self.left_out,
            }),
            ..Producer::default()
        };
        Ok(run)
    }
}

fn benchmark(number: Number, file: &SourceFile) -> Benchmark {
    let interval = number.value.as_ref().ok().and_then(|value| number.interval(*value));
    let mut notes = number.notes;
    let (status, median) = match number.value {
        Ok(value) => {
            let all = [value].into_iter().chain(number.samples.iter().copied());
            let faults = all.filter_map(|v| number.figure.fault(v, &number.unit));
            match faults.into_iter().next() {
                Some(fault) => {
                    notes.insert(0, fault);
                    (Status::Invalid, Some(value))
                }
                None => (Status::Ok, Some(value)),
            }
        }
        Err((status, reason)) => {
            notes.insert(0, reason);
            (status, None)
        }
    };
    let notes = notes.into_iter().map(Note::Text).collect();
    let mut benchmark = Benchmark {
        parameters: number.parameters,
        valid: status == Status::Ok,
        unit: Some(number.unit),
        median,
        confidence_interval: interval.map(|(ends, _)| ends),
        interval_scope: interval.map(|(_, scope)| scope),
        launches: number.launches.into_iter().map(launch).collect(),
        ..Benchmark::ended(&bounded(&number.name), status, notes)
    };
    benchmark.details.samples = number.samples;
    benchmark.details.circles = number.circles;
    benchmark.environment.threads = number.threads;
    benchmark.declaration = Declaration {
        primitive: number.primitive,
        figure: Some(number.figure.name().to_owned()),
        provenance: Provenance { files: vec![file.clone()], ..Provenance::default() },
        ..benchmark.declaration
    };
    benchmark
}

/// The refusal of `run`, a run of Yamba that was exported in the form of another program.
pub(super) fn own_export(run: &str, form: &str) -> DocumentFault {
    (
        format!("is {run} of Yamba in the form of {form}, without what shows its errors"),
        Some("import its document instead: `yamba export RUN --format json` writes it"),
    )
}

/// A note on a figure that is the median of the figures of `count` processes.
pub(super) fn note_on_processes(count: usize) -> String {
    match count {
        1 => "the median of one process".to_owned(),
        count => format!("the median of the medians of {count} processes"),
    }
}

fn launch(median: f64) -> Launch {
    Launch { median: Some(median), ..Launch::default() }
}

/// The name. One that is too long is cut, and ends with a hash of all of it: two long names with
/// the same beginning stay two.
fn bounded(name: &str) -> String {
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let hash = blake3::hash(name.as_bytes()).to_hex();
    let end = format!("...{}", &hash[..16]);
    let mut at = LONGEST_NAME - end.len();
    while !name.is_char_boundary(at) {
        at -= 1;
    }
    format!("{}{end}", &name[..at])
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
