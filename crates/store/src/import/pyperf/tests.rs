//! Tests of the reader of pyperf.

use yamba_record::run::IntervalScope;

use crate::import::cases::{has, left_out, read_text, refused};

const PYPERF: &str = include_str!("../samples/pyperf.json");

#[test]
fn runs_are_launches() {
    has(
        PYPERF,
        &[
            "sort a reversed list: 0.0000074845624737918115 s",
            "join: 0.000006320257796232909 s",
            "true: 0.0018104299961123616 s",
        ],
        &[],
    );
    let run = read_text(PYPERF).unwrap();
    let sort = &run.benchmarks[0];
    let medians: Vec<f64> = sort.launches.iter().filter_map(|l| l.median).collect();
    assert_eq!(medians, [7.4845624737918115e-6, 8.586492185713723e-6, 7.433378925725265e-6]);
    assert_eq!(sort.details.samples.len(), 9);
    // Three processes are too few for 95 %.
    assert_eq!(sort.interval_scope, Some(IntervalScope::WithinLaunches));
    assert_eq!(sort.notes, ["the median of the medians of 3 processes", "Python 3.11.7 (64-bit)"]);
    assert_eq!(run.producer.version, "pyperf 2.11.0");
    assert_eq!(run.machine.cpu.as_deref(), Some("Intel(R) Xeon(R) Processor"));
    assert_eq!((run.machine.system.as_str(), run.machine.cpus), ("linux", 2));
    let whole = serde_json::to_string(&run).unwrap();
    assert!(!whole.contains("somehost") && !whole.contains("somebody"));
}

#[test]
fn memory_is_a_value() {
    let run = read_text(&PYPERF.replace("\"second\"", "\"byte\"")).unwrap();
    let entry = &run.benchmarks[0];
    assert_eq!(entry.declaration.figure.as_deref(), Some("value"));
    assert_eq!(entry.unit.as_deref(), Some("bytes"));
}

/// pyperf writes metadata that all benchmarks share once, so a file of one benchmark has its name
/// outside of it.
#[test]
fn name_may_stand_outside_of_the_benchmark() {
    let text = r#"{"benchmarks": [{"runs": [{"values": [2.0, 3.0]}, {"values": [4.0, 5.0]}]}],
        "metadata": {"name": "timeit", "unit": "second"}, "version": "1.0"}"#;
    has(text, &["timeit: 3.5 s"], &[]);
    refused(&text.replace(", \"unit\": \"second\"", ""), "no unit in it");
    refused(&text.replace("\"name\": \"timeit\", ", ""), "benchmarks[0]: no name in it");
    refused(&text.replace("1.0", "2.0"), "its version is \"2.0\"");
    refused(&text.replace("second", "hour"), "its unit \"hour\" is not known");
    refused(&text.replace("[4.0, 5.0]", "[]"), "0 values in a run, and 2 in the first");
    refused(&text.replace("\"values\": [4.0, 5.0]", ""), "a run without values");
}

#[test]
fn runs_that_contradict_each_other_are_left_out() {
    let second = "\"date\": \"2026-11-28 17:18:50.704448\"";
    assert!(PYPERF.contains(second));
    let twice = PYPERF.replace(second, "\"date\": \"2026-11-28 17:18:50.564347\"");
    let run = read_text(&twice).unwrap();
    assert_eq!(run.benchmarks.len(), 2);
    assert_eq!(left_out(&run), ["benchmarks[0]: a run stands twice"]);
}
