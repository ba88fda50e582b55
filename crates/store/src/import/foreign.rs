//! What results of other programs become: single numbers, marked as theirs.
//!
//! Such a figure has no launches, no raw intervals and no interval of confidence, so nothing that asks for them takes it for one of ours.

use std::collections::BTreeMap;

use yamba_record::machine::Machine;
use yamba_record::run::{About, Imported, Producer, SourceFile};
use yamba_record::{Benchmark, Parameters, Run, Status};

use super::Fault;

/// Figures of a file that are taken; each needs some hundred times the memory of the line that it stands in.
const MOST_FIGURES: usize = 50_000;

/// Places of a file that are named where they are left out.
const MOST_LEFT_OUT: usize = 100;

/// Characters of a name that are kept.
const LONGEST_NAME: usize = 200;

/// Bytes of a file that are read; those that such programs write have a hundredth of them.
pub(super) const LARGEST: usize = 16 << 20;

/// What a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// A time, in its unit.
    Latency,
    /// Bytes a second.
    Bandwidth,
    /// Neither.
    Value,
}

/// One number of another program.
pub(super) struct Number {
    pub(super) name: String,
    pub(super) parameters: Parameters,
    pub(super) figure: Figure,
    pub(super) unit: String,
    /// The number; or why there is none.
    pub(super) value: Result<f64, (Status, String)>,
    /// What it was computed from, where that is told.
    pub(super) samples: Vec<f64>,
    pub(super) notes: Vec<String>,
}

/// A run of another program's results.
pub(super) struct Results {
    form: &'static str,
    pub(super) producer: String,
    pub(super) machine: Machine,
    pub(super) started_unix_s: Option<f64>,
    pub(super) is_cut_off: bool,
    /// The results' own text, and what it is called.
    source: (String, String),
    numbers: Vec<Number>,
    left_out: Vec<String>,
    left_out_unnamed: usize,
}

impl Results {
    /// Nothing yet. `name` is what `text`, the results themselves, is called.
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

    /// # Errors
    /// When there are more than [`MOST_FIGURES`].
    pub(super) fn push(&mut self, number: Number) -> Result<(), Fault> {
        if self.numbers.len() == MOST_FIGURES {
            let told = format!("has more than {MOST_FIGURES} figures");
            return Err((told, Some("divide it into several files")));
        }
        self.numbers.push(number);
        Ok(())
    }

    /// Something at `place` that is no figure that is known.
    pub(super) fn leave_out(&mut self, place: &str, text: &str) {
        if self.left_out.len() < MOST_LEFT_OUT {
            self.left_out
                .push(format!("{place}: {}", short(text.trim())));
        } else {
            self.left_out_unnamed += 1;
        }
    }

    /// The run of which they are all.
    ///
    /// # Errors
    /// When there is no figure at all.
    pub(super) fn run(mut self) -> Result<Run, Fault> {
        if self.numbers.is_empty() {
            let told = format!("holds no figure of the form {}", self.form);
            return Err((told, Some("is the file whole?")));
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
            let told = format!("{value} {}: nothing takes no time", number.unit);
            notes.insert(0, told);
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
        about: About {
            files: vec![file.clone()],
            ..About::default()
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
