//! `yamba predict` with vectors and runs that were written by hand.

use serde_json::{Value, json};

use crate::schema;
use crate::support::{Answer, Yamba, json as document};

/// An entry that stands for a primitive, with a figure in ns whose interval is 10 % to each side.
pub(crate) fn entry(class: &str, primitive: &Value, block: u64, ns: f64) -> Value {
    json!({
        "name": class, "class": class, "ports": [], "parameters": {"block": block}, "processes": 1,
        "status": "ok", "valid": true, "unit": "ns", "operations": 1.0, "median": ns,
        "confidence_interval": [0.9 * ns, 1.1 * ns], "samples": [], "evidence": {}, "notes": [], "figure": "latency",
        "interval_scope": if class == "of_null" { "within launches" } else { "between launches" },
        "primitive": primitive,
    })
}

/// A run in which every cost is `factor` times the usual one.
pub(crate) fn run(factor: f64) -> Value {
    let plain = |name: &str| json!({"name": name});
    let read = json!({"name": "read(file)", "by": "block"});
    let open = json!({"name": "open(file)", "contains": [{"name": "close(file)", "count": 1}]});
    let mut crashed = entry("of_stat", &plain("stat(file)"), 0, 1.0);
    (crashed["status"], crashed["valid"]) = (json!("crashed"), json!(false));
    json!({
        "schema": "yamba-run/1", "id": "00000000000000aa", "started_unix_s": 1.0,
        "machine": {"isa": "x86_64", "system": "linux", "kernel": "6.1", "cpu": "Z80", "cpus": 2,
            "memory": 1000, "page_size": 4096, "root": true, "virtual_machine": false, "scratch": null},
        "benchmarks": [
            entry("of_null", &plain("null"), 0, 100.0 * factor),
            entry("of_read", &read, 4096, 500.0 * factor),
            entry("of_read", &read, 65536, 5000.0 * factor),
            entry("of_connect", &plain("connect(tcp)"), 0, 20_000.0 * factor),
            entry("of_open", &open, 0, 1000.0 * factor),
            crashed,
        ],
    })
}

pub(crate) fn vector(application: &str, reads: f64, user_ns: Option<f64>) -> Value {
    json!({
        "schema": "yamba-vector/1", "application": application, "unit": "request", "user_ns": user_ns,
        "primitives": [
            {"name": "read(file)", "size": 4096, "count": reads},
            {"name": "tcp connect", "count": 0.5},
            {"name": "open(file)", "count": 1},
            {"name": "close(file)", "count": 1},
            {"name": "ioctl", "count": 2},
        ],
    })
}

/// `server.vector` costs 16 x 500 + 0.5 x 20 000 + 1000 + 2 x 100 = 19 200 ns on `here.json`,
/// `small.vector` 15 200 ns.
fn prepared() -> Yamba {
    Yamba::new()
        .file("here.json", run(1.0).to_string())
        .file("near.json", run(1.01).to_string())
        .file("slow.json", run(3.0).to_string())
        .file("server.vector", vector("server", 16.0, Some(4800.0)).to_string())
        .file("small.vector", vector("small", 8.0, None).to_string())
}

fn predicted(yamba: &mut Yamba, words: &str) -> f64 {
    let found = document(yamba, &format!("predict {words} --on here.json --json"));
    found["predictions"][0]["predicted_ns"].as_f64().unwrap()
}

#[test]
fn predict_prints_products_sum_and_coverage() {
    let mut yamba = prepared();
    let answer = yamba.run("predict server.vector --on here.json").ok();
    answer.says(&[
        "server on here.json",
        "predicted kernel time: 19.2 us [17.92, 20.48] each request",
        "from benchmarks alone, which find their caches warm: usually too low (the vector has no times)",
        "as a null call",
        "1 of close(file): part of open(file)",
        "user time where the vector was taken: 4.8 us; it is not predicted",
        "the interval does not cover other runs",
        "1 figure of the run is not used: of_stat: it has no valid figure",
    ]);
}

