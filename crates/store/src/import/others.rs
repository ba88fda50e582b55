//! Tests of results of other programs: name and unit of accepted figures, and rejected files.

use std::fs;

use yamba_record::run::IntervalScope;
use yamba_record::{Benchmark, Run, Status};

use super::*;

const LMBENCH: &str = include_str!("samples/lmbench.0");
const GOOGLE: &str = include_str!("samples/google.json");

fn read_text(text: &str) -> Result<Run, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.0");
    fs::write(&file, text).unwrap();
    read(&file, LARGEST, Detail::Samples)
}

#[track_caller]
fn refused(text: &str, part: &str) {
    let error = read_text(text).unwrap_err().to_string();
    assert!(error.contains(part), "no `{part}` in {error}");
}

/// Formats an entry: `lat_ctx size=0k processes=2: 1.5 us`
fn formatted(entry: &Benchmark) -> String {
    let figure = entry.median.map_or("none".to_owned(), |m| m.to_string());
    let unit = entry.unit.as_deref().unwrap();
    let text = format!("{} {}: {figure} {unit}", entry.name, entry.parameters);
    text.replace(" :", ":").trim_end().to_owned()
}

fn named<'a>(run: &'a Run, name: &str) -> &'a Benchmark {
    run.benchmarks.iter().find(|b| b.name == name).unwrap()
}

#[test]
fn lmbench_figures_keep_name_and_unit() {
    let run = read_text(LMBENCH).unwrap();
    let all: Vec<String> = run.benchmarks.iter().map(formatted).collect();
    let expected = [
        "MHZ: 2395 MHz",
        "Simple syscall: 0.125 us",
        "Select on 100 fd's: 1.5 us",
        "Process fork+/bin/sh -c: 1024.5 us",
        "File /usr/tmp/file write bandwidth: 250000 kB/s",
        "Pagefaults on /usr/tmp/file: 0.25 us",
        "mappings MB=0.524288: 7.5 us",
        "mappings MB=1.048576: 14 us",
        "File system latency size=0k operation=create: 50000 files/s",
        "File system latency size=0k operation=delete: 80000 files/s",
        "File system latency size=1k operation=create: 40000 files/s",
        "File system latency size=1k operation=delete: 60000 files/s",
        "UDP latency using localhost: 12 us",
        "Socket bandwidth using localhost MB=1e-6: 1.25 MB/s",
        "Socket bandwidth using localhost MB=10.48576: 4000 MB/s",
        "Avg xfer: 16.72 MB/s",
        "Pipe bandwidth: 2500 MB/s",
        "read open2close bandwidth MB=0.000512: 150 MB/s",
        "read open2close bandwidth MB=1.05: 9000 MB/s",
        "Memory read bandwidth MB=0.000512: 16000 MB/s",
        "lat_ctx size=0k processes=2: 1.5 us",
        "lat_ctx size=0k processes=96: 3 us",
        "lat_ctx size=16k processes=2: 1.75 us",
        "tlb: 64 pages",
        "L1 cache of=bytes: 32768 bytes",
        "L1 cache of=nanoseconds: 1.25 ns",
        "L1 cache of=linesize: 64 bytes",
        "L1 cache of=parallelism: 4.5",
        "integer add: 0.25 ns",
        "int64 mul: -0.02 ns",
        "integer add parallelism: 3.5",
        "STREAM copy bandwidth: 8000 MB/s",
        "Memory load latency stride=16 MiB=0.00049: 1.25 ns",
        "Memory load latency stride=16 MiB=8: 20.5 ns",
        "Memory load latency stride=128 MiB=0.00049: 1.25 ns",
        "Random load latency stride=16 MiB=8: 90 ns",
    ];
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(all, expected);
}

