//! `yamba predict --elapsed` with vectors and runs that were written by hand.

use serde_json::{Value, json};

use crate::predict::{entry, run};
use crate::schema;
use crate::support::{Yamba, json as document};

/// A unit of 10 ms: 2 ms of user time, 1 ms of kernel time, 4 ms in `fsync`, 2 ms of sleep, and
/// 1 ms without a processor.
fn vector(application: &str) -> Value {
    json!({
        "schema": "yamba-vector/1", "application": application, "unit": "run",
        "traced": {"how": "bpf", "machine": "Z80, x86_64 linux 6.1"},
        "user_ns": 2e6, "kernel_ns": 1e6,
        "elapsed": {"parallelism": 1, "ready_ns": 1e6},
        "primitives": [
            {"name": "read(file)", "size": 4096, "count": 16, "time_ns": 0.8e6},
            {"name": "fsync(file)", "count": 1, "time_ns": 0.1e6, "waited_ns": 4e6},
            {"name": "clock_nanosleep", "count": 1, "time_ns": 0.1e6, "waited_ns": 2e6},
        ],
    })
}

/// Costs of a machine. `factor` is that of the user time and of `fsync`, too.
fn system(cpu: &str, factor: f64) -> String {
    let mut run = run(factor);
    run["machine"]["cpu"] = json!(cpu);
    run["id"] = json!(format!("{:016x}", cpu.len()));
    let entries = run["benchmarks"].as_array_mut().unwrap();
    entries.push(entry("of_fsync", &json!({"name": "elapsed(fsync)"}), 0, 1e6 * factor));
    entries.push(entry("multiply", &Value::Null, 0, 2.0 * factor));
    run.to_string()
}

fn prepared() -> Yamba {
    Yamba::new()
        .file("here.json", system("Z80", 1.0))
        .file("other.json", system("Z8000", 2.0))
        .file("a.vector", vector("a").to_string())
        .file("b.vector", vector("b").to_string())
}

fn elapsed_ns(total: &Value) -> f64 {
    total["elapsed"]["ns"].as_f64().unwrap()
}

#[test]
fn total_has_each_part_on_one_line() {
    let mut yamba = prepared();
    let answer = yamba.run("predict a.vector --elapsed --on here.json").ok();
    for line in [
        "a on here.json: 9 ms elapsed, 3 ms on processors, each run",
        "kernel time               1 ms  11.1 %  as traced",
        "user time                 2 ms  22.2 %  as traced",
        "waiting: fsync(file)      4 ms  44.4 %  as traced",
        "waiting: clock_nanosleep  2 ms  22.2 %  as traced",
        "not predicted, since other programs cause it: waiting for a processor, 10.0 % of the elapsed time as traced",
        "the spread is unknown: trace with `--rounds` for an interval",
    ] {
        assert!(answer.out.lines().any(|l| l.trim_end() == line), "{line}\n{}", answer.out);
    }
}

/// Kernel time, `fsync` and the figure of `multiply` double on the other machine.
#[test]
fn user_time_elsewhere_is_named_or_scaled_by_a_score() {
    let mut yamba = prepared();
    let words = "predict a.vector --elapsed --on other.json --traced-on here.json";
    yamba.run(words).ok().says(&[
        "not predicted: user time, 20.0 % of the elapsed time as traced",
        "waiting: fsync(file)",
        "scaled by elapsed(fsync) alone",
        "the application sets it",
        "unknown] elapsed",
    ]);
    let scaled = document(&mut yamba, &format!("{words} --user-scale multiply --json"));
    let total = &scaled["predictions"][0]["total"];
    assert_eq!(elapsed_ns(total), 2e6 + 4e6 + 8e6 + 2e6, "{total}");
    assert_eq!(total["processor"]["ns"], 6e6);
    assert_eq!(total["parts"][1]["origin"], json!({"scaled_by": "multiply"}));
    assert!(total["elapsed"]["interval_ns"][1].is_number(), "{total}");
}

