//! `yamba predict` with traced times, and runs that were written by hand.

use std::fs;

use serde_json::{Value, json};

use crate::predict::{entry, run, vector};
use crate::schema;
use crate::support::{Yamba, json as document, root};
use yamba_predict::machine_name;
use yamba_toolchain::build::host;

/// A run of another machine. Every cost is twice that of the machine Z80, but reads of 64 KiB four
/// times.
fn other() -> Value {
    let mut other = run(2.0);
    other["id"] = json!("00000000000000bb");
    other["machine"]["cpu"] = json!("Z8000");
    other["benchmarks"][2] =
        entry("of_read", &json!({"name": "read(file)", "by": "block"}), 65536, 20_000.0);
    other
}

/// A figure without a primitive.
fn figure(class: &str, kind: &str, unit: &str, value: f64) -> Value {
    let mut figure = entry(class, &Value::Null, 0, value);
    (figure["figure"], figure["unit"]) = (json!(kind), json!(unit));
    figure
}

/// 16 reads of 4 KiB in 16 us, 1 open in 3 us, 1 close in 400 ns, 2 ioctl in 1 us, and 4.6 us
/// outside of them.
fn traced(machine: &str) -> Value {
    let mut traced = vector("server", 16.0, Some(5000.0));
    traced["traced"] = json!({"how": "by hand", "machine": machine});
    traced["kernel_ns"] = json!(25_000.0);
    traced["primitives"] = json!([
        {"name": "read(file)", "size": 4096, "count": 16, "time_ns": 16_000},
        {"name": "open(file)", "count": 1, "time_ns": 3000},
        {"name": "close(file)", "count": 1, "time_ns": 400},
        {"name": "ioctl", "count": 2, "time_ns": 1000},
    ]);
    traced
}

const Z80: &str = "Z80, x86_64 linux 6.1";

fn with_figures(mut run: Value, factor: f64) -> Value {
    let entries = run["benchmarks"].as_array_mut().unwrap();
    entries.push(figure("multiply", "latency", "ns", 2.0 * factor));
    entries.push(figure("copy", "bandwidth", "MB/s", 100.0 / factor));
    entries.push(figure("size", "value", "kB", 9.0));
    run
}

fn prepared() -> Yamba {
    Yamba::new()
        .file("here.json", with_figures(run(1.0), 1.0).to_string())
        .file("other.json", with_figures(other(), 1.5).to_string())
        .file("server.vector", traced(Z80).to_string())
        .file("elsewhere.vector", traced("Z9, z9 linux 9").to_string())
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-6 * expected, "{value} is not {expected}");
}

#[test]
fn prediction_on_the_machine_of_the_trace_is_the_traced_time() {
    let mut yamba = prepared();
    let words = "predict server.vector --on here.json";
    yamba.run(words).ok().says(&[
        "kernel time as traced: 25 us each request",
        "the vector was traced on here.json: its times are those of the trace",
        "other kernel time",
        "user time: 5 us, as traced; 33333 units per second and core",
    ]);
    let found = document(&mut yamba, &format!("{words} --json"));
    schema::holds("yamba-predict/1", &found);
    let first = &found["predictions"][0];
    near(&first["predicted_ns"], 25_000.0);
    assert_eq!(first["context"], "traced");
    assert_eq!(first["is_as_traced"], true);
    assert_eq!(first["interval_ns"], Value::Null);
    near(&first["per_second_and_core"], 1e9 / 30_000.0);
    let read = &first["primitives"][0];
    assert_eq!(read["name"], "read(file)");
    assert_eq!(read["interval_ns"], Value::Null);
    near(&read["cost_ns"], 500.0);
    near(&read["context_factor"], 2.0);
}

