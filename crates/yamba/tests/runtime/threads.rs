//! Several threads of one process at the same time: timing starts only after all run, and no thread
//! stops before all have timed. A benchmark that concerns the whole process is not measured so.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use yamba_child_guard::StartGuarded;
use yamba_record::Event;
use yamba_record::event::RawBatch;

use crate::cpp::{POSIX, check, compile, said, yamba};
use crate::loaded::{
    SHORT, WHERE, batches, crowded, events, failure, harness_use, kept_guarantee, left, measured,
    without_number,
};

#[test]
#[ignore = "needs g++"]
fn all_threads_run_while_one_times() {
    let sample = compile("g++", "load_sample.cc", &["-O2"], "threads-guarantee");
    let sample = sample.to_str().unwrap();
    for threads in [1, 2, 5, 16] {
        let count = threads.to_string();
        let time = ["--batches", "2", "--time-ns", "60000000000"];
        let events = measured(&[sample], &[&["--threads", &count], &time[..]].concat());
        let measured = batches(&events);
        assert_eq!(measured.len() as u64, 2 * threads);
        assert!(kept_guarantee(&measured, threads), "{measured:?}");
        for batch in &measured {
            assert_eq!(batch.batch.process, 0);
            assert!(batch.batch.ns > 0.0 && batch.batch.dummy_ns > 0.0);
            // Each thread has an object and a `batch` of its own.
            assert_eq!(batch.batch.evidence["inside"], Some(1.0));
            assert_eq!(batch.batch.evidence["passes_told"], Some(1.0));
        }
        let used = harness_use(&events);
        assert_eq!((used.processes, used.threads, used.rounds), (1, threads, 2));
    }
}

/// The checker itself must reject violations.
#[test]
#[ignore = "needs g++"]
fn broken_guarantee_is_detected() {
    let sample = compile("g++", "load_sample.cc", &["-O2"], "threads-doctored");
    let arguments = ["--threads", "3", "--batches", "1"];
    let kept = batches(&measured(&[sample.to_str().unwrap()], &arguments));
    assert!(kept_guarantee(&kept, 3));
    type Change = fn(&mut Vec<RawBatch>);
    let changes: [Change; 4] = [
        |all| {
            let begin = all[0].batch.load.unwrap().begin_ns;
            all[1].batch.load.as_mut().unwrap().ready_ns = begin + 1.0;
        },
        |all| {
            let end = all[2].batch.load.unwrap().end_ns;
            all[0].batch.load.as_mut().unwrap().left_ns = end - 1.0;
        },
        |all| drop(all.pop()),
        |all| all[1].batch.thread = all[0].batch.thread,
    ];
    for (which, change) in changes.into_iter().enumerate() {
        let mut doctored = kept.clone();
        change(&mut doctored);
        assert!(!kept_guarantee(&doctored, 3), "change {which}");
    }
}

fn sabotaged(sample: &Path, fault: usize, place: usize) -> Output {
    let (fault, place) = (format!("fault={fault}"), format!("where={place}"));
    Command::new(sample)
        .args(["--run", "--threads", "5", "--batches", "2"])
        .args(["--set", "who=3", "--set", &fault, "--set", &place])
        .args(SHORT)
        // A busy host may stop one of two processors for a second, and an innocent one is named.
        .env("YAMBA_TEST_SPARE", "3e9")
        .output()
        .unwrap()
}

