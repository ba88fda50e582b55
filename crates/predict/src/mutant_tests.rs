//! Changed documents of vectors are read as the original, or refused.

use serde_json::Value;
use yamba_mutants::{Change, Mutant};

use crate::Vector;

/// A vector with every key. No text has a number, apart from the schema: another text is another
/// name.
const VECTOR: &str = r#"{
  "schema": "yamba-vector/1", "application": "server", "unit": "request", "units": 2000,
  "command": ["server", "-c"], "load": "load", "units_from": "(.*) requests",
  "traced": {"how": "bpf", "machine": "Z, x linux", "cost_ns_per_call": 223.5, "lost": 0, "runs": 2,
    "rounds": [{"untraced_ns": 19000.5, "untraced_kernel_ns": 14000.25, "missed_ns": 12.5, "user_ns": 5000.75, "kernel_ns": 14500}]},
  "user_ns": 5000, "kernel_ns": 14000, "started_user_ns": 1000, "clock_reads": 3,
  "primitives": [
    {"name": "read(file)", "size": 16384, "count": 2500.5, "errors": 1, "time_ns": 9000,
     "started": {"count": 1, "size": 4096, "time_ns": 4000}},
    {"name": "stat(file)", "count": 1, "time_ns": 2500}
  ]
}"#;

#[test]
fn changed_vectors_are_read_as_the_original_or_refused() {
    let original = Vector::read(VECTOR).unwrap();
    let mut refused = 0;
    for mutant in yamba_mutants::json(VECTOR, 48, 10_000) {
        match Vector::read(&mutant.text) {
            Err(fault) => {
                assert!(!mutant.change.keeps_figures(), "{fault}: {mutant:?}");
                refused += 1;
            }
            Ok(found) => assert!(found == original || is_another_document(&mutant), "{mutant:?}"),
        }
    }
    assert!(refused > 5000, "{refused}");
}

/// Whether the mutant is a document that people may write: without a key or an element that need
/// not be there, with null for such a key, or with other texts and numbers in their places.
fn is_another_document(mutant: &Mutant) -> bool {
    let is_of_text = || {
        let changed: Value = serde_json::from_str(&mutant.text).unwrap();
        let original: Value = serde_json::from_str(VECTOR).unwrap();
        differs_by_value(&original, &changed)
    };
    match mutant.change {
        Change::FieldRemoved | Change::LineRemoved | Change::LineRepeated => true,
        Change::TypeChanged => is_of_text(),
        _ => false,
    }
}

/// Whether a value became null, another number or another text. Any other type must be refused.
fn differs_by_value(original: &Value, changed: &Value) -> bool {
    match (original, changed) {
        (Value::Object(a), Value::Object(b)) => {
            a.iter().all(|(key, value)| b.get(key).is_none_or(|b| differs_by_value(value, b)))
        }
        (Value::Array(a), Value::Array(b)) => {
            b.is_empty()
                || a.len() == b.len() && a.iter().zip(b).all(|(a, b)| differs_by_value(a, b))
        }
        (Value::Number(_), Value::Number(_)) | (Value::String(_), Value::String(_)) => true,
        (_, Value::Null) => true,
        (a, b) => a == b,
    }
}

#[test]
fn documents_that_are_no_vector_are_refused_clearly() {
    let without_first_line = VECTOR.replace("  \"schema\": \"yamba-vector/1\", ", "");
    let number = |text: &str| VECTOR.replace("\"units\": 2000", &format!("\"units\": {text}"));
    for (text, part) in [
        (VECTOR[1..].to_owned(), "expected struct Vector"),
        (without_first_line, "missing field `schema`"),
        (VECTOR.replace("vector/1", "vector/2"), "schema: it must be \"yamba-vector/1\""),
        (number("NaN"), "line 2"),
        (number("\"2000\""), "invalid type: string"),
        (number("1, \"units\": 2"), "duplicate field `units`"),
        (
            VECTOR.replace("stat(file)\", ", "file read\", \"size\": 16384, "),
            "read(file)@16384 is listed twice",
        ),
        (VECTOR[..VECTOR.len() - 2].to_owned(), "EOF"),
        (String::new(), "EOF"),
    ] {
        let fault = Vector::read(&text).unwrap_err();
        assert!(fault.contains(part), "{part}: {fault}");
    }
}