#[test]
fn primitive_without_its_size_is_named() {
    let mut unsized_read = vector("server", 16.0, None);
    unsized_read["primitives"][0]["size"] = Value::Null;
    let mut yamba = prepared().file("unsized.vector", unsized_read.to_string());
    let answer = yamba.run("predict unsized.vector --on here.json").ok();
    answer.says(&[
        "no cost, and it may wait; without a size",
        "no cost is known of read(file) without a size, which may wait",
    ]);
}

#[test]
fn json_of_predict_holds_its_schema() {
    let mut yamba = prepared();
    let words = "predict server.vector --on here.json --on slow.json --against small.vector --json";
    let found = document(&mut yamba, words);
    schema::holds("yamba-predict/1", &found);
    let first = &found["predictions"][0];
    assert_eq!(first["application"], "server");
    assert_eq!(first["unit"], "request");
    assert_eq!(first["system"], "here.json");
    assert_eq!(first["predicted_ns"], 19_200.0);
    assert_eq!(first["measured_ns"], Value::Null);
    assert_eq!(first["user_ns"], 4800.0);
    // 10 % of each product, added in quadrature.
    let half = (800f64.powi(2) + 1000f64.powi(2) + 100f64.powi(2) + 20f64.powi(2)).sqrt();
    let [low, high] = [0, 1].map(|i| first["interval_ns"][i].as_f64().unwrap());
    assert!((19_200.0 - low - half).abs() < 1e-6 && (high - 19_200.0 - half).abs() < 1e-6);
    // Two of 20.5 uses are charged as null calls.
    let calls = first["coverage"]["calls"].as_f64().unwrap();
    assert!((calls - 18.5 / 20.5).abs() < 1e-12);
    assert_eq!(first["coverage"]["kernel_time"], Value::Null);
    let dearest = &first["primitives"][0];
    assert_eq!(dearest["name"], "connect(tcp)");
    assert_eq!(dearest["size"], Value::Null);
    let numbers = ["count", "cost_ns", "product_ns"].map(|k| dearest[k].as_f64().unwrap());
    assert_eq!(numbers, [0.5, 20_000.0, 10_000.0]);
    assert_eq!(first["is_within_launches"], true, "that of the null call");
    let mut broken = found.clone();
    broken["predictions"][0]["predicted_ns"] = json!("much");
    assert!(!schema::is_held("yamba-predict/1", &broken));
}

#[test]
fn intervals_within_launches_matter_only_where_they_are_used() {
    let mut only_connect = vector("client", 0.0, None);
    only_connect["primitives"] = json!([{"name": "connect(tcp)", "count": 1}]);
    let mut yamba = prepared().file("client.vector", only_connect.to_string());
    let found = document(&mut yamba, "predict client.vector --on here.json --json");
    assert_eq!(found["predictions"][0]["is_within_launches"], false);
}

#[test]
fn systems_are_ranked_where_intervals_are_apart() {
    let mut yamba = prepared();
    let words = "predict server.vector --on slow.json --on near.json --on here.json";
    let ranking = document(&mut yamba, &format!("{words} --json"))["ranking"].clone();
    let place = |p: &Value| json!([p["system"], p["is_before_later"]]);
    let places: Vec<Value> = ranking.as_array().unwrap().iter().map(place).collect();
    let expected =
        [json!(["here.json", false]), json!(["near.json", true]), json!(["slow.json", null])];
    assert_eq!(places, expected);
    yamba.run(words).ok().says(&["cannot tell from later ones"]);
}

#[test]
fn against_prints_the_ratio_with_and_without_user_time() {
    let mut yamba = prepared();
    let words = "predict small.vector --on here.json --against server.vector";
    let ratio = document(&mut yamba, &format!("{words} --json"))["ratios"][0].clone();
    let near = |key: &str, value: f64| {
        assert!((ratio[key].as_f64().unwrap() - value).abs() < 1e-9, "{key}")
    };
    near("speedup", 19_200.0 / 15_200.0);
    near("with_user_time", 24_000.0 / 20_000.0);
    yamba.run(words).ok().says(&["times as fast as server"]);
    let without = "predict server.vector --on here.json --against small.vector";
    yamba.run(without).ok().says(&["the user time of the base is unknown"]);
}

