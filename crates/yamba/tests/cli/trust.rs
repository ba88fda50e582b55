//! The harness under adverse conditions, and the commands that check whether it can be trusted.

use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use yamba_child_guard::StartGuarded;

use crate::schema;
use crate::support::{Answer, Yamba, behind, needs};

const CHAIN: &str = "lat_integer_add";

fn entries(answer: &Answer) -> Vec<Value> {
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    run["benchmarks"].as_array().unwrap().clone()
}

#[test]
#[ignore = "needs g++ and taskset"]
fn run_works_on_one_processor() {
    needs(&["taskset"]);
    let yamba = Yamba::new();
    let arguments = ["run", CHAIN, "lat_pipe", "--quick", "--json"];
    let answer = behind(&["taskset", "-c", "0"], &yamba, &arguments);
    let entries = entries(&answer);
    let status = |name: &str, placement: &str| {
        let found = entries.iter().find(|b| {
            let at = &b["parameters"]["placement"];
            b["name"] == name && (placement.is_empty() || *at == placement)
        });
        let found = found.unwrap_or_else(|| panic!("no {name} {placement}"));
        (found["status"].clone(), found["notes"].to_string())
    };
    assert_eq!(status(CHAIN, "").0, "ok");
    assert_eq!(status("lat_pipe", "same").0, "ok");
    let (apart, notes) = status("lat_pipe", "apart");
    assert_ne!(apart, "ok");
    assert!(notes.contains("one processor only"), "{notes}");
    // All processes run on the only available processor.
    let chain = entries.iter().find(|b| b["name"] == CHAIN).unwrap();
    assert_eq!(chain["placement"]["cpu"], 0);
    assert_eq!(chain["placement"]["allowed"], serde_json::json!([0]));
}

#[test]
#[ignore = "needs g++"]
fn lack_of_memory_loses_only_that_figure() {
    let yamba = Yamba::new();
    // Build without a memory limit, then run with one.
    let run = ["run", CHAIN, "lat_mem_rd", "--quick", "--json"];
    yamba.command(&run).output().unwrap();
    // A limit on writable memory, which is not checked in advance.
    let limit = ["sh", "-c", "ulimit -d 40000; exec \"$@\"", "sh"];
    let answer = behind(&limit, &yamba, &run);
    assert_eq!(answer.status, 1, "{}", answer.err);
    let entries = entries(&answer);
    let with = |name: &str, status: &str| {
        let mut all = entries.iter();
        all.any(|b| b["name"] == name && b["status"] == status)
    };
    assert!(with(CHAIN, "ok"), "{}", answer.out);
    assert!(with("lat_mem_rd", "crashed"), "{}", answer.out);
    let notes = entries.iter().filter(|b| b["status"] == "crashed").map(|b| b["notes"].to_string());
    for note in notes {
        assert!(note.contains("Cannot allocate memory"), "{note}");
    }
}

/// An address space that suffices for `yamba` itself: the size of its executable and some MiB, more
/// where the cache has many programs.
fn own_kilobytes(yamba: &Yamba) -> u64 {
    let run = ["run", "lat_syscall_getppid", "--quick", "--json"];
    yamba.command(&run).output().unwrap();
    let executable = std::fs::metadata(env!("CARGO_BIN_EXE_yamba")).unwrap().len() / 1024;
    let suffices = |kilobytes: &u64| {
        let limit = format!("ulimit -v {kilobytes}; exec \"$@\"");
        let answer = behind(&["sh", "-c", &limit, "sh"], yamba, &run);
        serde_json::from_str::<Value>(&answer.out).is_ok()
    };
    let mut steps = (14_000..60_000).step_by(4_000).map(|some| executable + some);
    steps.find(suffices).expect("`yamba` runs in a limited address space")
}

