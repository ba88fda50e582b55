//! Reads profiles and costs, and says which other file was named in place of one.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;
use yamba_jvm::gc::costs::SCHEMA as COSTS;
use yamba_jvm::gc::demand::SCHEMA as PROFILE;
use yamba_store::inputs;

use crate::Failure;

/// A document with the command that writes it.
struct Form {
    schema: &'static str,
    is: &'static str,
    help: &'static str,
}

const FORMS: [Form; 2] = [
    Form {
        schema: PROFILE,
        is: "a profile",
        help: "`yamba gc predict` takes the file that `yamba gc profile -o FILE -- java ...` writes; it runs the application itself, and reads no log",
    },
    Form {
        schema: COSTS,
        is: "costs",
        help: "--costs takes the file that `yamba gc characterise --json > FILE` writes",
    },
];

/// An earlier version wrote the document.
const OLD: &str = "an earlier version of Yamba may have written it: take it again with `yamba gc profile` or `yamba gc characterise`";

/// The document has a number that no version of Yamba writes.
const CHANGED: &str = "the file was changed or is damaged: take it again with `yamba gc profile` or `yamba gc characterise`";

/// The largest number of bytes, or of ns (30 years). Collections of more bytes could not be
/// simulated.
const MOST: f64 = 1e18;

/// Reads a document with a schema. Sizes, times and counts must be possible ones.
pub(super) fn read<T: DeserializeOwned>(path: &Path, schema: &str) -> Result<T, Failure> {
    let place = path.display();
    let form = FORMS.iter().find(|form| form.schema == schema);
    let form = form.expect("each schema that is read has its form");
    inputs::add(path);
    let bytes = std::fs::read(path).map_err(|e| {
        Failure::new(format!("{place}: {e}")).help("docs/gc.md describes profiles and costs")
    })?;
    let refused = |what: &str| {
        Failure::new(format!("{place}: it is {what}, not {} ({schema})", form.is)).help(form.help)
    };
    let value: Value = serde_json::from_slice(without_mark(&bytes))
        .map_err(|e| refused(&other(&bytes).unwrap_or_else(|| format!("no whole JSON: {e}"))))?;
    if value["schema"] != schema {
        return Err(refused(&other_document(&value)));
    }
    if let Some(fault) = impossible(&value, "") {
        return Err(Failure::new(format!("{place}: {fault}")).help(CHANGED));
    }
    serde_json::from_value(value).map_err(|e| Failure::new(format!("{place}: {e}")).help(OLD))
}

/// The first number that is no size, time, count or share, with its place. `None`: all can be.
fn impossible(value: &Value, place: &str) -> Option<String> {
    let inner =
        |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match value {
        Value::Number(number) => {
            let is_possible = number.as_f64().is_some_and(|n| (0.0..=MOST).contains(&n));
            (!is_possible).then(|| format!("{place}: {number} is not between 0 and {MOST:e}"))
        }
        Value::Array(values) => values
            .iter()
            .zip(0..)
            .find_map(|(value, at)| impossible(value, &format!("{place}[{at}]"))),
        Value::Object(values) => {
            values.iter().find_map(|(key, value)| impossible(value, &inner(key)))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// The text without a byte order mark.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// The kind of a file that is no JSON. `None`: unknown.
fn other(bytes: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
    let has = |words: &[&str]| words.iter().any(|word| start.contains(word));
    let found = if bytes.starts_with(b"\x1f\x8b") {
        "compressed by gzip"
    } else if bytes.starts_with(b"FLR\0") {
        "a recording of JDK Flight Recorder"
    } else if bytes.starts_with(b"JAVA PROFILE") {
        "a heap dump"
    } else if has(&["][gc", "] GC(", "[info][", "Pause Young"]) {
        "a log of a Java virtual machine (-Xlog)"
    } else if has(&["[GC ", "[Full GC", "[ParNew", "[GC-", "CommandLine flags:"]) {
        "a log of a Java virtual machine before JDK 9 (-XX:+PrintGC)"
    } else if has(&["<af-start", "<verbosegc", "<?xml"]) {
        "a log in XML, as OpenJ9 writes it"
    } else {
        return None;
    };
    Some(found.to_owned())
}

/// The kind of another JSON document.
fn other_document(value: &Value) -> String {
    let schema = value["schema"].as_str();
    let known = schema.and_then(|schema| FORMS.iter().find(|form| form.schema == schema));
    match (known, schema) {
        (Some(form), _) => format!("a document of {}", form.is),
        (None, Some(schema)) => format!("a document of the form {schema:?}"),
        (None, None) => "a JSON document without a schema".to_owned(),
    }
}
