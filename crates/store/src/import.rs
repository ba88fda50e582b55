//! Reads run documents and results of other programs. Sizes are bounded, and everything that can be
//! checked is checked.

mod catch2;
mod contradiction;
mod criterion;
mod divan;
mod foreign;
mod go;
mod google;
mod hyperfine;
mod jmh;
mod kbench;
mod lmbench;
mod members;
mod nanobench;
mod pyperf;
mod pytest_benchmark;
mod results_list;
mod sel4bench;
mod text;
mod words;

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use yamba_record::{Benchmark, Machine, Records, Run, RunHead, document, run};

use crate::{Detail, StoreError};

pub use foreign::LONGEST_NAME;
pub use go::LESS_IS_BETTER;

/// Default limit for the size of a document in bytes. A run of the whole suite has about 160
/// million.
pub const LARGEST: u64 = 256 << 20;

/// Schema of an application's vector. A file of it becomes a run with the vector, of an unknown
/// machine.
const VECTOR: &str = "yamba-vector/1";

/// The byte order mark that some programs write before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A form of text: its name, whether the beginning of a file has its lines, and its reader, which
/// takes the name of the file and its text.
struct TextForm {
    name: &'static str,
    is_it: fn(&str) -> bool,
    read: fn(&str, &str) -> Result<Run, DocumentFault>,
}

/// The forms of text besides that of lmbench.
const TEXT_FORMS: [TextForm; 5] = [
    TextForm { name: "Go's benchmarks", is_it: go::is_it, read: go::read },
    TextForm {
        name: "nanobench's table",
        is_it: nanobench::table::is_it,
        read: nanobench::table::read,
    },
    TextForm { name: "divan's table", is_it: divan::is_it, read: divan::read },
    TextForm { name: "Kanata Bench's table", is_it: kbench::is_it, read: kbench::read },
    TextForm { name: "sel4bench's log", is_it: sel4bench::is_log, read: sel4bench::read_log },
];

/// The fault of a document, and its fix.
type DocumentFault = (String, Option<&'static str>);

/// Reads a run document, a vector, or a file or folder with results of another program, of at most
/// `largest` bytes, with the parts for `detail`. A run without an id, as in an older document
/// or another program's results, gets an id from the hash of its bytes: the same file is the same
/// run. The run is always marked as [from a document](yamba_record::run::Producer::from_document).
///
/// # Errors
/// If the file cannot be read, is too long, or has another format.
pub fn read(path: &Path, largest: u64, detail: Detail) -> Result<Run, StoreError> {
    Ok(read_with_length(path, largest, detail)?.0)
}

/// Like [`read`], with the number of bytes read.
///
/// # Errors
/// Those of [`read`].
pub fn read_with_length(
    path: &Path,
    largest: u64,
    detail: Detail,
) -> Result<(Run, u64), StoreError> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let read = if path.is_dir() {
        folder(path, &name, largest, detail)
    } else {
        text::read(path, largest).and_then(|bytes| {
            let run = run_of(&bytes, &name, detail)?;
            Ok((run, bytes.len() as u64))
        })
    };
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

/// Reads a folder of criterion. Its files are hashed in order.
fn folder(
    path: &Path,
    name: &str,
    largest: u64,
    detail: Detail,
) -> Result<(Run, u64), DocumentFault> {
    let (files, length) = criterion::find(path, largest.min(foreign::LARGEST as u64))?;
    if files.is_empty() {
        return Err((
            "is a folder".to_owned(),
            Some("name the documents in it, as FOLDER/*.json; of criterion, name target/criterion"),
        ));
    }
    let mut run = reduced(criterion::read(name, &files)?, detail);
    let mut hash = blake3::Hasher::new();
    for file in &files {
        for text in [&Some(file.place.clone()), &file.benchmark, &file.sample, &file.estimates] {
            hash.update(text.as_deref().unwrap_or_default().as_bytes()).update(&[0]);
        }
    }
    run.id = hash.finalize().to_hex()[..16].to_owned();
    Ok((run, length))
}

fn run_of(bytes: &[u8], name: &str, detail: Detail) -> Result<Run, DocumentFault> {
    let content = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let start = &content[..content.len().min(lmbench::SEARCHED)];
    let mut run = if lmbench::is_it(start) {
        let run = lmbench::read(name, &String::from_utf8_lossy(foreign_results(content)?))?;
        reduced(run, detail)
    } else if lmbench::is_summary(start) {
        return Err((
            "is a summary of lmbench, whose figures are rounded".to_owned(),
            Some("import the results that it summarises: results/SYSTEM/HOST.0"),
        ));
    } else if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return Err((
            "is text in UTF-16".to_owned(),
            Some(
                "convert it to UTF-8: `iconv -f UTF-16 -t UTF-8`; in PowerShell, `Out-File -Encoding utf8` writes it",
            ),
        ));
    } else if catch2::is_it(start) {
        let text = str::from_utf8(foreign_results(content)?).map_err(|e| no_json(&e))?;
        reduced(catch2::read(name, text)?, detail)
    } else if let Some(form) = text_form(start)? {
        reduced((form.read)(name, &String::from_utf8_lossy(foreign_results(content)?))?, detail)
    } else {
        let text = str::from_utf8(content).map_err(|e| no_json(&e))?;
        match own_document(text, detail)? {
            Some(run) => run,
            None => reduced(json(text, name)?, detail),
        }
    };
    if run.id.is_empty() {
        run.id = blake3::hash(bytes).to_hex()[..16].to_owned();
    }
    Ok(run)
}

