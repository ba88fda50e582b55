//! Run documents that come from elsewhere, and results of other programs: read with bounds, believed in nothing that can be checked.

mod bounded;
mod foreign;
mod google;
mod lmbench;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use yamba_record::{Benchmark, Run, Status, run};

use crate::{Detail, StoreError, plain};

/// Bytes of a document that are read unless a person says otherwise; a run of the whole suite has some 160 million.
pub const LARGEST: u64 = 256 << 20;

/// What is wrong with a document, and how it is mended.
type Fault = (String, Option<&'static str>);

/// The run in a file of at most `largest` bytes, as much of it as `detail` says: a run document, or results of lmbench or Google Benchmark. What has no id, a document of before or
/// another program's results, gets one of the hash of its bytes: the same file is the same run. Whatever it says, it is [from a document](yamba_record::run::Producer::from_document).
///
/// # Errors
/// When the file cannot be read, is too long, or is none of these.
pub fn read(path: &Path, largest: u64, detail: Detail) -> Result<Run, StoreError> {
    let named = |(fault, help): Fault| {
        let error = StoreError::new(format!("{}: {fault}", path.display()));
        match help {
            Some(help) => error.help(help),
            None => error,
        }
    };
    let bytes = bytes(path, largest).map_err(named)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let mut run = run_of(&bytes, &name.to_string_lossy(), detail).map_err(named)?;
    run.producer.from_document = true;
    Ok(run)
}

fn bytes(path: &Path, largest: u64) -> Result<Vec<u8>, Fault> {
    let cannot = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => (
            "there is no such file".to_owned(),
            Some(
                "name a document that is there; without a folder, one of the current folder is meant",
            ),
        ),
        _ => (
            format!("cannot be read: {}", plain(&e)),
            Some("the file must be there, be readable, and lie on a disk that works"),
        ),
    };
    let file = File::open(path).map_err(cannot)?;
    let about = file.metadata().map_err(cannot)?;
    if about.is_dir() {
        return Err((
            "is a folder".to_owned(),
            Some("name the documents in it, as FOLDER/*.json"),
        ));
    }
    let mut bytes = Vec::new();
    if about.len() <= largest {
        let bound = largest.saturating_add(1);
        file.take(bound).read_to_end(&mut bytes).map_err(cannot)?;
    }
    if about.len() > largest || bytes.len() as u64 > largest {
        let told = format!("is longer than {largest} bytes, and was not read");
        return Err((
            told,
            Some(
                "`yamba import --limit SIZE` takes longer ones; one needs several times its length of memory",
            ),
        ));
    }
    Ok(bytes)
}

/// What tells one kind of JSON from another.
#[derive(Deserialize)]
struct Kind {
    schema: Option<String>,
    context: Option<IgnoredAny>,
    benchmarks: Option<IgnoredAny>,
}

fn run_of(bytes: &[u8], name: &str, detail: Detail) -> Result<Run, Fault> {
    let mut run = match lmbench::is_it(bytes) {
        true => lmbench::read(name, &String::from_utf8_lossy(of_others(bytes)?))?,
        false => json(bytes, name, detail)?,
    };
    if detail == Detail::Figures {
        run.benchmarks.iter_mut().for_each(|b| b.samples.clear());
    }
    if run.id.is_empty() {
        run.id = blake3::hash(bytes).to_hex()[..16].to_owned();
    }
    Ok(run)
}

/// Another program's results, which are never so long as a run document may be.
fn of_others(bytes: &[u8]) -> Result<&[u8], Fault> {
    if bytes.len() > foreign::LARGEST {
        let told = format!(
            "is longer than {} bytes, which no results of another program are",
            foreign::LARGEST
        );
        return Err((told, Some("divide it into several files")));
    }
    Ok(bytes)
}