/// Of two runs of the machine of the trace, the one that the user names counts, also if it has few
/// costs or none.
#[test]
fn named_run_of_the_machine_of_the_trace_is_the_reference() {
    let mut stored = run(1.0);
    stored["benchmarks"][0]["name"] = json!("lat_syscall_getppid");
    stored["benchmarks"][1]["name"] = json!("lat_read_cached");
    let mut few = run(3.0);
    few["id"] = json!("00000000000000cc");
    few["benchmarks"].as_array_mut().unwrap().truncate(1);
    let mut none = few.clone();
    none["benchmarks"] = json!([]);
    let mut yamba = prepared()
        .file("stored.json", stored.to_string())
        .file("few.json", few.to_string())
        .file("none.json", none.to_string());
    yamba.run("import stored.json").ok();
    for name in ["few", "none"] {
        let words = format!("predict server.vector --on {name}.json --json");
        let found = document(&mut yamba, &words);
        let first = &found["predictions"][0];
        assert_eq!((&first["is_as_traced"], &first["context"]), (&json!(true), &json!("traced")));
        near(&first["predicted_ns"], 25_000.0);
    }
}

#[test]
fn prediction_on_another_system_scales_the_traced_times() {
    let mut yamba = prepared();
    let words = "predict server.vector --on other.json --traced-on here.json";
    yamba.run(words).ok().says(&[
        "predicted kernel time: 50 us [",
        "scaled by the costs on other.json to those on here.json, where it was traced",
        "scaled as open(file), which contains it",
        "no cost: scaled as the others",
        "user time where the vector was taken: 5 us; it is not predicted",
    ]);
    let found = document(&mut yamba, &format!("{words} --json"));
    schema::holds("yamba-predict/1", &found);
    let first = &found["predictions"][0];
    near(&first["predicted_ns"], 50_000.0);
    assert_eq!(first["traced_on"], "here.json");
    assert_eq!(first["predicted_user_ns"], Value::Null);
    // 10 % on both systems are 14.1 % of each ratio: reads alone, open and close together, and what
    // is scaled as these.
    let parts: [f64; 3] = [32_000.0, 6800.0, 11_200.0];
    let half = 0.02f64.sqrt() * parts.map(|p| p * p).iter().sum::<f64>().sqrt();
    near(&first["interval_ns"][0], 50_000.0 - half);
    near(&first["interval_ns"][1], 50_000.0 + half);
    near(&first["coverage"]["calls"], 18.0 / 20.0);
    near(&first["coverage"]["kernel_time"], 19_400.0 / 25_000.0);
    near(&first["other"]["product_ns"], 9200.0);
}

/// The vector names the machine, so a stored run or one of `--on` is found.
#[test]
fn run_of_the_machine_of_the_trace_is_found() {
    let mut yamba = prepared();
    let ranking = "predict server.vector --on other.json --on here.json";
    yamba.run(ranking).ok().says(&[
        "kernel time as traced: 25 us",
        "predicted kernel time: 50 us",
        "here.json  25 us\n",
    ]);
    // A run that is stored counts if it has benchmarks of the suite.
    let mut stored = run(1.0);
    stored["benchmarks"][0]["name"] = json!("lat_syscall_getppid");
    let mut yamba = yamba.file("stored.json", stored.to_string());
    yamba.run("import stored.json").ok();
    let alone = "predict server.vector --on other.json";
    yamba.run(alone).ok().says(&["to those on 00000000, where it was traced"]);
}

#[test]
fn prediction_from_benchmarks_alone_has_the_reason() {
    let mut by_hand = traced(Z80);
    by_hand["traced"] = Value::Null;
    let mut yamba = prepared().file("hand.vector", by_hand.to_string());
    for (vector, reason) in [
        (
            "elsewhere",
            "no stored run has the costs of the machine where it was traced: Z9, z9 linux 9",
        ),
        ("hand", "the vector does not say on which machine it was traced; `--traced-on RUN` names"),
    ] {
        let words = format!("predict {vector}.vector --on here.json");
        let answer = yamba.run(&words).ok();
        answer.says(&["usually too low (", reason, "predicted kernel time: 9.2 us"]);
        let found = document(&mut yamba, &format!("{words} --json"));
        schema::holds("yamba-predict/1", &found);
        let first = &found["predictions"][0];
        assert_eq!(first["context"], "benchmarks");
        assert_eq!(first["primitives"][0]["context_factor"], Value::Null);
    }
}