/// Allocations beyond this address space limit fail. Benchmarks that use all available memory must
/// request less, and a ring of partners is not started.
#[test]
#[ignore = "needs g++"]
fn address_space_limit_is_respected() {
    let yamba = Yamba::new();
    let kilobytes = own_kilobytes(&yamba);
    let limit = format!("ulimit -v {kilobytes}; exec \"$@\"");
    let large = format!("run lat_ctx --quick --json --set footprint={kilobytes}K");
    for run in ["run lat_mem_rd --quick --json", &large] {
        let run: Vec<&str> = run.split(' ').collect();
        yamba.command(&["build", run[1]]).output().unwrap();
        let limit = ["sh", "-c", &limit, "sh"];
        let entries = entries(&behind(&limit, &yamba, &run));
        assert!(!entries.is_empty());
        let is_smaller = |entry: &Value| entry["status"] == "ok";
        assert!(run[1] == "lat_ctx" || entries.iter().any(is_smaller));
        for entry in entries {
            let (status, notes) = (&entry["status"], entry["notes"].to_string());
            assert_ne!(status, "crashed", "{notes}");
            if run[1] == "lat_ctx" {
                let told = "more than this has of half of the memory that is available";
                assert!(status == "skipped" && notes.contains(told), "{notes}");
            }
        }
    }
}

/// Each of two processes hands a token around its own ring. The kernel's own count shows that no
/// hop takes two switches.
#[test]
#[ignore = "needs g++"]
fn rings_at_the_same_time_take_one_switch_per_hop() {
    let run = "run lat_ctx --quick --json --set partners=16 --set footprint=0 -P 2";
    let mut yamba = Yamba::new();
    // Other load of the machine may leave a figure without a valid interval.
    let mut attempts = (0..3).map(|_| {
        let mut entries = entries(&yamba.run(run));
        assert_eq!(entries.len(), 1);
        println!("{}", entries[0]["notes"]);
        entries.remove(0)
    });
    let entry = attempts.find(|entry| entry["status"] == "ok");
    let entry = entry.expect("a ring with a valid figure");
    let switches = &entry["evidence"]["switches_per_hop"];
    let [median, outside] = ["median", "outside"].map(|key| switches[key].as_f64().unwrap());
    assert!((0.99..1.05).contains(&median), "{switches}");
    let samples = entry["samples"].as_array().unwrap().len() as f64;
    assert!(outside <= samples / 4.0, "{switches}");
}

/// Two rings share a processor. The scheduler may run one process of the other ring after each hop:
/// each hop still takes one switch of this ring, but several times as long. The partners' processor
/// time shows it.
#[test]
#[ignore = "needs g++"]
fn ring_beside_a_competing_ring_keeps_its_figure_or_is_invalid() {
    let mut yamba = Yamba::new();
    let run = "run lat_ctx --quick --json --set partners=4 --set footprint=0 --cpu 0";
    // Other load of the machine may take the processor from the first ring as well: the fastest of
    // several rings is the one that was alone.
    let attempts = (0..3).map(|_| entries(&yamba.run(run)).remove(0));
    let alone = attempts.filter_map(|entry| entry["median"].as_f64());
    let alone = alone.min_by(f64::total_cmp).expect("no ring has a median");
    let longer = run.replace("--quick", "--time 5s");
    let words: Vec<&str> = longer.split(' ').collect();
    let other = yamba.begin(&words);
    thread::sleep(Duration::from_secs(1));
    let beside = entries(&yamba.run(run)).remove(0);
    other.finish();
    let notes = beside["notes"].to_string();
    let is_refuted = beside["status"] == "invalid" && notes.contains("outside in");
    let is_short = beside["median"].as_f64().is_some_and(|m| m < 2.0 * alone);
    assert!(is_refuted || is_short, "{alone} alone; {beside}");
}

#[test]
#[ignore = "needs g++"]
fn selftest_prints_expected_and_measured() {
    let mut yamba = Yamba::new();
    let answer = yamba.run("selftest --json");
    let document: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    schema::holds("yamba-selftest/1", &document);
    let contended = document["contended"].as_f64();
    assert!(contended.is_none_or(|share| (0.0..=1.0).contains(&share)));
    let checks = document["checks"].as_array().unwrap();
    let outcome = |name: &str| {
        let found = checks.iter().find(|c| c["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}"))["outcome"].clone()
    };
    // A busy machine may fail the other checks, but not this one.
    assert_eq!(outcome("a page fault in every pass"), "passed");
    for name in [CHAIN, "an added delay of 100 cycles", "100 us by another clock"] {
        assert_ne!(outcome(name), Value::Null);
    }
    let any = |word: &str| checks.iter().any(|c| c["outcome"] == word);
    let expected = match (any("failed"), any("unknown")) {
        (true, _) => "no",
        (_, true) => "cannot tell now",
        _ => "yes",
    };
    assert_eq!(document["result"], expected);
    assert!(!document["reasons"].as_array().unwrap().is_empty());
    assert_eq!(document["help"].is_null(), expected == "yes");
    assert_eq!(answer.status, i32::from(expected != "yes"));
}