#[test]
fn changes_of_costs_and_calls_change_the_sum() {
    let mut yamba = prepared();
    let mut of = |words: &[&str]| {
        let all = [&["predict", "server.vector", "--on", "here.json", "--json"], words].concat();
        let found: Value = serde_json::from_str(&yamba.run_words(&all).ok().out).unwrap();
        found["predictions"][0]["predicted_ns"].as_f64().unwrap()
    };
    assert_eq!(of(&["--cost", "tcp connect=0.5x"]), 14_200.0);
    assert_eq!(of(&["--cost", "connect(tcp)=2x"]), 29_200.0);
    let larger = ["--replace", "read(file)@4K*16=read(file)@64K"];
    assert_eq!(of(&larger), 19_200.0 - 8000.0 + 5000.0);
    let halfway = ["--replace", "read(file)@4K*2=read(file)@34K"];
    // On the line between 4096 and 65536 bytes.
    let middle = 500.0 + 4500.0 * (34.0 - 4.0) / 60.0;
    assert!((of(&halfway) - (11_200.0 + 8.0 * middle)).abs() < 1e-6);
    assert_eq!(predicted(&mut yamba, "server.vector"), 19_200.0);
}

#[test]
fn disturbed_figures_count_with_their_intervals_and_are_named() {
    let mut run = run(1.0);
    run["benchmarks"][3]["is_disturbed"] = json!(true);
    run["benchmarks"][3]["is_bounded"] = json!(true);
    run["benchmarks"][3]["confidence_interval"] = json!([12_000.0, 22_000.0]);
    let mut yamba = prepared().file("busy.json", run.to_string());
    let words = "predict server.vector --on busy.json";
    let found = document(&mut yamba, &format!("{words} --json"));
    let first = &found["predictions"][0];
    assert_eq!(first["predicted_ns"], 19_200.0);
    assert_eq!(first["disturbed"], json!(["connect(tcp)"]));
    // Half of the uses' interval, in quadrature with 10 % of each other product.
    let others = 800f64.hypot(100.0).hypot(20.0);
    let low = first["interval_ns"][0].as_f64().unwrap();
    assert!((19_200.0 - low - others.hypot(4000.0)).abs() < 1e-6, "{low}");
    yamba
        .run(words)
        .ok()
        .says(&["costs of disturbed figures, which count with their intervals: connect(tcp)"]);
}

/// A program that the server starts makes one of two reads.
#[test]
fn application_without_its_processes_in_another_context() {
    let of = |name: &str, machine: &str, ns: f64, started: Value| {
        let traced = json!({"how": "bpf", "machine": machine});
        let read = json!({"name": "read(file)", "size": 4096, "count": 2, "time_ns": ns, "started": started});
        json!({"schema": "yamba-vector/1", "application": name, "unit": "request", "traced": traced, "primitives": [read]}).to_string()
    };
    let started = json!({"count": 1, "size": 4096, "time_ns": 4000});
    let mut yamba = prepared()
        .file("page.vector", of("page", "here", 6000.0, started))
        .file("other.vector", of("other", "here", 1500.0, Value::Null))
        .file("there.vector", of("other", "there", 1500.0, Value::Null));
    let words = "predict page.vector --on here.json --traced-on here.json";
    let mut of = |more: &str| {
        let found: Value =
            serde_json::from_str(&yamba.run(&format!("{words} --json {more}")).ok().out).unwrap();
        let first = &found["predictions"][0];
        (first["predicted_ns"].as_f64().unwrap(), first["context_from"].clone())
    };
    assert_eq!(of(""), (6000.0, Value::Null));
    assert_eq!(of("--without-processes"), (2000.0, Value::Null));
    assert_eq!(of("--context other.vector"), (1500.0, json!("other.vector")));
    let both = of("--without-processes --context other.vector");
    assert_eq!(both, (750.0, json!("other.vector")));
    yamba.run(&format!("{words} --context other.vector")).ok().says(&[
        "predicted kernel time: 1.5 us",
        "each call takes as long as in the trace of other.vector;",
    ]);
    for (more, parts) in [
        (
            "--context there.vector",
            ["it was traced on there, but page on here", "the same machine"],
        ),
        ("--context server.vector", ["--context server.vector", "the vector has no times"]),
    ] {
        yamba.run(&format!("{words} {more}")).refused(&parts);
    }
    let without = "predict other.vector --on here.json --without-processes";
    yamba.run(without).refused(&["--without-processes", "other has no `started` calls"]);
}