#[test]
fn changes_apply_to_traced_times() {
    let mut yamba = prepared();
    let mut of = |words: &[&str]| {
        let all = [&["predict", "server.vector", "--on", "here.json", "--json"], words].concat();
        let found: Value = serde_json::from_str(&yamba.run_words(&all).ok().out).unwrap();
        found["predictions"][0]["predicted_ns"].clone()
    };
    near(&of(&["--cost", "open(file)=0.5x"]), 23_500.0);
    // One read of 64 KiB costs 5 us in the benchmark. A read of 4 KiB takes 0.5 us more here than
    // in the benchmark, and a larger one at least 16 times as much more. Sixteen reads of 4 KiB
    // take 16 us, and 15 entries into the kernel 1.5 us of that. The time is halfway.
    let larger = ["--replace", "read(file)@4K*16=read(file)@64K"];
    let read = (5000.0 + 16.0 * 500.0_f64).midpoint(16_000.0 - 1500.0);
    near(&of(&larger), 25_000.0 - 16_000.0 + read);
}

#[test]
fn ratio_of_versions_is_between_predictions_of_one_kind() {
    let mut faster = traced(Z80);
    faster["application"] = json!("new");
    faster["primitives"][0]["count"] = json!(8);
    faster["primitives"][0]["time_ns"] = json!(8000);
    faster["kernel_ns"] = json!(17_000);
    let mut yamba = prepared()
        .file("new.vector", faster.to_string())
        .file("plain.vector", vector("plain", 8.0, None).to_string());
    let ratio = |yamba: &mut Yamba, version: &str| {
        let words =
            format!("predict {version}.vector --against server.vector --on here.json --json");
        document(yamba, &words)
    };
    let found = ratio(&mut yamba, "new");
    near(&found["ratios"][0]["speedup"], 25.0 / 17.0);
    assert_eq!(found["ratios"][0]["interval"], json!([null, null]));
    near(&found["ratios"][0]["with_user_time"], 30.0 / 22.0);
    let found = ratio(&mut yamba, "plain");
    assert_eq!(found["predictions"][0]["context"], "benchmarks");
    assert_eq!(found["predictions"][0]["no_context"], "plain: the vector has no times");
    near(&found["ratios"][0]["speedup"], 9200.0 / 15_200.0);
}

#[test]
fn user_time_is_scaled_by_a_named_figure() {
    let mut yamba = prepared();
    let words = "predict server.vector --on here.json --on other.json --user-scale";
    for benchmark in ["multiply", "copy"] {
        let found = document(&mut yamba, &format!("{words} {benchmark} --json"));
        let [here, other] = [0, 1].map(|i| &found["predictions"][i]);
        near(&here["predicted_user_ns"], 5000.0);
        near(&other["predicted_user_ns"], 7500.0);
        near(&other["per_second_and_core"], 1e9 / 57_500.0);
        let half = 7500.0 * 0.02f64.sqrt();
        near(&other["predicted_user_interval_ns"][1], 7500.0 + half);
        assert_eq!(other["user_scaled_by"], benchmark);
        near(&found["ranking"][1]["predicted_user_ns"], 7500.0);
    }
    yamba.run(&format!("{words} multiply")).ok().says(&[
        "user time: 7.5 us",
        "scaled by multiply from 5 us",
        "by kernel and user time",
        "here.json  30 us",
    ]);
    for benchmark in ["size", "none"] {
        let answer = yamba.run(&format!("{words} {benchmark}"));
        answer.refused(&["--user-scale, from here.json to here.json", benchmark]);
    }
    let elsewhere = "predict elsewhere.vector --on here.json --user-scale copy";
    yamba.run(elsewhere).refused(&["--user-scale: server: no stored run", "--traced-on"]);
}

