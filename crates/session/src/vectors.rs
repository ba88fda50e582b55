//! Application vectors: in files, and in the store, where each is a run without benchmarks.

use std::io::ErrorKind;
use std::path::Path;

use yamba_harness::{drawn_id, unix_s};
use yamba_predict::Vector;
use yamba_record::Machine;
use yamba_record::run::{Producer, Run, RunHead};
use yamba_store::{Detail, import, inputs};

use super::{Failure, Observer, StoreChoice, run_ref};

/// The origin of a new vector.
pub struct Origin {
    /// The machine of the trace; `Machine::default()` if it is unknown.
    pub machine: Machine,
    /// Start of the trace, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// The arguments of this program, for the record.
    pub arguments: Vec<String>,
}

/// Stores a vector and returns the id of its run. If the store fails, the document of the run goes
/// to a file, of which the observer is warned; then there is no id.
///
/// # Errors
/// If a fault has no message of its own.
pub fn keep(
    vector: &Vector,
    origin: Origin,
    store: &StoreChoice,
    observer: &dyn Observer,
) -> Result<Option<String>, Failure> {
    let document = serde_json::to_value(vector).map_err(Failure::ours)?;
    let mut run = Run::with_vector(origin.machine, document);
    run.id = drawn_id();
    run.started_unix_s = origin.started_unix_s;
    run.finished_unix_s = unix_s();
    run.producer = Producer {
        version: concat!("yamba ", env!("CARGO_PKG_VERSION")).to_owned(),
        arguments: origin.arguments,
        ..Producer::default()
    };
    let is_stored = store.keep(&run, observer)?;
    Ok(is_stored.then_some(run.head.id))
}

/// Reads the vector that `reference` names: a file with a vector or with the document of a run that
/// holds one, or a stored vector by its application, tag, id, `latest-vector` or `latest-vector~N`.
///
/// # Errors
/// If there is no such vector, or it is no valid one.
pub fn load(reference: &Path, store: &StoreChoice) -> Result<Vector, Failure> {
    let place = reference.display().to_string();
    if let Some(name) = reference.to_str().filter(|name| !is_path(name)) {
        return stored(name, store);
    }
    inputs::add(reference);
    let text = match std::fs::read_to_string(reference) {
        Ok(text) => text,
        // The traced program itself may lie here under the name of the application.
        Err(e) if e.kind() == ErrorKind::InvalidData => {
            return stored(&place, store).map_err(|failure| match failure {
                Failure::Sentence { message, help } => {
                    let message = format!("{place} is no text, so no vector: {message}");
                    Failure::Sentence { message, help }
                }
                other => other,
            });
        }
        Err(e) => {
            return Err(Failure::new(format!("{place}: {e}")).help(
                "name the file of an application's vector, or a stored one: `yamba runs` lists them",
            ));
        }
    };
    if is_of_run(&text) {
        let run = import::read(reference, import::LARGEST, Detail::Figures)?;
        return from_run(&run, &place);
    }
    if is_of_strace(&text) {
        return Err(Failure::new(format!("{place}: it is a log of strace, not a vector"))
            .help(format!("`yamba trace --from {place} -o NAME.vector` makes a vector of it")));
    }
    Vector::read(&text).map_err(|e| faulty(&place, &e))
}

/// Reads a stored vector.
fn stored(name: &str, store: &StoreChoice) -> Result<Vector, Failure> {
    let mut store = store.existing()?;
    let id = store.find_vector(name)?;
    from_run(&store.run(&id, Detail::Figures)?.head, name)
}

/// Whether the text has calls with results as strace shows them, and is no JSON.
fn is_of_strace(text: &str) -> bool {
    let mut lines = text.lines().take(1000);
    !text.trim_start().starts_with(['{', '[']) && lines.any(|line| line.contains(") = "))
}

/// Whether the text is the document of a run.
fn is_of_run(text: &str) -> bool {
    let keys = [format!("\"{}\"", yamba_record::run::SCHEMA), "\"benchmarks\"".to_owned()];
    keys.iter().all(|key| text.contains(key))
}

/// Whether the words mean a file: of the document of a run, or with the usual ending of a vector's
/// file.
fn is_path(reference: &str) -> bool {
    run_ref::is_path(reference) || reference.ends_with(".vector")
}

/// The vector that a run holds. `place` names the run in messages.
///
/// # Errors
/// If it holds none, or no valid one.
pub fn from_run(run: &RunHead, place: &str) -> Result<Vector, Failure> {
    let Some(document) = &run.vector else {
        return Err(Failure::new(format!("{place}: this run holds no application's vector"))
            .help("`yamba trace` counts one; `yamba runs` lists them"));
    };
    Vector::read(&document.to_string()).map_err(|e| faulty(place, &e))
}

fn faulty(place: &str, fault: &str) -> Failure {
    Failure::new(format!("{place}: {fault}"))
        .help("docs/vector.md describes the document `yamba-vector/1`")
}
