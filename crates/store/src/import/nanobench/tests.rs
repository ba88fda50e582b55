//! Tests of the reader of nanobench.

use crate::import::cases::{has, left_out, read_text, refused};

const JSON: &str = include_str!("../samples/nanobench.json");

#[test]
fn time_of_a_unit_and_rate_of_units() {
    has(
        JSON,
        &[
            "string | pipe title=copies: 0.000000019842771423214 s",
            "vector title=bytes: 0.000000000013321358816964282 s",
            "vector title=bytes counter=byte/s: 75067417201.20436 B/s",
            "string title=bytes complexityN=8.0: 0.0000000003437062230603442 s",
            "string title=bytes complexityN=8.0 counter=byte/s: 2909461432.1965036 B/s",
            "sleep: 0.00212509 s",
        ],
        &[],
    );
    let run = read_text(JSON).unwrap();
    assert_eq!(run.benchmarks[1].details.samples.len(), 11);
    assert_eq!(
        run.benchmarks[1].notes,
        ["the median of 11 epochs in one process", "the time of one byte, of 4096 in an operation"]
    );
    assert_eq!(run.benchmarks[2].declaration.figure.as_deref(), Some("bandwidth"));
    let rows = read_text(&JSON.replace("\"byte\"", "\"row\"")).unwrap();
    assert_eq!(rows.benchmarks[2].declaration.figure.as_deref(), Some("rate"));
    assert_eq!(rows.benchmarks[2].unit.as_deref(), Some("row/s"));
}

#[test]
fn results_that_contradict_themselves_are_left_out() {
    for (from, to, reason) in [
        ("\"epochs\": 5", "\"epochs\": 6", "5 measurements, and it says 6"),
        ("\"median(elapsed)\": 0.00212509", "\"median(elapsed)\": 0.002", "have the median"),
        ("\"median(elapsed)\": 0.00212509", "\"median(elapsed)\": inf", "median(elapsed) is inf"),
    ] {
        let run = read_text(&JSON.replacen(from, to, 1)).unwrap();
        assert_eq!(run.benchmarks.len(), 5, "{to}");
        let [only] = left_out(&run) else { panic!("{to}") };
        assert!(only.starts_with("\"sleep\": ") && only.contains(reason), "{only}");
    }
    refused(r#"{"results": [{"median(elapsed)": 1}]}"#, "results[0]: no name in it");
}
