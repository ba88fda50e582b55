//! Tests of the reader of pytest-benchmark.

use crate::import::cases::{has, left_out, read_text, refused};

const WITH_DATA: &str = include_str!("../samples/pytest-benchmark.json");
const WITHOUT_DATA: &str = include_str!("../samples/pytest-benchmark-without-data.json");

/// The file has a `NaN`, which Python writes though it is no JSON.
#[test]
fn tests_are_benchmarks() {
    assert!(WITH_DATA.contains("NaN"));
    has(
        WITH_DATA,
        &[
            "test_shop.py::test_sort[10] n=10: 0.0000003316999936942011 s",
            "test_shop.py::test_sort[1000] n=1000: 0.00000785465002991259 s",
            "test_shop.py::test_sleep: 0.0006066425012249965 s",
            "test_shop.py::test_join: 0.00012688799999999167 s",
        ],
        &[],
    );
    let run = read_text(WITH_DATA).unwrap();
    let counts: Vec<usize> = run.benchmarks.iter().map(|b| b.details.samples.len()).collect();
    assert_eq!(counts, [6, 6, 5, 7]);
    assert_eq!(
        run.benchmarks[3].notes,
        ["the median of 7 rounds in one process", "its clock is process_time", "CPython 3.11.7"]
    );
    assert!(run.benchmarks.iter().all(|b| b.confidence_interval.is_none()));
    assert_eq!(run.producer.version, "pytest-benchmark 5.3.1");
    assert_eq!((run.machine.isa.as_str(), run.machine.system.as_str()), ("x86_64", "linux"));
    assert_eq!(run.machine.cpu.as_deref(), Some("Intel(R) Xeon(R) Processor"));
    assert!(run.started_unix_s.is_some_and(|s| s > 1.7e9));
    let whole = serde_json::to_string(&run).unwrap();
    assert!(!whole.contains("somehost") && !whole.contains("somebody"));
}

#[test]
fn rounds_are_samples_only_if_they_are_saved() {
    let run = read_text(WITHOUT_DATA).unwrap();
    assert_eq!(run.benchmarks.len(), 2);
    assert!(run.benchmarks.iter().all(|b| b.details.samples.is_empty() && b.median.is_some()));
}

#[test]
fn statistics_that_contradict_each_other_are_left_out() {
    let name = "\"test_shop.py::test_sleep\": ";
    for (from, to, reason) in [
        ("\"rounds\": 5", "\"rounds\": 6", "data of 5 rounds, and it says 6"),
        ("0.0006080100029066671,", "0.0005,", "its data have the median"),
        ("0.0006080100029066671,", "\"0.0006\",", "one of its data is no number"),
        ("\"rounds\": 5,", "", "no rounds in it"),
    ] {
        let changed = WITH_DATA.replacen(from, to, 1);
        assert_ne!(changed, WITH_DATA, "{from}");
        let run = read_text(&changed).unwrap();
        assert_eq!(run.benchmarks.len(), 3, "{to}");
        let [only] = left_out(&run) else { panic!("{to}") };
        assert!(only.starts_with(name) && only.contains(reason), "{only}");
    }
    let low = WITHOUT_DATA.replacen("\"min\": ", "\"min\": 1.0, \"was\": ", 1);
    assert!(left_out(&read_text(&low).unwrap())[0].contains("does not lie between 1"));
    refused(r#"{"machine_info": {}, "benchmarks": []}"#, "holds no figure");
    refused(r#"{"machine_info": 1, "benchmarks": []}"#, "is no JSON of pytest-benchmark");
}