/// The form of a text by its lines. `None`: another form.
fn text_form(start: &[u8]) -> Result<Option<&'static TextForm>, DocumentFault> {
    let start = String::from_utf8_lossy(start);
    let mut forms = TEXT_FORMS.iter().filter(|form| (form.is_it)(&start));
    match (forms.next(), forms.next()) {
        (Some(one), Some(other)) => {
            let message = format!("has lines of {} and of {}", one.name, other.name);
            Err((message, Some("import the output of each in a file of its own")))
        }
        (form, _) => Ok(form),
    }
}

/// Checks the lower limit for results of other programs.
fn foreign_results(bytes: &[u8]) -> Result<&[u8], DocumentFault> {
    if bytes.len() > foreign::LARGEST {
        let message = format!(
            "is longer than {} bytes, which no results of another program are",
            foreign::LARGEST
        );
        return Err((message, Some("divide it into several files")));
    }
    Ok(bytes)
}

/// The keys by which JSON documents are distinguished.
#[derive(Deserialize)]
struct DocumentKind {
    schema: Option<String>,
    context: Option<IgnoredAny>,
    benchmarks: Option<IgnoredAny>,
    results: Option<IgnoredAny>,
    machine_info: Option<IgnoredAny>,
}

/// Reads a run document. `None` if the text has another schema.
fn own_document(text: &str, detail: Detail) -> Result<Option<Run>, DocumentFault> {
    if jmh::is_it(text) || sel4bench::is_it(text) {
        return Ok(None);
    }
    is_object(text)?;
    if !text.contains(&format!("\"{}\"", run::SCHEMA)) {
        return Ok(None);
    }
    let mut benchmarks = Vec::new();
    let mut contradicting = None;
    let mut take = |mut entry: Benchmark| {
        if contradicting.is_none() {
            contradicting = contradiction::find(&entry)
                .map(|fault| contradiction::message(benchmarks.len(), &entry.name, &fault));
        }
        reduce(&mut entry, detail);
        benchmarks.push(entry);
    };
    let head = document::read_entries(text, &mut take).map_err(|e| fault(&e, DOCUMENT))?;
    if head.schema != run::SCHEMA {
        return Ok(None);
    }
    check(&head, contradicting)?;
    Ok(Some(Run { head, benchmarks }))
}

/// Reads a vector, or results of another program.
fn json(text: &str, name: &str) -> Result<Run, DocumentFault> {
    if jmh::is_it(text) {
        foreign_results(text.as_bytes())?;
        return jmh::read(name, text);
    }
    if sel4bench::is_it(text) {
        foreign_results(text.as_bytes())?;
        return sel4bench::read(name, text);
    }
    let text = &*readable(text);
    let kind: DocumentKind = serde_json::from_str(text).map_err(|e| fault(&e, DOCUMENT))?;
    match kind.schema.as_deref() {
        Some(VECTOR) => {
            let vector = serde_json::from_str(text).map_err(|e| fault(&e, "vector"))?;
            Ok(Run::with_vector(Machine::default(), vector))
        }
        Some(other) if other.starts_with("yamba-run/") => {
            let message =
                format!("its schema is {}, and this version reads {}", quoted(other), run::SCHEMA);
            Err((message, Some("use the Yamba that wrote it, or a newer one")))
        }
        Some(other) if other.starts_with("yamba-capture/") => {
            let message = "is the capture of a bundle, but comes through a pipe or was reformatted";
            Err((message.to_owned(), Some("give the file with what the bundle printed")))
        }
        None if kind.context.is_some() && kind.benchmarks.is_some() => {
            foreign_results(text.as_bytes())?;
            google::read(name, text)
        }
        None if kind.machine_info.is_some() && kind.benchmarks.is_some() => {
            foreign_results(text.as_bytes())?;
            pytest_benchmark::read(name, text)
        }
        None if kind.benchmarks.is_some() && text.contains("\"runs\"") => {
            foreign_results(text.as_bytes())?;
            pyperf::read(name, text)
        }
        None if kind.results.is_some() && text.contains(nanobench::MEDIAN) => {
            foreign_results(text.as_bytes())?;
            nanobench::read(name, text)
        }
        None if kind.results.is_some() && text.contains("\"command\"") => {
            foreign_results(text.as_bytes())?;
            hyperfine::read(name, text)
        }
        _ => {
            let message = format!("is no run document: it has no schema {}", run::SCHEMA);
            Err((message, Some(WRITERS)))
        }
    }
}