/// Imported figures are marked, and facts that the file lacks are empty.
#[test]
fn lmbench_run_is_marked_as_imported() {
    let run = read_text(LMBENCH).unwrap();
    assert_eq!(run.producer.version, "lmbench 3.0 (lmbench-3alpha4)");
    let imported = run.producer.imported.as_ref().unwrap();
    assert_eq!(imported.form, "lmbench");
    assert_eq!(
        imported.left_out,
        [
            "line 1: scripts/lmbench: /dev/tty: cannot create",
            "line 36: localhost: RPC: Timed out",
            "line 37: Segmentation fault (core dumped)",
            "line 50: \"something new",
            "line 51: 0.000512 3",
        ]
    );
    let machine = &run.machine;
    assert_eq!(
        [&machine.isa, &machine.system, &machine.kernel],
        ["x86_64", "linux", "6.1.0-25-amd64"]
    );
    assert_eq!((machine.cpus, machine.page_size, &machine.cpu), (8, 0, &None));
    assert_eq!(run.started_unix_s, Some(1_709_546_400.0));
    assert!(!run.interrupted);
    for entry in &run.benchmarks {
        assert!(entry.confidence_interval.is_none() && entry.launches.is_empty());
        assert!(entry.details.samples.is_empty() && entry.records.is_empty());
    }
    let below = named(&run, "int64 mul");
    assert_eq!((below.status, below.valid), (Status::Invalid, false));
    let context = named(&run, "lat_ctx");
    assert_eq!(context.notes, ["lmbench took 0.75 us of its own off"]);
}

/// The stored text has the line of each figure, but neither the user nor the machine.
#[test]
fn stored_text_omits_machine_and_owner() {
    for (text, line) in [(LMBENCH, "Simple syscall: 0.1250"), (GOOGLE, "BM_once/8")] {
        let run = read_text(text).unwrap();
        let file = &run.benchmarks[1].declaration.provenance.files[0];
        assert_eq!(file.path, "results.0");
        let text = &run.sources[&file.hash];
        assert!(text.contains(line), "{text}");
        let whole = serde_json::to_string(&run).unwrap();
        assert!(!whole.contains("somehost") && !whole.contains("somebody"), "{whole}");
    }
}

#[test]
fn truncated_lmbench_file_is_marked_interrupted() {
    let end = LMBENCH.find("integer add:").unwrap();
    let run = read_text(&LMBENCH[..end]).unwrap();
    assert!(run.interrupted);
    for length in (1..end).step_by(5) {
        if let Ok(run) = read_text(&LMBENCH[..length]) {
            assert!(run.benchmarks.iter().all(|b| !b.name.is_empty()));
        }
    }
    refused("[lmbench3.0 results for Linux]\n", "holds no figure");
}

#[test]
fn google_benchmark_figures_are_imported() {
    let run = read_text(GOOGLE).unwrap();
    assert_eq!(run.producer.version, "Google Benchmark v1.8.3");
    let all: Vec<String> = run.benchmarks.iter().map(formatted).collect();
    assert_eq!(
        all,
        [
            "BM_once/8: 12.5 ns",
            "BM_once/8 counter=bytes_per_second: 640000000 B/s",
            "BM_once/8 counter=items_per_second: 80000000 items/s",
            "BM_thrice: 1.5 ms",
            "BM_sums: 4.25 us",
            "BM_bad: none ns",
            "BM_not: none ns",
        ]
    );
    let thrice = named(&run, "BM_thrice");
    assert_eq!(thrice.details.samples, [3.0, 1.0, 1.5]);
    assert_eq!(thrice.notes, ["the median of 3 repetitions in one process"]);
    assert!(thrice.confidence_interval.is_none() && thrice.launches.is_empty());
    let status = |name| (named(&run, name).status, named(&run, name).notes[0].to_string());
    assert_eq!(status("BM_bad"), (Status::Crashed, "no device".to_owned()));
    assert_eq!(status("BM_not"), (Status::Skipped, "needs <b>AVX</b>".to_owned()));
    let imported = run.producer.imported.clone().unwrap();
    assert_eq!(imported.left_out, ["\"BM_big\": no time in it"]);
    assert_eq!(run.started_unix_s, Some(1_709_546_400.0));
    assert_eq!(run.machine.details.clone().unwrap().caches[0].bytes, Some(32768));
}

