//! Several processes at the same time: timing starts only after all run, and no process stops
//! before all have timed. The harness's own cost does not grow with their number, and errors name
//! the failed process.

use std::path::Path;
use std::process::{Command, Output};

use yamba_child_guard::StartGuarded;
use yamba_record::Event;
use yamba_record::event::{HarnessUse, RawBatch};

use crate::cpp::{POSIX, SANITIZED, check_parts, compile, runtime, said, yamba};
use crate::loaded::{
    SHORT, WHERE, batches, crowded, events, failure, harness_use, kept_guarantee, left, measured,
    without_number,
};

#[test]
#[ignore = "needs g++"]
fn all_processes_run_while_one_times() {
    let sample = compile("g++", "load_sample.cc", &["-O2"], "load-guarantee");
    let sample = sample.to_str().unwrap();
    for processes in [1, 2, 5, 16] {
        let count = processes.to_string();
        let arguments = ["--processes", &count, "--batches", "2", "--time-ns", "60000000000"];
        let events = measured(&[sample], &arguments);
        let measured = batches(&events);
        assert_eq!(measured.len() as u64, 2 * processes);
        assert!(kept_guarantee(&measured, processes), "{measured:?}");
        for batch in &measured {
            let load = batch.batch.load.unwrap();
            assert!(batch.batch.ns <= load.end_ns - load.begin_ns);
            // Evidence is asked inside a pass, and `before_batch` starts the counter of passes in
            // the first round too.
            assert_eq!(batch.batch.evidence["inside"], Some(1.0));
            assert_eq!(batch.batch.evidence["passes_told"], Some(1.0));
            assert!(batch.batch.dummy_ns > 0.0 && batch.batch.cycle_ns.is_none());
        }
        let passes = measured[0].batch.passes;
        assert!(measured.iter().all(|i| i.batch.passes == passes));
        assert_eq!(harness_use(&events).rounds, 2);
    }
}

/// The checker itself must reject violations.
#[test]
#[ignore = "needs g++"]
fn broken_guarantee_is_detected() {
    let sample = compile("g++", "load_sample.cc", &["-O2"], "load-doctored");
    let arguments = ["--processes", "3", "--batches", "1"];
    let kept = batches(&measured(&[sample.to_str().unwrap()], &arguments));
    assert!(kept_guarantee(&kept, 3));
    type Change = fn(&mut Vec<RawBatch>);
    let changes: [Change; 5] = [
        |all| {
            let begin = all[0].batch.load.unwrap().begin_ns;
            all[1].batch.load.as_mut().unwrap().ready_ns = begin + 1.0;
        },
        |all| {
            let end = all[2].batch.load.unwrap().end_ns;
            all[0].batch.load.as_mut().unwrap().left_ns = end - 1.0;
        },
        |all| all[1].batch.load = None,
        |all| drop(all.pop()),
        |all| all[1].batch.process = all[0].batch.process,
    ];
    for (which, change) in changes.into_iter().enumerate() {
        let mut doctored = kept.clone();
        change(&mut doctored);
        assert!(!kept_guarantee(&doctored, 3), "change {which}");
    }
}

/// From source to record: a plain benchmark, one with hooks around each pass, a quantity, and one
/// with partner processes.
#[test]
#[ignore = "needs g++"]
fn benchmarks_of_all_kinds_run_under_load() {
    let home = runtime().join("..");
    let scratch = tempfile::tempdir().unwrap();
    for name in [
        "suite/cpu/lat_syscall_getppid.yamba",
        "suite/memory/pagefault.yamba",
        "examples/11_quantity.yamba",
        "suite/ipc/lat_pipe.yamba",
    ] {
        let program = scratch.path().join("program");
        let built =
            yamba().arg("build").arg(home.join(name)).arg("-o").arg(&program).output().unwrap();
        assert!(built.status.success(), "{}", said(&built));
        let program = program.to_str().unwrap();
        let events = measured(&[program], &["--processes", "3", "--batches", "2"]);
        let measured = batches(&events);
        assert!(kept_guarantee(&measured, 3), "{name}: {measured:?}");
        assert_eq!(measured.len() as u64, 3 * harness_use(&events).rounds);
        let is_quantity = name.contains("quantity");
        assert!(measured.iter().all(|i| i.value.is_some() == is_quantity));
    }
}

#[test]
#[ignore = "needs g++"]
fn harness_resources_do_not_grow_with_rounds() {
    let sample = compile("g++", "load_sample.cc", &["-O2"], "load-resources");
    let used = |processes: u64| {
        let count = processes.to_string();
        let arguments = ["--processes", &count, "--batches", "1"];
        harness_use(&measured(&[sample.to_str().unwrap()], &arguments))
    };
    let (one, some, many) = (used(1), used(16), used(256));
    for (use_, processes) in [(&one, 1), (&some, 16), (&many, 256)] {
        assert_eq!(use_.processes, processes);
        assert_eq!(use_.descriptors, one.descriptors);
        assert!(use_.shared_bytes <= one.shared_bytes + 64 * processes);
    }
    let per_round = |used: &HarnessUse| used.parent_cpu_ns / used.rounds as f64;
    // Sixteen times the processes. The remaining growth is the system's: a parent that sleeps
    // longer finds colder caches.
    assert!(per_round(&many) < 8.0 * per_round(&some), "{many:?} {some:?}");
}

fn sabotaged(sample: &Path, fault: usize, place: usize) -> Output {
    let (fault, place) = (format!("fault={fault}"), format!("where={place}"));
    Command::new(sample)
        .args(["--run", "--processes", "5", "--batches", "2", "--set", "who=3"])
        .args(["--set", &fault, "--set", &place])
        .args(SHORT)
        // A busy host may stop one of two processors for a second, and an innocent one is named.
        .env("YAMBA_TEST_SPARE", "3e9")
        .output()
        .unwrap()
}

