//! Tests with invalid documents.

use std::fs;

use serde_json::{Value, json};

use super::*;

fn document() -> Value {
    json!({
        "schema": "yamba-run/1",
        "machine": {"isa": "x86_64", "system": "linux", "kernel": "6.1", "cpu": null, "cpus": 2, "memory": null,
            "page_size": 4096, "root": false, "virtual_machine": null, "scratch": null},
        "benchmarks": [{
            "name": "x", "class": "x", "ports": [], "parameters": {}, "processes": 1, "status": "ok", "valid": true,
            "unit": "ns", "operations": 1.0, "median": 2.5, "confidence_interval": null, "samples": [], "evidence": {}, "notes": [],
        }],
    })
}

fn read_text(text: &str, largest: u64) -> Result<Run, StoreError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    read(file.path(), largest, Detail::Batches)
}

#[track_caller]
fn refused(text: &str, part: &str) {
    let error = read_text(text, LARGEST).unwrap_err().to_string();
    assert!(error.contains(part), "no `{part}` in {error}");
}

#[test]
fn document_without_id_gets_id_from_bytes() {
    let text = document().to_string();
    let id = read_text(&text, LARGEST).unwrap().head.id;
    assert_eq!(id.len(), 16);
    assert_eq!(read_text(&text, LARGEST).unwrap().id, id);
    assert_ne!(read_text(&format!("{text} "), LARGEST).unwrap().id, id);
}

#[test]
fn document_keeps_its_id() {
    let mut document = document();
    document["id"] = json!("00ff00ff00ff00ff");
    let run = read_text(&document.to_string(), LARGEST).unwrap();
    assert_eq!(run.id, "00ff00ff00ff00ff");
}

#[test]
fn malformed_id_is_rejected() {
    for id in ["latest", "../../../../etc", "00FF00FF00FF00FF", "\u{1b}[2J"] {
        let mut document = document();
        document["id"] = json!(id);
        refused(&document.to_string(), "is not sixteen hexadecimal digits");
    }
}

#[test]
fn truncated_document_is_rejected() {
    let text = document().to_string();
    for length in 1..text.len() {
        let error = read_text(&text[..length], LARGEST).unwrap_err().to_string();
        // A number that is cut in its middle gives another fault.
        let is_named =
            error.contains("ends too early, at line 1") || error.contains("invalid number");
        assert!(is_named, "{error}");
    }
}

#[test]
fn deeply_nested_document_is_rejected() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    refused(&deep, "is no");
    let mut text = document().to_string();
    text = text.replace(r#""parameters":{}"#, &format!(r#""parameters":{{"a":{deep}}}"#));
    refused(&text, "recursion limit");
}