/// The text as JSON: Google Benchmark, nanobench and Python write `NaN` and
/// `Infinity`. Other texts stay as they are.
fn readable(text: &str) -> Cow<'_, str> {
    let has = |name: &str| text.contains(&format!("\"{name}\""));
    let may_have = has("benchmarks") && (has("context") || has("machine_info"));
    if may_have || has(nanobench::MEDIAN) {
        members::with_quoted_non_numbers(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// Rejects JSON other than an object. Serde would accept a list for a struct.
fn is_object(text: &str) -> Result<(), DocumentFault> {
    let found = match text.trim_start().bytes().next() {
        None => return Err(("is empty".to_owned(), Some(WRITERS))),
        Some(b'[') => "a list",
        Some(b'"') => "a text",
        Some(b'0'..=b'9' | b'-') => "a number",
        Some(b't' | b'f' | b'n') => "a single word",
        Some(_) => return Ok(()),
    };
    serde_json::from_str::<IgnoredAny>(text).map_err(|e| fault(&e, DOCUMENT))?;
    let message = format!(
        "is no run document: it is {found}, and a document is an object with the schema {}",
        run::SCHEMA
    );
    Err((message, Some(WRITERS)))
}

/// The run without the parts of its entries that `detail` does not include.
fn reduced(mut run: Run, detail: Detail) -> Run {
    run.benchmarks.iter_mut().for_each(|entry| reduce(entry, detail));
    run
}

/// Drops the parts of an entry that `detail` does not include. The records are nearly all of a
/// document: they are packed or dropped as soon as they are read.
fn reduce(entry: &mut Benchmark, detail: Detail) {
    match detail {
        Detail::Batches => entry.records.pack(),
        Detail::Samples => entry.records = Records::default(),
        Detail::Figures => {
            entry.records = Records::default();
            entry.details.samples = Vec::new();
        }
    }
}

/// The fix for a file that is not a run document.
const WRITERS: &str = "`yamba run --json` and `yamba export --format json` write run documents; of other programs, results of lmbench, output of Go's benchmarks, nanobench, divan and Kanata Bench, and JSON of Google Benchmark, JMH, hyperfine, pytest-benchmark, pyperf, nanobench and sel4bench, XML of Catch2, and folders of criterion are read";

/// Name of run documents in messages.
const DOCUMENT: &str = "run document";

/// The fault and fix for invalid JSON of format `kind`.
fn fault(error: &serde_json::Error, kind: &str) -> DocumentFault {
    if error.is_eof() {
        let (line, column) = (error.line(), error.column());
        (
            format!("ends too early, at line {line} column {column}"),
            Some("it was cut short; get it again"),
        )
    } else if error.is_data() {
        (
            format!("is no {kind}: {error}"),
            Some("it was changed by hand or is damaged; get it again"),
        )
    } else {
        no_json(error)
    }
}

fn no_json(error: &dyn std::error::Error) -> DocumentFault {
    (
        format!("is no JSON: {error}"),
        Some(
            "read are run documents, result files of lmbench, output of Go's benchmarks, nanobench, divan and Kanata Bench, and JSON of Google Benchmark, JMH, hyperfine, pytest-benchmark, pyperf, nanobench and sel4bench, XML of Catch2, and folders of criterion",
        ),
    )
}

/// Checks rules that the types do not express. `contradicting` is the message about the first entry
/// that contradicts itself.
fn check(run: &RunHead, contradicting: Option<String>) -> Result<(), DocumentFault> {
    let is_id =
        |id: &str| id.len() == 16 && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !run.id.is_empty() && !is_id(&run.id) {
        let message = format!("its id {} is not sixteen hexadecimal digits", quoted(&run.id));
        return Err((
            message,
            Some("take the id out of the document: the run then gets one of the hash of its bytes"),
        ));
    }
    if let Some(message) = contradicting {
        return Err((message, Some("no version of Yamba writes that; get the document again")));
    }
    Ok(())
}

/// The beginning of a text, with control characters escaped.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    format!("{short:?}")
}

#[cfg(test)]
mod cases;
#[cfg(test)]
mod mutated;
#[cfg(test)]
mod others;
#[cfg(test)]
mod tests;