fn json(bytes: &[u8], name: &str, detail: Detail) -> Result<Run, Fault> {
    is_object(bytes)?;
    let kind: Kind = serde_json::from_slice(bytes).map_err(|e| fault(&e, DOCUMENT))?;
    match kind.schema.as_deref() {
        Some(run::SCHEMA) => {}
        Some(other) if other.starts_with("yamba-run/") => {
            let told = format!(
                "its schema is {}, and this version reads {}",
                quoted(other),
                run::SCHEMA
            );
            return Err((told, Some("use the Yamba that wrote it, or a newer one")));
        }
        None if kind.context.is_some() && kind.benchmarks.is_some() => {
            return google::read(name, of_others(bytes)?);
        }
        _ => {
            let told = format!("is no run document: it has no schema {}", run::SCHEMA);
            return Err((told, Some(WRITERS)));
        }
    }
    let run = match detail {
        Detail::Intervals => bounded::read(bytes, DOCUMENT)?,
        _ => bounded::read::<Run<Light>>(bytes, DOCUMENT)?.map(|light| light.0),
    };
    check(&run)?;
    Ok(run)
}

/// A struct of serde's may be written as a list, a document not.
fn is_object(bytes: &[u8]) -> Result<(), Fault> {
    let found = match bytes.trim_ascii_start().first() {
        None => return Err(("is empty".to_owned(), Some(WRITERS))),
        Some(b'[') => "a list",
        Some(b'"') => "a text",
        Some(b'0'..=b'9' | b'-') => "a number",
        Some(b't' | b'f' | b'n') => "a single word",
        Some(_) => return Ok(()),
    };
    serde_json::from_slice::<IgnoredAny>(bytes).map_err(|e| fault(&e, DOCUMENT))?;
    let told = format!(
        "is no run document: it is {found}, and a document is an object with the schema {}",
        run::SCHEMA
    );
    Err((told, Some(WRITERS)))
}

/// An entry whose raw intervals, which are nearly all of a document, are forgotten as soon as they are read.
#[derive(Deserialize)]
#[serde(from = "Benchmark")]
struct Light(Benchmark);

impl From<Benchmark> for Light {
    fn from(mut entry: Benchmark) -> Light {
        entry.intervals = Vec::new();
        entry.sizing = Vec::new();
        Light(entry)
    }
}

/// What writes run documents.
const WRITERS: &str = "`yamba run --json` and `yamba export --format json` write run documents";

/// What our own documents are called in a message.
const DOCUMENT: &str = "run document";

/// What is wrong with the JSON of something that should be a `kind`.
fn fault(error: &serde_json::Error, kind: &str) -> Fault {
    match error.classify() {
        serde_json::error::Category::Eof => (
            format!(
                "ends too early, at line {} column {}",
                error.line(),
                error.column()
            ),
            Some("it was cut short; get it anew"),
        ),
        serde_json::error::Category::Data => (
            format!("is no {kind}: {error}"),
            Some("it was changed by hand or is damaged; get it anew"),
        ),
        _ => (
            format!("is no JSON: {error}"),
            Some("taken are run documents, JSON of Google Benchmark and result files of lmbench"),
        ),
    }
}

/// What the form alone does not tell.
fn check(run: &Run) -> Result<(), Fault> {
    let is_id =
        |id: &str| id.len() == 16 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !run.id.is_empty() && !is_id(&run.id) {
        let told = format!(
            "its id {} is not sixteen hexadecimal digits",
            quoted(&run.id)
        );
        return Err((
            told,
            Some("take the id out of the document: the run then gets one of the hash of its bytes"),
        ));
    }
    for (place, entry) in run.benchmarks.iter().enumerate() {
        let status = entry.status == Status::Ok;
        if entry.valid != status || (status && entry.median.is_none()) {
            let told = format!(
                "benchmarks[{place}], {}: `status`, `valid` and `median` contradict each other",
                quoted(&entry.name)
            );
            return Err((
                told,
                Some("no version of Yamba writes that; get the document anew"),
            ));
        }
    }
    Ok(())
}

/// The beginning of a text, without what would act on a terminal.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    format!("{short:?}")
}

#[cfg(test)]
mod others;
#[cfg(test)]
mod tests;
