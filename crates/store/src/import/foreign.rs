//! Conversion of other programs' results to a run: single numbers, marked as imported.
//!
//! Such a figure has no launches, no raw batches and no confidence interval, so that code that needs them does not treat it as measured by Yamba.

use std::collections::BTreeMap;

use yamba_record::machine::Machine;
use yamba_record::run::{Imported, Producer, Provenance, SourceFile};
use yamba_record::{Benchmark, Parameters, Run, Status};

use super::DocumentFault;

/// Maximum number of figures per file. Each takes about a hundred times the memory of its line.
const MOST_FIGURES: usize = 50_000;

/// Maximum number of listed positions that were left out.
const MOST_LEFT_OUT: usize = 100;

/// Maximum length of a name in characters.
const LONGEST_NAME: usize = 200;

/// Maximum file size in bytes. Files that these programs write have about a hundredth of it.
pub(super) const LARGEST: usize = 16 << 20;

/// The quantity of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// A time, in its unit.
    Latency,
    /// A bandwidth in bytes per second.
    Bandwidth,
    /// Any other quantity.
    Value,
}

/// A number of another program.
pub(super) struct Number {
    pub(super) name: String,
    pub(super) parameters: Parameters,
    pub(super) figure: Figure,
    pub(super) unit: String,
    /// The number, or the status and reason without one.
    pub(super) value: Result<f64, (Status, String)>,
    /// The repetitions behind the number, if the file has them.
    pub(super) samples: Vec<f64>,
    pub(super) notes: Vec<String>,
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
            left_out: Vec::new(),
            left_out_unnamed: 0,
        }
    }

    /// Adds a figure.
    ///
    /// # Errors
    /// If there are more than [`MOST_FIGURES`].
    pub(super) fn push(&mut self, number: Number) -> Result<(), DocumentFault> {
        if self.numbers.len() == MOST_FIGURES {
            let message = format!("has more than {MOST_FIGURES} figures");
            return Err((message, Some("divide it into several files")));
        }
        self.numbers.push(number);
        Ok(())
    }

    /// Records that the text at `place` is not a known figure.
    pub(super) fn leave_out(&mut self, place: &str, text: &str) {
        if self.left_out.len() < MOST_LEFT_OUT {
            self.left_out
                .push(format!("{place}: {}", short(text.trim())));
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
            let message = format!("holds no figure of the form {}", self.form);
            return Err((message, Some("is the file whole?")));
        }
        if self.left_out_unnamed > 0 {
            let more = format!("and {} more", self.left_out_unnamed);
            self.left_out.push(more);
        }
        let (name, text) = self.source;
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let mut run = Run::new(self.machine);
        let file = SourceFile {
            path: name,
            hash: hash.clone(),
        };
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
    let mut notes = number.notes;
    let (status, median) = match number.value {
        Ok(value) if number.figure != Figure::Value && value <= 0.0 => {
            let message = format!("{value} {}: nothing takes no time", number.unit);
            notes.insert(0, message);
            (Status::Invalid, Some(value))
        }
        Ok(value) => (Status::Ok, Some(value)),
        Err((status, reason)) => {
            notes.insert(0, reason);
            (status, None)
        }
    };
    let figure = match number.figure {
        Figure::Latency => "latency",
        Figure::Bandwidth => "bandwidth",
        Figure::Value => "value",
    };
    Benchmark {
        parameters: number.parameters,
        valid: status == Status::Ok,
        unit: Some(number.unit),
        median,
        samples: number.samples,
        figure: Some(figure.to_owned()),
        provenance: Provenance {
            files: vec![file.clone()],
            ..Provenance::default()
        },
        ..Benchmark::ended(&short(&number.name), status, notes)
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