/// A crash and a failed call name the thread. Other ends are those of the whole process.
#[test]
#[ignore = "needs g++"]
fn failed_thread_is_named_and_no_process_is_left() {
    let name = format!("threads-faults-{}", std::process::id());
    let sample = compile("g++", "load_sample.cc", &["-O2"], &name);
    for (fault, how) in
        [(2, "of 5 was killed by signal 11 (SIGSEGV)"), (7, "of 5 ended with status 3")]
    {
        for (place, when) in WHERE.iter().enumerate() {
            let done = sabotaged(&sample, fault, place);
            assert_eq!(without_number(&failure(&done)), format!("{how} {when}"));
            // The message of the thread comes first.
            let events = events(&done);
            let before = &events[events.len() - 2];
            assert_eq!(fault == 2, matches!(before, Event::Crash(_)));
            let rounds = batches(&events).len() / 5;
            assert_eq!(rounds, if place == 3 { 2 } else { 0 });
        }
    }
    for (fault, how) in [
        (1, "was killed by signal 9 (SIGKILL)"),
        (3, "was stopped by signal 19 (SIGSTOP)"),
        (4, "ended with status 0"),
    ] {
        for place in 0..WHERE.len() {
            let text = failure(&sabotaged(&sample, fault, place));
            let whole = format!("the process of 5 threads {how} ");
            assert!(text.starts_with(&whole), "{text}");
        }
    }
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
#[ignore = "needs g++"]
fn hanging_thread_is_killed_and_named() {
    let name = format!("threads-hangs-{}", std::process::id());
    let sample = compile("g++", "load_sample.cc", &["-O2"], &name);
    for (place, when) in WHERE.iter().enumerate() {
        let text = without_number(&failure(&sabotaged(&sample, 5, place)));
        assert!(text.starts_with("of 5 has got no further for "), "{text}");
        assert!(text.ends_with(when), "{text}");
    }
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
#[ignore = "needs g++"]
fn too_many_threads_are_reported() {
    let name = format!("threads-full-{}", std::process::id());
    let done = crowded(&name, "--threads");
    assert!(failure(&done).starts_with("the process of 16 threads ended"));
    let reason = " of 16 threads: Resource temporarily unavailable; `ulimit -u`";
    assert!(said(&done).contains(reason), "{}", said(&done));
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
#[ignore = "needs g++"]
fn killed_parent_leaves_no_thread() {
    let name = format!("threads-orphans-{}", std::process::id());
    let sample = compile("g++", "load_sample.cc", &["-O2"], &name);
    let mut parent = Command::new(&sample)
        .args(["--run", "--threads", "5", "--batches", "1000"])
        .args(["--time-ns", "60000000000"])
        .args(SHORT)
        .stdout(Stdio::piped())
        .start();
    // The first batch shows that all threads run.
    let records = std::io::BufReader::new(parent.stdout.take().unwrap());
    let mut lines = std::io::BufRead::lines(records);
    assert!(lines.any(|l| l.unwrap().contains("\"event\":\"batch\"")));
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert_eq!(left(&name), Vec::<String>::new());
}

/// ThreadSanitizer watches the protocol; other instruction sets have thread-local variables of
/// their own.
#[test]
#[ignore = "needs a C++ compiler and an emulator for every instruction set"]
fn wherever_threads_run() {
    let plain = ["-O2", "-static"];
    let watched = ["-O1", "-fsanitize=thread"];
    let places: [(&str, &[&str], &str); 5] = [
        ("g++", &watched, "env"),
        ("clang++", &["-O2"], "env"),
        ("i686-linux-gnu-g++", &plain, "env"),
        ("aarch64-linux-gnu-g++", &plain, "qemu-aarch64"),
        ("riscv64-linux-gnu-g++", &plain, "qemu-riscv64"),
    ];
    for (which, (compiler, flags, runner)) in places.into_iter().enumerate() {
        let name = format!("threads-place-{which}");
        let sample = compile(compiler, "load_sample.cc", flags, &name);
        let program = [runner, sample.to_str().unwrap()];
        let events = measured(&program, &["--threads", "3", "--batches", "2"]);
        assert!(kept_guarantee(&batches(&events), 3), "{compiler}");
    }
}

/// A system that counts only for whole processes measures no threads.
#[test]
#[ignore = "needs g++"]
fn threads_are_skipped_on_a_system_without_their_counts() {
    let sample = compile("g++", "load_sample.cc", &POSIX, "threads-posix");
    let run = Command::new(&sample).args(["--run", "--threads", "2"]).output().unwrap();
    assert_eq!(run.status.code(), Some(4), "{}", said(&run));
    let reason = "this system does not count the resources of a single thread";
    assert!(said(&run).contains(reason), "{}", said(&run));
}

/// The parts of the runtime that threads use, under the sanitizer.
#[test]
#[ignore = "needs g++"]
fn lock_of_threads() {
    let flags = ["-O1", "-fsanitize=thread"];
    check(&compile("g++", "load_threads.cc", &flags, "threads-lock"), &[]);
}

/// Each thread counts its passes in memory that all see, and looks how far the others come while
/// its own call of the benchmark runs: an observation that does not rest on the record's times.
const OBSERVED: &str = "\
native {
    #include <atomic>
    #include <algorithm>
    struct alignas(64) Counter { std::atomic<uint64_t> passes{0}; };
    static Counter counters[8];
    static std::atomic<uint64_t> set_up{0};
}
yamba observed
{
    uint64_t longest = 0;
    uint64_t seen = 0;
    uint64_t index = 99;
    void setup() { index = thread_index; set_up++; }
    void before_batch() { longest = 0; }
    void benchmark(iter_t iterations)
    {
        const iter_t all = iterations;
        uint64_t before[8];
        for (uint64_t i = 0; i < threads; i++) before[i] = counters[i].passes;
        while (iterations-- > 0) counters[thread_index].passes.fetch_add(1, std::memory_order_relaxed);
        if (all < longest) return;
        longest = all;
        seen = ~uint64_t(0);
        for (uint64_t i = 0; i < threads; i++) if (i != thread_index) seen = std::min<uint64_t>(seen, counters[i].passes - before[i]);
    }
    /// The fewest passes of another thread during the timed call.
    evidence double passes_of_others() expects [1, 1e18] { return double(seen); }
    evidence bool is_own_object() expects [1, 1] { return index == thread_index; }
    evidence uint64_t threads_set_up() expects [threads, threads] { return set_up; }
}
";

/// Runs a class of this text with a folder of its own. Returns the output.
fn run(text: &str, arguments: &[&str]) -> Output {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("sample.yamba");
    std::fs::write(&file, text).unwrap();
    yamba()
        .arg("run")
        .arg(&file)
        .args(arguments)
        .args(["--quick", "--json"])
        .env("YAMBA_STORE", scratch.path().join("results.sqlite"))
        .output()
        .unwrap()
}

fn entries(output: &Output) -> Vec<Value> {
    let run: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(output)));
    run["benchmarks"].as_array().unwrap().clone()
}