#[test]
fn faulty_changes_are_refused() {
    let mut yamba = prepared();
    for (option, change, parts) in [
        ("--cost", "fork=2x", ["there is no cost of fork", "--cost"]),
        (
            "--replace",
            "read(file)@8K=read(file)@64K",
            ["server has no read(file)@8192", "--replace"],
        ),
    ] {
        let words = ["predict", "server.vector", "--on", "here.json"];
        let words = [&words[..], &[option, change]].concat();
        yamba.run_words(&words).refused(&parts);
    }
}

#[test]
fn misspelt_changes_are_usage_errors_with_the_form() {
    let mut yamba = prepared();
    for (option, change, part) in [
        ("--cost", "fork", "NAME=FACTORx"),
        ("--cost", "fork=-1x", "is no factor above 0; write NAME=FACTORx"),
        ("--replace", "read(file)@4K", "NAME@SIZE*COUNT"),
        ("--replace", "read(file)@much=read(file)", "is no size, such as"),
        ("--replace", "@4K=read(file)", "names no primitive; write NAME@"),
    ] {
        let answer = yamba.run_words(&["predict", "server.vector", option, change]);
        assert_eq!((answer.status, answer.out.as_str()), (2, ""), "{change}");
        let is_named = answer.err.contains(option) && answer.err.contains(part);
        assert!(is_named, "{}", answer.err);
    }
}