#[test]
fn page_has_a_bar_for_each_system_and_hatches_time_without_costs() {
    let mut yamba = prepared();
    let words = "predict server.vector --on here.json --on other.json --traced-on here.json --page";
    let answer = yamba.run(&format!("{words} page.html")).ok();
    assert_eq!(answer.out, "");
    assert!(answer.err.starts_with("page.html: "), "{}", answer.err);
    let page = fs::read_to_string(yamba.folder.path().join("page.html")).unwrap();
    for text in [
        "<strong>server</strong> on here.json",
        "<strong>server</strong> on other.json",
        "hatched: without costs of its own",
        "here.json  25 us",
        "the vector was traced on here.json",
        "other kernel time",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // In each bar: `ioctl` and the other kernel time.
    let hatched = page.matches("<rect class=\"hatched\" x=\"").count();
    assert_eq!(hatched, 2 * 2 + 1, "and the legend");
    assert_eq!(yamba.run(&format!("{words} -")).ok().out, page);
    let answer = yamba.run(&format!("{words} page.html --json"));
    assert_eq!((answer.status, answer.out.as_str()), (2, ""));
}

/// A suite of one primitive: the benchmark of the null call and the files that it needs.
fn small_suite(yamba: Yamba) -> Yamba {
    let home = yamba.folder.path().join("home");
    for folder in ["runtime", "library"] {
        let status = std::process::Command::new("cp")
            .arg("-r")
            .arg(root().join(folder))
            .arg(yamba.folder.path().join(folder))
            .status();
        assert!(status.unwrap().success());
        fs::create_dir_all(&home).unwrap();
        fs::rename(yamba.folder.path().join(folder), home.join(folder)).unwrap();
    }
    let from = root().join("suite/cpu/lat_syscall_getppid.yamba");
    let to = home.join("suite/cpu");
    fs::create_dir_all(&to).unwrap();
    fs::copy(from, to.join("lat_syscall_getppid.yamba")).unwrap();
    yamba.env("YAMBA_HOME", home)
}

fn null_calls() -> Value {
    let mut calls = vector("calls", 0.0, None);
    calls["primitives"] = json!([{"name": "null", "count": 3}, {"name": "ioctl", "count": 1}]);
    calls
}

#[test]
#[ignore = "needs g++"]
fn costs_are_measured_once_where_no_run_has_them() {
    let calls = null_calls();
    let mut yamba = small_suite(Yamba::new().file("calls.vector", calls.to_string()));
    let first = yamba.run("predict calls.vector --json").ok();
    assert!(
        first.err.contains("measuring 1 benchmark") && first.err.contains("lat_syscall_getppid"),
        "{}",
        first.err
    );
    let found: Value = serde_json::from_str(&first.out).unwrap();
    assert_eq!(found["predictions"][0]["system"], "this machine");
    // A figure that leaves the interval wide is measured a second time, and no more.
    let second = yamba.run("predict calls.vector --json").ok();
    let third = yamba.run("predict calls.vector --json").ok();
    assert!(!third.err.contains("measuring"), "{}", third.err);
    assert_eq!(second.out, third.out);
    let runs = document(&mut yamba, "runs --json");
    let runs = runs.as_array().map_or(1, Vec::len);
    assert!((1..=2).contains(&runs), "{runs}");
    let latest = yamba.run("show latest");
    assert_eq!(latest.status, 2, "no user requested these runs");
}

/// On the machine of the trace, the traced time needs no costs: nothing is measured.
#[test]
fn traced_times_of_this_machine_need_no_costs() {
    let here = machine_name(&yamba_session::machine(&host())).unwrap();
    let mut yamba = Yamba::new().file("server.vector", traced(&here).to_string());
    let answer = yamba.run("predict server.vector").ok();
    assert_eq!(answer.err, "");
    answer.says(&["server on this machine", "kernel time as traced: 25 us each request"]);
}

/// A vector that does not name its machine, and a run of this machine that `--traced-on` names.
#[test]
fn run_of_this_machine_says_that_the_vector_was_traced_here() {
    let mut here = run(1.0);
    here["machine"] = serde_json::to_value(yamba_session::machine(&host())).unwrap();
    let mut by_hand = traced("unknown");
    by_hand["traced"] = Value::Null;
    let mut yamba =
        Yamba::new().file("mine.json", here.to_string()).file("server.vector", by_hand.to_string());
    let answer = yamba.run("predict server.vector --traced-on mine.json").ok();
    assert_eq!(answer.err, "");
    answer.says(&["kernel time as traced: 25 us each request"]);
}
