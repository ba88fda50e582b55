//! Compares the import of real files of other programs with an independent reading.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use yamba_record::{Benchmark, Run, Status};
use yamba_store::Detail;
use yamba_store::import::{LARGEST, read};

const GOOGLE: &str = include_str!("../../../../tests/imported/google-benchmark.json");

fn read_text(text: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results");
    fs::write(&file, text).unwrap();
    read(&file, LARGEST, Detail::Samples).unwrap()
}

/// Name, kind and unit of a figure.
type Key = (String, String, String);

/// The expected figures: the median that Google Benchmark computed for repetitions.
fn of_google(rows: &[Value]) -> BTreeMap<Key, f64> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all = BTreeMap::new();
    for row in rows {
        let is_alone = row["run_type"] == "iteration" && row["repetitions"] == 1;
        let is_median = row["aggregate_name"] == "median";
        if !(is_alone || is_median) || row["error_occurred"] == true {
            continue;
        }
        let time = text(&row["time_unit"]);
        for (figure, unit) in [
            ("real_time", time.as_str()),
            ("bytes_per_second", "B/s"),
            ("items_per_second", "items/s"),
        ] {
            if let Some(value) = row[figure].as_f64() {
                let key = (text(&row["run_name"]), figure.to_owned(), unit.to_owned());
                all.insert(key, value);
            }
        }
    }
    all
}

fn figure_of(entry: &Benchmark) -> (Key, f64) {
    let parameters = &entry.parameters.0;
    let counter = parameters.iter().find(|(name, _)| name == "counter");
    let figure = counter.map_or("real_time", |(_, value)| value.as_str().unwrap());
    let unit = entry.unit.clone().unwrap();
    let key = (entry.name.clone(), figure.to_owned(), unit);
    (key, entry.median.unwrap())
}

#[test]
fn google_benchmark_1_7_1() {
    let document: Value = serde_json::from_str(GOOGLE).unwrap();
    let rows = document["benchmarks"].as_array().unwrap();
    let run = read_text(GOOGLE);
    assert_eq!(run.producer.version, "Google Benchmark");
    let cpus = document["context"]["num_cpus"].as_u64().unwrap();
    assert_eq!(run.machine.cpus, cpus);
    let valid = run.benchmarks.iter().filter(|b| b.status == Status::Ok);
    let read: BTreeMap<Key, f64> = valid.map(figure_of).collect();
    let said = of_google(rows);
    assert!(read.keys().eq(said.keys()), "{read:?}\n{said:?}");
    for (key, value) in &said {
        assert!((read[key] / value - 1.0).abs() < 1e-12, "{key:?}");
    }
    let bad = run.benchmarks.iter().find(|b| b.status != Status::Ok);
    let bad = bad.unwrap();
    assert_eq!((bad.name.as_str(), bad.status), ("absent", Status::Crashed));
    assert_eq!(bad.notes, ["there is no such device"]);
}