#[test]
fn invalid_google_benchmark_is_rejected() {
    for length in (20..GOOGLE.len() - 3).step_by(7) {
        let error = read_text(&GOOGLE[..length]).unwrap_err().to_string();
        let is_named = error.contains("ends too early") || error.contains("invalid number");
        assert!(is_named, "{error}");
    }
    refused(r#"{"context": {}, "benchmarks": []}"#, "holds no figure");
    refused(r#"{"context": {}, "benchmarks": {}}"#, "is no JSON of Google Benchmark");
    let deep = format!(
        r#"{{"context": {{"x": {}1{}}}, "benchmarks": []}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    // Ignored fields may be nested arbitrarily.
    refused(&deep, "holds no figure");
    let ours =
        GOOGLE.replace("\"host_name\"", "\"yamba_run\": \"00ff00ff00ff00ff\", \"host_name\"");
    let error = read_text(&ours).unwrap_err();
    assert!(error.to_string().contains("is the run \"00ff00ff00ff00ff\""));
    assert!(error.help_text().unwrap().contains("--format json"));
}

#[test]
fn oversized_results_are_rejected() {
    let line = "Simple syscall: 0.1250 microseconds\n";
    let lines = (0..50_001).map(|n| format!("Simple {n}: 0.1250 microseconds\n"));
    let many = format!("[lmbench3.0 results]\n{}", lines.collect::<String>());
    refused(&many, "more than 50000 figures");
    let long = format!("[lmbench3.0 results]\n{line}{}", "x".repeat(17 << 20));
    refused(&long, "is longer than 16777216 bytes");
    let noise = format!("[lmbench3.0 results]\n{line}{}", "what is this?\n".repeat(5000));
    let imported = read_text(&noise).unwrap().head.producer.imported.unwrap();
    assert_eq!(imported.left_out.len(), 101);
    assert_eq!(imported.left_out[100], "and 4900 more");
    // A heading is copied into each figure below it.
    let heading = format!("\"size={} ovr=1\n", "é".repeat(5000));
    let text = format!("[lmbench3.0 results]\n{line}{heading}{}", "2 1.0\n".repeat(5000));
    let run = read_text(&text).unwrap();
    assert_eq!(run.benchmarks.len(), 1);
    let imported = run.producer.imported.clone().unwrap();
    assert!(imported.left_out.iter().all(|place| place.len() < 500));
    let named = |name: &str| {
        let run = read_text(&GOOGLE.replace("BM_once", name)).unwrap();
        run.benchmarks[0].name.clone()
    };
    let long = "é".repeat(900);
    assert_eq!(named(&long), long.clone() + "/8");
    let [one, other] = ["a", "b"].map(|end| named(&("é".repeat(5000) + end)));
    assert!(one.len() <= 2000 && one != other, "{one}");
}

#[test]
fn non_numbers_are_not_figures() {
    for number in ["nan", "inf", "-inf", "1e999", "0x10", "", "1,5"] {
        let text =
            format!("[lmbench3.0 results]\nSimple read: {number} microseconds\ntlb: 4 pages\n");
        let run = read_text(&text).unwrap();
        assert_eq!(run.benchmarks.len(), 1, "{number}");
    }
}

const JMH: &str = include_str!("samples/jmh.json");

#[test]
fn jmh_forks_are_launches_with_an_interval() {
    let run = read_text(JMH).unwrap();
    let six = run.benchmarks.iter().find(|b| b.parameters.to_string() == "size=32").unwrap();
    let forks: Vec<f64> = six.launches.iter().filter_map(|l| l.median).collect();
    assert_eq!(forks, [11.0, 13.0, 9.0, 10.5, 13.0, 11.5]);
    assert_eq!(six.median, Some(11.25));
    assert_eq!(six.confidence_interval, Some([9.0, 13.0]));
    assert_eq!(six.interval_scope, Some(IntervalScope::BetweenLaunches));
}

/// The range of two forks holds the median in half of the cases, and that of six values in 96.9 %.
#[test]
fn fewer_than_six_forks_have_the_interval_of_their_iterations() {
    let read = |forks: &[&[f64]]| {
        let row = serde_json::json!([{"benchmark": "a.one", "mode": "avgt", "threads": 1,
            "primaryMetric": {"scoreUnit": "ns/op", "rawData": forks}}]);
        read_text(&row.to_string()).unwrap().benchmarks.remove(0)
    };
    let one = read(&[&[2.0, 3.0, 4.0]]);
    assert_eq!((one.median, one.confidence_interval, one.interval_scope), (Some(3.0), None, None));
    assert_eq!(one.notes, ["the median of one fork, mode avgt"]);
    let long = read(&[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]);
    assert_eq!(long.confidence_interval, None);
    let short = read(&[&[3.0], &[6.0]]);
    assert_eq!((short.median, short.confidence_interval), (Some(4.5), None));
    let two = read(&[&[2.0, 3.0, 4.0], &[5.0, 6.0, 7.0]]);
    assert_eq!((two.median, two.confidence_interval), (Some(4.5), Some([2.0, 7.0])));
    assert_eq!(two.interval_scope, Some(IntervalScope::WithinLaunches));
}

#[test]
fn jmh_benchmark_of_yamba_stands_for_its_primitives() {
    let run = read_text(JMH).unwrap();
    let primitive = run.benchmarks[1].declaration.primitive.clone().unwrap();
    assert_eq!(primitive.name, "java.lang.String.indexOf(String)");
    assert_eq!(primitive.also.len(), 2);
    assert_eq!(primitive.by.as_deref(), Some("size"));
    assert_eq!(run.benchmarks[1].declaration.figure.as_deref(), Some("latency"));
    assert_eq!(run.benchmarks[1].unit.as_deref(), Some("ns"));
}

#[test]
fn jmh_machine_is_the_virtual_machine_and_names_no_owner() {
    let run = read_text(JMH).unwrap();
    let java = run.machine.java.clone().unwrap();
    assert_eq!(java.version, "17.0.15+6-Debian-1deb12u1");
    assert_eq!(java.collector, "G1 Young Generation, G1 Old Generation");
    assert_eq!(java.flags, ["-XX:TieredStopAtLevel=1"]);
    assert!(!serde_json::to_string(&run).unwrap().contains("owner"));
}

#[test]
fn jmh_rate_has_its_mode_and_a_missing_number_is_left_out() {
    let run = read_text(JMH).unwrap();
    let rate = named(&run, "org.sample.Other.rate");
    assert_eq!((rate.median, rate.unit.as_deref()), (Some(3.0), Some("ops/us")));
    assert_eq!(rate.declaration.figure.as_deref(), Some("rate"));
    assert_eq!(rate.parameters.to_string(), "mode=thrpt");
    let left_out = run.producer.imported.clone().unwrap().left_out;
    assert_eq!(
        left_out,
        ["yamba.benchmarks.Strings.indexOf size=33, mode avgt: one of its values is no number"]
    );
}

/// The third fork reports more processor time than time on the clock: its other threads worked,
/// too.
#[test]
fn jmh_time_is_processor_time_where_the_file_has_its_share() {
    let run = read_text(JMH).unwrap();
    let entry = run.benchmarks.iter().find(|b| b.parameters.to_string() == "size=40").unwrap();
    let forks: Vec<f64> = entry.launches.iter().filter_map(|l| l.median).collect();
    assert_eq!(forks, [5.5, 6.5, 9.0, 5.25, 6.5, 5.75]);
    assert_eq!(entry.median, Some(6.125));
}