#[test]
fn faulty_vectors_are_refused() {
    let with = |key: &str, value: Value| {
        let mut vector = vector("server", 1.0, None);
        vector[key] = value;
        vector.to_string()
    };
    let uses = |text: &str| with("primitives", serde_json::from_str(text).unwrap());
    let long = with("units", json!(1)).replace("\"units\":1", "\"units\":1e999");
    for (text, part) in [
        (with("schema", json!("yamba-run/1")), "schema: "),
        (with("primitives", json!([])), "the list is empty"),
        (with("colour", json!("red")), "unknown field `colour`"),
        (uses(r#"[{"name": "a", "count": -1}]"#), "primitives[0].count"),
        (uses(r#"[{"name": "a"}]"#), "missing field `count`"),
        (uses(r#"[{"name": "", "count": 1}]"#), "primitives[0].name"),
        (long, "number out of range"),
        ("{".to_owned(), "line 1"),
    ] {
        let mut yamba = prepared().file("faulty.vector", text);
        let answer = yamba.run("predict faulty.vector --on here.json");
        answer.refused(&["faulty.vector", part]);
    }
    let mut yamba = prepared();
    yamba.run("predict none.vector --on here.json").refused(&["none.vector"]);
}

#[test]
fn system_without_costs_is_refused_with_the_missing_primitives() {
    let mut bare = run(1.0);
    let entries = bare["benchmarks"].as_array_mut().unwrap();
    entries.retain(|e| e["class"] == "of_connect");
    let mut yamba = prepared().file("bare.json", bare.to_string());
    yamba
        .run("predict server.vector --on bare.json")
        .refused(&["bare.json has no cost of read(file)@4096, open(file), close(file), ioctl"]);
}

/// Ten products are listed at least, and all until 99 % of the sum.
#[test]
fn small_products_are_added_up_in_one_line() {
    let mut many = vector("many", 1e4, None);
    let others = (0..40).map(|i| json!({"name": format!("call_{i}"), "count": 1}));
    many["primitives"].as_array_mut().unwrap().extend(others);
    let mut yamba = prepared().file("many.vector", many.to_string());
    let answer = yamba.run("predict many.vector --on here.json").ok();
    // Of 44 products without `close(file)`, ten are listed, six of them calls.
    let answer = answer.says(&["34 others", "34 of them as a null call"]);
    let listed = answer.out.matches("call_").count();
    assert_eq!(listed, 6, "{}", answer.out);
    let all = document(&mut yamba, "predict many.vector --on here.json --json");
    let all = all["predictions"][0]["primitives"].as_array().unwrap().len();
    assert_eq!(all, 44);
}

pub(crate) const STRACE: &str = r#"7 execve("/srv/server", ["server", "-c"], 0x7ffd /* 39 vars */) = 0 <0.0001>
7 openat(AT_FDCWD, "/srv/page", O_RDONLY) = 3 <0.00001>
7 read(3, "<html>"..., 4096) = 4096 <0.00001>
7 close(3) = 0 <0.00001>
7 openat(AT_FDCWD, "/srv/none", O_RDONLY) = -1 ENOENT (No such file or directory) <0.00001>
7 exit_group(0) = ?
"#;

#[test]
fn trace_of_strace_becomes_a_vector_that_can_be_predicted() {
    let damaged = STRACE.replace("7 exit_group", "?\n7 exit_group");
    let mut yamba = prepared().file("server.strace", damaged);
    let words = "trace --from server.strace --units 2 --unit request -o traced.vector";
    let answer = yamba.run(words);
    assert_eq!(answer.status, 1, "a line may be a call: {}", answer.err);
    for part in [
        "6 system calls",
        "page faults are not in",
        "1 line was not understood and not counted, first line 6",
        "error: the trace lost 1 events, 14.3 % of all",
        "help: `strace -f -yy -o FILE COMMAND`",
    ] {
        assert!(answer.err.contains(part), "{}", answer.err);
    }
    let text = std::fs::read_to_string(yamba.folder.path().join("traced.vector")).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    schema::holds("yamba-vector/1", &found);
    assert_eq!(found["application"], "server");
    assert_eq!(found["command"], json!(["server", "-c"]));
    assert_eq!(found["traced"]["how"], "strace");
    let all = found["primitives"].as_array().unwrap();
    let read = all.iter().find(|p| p["name"] == "read(file)").unwrap();
    let size_and_count = (&read["size"], &read["count"]);
    assert_eq!(size_and_count, (&json!(4096.0), &json!(0.5)));
    // Half of a read, an open file and two null calls: exit_group and the open that failed. execve
    // may wait.
    let ns = predicted(&mut yamba, "traced.vector");
    assert_eq!(ns, 250.0 + 500.0 + 100.0);
    yamba.run("predict traced.vector --on here.json").ok().says(&[
        "unknown] each request",
        "no upper bound: the trace lost 1 events, 14.3 % of all",
        "no upper bound: no cost is known of execve, which may wait",
    ]);
    let mut yamba = yamba.file("server.strace", STRACE);
    yamba
        .run("predict server.strace")
        .refused(&["a log of strace, not a vector", "trace --from server.strace"]);
    let printed = document(&mut yamba, "trace --from server.strace --application other");
    assert_eq!(printed["application"], "other");
}

#[test]
fn logs_of_each_process_and_standard_input_are_read() {
    let parent = "7 getppid() = 1\n".replace("7 ", "") + "fork() = 8\n";
    let mut yamba = Yamba::new()
        .file("out.7", &parent)
        .file("out.8", "getpid() = 8\n")
        .file("column.8", "8 getpid() = 8\n");
    let found = document(&mut yamba, "trace --from out.8 --from out.7");
    let names = found["primitives"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|used| used["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fork", "getpid", "getppid"]);
    assert!(found["primitives"][1]["started"].is_object(), "the child's");
    let mut command = yamba.command(&["trace", "--from", "-"]);
    let log = std::fs::File::open(yamba.folder.path().join("out.7")).unwrap();
    let without_child = Answer::read(command.stdin(log).output().unwrap());
    for answer in [without_child, yamba.run("trace --from out.7")] {
        assert_eq!(answer.status, 1, "{}", answer.err);
        assert!(answer.err.starts_with("2 system calls"), "{}", answer.err);
        let error = "error: the trace lacks the calls of process 8, which";
        assert!(answer.err.contains(error), "{}", answer.err);
        assert!(answer.err.contains("by --from"), "{}", answer.err);
        let vector: Value = serde_json::from_str(&answer.out).unwrap();
        schema::holds("yamba-vector/1", &vector);
        assert_eq!(vector["traced"]["missing_processes"], json!([8]));
    }
    for (words, parts) in [
        (
            "trace --from out.7 --from column.8",
            ["column.8: it is not the log of one", "strace -ff"],
        ),
        (
            "trace --from out.7 --from out.7",
            ["out.7: the log of this process was given twice", "-ff"],
        ),
        ("trace --from out.7 --from out.8 --files f", ["out.8: its process shares", "-ttt"]),
    ] {
        yamba.run(words).refused(&parts);
    }
}

#[test]
fn faults_of_trace_are_named() {
    let mut yamba = Yamba::new().file("other.txt", "hello\n");
    for (words, parts) in [
        ("trace --from none.strace", ["none.strace", "strace -o"]),
        (
            "trace --from other.txt",
            ["other.txt: no line is a system call", "strace -f -yy -o FILE"],
        ),
        ("trace --from other.txt --units 0", ["--units", "above 0"]),
    ] {
        yamba.run(words).refused(&parts);
    }
}

#[test]
fn entries_that_are_no_cost_are_left_out_with_the_reason() {
    let mut only_null = run(1.0);
    let entries = only_null["benchmarks"].as_array_mut().unwrap();
    entries.truncate(1);
    for (class, key, value, _) in reasons() {
        let mut faulty = entry(class, &json!({"name": class, "by": "block"}), 1, 5.0);
        faulty[key] = value;
        entries.push(faulty);
    }
    let again = entries[0].clone();
    entries.push(again);
    let mut calls = vector("server", 0.0, None);
    calls["primitives"] = json!([{"name": "null", "count": 3}]);
    let mut yamba = prepared()
        .file("faulty.json", only_null.to_string())
        .file("calls.vector", calls.to_string());
    let found = document(&mut yamba, "predict calls.vector --on faulty.json --json");
    assert_eq!(found["predictions"][0]["predicted_ns"], 300.0);
    let line =
        |(class, _, _, reason): (&str, &str, Value, &str)| json!(format!("{class}: {reason}"));
    let mut expected: Vec<Value> = reasons().into_iter().map(line).collect();
    expected.push(json!("of_null: an earlier point of the run has this primitive and size"));
    assert_eq!(found["predictions"][0]["notes"], Value::Array(expected));
}

#[test]
fn interrupted_run_gets_one_warning() {
    let mut half = run(1.0);
    half["interrupted"] = json!(true);
    let mut yamba = prepared().file("half.json", half.to_string());
    for options in ["", "--traced-on half.json"] {
        let answer = yamba.run(&format!("predict server.vector --on half.json {options}")).ok();
        assert_eq!(answer.err, "warning: half.json was stopped before it was done\n");
    }
}

/// A class, the field that is wrong in its entry with the value there, and the reason.
fn reasons() -> [(&'static str, &'static str, Value, &'static str); 5] {
    [
        ("b", "processes", json!(2), "several processes ran at the same time"),
        ("c", "figure", json!("value"), "its figure is no latency"),
        ("d", "unit", json!(null), "it has no figure in a unit of time"),
        ("e", "confidence_interval", json!(null), "it has no interval"),
        ("f", "parameters", json!({"block": "large"}), "its size is not a number"),
    ]
}
