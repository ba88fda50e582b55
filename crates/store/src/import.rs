//! Reads run documents and results of other programs. Sizes are bounded, and everything that can be checked is checked.

mod foreign;
mod google;
mod kind;
mod lmbench;
mod text;

use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use yamba_record::{Benchmark, Run, Status, run};

use crate::{Detail, PackedEntry, StoreError};
use kind::Kind;
use text::Text;

/// Default limit for the size of a document in bytes. A run of the whole suite has about 160 million.
pub const LARGEST: u64 = 256 << 20;

/// The fault of a document, and its fix.
type Fault = (String, Option<&'static str>);

/// Reads a run document, or results of lmbench or Google Benchmark, of at most `largest` bytes, with the parts for `detail`. A run without an id, as in an older document or
/// another program's results, gets an id from the hash of its bytes: the same file is the same run. The run is always marked as [from a document](yamba_record::run::Producer::from_document).
///
/// # Errors
/// If the file cannot be read, is too long, or has another format.
pub fn read(path: &Path, largest: u64, detail: Detail) -> Result<Run, StoreError> {
    match detail {
        Detail::Intervals => Ok(read_as(path, largest)?.0),
        Detail::Samples => Ok(read_as::<Light>(path, largest)?.0.map(|light| light.0)),
        Detail::Figures => Ok(read_as::<Light>(path, largest)?.0.map(|mut light| {
            light.0.samples = Vec::new();
            light.0
        })),
    }
}

/// Like [`read`], with entries in their stored form, and the number of bytes read. At most one entry at a time is in memory in full.
///
/// # Errors
/// Those of [`read`].
pub fn read_packed(path: &Path, largest: u64) -> Result<(Run<PackedEntry>, u64), StoreError> {
    read_as(path, largest)
}

fn read_as<E: From<Benchmark>>(path: &Path, largest: u64) -> Result<(Run<E>, u64), StoreError> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let read = Text::open(path, largest).and_then(|text| {
        let run = run_of(&text, &name.to_string_lossy())?;
        Ok((run, text.length))
    });
    let (mut run, length) = read.map_err(|(fault, help)| {
        let error = StoreError::new(format!("{}: {fault}", path.display()));
        match help {
            Some(help) => error.help(help),
            None => error,
        }
    })?;
    run.producer.from_document = true;
    Ok((run, length))
}

fn run_of<E: From<Benchmark>>(text: &Text, name: &str) -> Result<Run<E>, Fault> {
    let mut run = if lmbench::is_it(&text.head(lmbench::SEARCHED)?) {
        lmbench::read(name, &String::from_utf8_lossy(&of_others(text)?))?.map(E::from)
    } else {
        json(text, name)?
    };
    if run.id.is_empty() {
        run.id = text.id()?;
    }
    Ok(run)
}

/// The content of another program's results, which have a lower limit than run documents.
fn of_others(text: &Text) -> Result<Vec<u8>, Fault> {
    if text.length > foreign::LARGEST as u64 {
        let message = format!(
            "is longer than {} bytes, which no results of another program are",
            foreign::LARGEST
        );
        return Err((message, Some("divide it into several files")));
    }
    text.head(foreign::LARGEST)
}

fn json<E: From<Benchmark>>(text: &Text, name: &str) -> Result<Run<E>, Fault> {
    is_object(text)?;
    let kind = Kind::of(text.read()?).map_err(|e| fault(&e, DOCUMENT))?;
    match kind.schema.as_deref() {
        Some(run::SCHEMA) => {}
        Some(other) if other.starts_with("yamba-run/") => {
            let message = format!(
                "its schema is {}, and this version reads {}",
                quoted(other),
                run::SCHEMA
            );
            return Err((message, Some("use the Yamba that wrote it, or a newer one")));
        }
        None if kind.has_context && kind.has_benchmarks => {
            return Ok(google::read(name, &of_others(text)?)?.map(E::from));
        }
        _ => {
            let message = format!("is no run document: it has no schema {}", run::SCHEMA);
            return Err((message, Some(WRITERS)));
        }
    }
    let run: Run<Checked<E>> =
        serde_json::from_reader(text.read()?).map_err(|e| fault(&e, DOCUMENT))?;
    check(&run)?;
    Ok(run.map(|checked| checked.entry))
}

