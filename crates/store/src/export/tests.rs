//! Tests of each export format: exact output for a small run, and the escaping of hostile texts.

use serde_json::{Value, json};
use yamba_record::Run;

use super::*;

pub(super) fn entry(name: &str, more: Value) -> Value {
    let mut entry = json!({
        "name": name, "class": name, "ports": [], "parameters": {}, "processes": 1, "status": "ok", "valid": true,
        "unit": "ns", "operations": 1.0, "median": 2.5, "confidence_interval": [2.0, 3.0], "samples": [], "evidence": {}, "notes": [],
        "figure": "latency",
        "launches": [{"median": 2.0, "samples": 11}, {"median": 3.0, "samples": 12}, {"median": null, "samples": 0}],
    });
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

pub(super) fn run(benchmarks: &[Value]) -> Run {
    let launch = |mut entry: Value| {
        for launch in entry["launches"].as_array_mut().unwrap() {
            launch["cycles"] = Value::Null;
            launch["cycle_ns"] = Value::Null;
        }
        entry
    };
    serde_json::from_value(json!({
        "schema": "yamba-run/1", "id": "0123456789abcdef", "started_unix_s": 1.5e9,
        "producer": {"version": "yamba 0.1.0", "arguments": []},
        "machine": {"isa": "x86_64", "system": "linux", "kernel": "6.1", "cpu": "A \"fast\"\\one\n", "cpus": 2, "memory": null,
            "page_size": 4096, "root": false, "virtual_machine": null, "scratch": null},
        "benchmarks": benchmarks.iter().cloned().map(launch).collect::<Vec<_>>(),
    }))
    .unwrap()
}

pub(super) fn sample() -> Run {
    run(&[
        entry("lat_x", json!({"parameters": {"size": 8, "path": "/bin/a b"}})),
        entry("bw_x", json!({"figure": "bandwidth", "unit": "MB/s", "operations": 1000.0})),
        entry("mhz", json!({"figure": "value", "unit": "at once", "processes": 2})),
        entry("bad", json!({"status": "invalid", "valid": false, "notes": ["missed, twice"]})),
        entry(
            "none",
            json!({"status": "skipped", "valid": false, "median": null, "confidence_interval": null, "launches": [], "notes": ["no disk"]}),
        ),
    ])
}

fn written(format: &str, run: &Run) -> String {
    let format = FORMATS.iter().find(|f| f.name == format).unwrap();
    let mut out = Vec::new();
    (format.write)(run, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The number of entries that the format contains.
fn count(format: &str, run: &Run) -> usize {
    let format = FORMATS.iter().find(|f| f.name == format).unwrap();
    (format.write)(run, &mut io::sink()).unwrap()
}

#[test]
fn entries_of_another_kind_do_not_count_as_written() {
    let formats = ["json", "bencher", "hyperfine", "github-action-smaller", "github-action-bigger"];
    assert_eq!(formats.map(|format| count(format, &sample())), [5, 3, 1, 1, 1]);
}

#[test]
fn json_export_is_the_document() {
    let back: Run = serde_json::from_str(&written("json", &sample())).unwrap();
    assert_eq!(back, sample());
}

#[test]
fn bencher_has_bounds_and_no_invalid_figure() {
    let found: Value = serde_json::from_str(&written("bencher", &sample())).unwrap();
    let expected = json!({
        "lat_x path=/bin/a b size=8": {"latency": {"value": 2.5, "lower_value": 2.0, "upper_value": 3.0}},
        "bw_x": {"bandwidth": {"value": 2.5e6, "lower_value": 2e6, "upper_value": 3e6}},
        "mhz P=2": {"at once": {"value": 2.5, "lower_value": 2.0, "upper_value": 3.0}},
    });
    assert_eq!(found, expected);
    let twice = run(&[entry("a", json!({"unit": "us"})), entry("a", json!({"median": 7.0}))]);
    let found: Value = serde_json::from_str(&written("bencher", &twice)).unwrap();
    assert_eq!(found["a"]["latency"]["value"], 2500.0);
}

#[test]
fn github_action_has_one_direction_a_file() {
    let rows = |format| -> Value { serde_json::from_str(&written(format, &sample())).unwrap() };
    let latency = json!([{"name": "lat_x path=/bin/a b size=8", "unit": "ns", "value": 2.5, "range": "[2, 3]"}]);
    assert_eq!(rows("github-action-smaller"), latency);
    let bandwidth = json!([{"name": "bw_x", "unit": "MB/s", "value": 2.5, "range": "[2, 3]"}]);
    assert_eq!(rows("github-action-bigger"), bandwidth);
}

#[test]
fn hyperfine_has_the_time_of_each_launch() {
    let command = json!({
        "command": "sort -S 1M", "mean_ns": 2.5, "min_ns": 2.0, "max_ns": 3.0, "user_ns": 1e9, "system_ns": 5e8,
        "peak_memory_bytes": null, "memory_floor_bytes": null, "minor_faults": 0.0, "major_faults": 0.0,
        "switches": 0.0, "ends": {}, "statuses": [0, null],
    });
    let mut all = sample();
    let more =
        json!({"unit": "ms", "parameters": {"size": 1}, "is_disturbed": true, "command": command});
    all.benchmarks.extend(run(&[entry("sort 1M", more)]).benchmarks);
    let found: Value = serde_json::from_str(&written("hyperfine", &all)).unwrap();
    let [latency, sort] = found["results"].as_array().unwrap().as_slice() else {
        panic!("{found}");
    };
    assert_eq!(latency["command"], "lat_x path=/bin/a b size=8");
    assert_eq!(latency["times"], json!([2e-9, 3e-9]));
    assert!(latency.get("exit_codes").is_none() && latency.get("user").is_none());
    let expected = json!({
        "command": "sort 1M", "mean": 0.0025, "median": 0.0025, "min": 0.002, "max": 0.003,
        "stddev": sort["stddev"], "times": [0.002, 0.003], "user": 1.0, "system": 0.5,
        "exit_codes": [0, null], "parameters": {"size": "1"}, "disturbed": true,
    });
    assert_eq!(*sort, expected);
    let deviation = sort["stddev"].as_f64().unwrap();
    assert!((deviation - 0.0005 * 2f64.sqrt()).abs() < 1e-12, "{deviation}");
}

#[test]
fn ktap_passes_valid_figures() {
    let expected = "\
KTAP version 1
1..5
# lat_x path=/bin/a b size=8: 2.5 ns [2, 3]
ok 1 lat_x path=/bin/a b size=8
# bw_x: 2.5 MB/s [2, 3]
ok 2 bw_x
# mhz P=2: 2.5 at once [2, 3]
ok 3 mhz P=2
# bad: invalid: missed, twice
not ok 4 bad
ok 5 none # SKIP skipped: no disk
";
    assert_eq!(written("ktap", &sample()), expected);
    let hostile = run(&[entry("a\n# SKIP", json!({}))]);
    assert!(written("ktap", &hostile).contains("ok 1 a   SKIP\n"));
}

#[test]
fn openmetrics_has_an_end_and_an_info_without_suffix() {
    let text = written("openmetrics", &sample());
    assert!(text.starts_with("# TYPE yamba_run info\n") && text.ends_with("\n# EOF\n"), "{text}");
    assert!(text.contains("\nyamba_run_info{run=\"0123456789abcdef\""));
    assert!(text.contains("# TYPE yamba_latency_seconds gauge"));
}

#[test]
fn go() {
    let expected = "\
# run 0123456789abcdef, yamba 0.1.0
goos: linux
goarch: amd64
pkg: yamba
cpu: A \"fast\"\\one 
Unit MB/s better=higher
BenchmarkLat_x/path=%2Fbin%2Fa%20b/size=8-1 11 2 ns/op
BenchmarkLat_x/path=%2Fbin%2Fa%20b/size=8-1 12 3 ns/op
BenchmarkBw_x-1 11 2 MB/s
BenchmarkBw_x-1 12 3 MB/s
BenchmarkMhz-2 11 2 at_once
BenchmarkMhz-2 12 3 at_once
# left out: BenchmarkBad-1: invalid: missed, twice
# left out: BenchmarkNone-1: skipped: no disk
";
    assert_eq!(written("go", &sample()), expected);
}

#[test]
fn go_omits_disturbed_figures() {
    let text = written("go", &run(&[entry("noisy", json!({"is_disturbed": true}))]));
    assert!(text.ends_with("left out: BenchmarkNoisy-1: disturbed: this format has no interval\n"));
}

/// The number there would be a placeholder.
#[test]
fn open_end_of_an_interval_is_absent() {
    let disturbed = json!({
        "is_disturbed": true,
        "is_bounded": true,
        "quiet_factors": [0.001, 1.0],
        "confidence_interval": [0.0025, 3.0],
    });
    let open = run(&[entry("x", disturbed)]);
    let prometheus = written("prometheus", &open);
    assert!(prometheus.contains(r#"bound="high"} 0.000000003"#), "{prometheus}");
    assert!(!prometheus.contains(r#"bound="low""#), "{prometheus}");
    let bencher: Value = serde_json::from_str(&written("bencher", &open)).unwrap();
    assert_eq!(bencher["x"]["latency"], json!({"value": 2.5, "upper_value": 3.0}));
    let influx = written("influx", &open);
    assert!(influx.contains("_high=") && !influx.contains("_low="), "{influx}");
    assert!(!written("ktap", &open).contains('['));
    let csv = written("csv", &open);
    let rows: Vec<&str> = csv.lines().collect();
    let at = |name| rows[0].split(',').position(|column| column == name).unwrap();
    let cells: Vec<&str> = rows[1].split(',').collect();
    assert_eq!((cells[at("low")], cells[at("high")]), ("", "3"));
}

#[test]
fn prometheus() {
    let text = written("prometheus", &sample());
    let series =
        |start: &str| -> Vec<&str> { text.lines().filter(|l| l.starts_with(start)).collect() };
    assert!(text.contains(r#"cpu="A \"fast\"\\one\n"} 1"#), "{text}");
    assert_eq!(
        series("yamba_latency_seconds{"),
        [
            r#"yamba_latency_seconds{benchmark="lat_x",processes="1",parameter_path="/bin/a b",parameter_size="8"} 0.0000000025"#
        ]
    );
    assert_eq!(
        series("yamba_bandwidth_"),
        [
            r#"yamba_bandwidth_bytes_per_second{benchmark="bw_x",processes="1"} 2500000"#,
            r#"yamba_bandwidth_interval_bytes_per_second{benchmark="bw_x",processes="1",bound="low"} 2000000"#,
            r#"yamba_bandwidth_interval_bytes_per_second{benchmark="bw_x",processes="1",bound="high"} 3000000"#,
        ]
    );
    assert_eq!(
        series("yamba_value{"),
        [r#"yamba_value{benchmark="mhz",processes="2",unit="at once"} 2.5"#]
    );
    assert_eq!(series("yamba_valid{")[3..], [r#"yamba_valid{benchmark="bad",processes="1"} 0"#]);
    assert!(!text.contains(r#""none""#), "{text}");
    assert_eq!(text.matches("# TYPE yamba_valid gauge").count(), 1);
}

#[test]
fn prometheus_has_no_duplicate_series() {
    let twice =
        run(&[entry("x", json!({})), entry("x", json!({"median": 7.0})), entry("y", json!({}))]);
    let text = written("prometheus", &twice);
    let mut series: Vec<&str> =
        text.lines().filter_map(|l| l.rsplit_once(' ')).map(|l| l.0).collect();
    series.retain(|l| !l.starts_with('#'));
    let all = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), all, "{text}");
    assert_eq!(count("prometheus", &twice), 2);
}

/// `foo` and `Foo` are one name in Go's format. A figure in another unit is no other launch.
#[test]
fn formats_by_name_have_the_first_of_equal_names() {
    let entries = [
        entry("foo", json!({"status": "invalid", "valid": false})),
        entry("Foo", json!({})),
        entry("foo", json!({"median": 7.0})),
        entry("foo", json!({"figure": "value", "unit": "pages"})),
    ];
    let (run, twice) = (run(&entries), run(&[entry("x", json!({})), entry("x", json!({}))]));
    let text = written("go", &run);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Benchmark")).collect();
    assert_eq!(
        lines,
        [
            "BenchmarkFoo-1 11 2 ns/op",
            "BenchmarkFoo-1 12 3 ns/op",
            "BenchmarkFoo-1 11 2 pages",
            "BenchmarkFoo-1 12 3 pages"
        ]
    );
    assert!(text.contains("# left out: BenchmarkFoo-1: stands there already\n"), "{text}");
    assert_eq!(count("go", &run), 2);
    for format in ["go", "hyperfine", "github-action-smaller", "bencher", "prometheus"] {
        assert_eq!(count(format, &twice), 1, "{format}");
    }
}

#[test]
fn prometheus_labels_are_sanitised_and_distinct() {
    let odd = entry("x", json!({"parameters": {"a b": 1, "a-b": 2}}));
    let text = written("prometheus", &run(&[odd]));
    assert!(text.contains(r#"parameter_a_b="1",parameter_a_b_="2""#), "{text}");
}

#[test]
fn influx() {
    let common = r#",isa=x86_64,system=linux,cpu=A\ "fast"/one\  run="0123456789abcdef",version="yamba 0.1.0",kernel="6.1""#;
    let valid = r#"status="ok",valid=true,disturbed=false,sound_interval=true"#;
    let lines = [
        format!(
            "yamba,benchmark=lat_x,processes=1,parameter_path=/bin/a\\ b,parameter_size=8{common},{valid},latency_seconds=0.0000000025,latency_seconds_low=0.000000002,latency_seconds_high=0.0000000030000000000000004"
        ),
        format!(
            "yamba,benchmark=bw_x,processes=1{common},{valid},bandwidth_bytes_per_second=2500000,bandwidth_bytes_per_second_low=2000000,bandwidth_bytes_per_second_high=3000000"
        ),
        format!(
            "yamba,benchmark=mhz,processes=2,unit=at\\ once{common},{valid},value=2.5,value_low=2,value_high=3"
        ),
        format!(
            "yamba,benchmark=bad,processes=1{common},status=\"invalid\",valid=false,reason=\"invalid: missed, twice\""
        ),
        format!(
            "yamba,benchmark=none,processes=1{common},status=\"skipped\",reason=\"skipped: no disk\""
        ),
    ];
    let expected: String =
        lines.iter().map(|line| format!("{line} 1500000000000000000\n")).collect();
    assert_eq!(written("influx", &sample()), expected);
}

#[test]
fn influx_escapes_separators() {
    let hostile = entry(
        "x",
        json!({"parameters": {"a b": "1,2=3\n4\\", "empty": ""}, "status": "invalid", "valid": false, "notes": ["\"a\\\nb"],
            "is_disturbed": true}),
    );
    let text = written("influx", &run(&[hostile]));
    assert!(text.contains(r#",parameter_a_b=1\,2\=3\ 4/,isa=x86_64,"#), "{text}");
    assert!(text.contains(r#",reason="invalid: \"a\\ b" 15"#), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn influx_has_one_point_per_series_and_marks_disturbance() {
    let entries = [
        entry("x", json!({"is_disturbed": true, "interval_scope": "within launches"})),
        entry("x", json!({"median": 7.0})),
    ];
    let mut twice = run(&entries);
    twice.started_unix_s = None;
    let text = written("influx", &twice);
    assert_eq!(text.lines().count(), 1, "{text}");
    let fields = "valid=true,disturbed=true,sound_interval=false,latency_seconds=0.0000000025,";
    assert!(text.contains(fields), "{text}");
    twice.benchmarks[0].interference.is_bounded = true;
    assert!(written("influx", &twice).contains("disturbed=true,sound_interval=true,"));
    assert!(text.ends_with(",interval_scope=\"within launches\"\n"), "{text}");
    assert_eq!(count("influx", &twice), 1);
}

#[test]
fn google_benchmark() {
    let document: Value = serde_json::from_str(&written("google-benchmark", &sample())).unwrap();
    assert_eq!(document["context"]["json_schema_version"], 1);
    let rows = document["benchmarks"].as_array().unwrap();
    let named = |name: &str| rows.iter().filter(|r| r["name"] == name).collect::<Vec<_>>();
    let launches = named("lat_x/path=/bin/a b/size=8");
    assert_eq!(launches.len(), 2);
    assert_eq!(launches[1]["real_time"], 3.0);
    assert_eq!(named("lat_x/path=/bin/a b/size=8_median")[0]["real_time"], 2.5);
    let bandwidth = named("bw_x_median")[0];
    assert_eq!(bandwidth["bytes_per_second"], 2.5e6);
    assert_eq!(bandwidth["real_time"], 400_000.0);
    assert_eq!(named("mhz/processes=2_median")[0]["value"], 2.5);
    assert_eq!(named("bad")[0]["error_message"], "invalid: missed, twice");
    assert_eq!(named("none")[0]["skip_message"], "skipped: no disk");
    let without_time = ["bad", "none", "mhz/processes=2_median"];
    assert!(without_time.iter().all(|n| named(n)[0].get("real_time").is_none()));
}

/// Two launches of three batches, each 100 ns for one operation. `stolen` is the time without a
/// processor in each batch.
fn with_batches(stolen: [f64; 6], more: Value) -> Value {
    let batches = json!({"launch": [0, 0, 0, 1, 1, 1], "passes": 1, "operations": 1, "ns": [110, 110, 110, 110, 110, 110],
        "dummy_ns": 10, "sample": 100, "disturbance": {"stolen_ns": stolen}});
    let mut entry = entry("x", json!({"batches": batches, "median": 100.0}));
    entry["launches"] = json!([{"median": 100.0, "samples": 3}, {"median": 100.0, "samples": 3}]);
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

fn google_rows(entries: &[Value]) -> Vec<Value> {
    let text = written("google-benchmark", &run(entries));
    let mut document: Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(document["benchmarks"].take()).unwrap()
}

#[test]
fn google_benchmark_cpu_time_excludes_stolen_time() {
    let rows = google_rows(&[with_batches([25.0, 30.0, 20.0, 50.0, 50.0, 90.0], json!({}))]);
    let times: Vec<&Value> = rows.iter().map(|r| &r["cpu_time"]).collect();
    assert_eq!(times, [&json!(75.0), &json!(50.0), &json!(60.0)]);
    // The two clocks are read one after the other, so the processor time may seem to exceed the
    // real time; it is capped.
    let rows = google_rows(&[with_batches([-0.5; 6], json!({}))]);
    assert!(rows.iter().all(|r| r["cpu_time"] == 100.0), "{rows:?}");

    let absent = |stolen, more| {
        let rows = google_rows(&[with_batches(stolen, more)]);
        rows.iter().all(|r| r.get("cpu_time").is_none())
    };
    assert!(absent([0.0; 6], json!({})));
    assert!(absent([1.0; 6], json!({"figure": "value", "unit": "at once"})));
    assert!(absent([1.0; 6], json!({"is_disturbed": true})));
}

/// `compare.py` pairs rows by name. It reads `time_unit` of each row, and both times of rows with
/// the same unit and of all repetitions.
#[test]
fn google_benchmark_rows_satisfy_compare_py() {
    let good = with_batches([1.0; 6], json!({}));
    let others = [
        json!({"status": "invalid", "valid": false}),
        json!({"status": "skipped", "valid": false}),
        json!({"is_disturbed": true}),
        json!({"figure": "value", "unit": "at once"}),
    ];
    for other in others {
        let rows = google_rows(&[good.clone(), with_batches([1.0; 6], other.clone())]);
        let named = |r: &&Value| r["name"] == "x" || r["name"] == "x_median";
        for row in rows.iter().filter(named) {
            let is_good = row["time_unit"] == "ns";
            assert_eq!(row.get("cpu_time").is_some(), is_good, "{row}");
            assert_eq!(row.get("real_time").is_some(), is_good, "{row}");
        }
        let repetitions: Vec<_> = rows.iter().filter(|r| r["run_type"] == "iteration").collect();
        assert_eq!(repetitions.len(), 2, "{other}");
        assert!(repetitions.iter().all(|r| r["cpu_time"] == 99.0), "{rows:?}");
        assert!(rows.iter().all(|r| r.get("time_unit").is_some()), "{rows:?}");
    }
    let rows = google_rows(&[with_batches([1.0; 6], json!({"is_disturbed": true}))]);
    assert_eq!(rows[0]["name"], "x/disturbed");
    assert_eq!(rows[0]["real_time"], 100.0);
    assert_eq!(rows[2]["label"], "disturbed: this format has no interval");
}

#[test]
fn csv_has_one_line_per_entry() {
    let text = written("csv", &sample());
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(
        lines[1],
        r#"0123456789abcdef,lat_x,"{""path"":""/bin/a b"",""size"":8}",1,1,ok,latency,ns,2.5,2,3,,,,,2,0,false,true,,,"#
    );
    assert_eq!(
        lines[4],
        r#"0123456789abcdef,bad,{},1,1,invalid,latency,ns,,,,,,,,2,0,false,false,,,"missed, twice""#
    );
}

/// An entry of four threads has another name or series than one of one thread, or of four
/// processes.
#[test]
fn threads_identify_entry() {
    let four = entry("x", json!({"threads": 4}));
    let threads = run(std::slice::from_ref(&four));
    for (format, text) in [
        ("prometheus", r#"benchmark="x",processes="1",threads="4"}"#),
        ("influx", "yamba,benchmark=x,processes=1,threads=4,"),
        ("google-benchmark", r#""x/threads=4""#),
        ("csv", "x,{},1,4,ok"),
    ] {
        let written = written(format, &threads);
        assert!(written.contains(text), "{format}: {written}");
    }
    assert_eq!(google_rows(&[four])[0]["threads"], 4);
}

#[test]
fn csv_batches_has_one_line_per_batch() {
    let batch = json!({"passes": 3, "operations": 6, "ns": [9.5], "dummy_ns": 0.5, "sample": 1.5, "launch": 1,
        "evidence": {"faults": 1.0}, "outside": {"faults": [0]}, "disturbance": {"stolen_ns": -2.5},
        "probes": {"before": 1702, "cycle_change_ppm": -200}});
    let text = written("csv-batches", &run(&[entry("x", json!({"batches": batch}))]));
    assert_eq!(
        text.lines().nth(1).unwrap(),
        r#"0123456789abcdef,x,{},1,1,ok,ns,1,0,0,,3,6,9.5,0.5,,,,1.5,faults,,0,0,0,0,0,-2.5,,1702,,,0,0,0,-200,,"{""faults"":1.0}",{}"#
    );
}

#[test]
fn csv_escapes_formulas() {
    for name in ["=1+1", "+1", "-1", "@x", "\t=1"] {
        let text = written("csv", &run(&[entry(name, json!({}))]));
        assert!(text.contains(&format!(",'{name},")), "{text}");
    }
    let text = written("csv", &run(&[entry("x", json!({"median": -2.5}))]));
    assert!(text.contains(",-2.5,"), "{text}");
}

/// The formats in JSON keep names as they are.
#[test]
fn control_characters_are_removed_from_names() {
    let hostile = entry(
        "x\u{1b}[2J\u{9b}",
        json!({"parameters": {"p\u{7}": "\u{1b}c"}, "notes": ["\u{1b}]0;t\u{7}"]}),
    );
    let in_json = ["json", "google-benchmark"];
    let texts = FORMATS.iter();
    for name in texts.map(|f| f.name).filter(|n| !in_json.contains(n)) {
        let text = written(name, &run(std::slice::from_ref(&hostile)));
        let acts = |c: char| c.is_control() && !matches!(c, '\r' | '\n');
        assert!(!text.contains(acts), "{name}: {text:?}");
    }
}

#[test]
fn non_finite_numbers_are_omitted() {
    let mut run = sample();
    for entry in &mut run.benchmarks {
        entry.confidence_interval = Some([f64::NAN, f64::INFINITY]);
        entry.launches.iter_mut().for_each(|l| l.median = Some(f64::NAN));
    }
    run.benchmarks[0].median = Some(f64::INFINITY);
    for format in FORMATS.iter() {
        let text = written(format.name, &run).to_lowercase();
        assert!(
            !text.replace("provenance", "").contains("nan") && !text.contains("inf,"),
            "{}",
            format.name
        );
        assert!(!text.contains(" inf\n"), "{}", format.name);
    }
    assert_eq!(count("prometheus", &run), 2);
}