#[test]
#[ignore = "needs g++"]
fn failed_process_is_named_and_none_is_left() {
    let name = format!("load-faults-{}", std::process::id());
    let sample = compile("g++", "load_sample.cc", &["-O2"], &name);
    let faults = [
        (1, "of 5 was killed by signal 9 (SIGKILL)"),
        (2, "of 5 was killed by signal 11 (SIGSEGV)"),
        (3, "of 5 was stopped by signal 19 (SIGSTOP)"),
        (4, "of 5 ended with status 0"),
        (6, "of 5 ended with status 0"),
        (7, "of 5 ended with status 3"),
    ];
    for (fault, how) in faults {
        for (place, when) in WHERE.iter().enumerate() {
            let done = sabotaged(&sample, fault, place);
            let text = without_number(&failure(&done));
            assert_eq!(text, format!("{how} {when}"));
            let events = events(&done);
            // The process's own message comes first.
            let before = &events[events.len() - 2];
            assert_eq!(fault == 2, matches!(before, Event::Crash(_)));
            assert_eq!(fault == 7, matches!(before, Event::Error(e) if e.line.is_some()));
            // Completed rounds are kept.
            let rounds = batches(&events).len() / 5;
            assert_eq!(rounds, if place == 3 { 2 } else { 0 });
        }
    }
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
#[ignore = "needs g++"]
fn hanging_process_is_killed_and_named() {
    let name = format!("load-hangs-{}", std::process::id());
    let sample = compile("g++", "load_sample.cc", &["-O2"], &name);
    for (place, when) in WHERE.iter().enumerate() {
        let text = without_number(&failure(&sabotaged(&sample, 5, place)));
        assert!(text.starts_with("of 5 has got no further for "), "{text}");
        assert!(text.ends_with(when), "{text}");
    }
    assert_eq!(left(&name), Vec::<String>::new());
}

/// Together the processes take longer than any of them may alone.
#[test]
#[ignore = "needs g++"]
fn slow_processes_are_waited_for() {
    let sample = compile("g++", "load_sample.cc", &["-O2"], "load-patience");
    for (slow, processes) in [("slow=1", "6"), ("slow=2", "2")] {
        let done = Command::new(&sample)
            .args(["--run", "--processes", processes, "--batches", "1"])
            .args(["--time-ns", "1000000", "--warmup-ns", "0", "--set", slow])
            .args(SHORT)
            .env("YAMBA_TEST_SPARE", "3e9")
            .output()
            .unwrap();
        assert!(done.status.success(), "{slow}: {}", said(&done));
    }
}

#[test]
#[ignore = "needs g++"]
fn full_process_table_is_reported() {
    let name = format!("load-full-{}", std::process::id());
    let done = crowded(&name, "--processes");
    let text = failure(&done);
    assert!(text.starts_with("could start "), "{text}");
    let reason = " of 16 processes: Resource temporarily unavailable; `ulimit -u`";
    assert!(text.contains(reason), "{text}");
    assert_eq!(left(&name), Vec::<String>::new());
}

/// A killed parent cannot end its children. The system or the children themselves must.
#[test]
#[ignore = "needs g++"]
fn killed_parent_leaves_no_process() {
    let name = format!("load-orphans-{}", std::process::id());
    for (system, flags) in [("linux", &["-O2"][..]), ("posix", &POSIX)] {
        let name = format!("{name}-{system}");
        let sample = compile("g++", "load_sample.cc", flags, &name);
        let mut parent = Command::new(&sample)
            .args(["--run", "--processes", "5", "--batches", "1000"])
            .args(["--time-ns", "60000000000"])
            .args(SHORT)
            .stdout(std::process::Stdio::piped())
            .start();
        // The first batch shows that all processes run.
        let records = std::io::BufReader::new(parent.stdout.take().unwrap());
        let mut lines = std::io::BufRead::lines(records);
        assert!(lines.any(|l| l.unwrap().contains("\"event\":\"batch\"")));
        parent.kill().unwrap();
        parent.wait().unwrap();
        assert_eq!(left(&name), Vec::<String>::new());
    }
}

/// The separate parts under sanitizers, with the other compiler, and with POSIX only.
#[test]
#[ignore = "needs g++ and clang++"]
fn parts() {
    check_parts("g++", &SANITIZED, &["load"]);
    check_parts("g++", &POSIX, &["load"]);
    check_parts("clang++", &["-O2"], &["load"]);
}

/// For every processor with a compiler here, under its emulator; under sanitizers; and with POSIX
/// only.
#[test]
#[ignore = "needs a C++ compiler and an emulator for every instruction set"]
fn wherever_it_runs() {
    let plain = ["-O2", "-static"];
    let places: [(&str, &[&str], &[&str]); 5] = [
        ("g++", &SANITIZED, &["env", "ASAN_OPTIONS=detect_leaks=0"]),
        ("g++", &POSIX, &["env"]),
        ("i686-linux-gnu-g++", &plain, &["env"]),
        ("aarch64-linux-gnu-g++", &plain, &["qemu-aarch64"]),
        ("riscv64-linux-gnu-g++", &plain, &["qemu-riscv64"]),
    ];
    for (which, (compiler, flags, runner)) in places.into_iter().enumerate() {
        let sample = compile(compiler, "load_sample.cc", flags, &format!("load-place-{which}"));
        let program: Vec<&str> = runner.iter().copied().chain(sample.to_str()).collect();
        let events = measured(&program, &["--processes", "3", "--batches", "2"]);
        assert!(kept_guarantee(&batches(&events), 3), "{compiler}");
    }
}
