//! Reads written files back with the same library. scripts/export-consumers tests other readers.

use std::collections::BTreeMap;
use std::io;

use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::json;
use yamba_record::{Batches, Run};

use super::super::table::{BATCHES, ENTRIES, Table};
use super::super::tests::{entry, run, sample};
use super::{GROUP, write};

fn file(table: &Table, run: &Run) -> SerializedFileReader<Bytes> {
    let mut bytes = Vec::new();
    write(table, run, &mut bytes).unwrap();
    SerializedFileReader::new(Bytes::from(bytes)).unwrap()
}

/// Each row as a map from column to value.
fn rows(file: &SerializedFileReader<Bytes>) -> Vec<BTreeMap<String, Field>> {
    let rows = file.get_row_iter(None).unwrap();
    let cells = |row: parquet::record::Row| {
        let columns = row.get_column_iter();
        columns.map(|(n, f)| (n.clone(), f.clone())).collect()
    };
    rows.map(|row| cells(row.unwrap())).collect()
}

fn text(text: &str) -> Field {
    Field::Str(text.to_owned())
}

#[test]
fn parquet_has_typed_columns_of_csv() {
    let file = file(&ENTRIES, &sample());
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let names: Vec<&str> = columns.iter().map(|c| c.name()).collect();
    let of_csv: Vec<&str> = ENTRIES.columns.iter().map(|c| c.name).collect();
    assert_eq!(names, of_csv);
    let rows = rows(&file);
    assert_eq!(rows.len(), 5);
    let [good, bad] = [&rows[0], &rows[3]];
    assert_eq!(good["run"], text("0123456789abcdef"));
    assert_eq!(good["parameters"], text(r#"{"path":"/bin/a b","size":8}"#));
    assert_eq!(good["median"], Field::Double(2.5));
    assert_eq!(good["high"], Field::Double(3.0));
    assert_eq!(good["launches"], Field::ULong(3));
    assert_eq!(good["is_disturbed"], Field::Bool(false));
    assert_eq!(good["notes"], Field::Null);
    assert_eq!(bad["status"], text("invalid"));
    assert_eq!(bad["notes"], text("missed, twice"));
    for figure in ["median", "low", "high", "cycles", "throughput", "throughput_unit"] {
        assert_eq!(bad[figure], Field::Null, "{figure}");
    }
}

#[test]
fn parquet_metadata_has_run_and_units() {
    let file = file(&BATCHES, &sample());
    let pairs = file.metadata().file_metadata().key_value_metadata().unwrap();
    let pairs: BTreeMap<&str, &str> =
        pairs.iter().map(|p| (p.key.as_str(), p.value.as_deref().unwrap())).collect();
    assert_eq!(pairs["yamba_run"], "0123456789abcdef");
    assert_eq!(pairs["yamba_started_unix_s"], "1500000000");
    assert!(pairs["yamba_machine"].contains(r#""isa":"x86_64""#));
    assert!(pairs["yamba_units"].contains(r#""dummy_ns":"ns""#));
}

/// The run has more rows than a group, each with its own number; the last is the greatest possible.
#[test]
fn batches_are_written_in_row_groups() {
    let one = json!({"passes": 3, "operations": u64::MAX, "ns": [9.5], "dummy_ns": 0.5, "evidence": {"faults": 1.0},
        "outside": {"faults": [0]}, "disturbance": {"stolen_ns": -2.5}});
    let mut run = run(&[entry("x", json!({"batches": one})), entry("y", json!({}))]);
    let one = run.benchmarks[0].batches.get(0).unwrap();
    run.benchmarks[0].batches = Batches::default();
    let numbered = |launch| {
        let mut batch = one.clone();
        batch.launch = launch;
        batch
    };
    run.benchmarks[1].batches = (0..=GROUP as u64).map(numbered).collect();
    let file = file(&BATCHES, &run);
    assert_eq!(file.num_row_groups(), 2);
    let rows = rows(&file);
    let launches: Vec<&Field> = rows.iter().map(|r| &r["launch"]).collect();
    assert!((0..=GROUP).all(|n| *launches[n] == Field::ULong(n as u64)));
    let last = rows.last().unwrap();
    assert_eq!(last["name"], text("y"));
    assert_eq!(last["operations"], Field::ULong(u64::MAX));
    assert_eq!(last["ns"], Field::Double(9.5));
    assert_eq!(last["stolen_ns"], Field::Double(-2.5));
    assert_eq!(last["evidence"], text(r#"{"faults":1.0}"#));
    for none in ["sample", "group", "cycle_ns", "waited_ns", "disturbed"] {
        assert_eq!(last[none], Field::Null, "{none}");
    }
}

#[test]
fn non_finite_number_is_null() {
    let mut run = sample();
    run.benchmarks[0].confidence_interval = Some([f64::NAN, f64::INFINITY]);
    run.benchmarks[1].median = Some(f64::NAN);
    let rows = rows(&file(&ENTRIES, &run));
    for (row, column) in [(0, "low"), (0, "high"), (1, "median"), (1, "low")] {
        assert_eq!(rows[row][column], Field::Null, "{row} {column}");
    }
}

#[test]
fn run_without_rows_gives_empty_table() {
    assert!(rows(&file(&BATCHES, &sample())).is_empty());
    assert!(rows(&file(&ENTRIES, &run(&[]))).is_empty());
}

/// An I/O error of the output stream, such as a closed pipe, is returned unchanged.
#[test]
fn stream_error_is_returned_unchanged() {
    struct Gone;
    impl io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let answer = write(&ENTRIES, &sample(), &mut Gone);
    assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