/// Rejects JSON other than an object. Serde would accept a list for a struct.
fn is_object(text: &Text) -> Result<(), Fault> {
    let found = match text.first_byte_of_content()? {
        None => return Err(("is empty".to_owned(), Some(WRITERS))),
        Some(b'[') => "a list",
        Some(b'"') => "a text",
        Some(b'0'..=b'9' | b'-') => "a number",
        Some(b't' | b'f' | b'n') => "a single word",
        Some(_) => return Ok(()),
    };
    serde_json::from_reader::<_, IgnoredAny>(text.read()?).map_err(|e| fault(&e, DOCUMENT))?;
    let message = format!(
        "is no run document: it is {found}, and a document is an object with the schema {}",
        run::SCHEMA
    );
    Err((message, Some(WRITERS)))
}

/// An entry without raw intervals, which are nearly all of a document. They are dropped as soon as they are read.
struct Light(Benchmark);

impl From<Benchmark> for Light {
    fn from(mut entry: Benchmark) -> Light {
        entry.intervals = Vec::new();
        entry.sizing = Vec::new();
        Light(entry)
    }
}

/// An entry converted to form `E` as soon as it is read, with its name if it contradicts itself.
#[derive(Deserialize)]
#[serde(from = "Benchmark", bound = "E: From<Benchmark>")]
struct Checked<E> {
    entry: E,
    contradicting: Option<String>,
}

impl<E: From<Benchmark>> From<Benchmark> for Checked<E> {
    fn from(entry: Benchmark) -> Checked<E> {
        let is_good = entry.status == Status::Ok;
        let contradicts = entry.valid != is_good || (is_good && entry.median.is_none());
        Checked {
            contradicting: contradicts.then(|| entry.name.clone()),
            entry: E::from(entry),
        }
    }
}

/// The fix for a file that is not a run document.
const WRITERS: &str = "`yamba run --json` and `yamba export --format json` write run documents";

/// Name of run documents in messages.
const DOCUMENT: &str = "run document";

/// The fault and fix for invalid JSON of format `kind`.
fn fault(error: &serde_json::Error, kind: &str) -> Fault {
    match error.classify() {
        serde_json::error::Category::Eof => (
            format!(
                "ends too early, at line {} column {}",
                error.line(),
                error.column()
            ),
            Some("it was cut short; get it again"),
        ),
        serde_json::error::Category::Io => (
            format!("cannot be read: {error}"),
            Some("the file must stay there, and lie on a disk that works"),
        ),
        serde_json::error::Category::Data => (
            format!("is no {kind}: {error}"),
            Some("it was changed by hand or is damaged; get it again"),
        ),
        serde_json::error::Category::Syntax => (
            format!("is no JSON: {error}"),
            Some("taken are run documents, JSON of Google Benchmark and result files of lmbench"),
        ),
    }
}

/// Checks rules that the types do not express.
fn check<E>(run: &Run<Checked<E>>) -> Result<(), Fault> {
    let is_id =
        |id: &str| id.len() == 16 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !run.id.is_empty() && !is_id(&run.id) {
        let message = format!(
            "its id {} is not sixteen hexadecimal digits",
            quoted(&run.id)
        );
        return Err((
            message,
            Some("take the id out of the document: the run then gets one of the hash of its bytes"),
        ));
    }
    for (place, entry) in run.benchmarks.iter().enumerate() {
        if let Some(name) = &entry.contradicting {
            let message = format!(
                "benchmarks[{place}], {}: `status`, `valid` and `median` contradict each other",
                quoted(name)
            );
            return Err((
                message,
                Some("no version of Yamba writes that; get the document again"),
            ));
        }
    }
    Ok(())
}

/// The beginning of a text, with control characters escaped.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    format!("{short:?}")
}

#[cfg(test)]
mod others;
#[cfg(test)]
mod tests;