/// All costs of user work are three times as high on the other machine.
#[test]
fn user_time_elsewhere_is_that_of_its_counted_work() {
    let with_costs = |cpu: &str, factor: f64| {
        let mut run: Value = serde_json::from_str(&system(cpu, factor)).unwrap();
        let entries = run["benchmarks"].as_array_mut().unwrap();
        let load = json!({"name": "user(load)", "by": "block"});
        for (bytes, ns) in [(16384, 1.0), (65536, 5.0), (1 << 18, 50.0), (1 << 30, 50.0)] {
            entries.push(entry("load", &load, bytes, ns * 3f64.powf(factor)));
        }
        for (name, ns) in [("user(add)", 0.25), ("user(misprediction)", 5.0)] {
            entries.push(entry(name, &json!({"name": name}), 0, ns * 3f64.powf(factor)));
        }
        run.to_string()
    };
    let mut with_work = vector("c");
    with_work["user_work"] = json!({
        "how": "by hand", "instructions": 4e6, "mispredictions": 1e4,
        "misses": [{"bytes": 32768, "count": 2e4}, {"bytes": 131_072, "count": 1e4}],
    });
    let mut yamba = prepared()
        .file("from.json", with_costs("Z80", 1.0))
        .file("to.json", with_costs("Z8000", 2.0))
        .file("c.vector", with_work.to_string());
    let words = |to: &str| format!("predict c.vector --elapsed --on {to} --traced-on from.json");
    let found = document(&mut yamba, &(words("to.json") + " --json"));
    schema::holds("yamba-predict/1", &found);
    let prediction = &found["predictions"][0];
    let ns = prediction["predicted_user_ns"].as_f64().unwrap();
    assert!((ns / 6e6 - 1.0).abs() < 1e-9, "{prediction}");
    assert_eq!(prediction["user_by_work"], true);
    let part = &prediction["total"]["parts"][1];
    assert_eq!((&part["name"], &part["origin"]), (&json!("user time"), &json!("work")));
    let interval = prediction["predicted_user_interval_ns"].as_array().unwrap();
    // The interval of a figure is 5 % wide on both sides, and another processor's 25 %.
    assert!(interval[0].as_f64() < Some(6e6 / 1.25) && interval[1].as_f64() > Some(6e6 * 1.25));
    yamba.run(&words("to.json")).ok().says(&["by counted work"]);
    yamba.run(&words("other.json")).ok().says(&[
        "not predicted: user time, 20.0 % of the elapsed time as traced",
        "user time is not predicted: a machine has no cost of user(add)",
    ]);
    with_work["user_work"]["misses"][1]["count"] = json!(3e4);
    let mut yamba = prepared().file("c.vector", with_work.to_string());
    yamba.run("predict c.vector --on here.json").refused(&["user_work.misses[1].count"]);
}

#[test]
fn changes_change_the_total() {
    let mut yamba = prepared();
    let mut total = |more: &str| {
        let words = format!("predict a.vector --elapsed --on here.json --json {more}");
        document(&mut yamba, &words)["predictions"][0]["total"].clone()
    };
    let without = total("--replace fsync(file)=");
    assert_eq!(elapsed_ns(&without), 9e6 - 4.1e6);
    let halved = total("--cost elapsed(fsync)=0.5x");
    assert_eq!(elapsed_ns(&halved), 7e6);
    let other = total("--replace fsync(file)=fdatasync(file)");
    let names: Vec<&str> = other["not_predicted"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"waiting: fdatasync(file)"), "{names:?}");
    assert!(names.contains(&"kernel time of fdatasync(file)"), "{names:?}");
}

#[test]
fn totals_of_several_vectors_are_added() {
    let mut yamba = prepared();
    let words = "predict a.vector b.vector --elapsed --on here.json --on other.json --traced-on here.json --json";
    let found = document(&mut yamba, words);
    schema::holds("yamba-predict/1", &found);
    let sums = found["sums"].as_array().unwrap();
    assert_eq!(sums.len(), 2, "one of each system");
    assert_eq!((&sums[0]["application"], elapsed_ns(&sums[0])), (&json!("a + b"), 18e6));
    assert_eq!(sums[0]["parts"][1]["name"], "b");
    assert_eq!(sums[1]["not_predicted"][0]["name"], "a, user time");
    assert_eq!(sums[1]["not_predicted"][0]["share_as_traced"], 0.1);
    let plain = document(&mut yamba, "predict a.vector b.vector --on here.json --json");
    assert_eq!(plain["sums"], json!([]));
    assert!(plain["predictions"][0]["total"].is_null());
}

#[test]
fn system_that_is_listed_twice_has_two_equal_sums() {
    let mut yamba = prepared();
    let words = "predict a.vector b.vector --elapsed --on here.json --on here.json --json";
    let found = document(&mut yamba, words);
    let sums: Vec<f64> = found["sums"].as_array().unwrap().iter().map(elapsed_ns).collect();
    assert_eq!(sums, [18e6; 2]);
}

#[test]
fn page_has_a_bar_of_each_total_and_of_their_sum() {
    let mut yamba = prepared();
    let words = "predict a.vector b.vector --elapsed --on here.json --page -";
    let page = yamba.run(words).ok().out;
    for text in
        ["waiting: fsync(file)", "a + b", "18 ms", "Elapsed time of one run, from 0, by part"]
    {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn faulty_elapsed_times_are_refused() {
    for (key, value, place) in [
        ("parallelism", 0.5, "elapsed.parallelism: it must be a finite number of 1 or more"),
        ("ready_ns", -1.0, "elapsed.ready_ns: it must be a finite number of 0 or more"),
    ] {
        let mut faulty = vector("a");
        faulty["elapsed"][key] = json!(value);
        let mut yamba = prepared().file("faulty.vector", faulty.to_string());
        yamba.run("predict faulty.vector --on here.json").refused(&["faulty.vector", place]);
    }
}
