//! Helpers of the tests of several processes and of several threads.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use yamba_record::Event;
use yamba_record::event::{HarnessUse, RawBatch};

use crate::cpp::{compile, said};

/// Short batches, to keep the tests short.
pub const SHORT: [&str; 2] = ["--loaded-ns", "20000000"];

pub fn events(output: &Output) -> Vec<Event> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

/// The last record of a failed program.
pub fn failure(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(3), "{}", said(output));
    match events(output).pop() {
        Some(Event::Error(failure)) => failure.text,
        _ => panic!("{}", said(output)),
    }
}

/// The sample under the file name `name`, with 16 workers of the kind `option` and a limit of the
/// user's processes that leaves room for fewer.
pub fn crowded(name: &str, option: &str) -> Output {
    let sample = compile("g++", "load_sample.cc", &["-O2"], name);
    // Every user that the sample switches to must be able to execute it.
    let open = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir_in("/tmp")
        .unwrap();
    let program = open.path().join(name);
    std::fs::copy(&sample, &program).unwrap();
    Command::new(&program)
        .args(["--run", option, "16"])
        .args(SHORT)
        .env("YAMBA_TEST_FEW_PROCESSES", "1")
        .output()
        .unwrap()
}

/// The events of a program that completes under load.
pub fn measured(program: &[&str], arguments: &[&str]) -> Vec<Event> {
    let done = Command::new(program[0])
        .args(&program[1..])
        .arg("--run")
        .args(SHORT)
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
    let events = events(&done);
    assert_eq!(events.last(), Some(&Event::End));
    events
}

pub fn batches(events: &[Event]) -> Vec<RawBatch> {
    let of = |e: &Event| match e {
        Event::Batch(batch) => Some(batch.clone()),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

pub fn harness_use(events: &[Event]) -> HarnessUse {
    let of = |e: &Event| match e {
        Event::Harness(used) => Some(used.clone()),
        _ => None,
    };
    events.iter().find_map(of).expect("what the harness used")
}

/// Whether each timed batch lies within the time in which every other process or thread of its
/// round ran.
pub fn kept_guarantee(batches: &[RawBatch], workers: u64) -> bool {
    let mut rounds: BTreeMap<u64, Vec<&RawBatch>> = BTreeMap::new();
    for batch in batches {
        rounds.entry(batch.index).or_default().push(batch);
    }
    rounds.values().all(|round| {
        let mut seen: Vec<u64> = round.iter().map(|i| i.batch.process + i.batch.thread).collect();
        seen.sort_unstable();
        let times: Vec<_> = round.iter().filter_map(|i| i.batch.load).collect();
        let ran_during = |timing: &yamba_record::batch::Load| {
            times
                .iter()
                .all(|other| other.ready_ns <= timing.begin_ns && timing.end_ns <= other.left_ns)
        };
        seen == (0..workers).collect::<Vec<_>>()
            && times.len() == round.len()
            && times.iter().all(|t| t.begin_ns < t.end_ns && ran_during(t))
    })
}

/// The phases in which a process or thread fails, numbered as `Fault` and `Where` in
/// load_sample.cc.
pub const WHERE: [&str; 4] =
    ["while setting up", "while timing", "while running after its batch", "while cleaning up"];

/// Removes the number of the process or thread, since the scheduler decides which one sets up as
/// the fourth.
pub fn without_number(text: &str) -> String {
    let rest =
        ["process ", "thread "].iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text);
    rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().to_owned()
}

/// Processes of a program that still exist after a grace period.
pub fn left(name: &str) -> Vec<String> {
    let running = || -> Vec<String> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter_map(|p| std::fs::read(p.path().join("cmdline")).ok())
            .map(|line| String::from_utf8_lossy(&line).into_owned())
            .filter(|line| line.contains(name))
            .collect()
    };
    for _ in 0..1000 {
        if running().is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    running()
}