#[test]
fn other_json_is_rejected() {
    refused("{}", "it has no schema yamba-run/1");
    refused(r#"{"schema":"yamba-run/2"}"#, r#"its schema is "yamba-run/2""#);
    refused(r#"{ "schema": "yamba-capture/1", "items": [] }"#, "through a pipe or was reformatted");
    refused("[]", "it is a list");
    refused(" [null, null, null]", "it is a list");
    refused("7", "it is a number");
    refused("[1", "ends too early");
    refused("", "is empty");
    refused("PK\u{3}", "is no JSON");
    let mut document = document();
    document["benchmarks"][0]["median"] = json!("fast");
    refused(&document.to_string(), "is no run document");
}

#[test]
fn contradictory_parameter_of_the_hardware_is_rejected() {
    let mut document = document();
    document["benchmarks"][0]["hardware"] = json!([{"name": "l1d.size", "unit": "B", "found": -5.0,
        "interval": [1.0, 2.0], "claimed": null, "reason": null}]);
    refused(&document.to_string(), "the value -5 of l1d.size is below 0");
}

#[test]
fn contradictory_status_is_rejected() {
    for (key, value) in
        [("valid", json!(false)), ("status", json!("invalid")), ("median", json!(null))]
    {
        let mut document = document();
        document["benchmarks"][0][key] = value;
        refused(&document.to_string(), r#"benchmarks[0], "x": `status`, `valid` and `median`"#);
    }
}

#[test]
fn contradictory_figure_is_rejected() {
    let with = |changes: Value| {
        let mut document = document();
        for (key, value) in changes.as_object().unwrap() {
            document["benchmarks"][0][key] = value.clone();
        }
        document.to_string()
    };
    for (changes, part) in [
        (json!({"processes": 0}), "no process or thread"),
        (json!({"threads": 0}), "no process or thread"),
        (json!({"confidence_interval": [3.0, 4.0]}), "its median 2.5 is outside"),
        (json!({"confidence_interval": [4.0, 1.0]}), "[4.0, 1.0]"),
        (json!({"median": 1e300, "confidence_interval": [2.0, 3.0]}), "is outside"),
        (json!({"figure": "latency", "median": -5.0}), "a latency of -5.0 ns is below 0"),
        (json!({"figure": "rate", "median": -5.0}), "a rate of -5.0 ns is below 0"),
        (json!({"figure": "latency", "unit": "furlongs"}), "\"furlongs\" is no unit of a latency"),
        (json!({"figure": "bandwidth", "unit": "ns"}), "\"ns\" is no unit of a bandwidth"),
    ] {
        refused(&with(changes.clone()), "benchmarks[0], \"x\": ");
        refused(&with(changes), part);
    }
    for changes in [
        json!({"figure": "latency", "confidence_interval": [2.5, 2.5]}),
        json!({"figure": "value", "unit": "furlongs", "median": -5.0}),
        json!({"figure": "bandwidth", "unit": "kbit/s"}),
        json!({"figure": "latency", "status": "invalid", "valid": false, "median": -5.0}),
    ] {
        assert!(read_text(&with(changes.clone()), LARGEST).is_ok(), "{changes}");
    }
}

/// Records of earlier versions, of which the reader must refuse none.
#[test]
fn recorded_documents_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for path in [
        "tests/records/every-kind.json",
        "tests/data/machines/zen3/costs.json",
        "tests/data/machines/zen4/costs.json",
    ] {
        let run = read(&root.join(path), LARGEST, Detail::Figures).unwrap();
        assert!(!run.benchmarks.is_empty(), "{path}");
    }
}

#[test]
fn document_over_limit_is_rejected() {
    let text = document().to_string();
    let length = text.len() as u64;
    assert!(read_text(&text, length).is_ok());
    let error = read_text(&text, length - 1).unwrap_err();
    assert!(error.to_string().contains(&format!("longer than {} bytes", length - 1)));
    assert!(error.help_text().unwrap().contains("--limit"));
    // A device has no length in its metadata.
    let endless = read(Path::new("/dev/zero"), 1000, Detail::Batches).unwrap_err().to_string();
    assert!(endless.contains("longer than 1000 bytes"), "{endless}");
}

#[test]
fn folders_and_missing_files_are_rejected() {
    let error = read(Path::new("/"), LARGEST, Detail::Batches).unwrap_err().to_string();
    assert_eq!(error, "/: is a folder");
    let error = read(Path::new("/no/such"), LARGEST, Detail::Batches).unwrap_err();
    assert!(error.to_string().starts_with("/no/such: there is no such file"));
}

#[test]
fn detail_limits_what_is_kept() {
    let mut whole = document();
    whole["benchmarks"][0]["samples"] = json!([1.0, 2.0]);
    whole["benchmarks"][0]["batches"] = json!({"passes": 1, "operations": 1, "ns": [1]});
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), whole.to_string()).unwrap();
    for (detail, samples, batches) in
        [(Detail::Batches, 2, 1), (Detail::Samples, 2, 0), (Detail::Figures, 0, 0)]
    {
        let entry = &read(file.path(), LARGEST, detail).unwrap().benchmarks[0];
        let lengths = (entry.details.samples.len(), entry.records.batches().len());
        assert_eq!(lengths, (samples, batches), "{detail:?}");
    }
}

#[test]
fn vector_becomes_a_run_that_holds_it() {
    let vector = json!({"schema": "yamba-vector/1", "application": "nginx", "unit": "request",
        "primitives": [{"name": "read(file)", "size": 4096, "count": 0.1}]});
    let run = read_text(&vector.to_string(), LARGEST).unwrap();
    assert_eq!((run.application(), &run.vector), (Some("nginx"), &Some(vector)));
    assert_eq!((run.benchmarks.len(), run.id.len()), (0, 16));
    assert!(run.producer.from_document);
    refused(r#"{"schema": "yamba-vector/1", "#, "ends too early");
}