/// Each of the parallel processes has a processor of its own, and two busy loops beside it.
#[test]
#[ignore = "needs g++"]
fn parallel_figure_beside_other_processes_is_disturbed() {
    let mut yamba = Yamba::new();
    let processors = std::thread::available_parallelism().unwrap().get();
    let words = format!("run lat_syscall_getppid -P {processors} --time 300ms --json");
    yamba.run(&words);
    let busy = |_| Command::new("sh").args(["-c", "while :; do :; done"]).start();
    let loops: Vec<_> = (0..2 * processors).map(busy).collect();
    let entries = entries(&yamba.run(&words));
    drop(loops);
    assert_eq!(entries[0]["is_disturbed"], true, "{:#}", entries[0]);
}

#[test]
#[ignore = "needs g++"]
fn noise_counts_false_alarms() {
    let mut yamba = Yamba::new();
    let words = format!(
        "selftest --noise {CHAIN} lat_syscall_getppid --comparisons 1 --time 60ms --seed 7 --json"
    );
    // Other load may leave no comparable figure, which is then reported.
    let mut kept_before = 0;
    let answer = (0..10).find_map(|_| {
        let answer = yamba.run(&words);
        if answer.status == 2 {
            assert!(answer.err.contains("nothing could be compared"), "{}", answer.err);
            kept_before += 2;
        }
        (answer.status != 2).then_some(answer)
    });
    let answer = answer.expect("ten times nothing to compare");
    let document: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    schema::holds("yamba-noise/1", &document);
    assert_eq!((&document["comparisons"], &document["seed"]), (&1.into(), &7.into()));
    assert_eq!(document["resampled"], 1000);
    let keys: Vec<&str> = document["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["key"].as_str().unwrap())
        .collect();
    // Disturbed figures are not compared.
    assert!((1..=2).contains(&keys.len()), "{keys:?}");
    assert!(keys.iter().all(|k| k.starts_with("lat_")));
    let alarms = document["alarms"].as_u64().unwrap();
    let suspected = document["suspected"].as_u64().unwrap();
    assert!(alarms <= suspected);
    let drawn = document["resampled_alarms"].as_u64().unwrap();
    assert_eq!(answer.status, i32::from(alarms > 0 || drawn > 10));
    let at_most = document["alarms_at_most"].as_f64().unwrap();
    assert!((at_most - if alarms > 0 { 1.0 } else { 0.95 }).abs() < 1e-9);
    // The runs are stored.
    let kept = yamba.run("runs --json").ok();
    let kept: Value = serde_json::from_str(&kept.out).unwrap();
    // A suspect is re-measured on both sides.
    let runs = kept_before + 2 + 2 * suspected;
    assert_eq!(kept.as_array().unwrap().len() as u64, runs);
    let kept = kept.as_array().unwrap();
    assert!(kept.iter().all(|run| run["complete"] == true));
}

#[test]
fn noise_refuses_wrong_arguments() {
    let mut yamba = Yamba::new();
    yamba.run("selftest --noise no_such_benchmark").refused(&["no_such_benchmark"]);
    yamba.run("selftest --noise --comparisons 0").refused(&["--comparisons"]);
    yamba.run("selftest --noise --time 5").refused(&["--time", "unit"]);
    for words in ["lat_pipe", "--comparisons 2", "--store x.sqlite"] {
        yamba.run(&format!("selftest {words}")).refused(&["--noise"]);
    }
}

#[test]
#[ignore = "needs g++"]
fn nothing_to_measure_is_an_error() {
    let skipped = "yamba skipped extends Latency
{
    void prepare() { yamba::skip(\"there is none here\"); }
    void benchmark(iter_t) {}
}
";
    let mut yamba = Yamba::new().file("skipped.yamba", skipped);
    yamba
        .run("selftest --noise skipped.yamba --comparisons 1 --time 10ms")
        .refused(&["nothing could be compared", "help: "]);
    // With `--json` the report is printed even if nothing could be compared.
    let answer = yamba.run("selftest --noise skipped.yamba --comparisons 1 --time 10ms --json");
    assert_eq!(answer.status, 2, "{}", answer.err);
    let document: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    schema::holds("yamba-noise/1", &document);
    assert_eq!((&document["empty"], &document["launches"]), (&1.into(), &6.into()));
}