#[test]
#[ignore = "needs g++"]
fn threads_see_each_other_run() {
    let all = entries(&run(OBSERVED, &["-T", "2,3"]));
    let threads: Vec<&Value> = all.iter().map(|b| &b["threads"]).collect();
    assert_eq!(threads, [2, 3]);
    for entry in &all {
        assert_eq!(entry["status"], "ok", "{entry:#}");
        assert_eq!(entry["processes"], 1);
        assert_eq!(entry["throughput"]["unit"], "operations/s");
        // Beside other programs, the others may have no processor during a batch.
        assert!(entry["evidence"]["passes_of_others"]["median"].as_f64() >= Some(1.0));
    }
}

/// A class that concerns the whole process is skipped with the name that says so. Its own word
/// counts more.
#[test]
#[ignore = "needs g++"]
fn process_wide_class_is_skipped_unless_it_says_that_it_runs_in_threads() {
    let forks = "\
native {
    #include <sys/wait.h>
    #include <unistd.h>
}
yamba forking { bool may_wait() { return true; } void benchmark() { if (pid_t child = fork()) waitpid(child, nullptr, 0); else _exit(0); } }
";
    let only = |text: &str, threads: &str| entries(&run(text, &["-T", threads])).remove(0);
    let skipped = only(forks, "2");
    assert_eq!(
        (&skipped["status"], &skipped["threads"]),
        (&Value::from("skipped"), &Value::from(2))
    );
    let note = skipped["notes"][0].as_str().unwrap();
    assert!(
        note.contains("its C++ has `fork`") || note.contains("its C++ has `waitpid`"),
        "{note}"
    );
    assert_eq!(only(forks, "1")["status"], "ok");
    let refusing = "yamba refusing { bool runs_in_threads() { return threads < 3; } void benchmark() { for (volatile unsigned i = 0; i < 10; i = i + 1) do_not_optimize(threads); } }";
    assert_eq!(only(refusing, "2")["status"], "ok");
    assert_eq!(only(refusing, "3")["status"], "skipped");
}

#[test]
fn processes_and_threads_exclude_each_other() {
    let done = run("yamba any { void benchmark() {} }", &["-P", "2", "-T", "2"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(said(&done).contains("cannot be used with"), "{}", said(&done));
}
