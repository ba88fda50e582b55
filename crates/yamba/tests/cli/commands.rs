//! `yamba time --command`: whole commands, against what their programs are known to do.

use std::fs;
use std::process::Stdio;

use serde_json::Value;
use yamba_child_guard::StartGuarded;

use crate::support::{Answer, Yamba, processes_of, until};

/// A folder for the temporary files of the measured commands, by which their processes are found.
fn with_own_folder() -> Yamba {
    let yamba = Yamba::new();
    let folder = yamba.folder.path().to_owned();
    yamba.env("TMPDIR", folder)
}

fn timed(yamba: &mut Yamba, words: &[&str]) -> Answer {
    let all = [&["time"], words].concat();
    yamba.run_words(&all)
}

fn document(answer: Answer) -> Vec<Value> {
    let run: Value = serde_json::from_str(&answer.ok().out).unwrap();
    run["benchmarks"].as_array().unwrap().clone()
}

fn of(benchmark: &Value, key: &str) -> f64 {
    benchmark["command"][key].as_f64().unwrap()
}

/// A sleep takes its time and hardly any of the processor's.
#[test]
fn time_of_sleep_is_wall_clock_and_not_processor_time() {
    let mut yamba = Yamba::new();
    let words = [
        "-c",
        "sleep 0.05",
        "-c",
        "sleep 0.2",
        "-r",
        "5",
        "--json",
        "--raw",
    ];
    let found = document(timed(&mut yamba, &words));
    for (benchmark, ns) in found.iter().zip([50e6, 200e6]) {
        let samples = benchmark["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 5);
        assert!(
            samples.iter().all(|s| s.as_f64().unwrap() >= ns),
            "{samples:?}"
        );
        assert!(of(benchmark, "user_ns") + of(benchmark, "system_ns") < ns / 2.0);
        assert_eq!(benchmark["unit"], "ns");
        assert_eq!(benchmark["valid"], true);
        assert_eq!(benchmark["command"]["ends"]["0"], 5);
    }
    assert_eq!(found[1]["name"], "sleep 0.2");
    let ratio = &found[1]["command"]["to_fastest"];
    assert_eq!(ratio["fastest"], "sleep 0.05");
    assert!(ratio["interval"][0].as_f64().unwrap() > 1.0, "{ratio}");
    assert!(found[0]["command"]["to_fastest"].is_null());
}

/// `tail` keeps 64 MiB until its input ends.
#[test]
fn memory_and_processor_time_are_those_of_all_processes_of_the_command() {
    let mut yamba = Yamba::new();
    let words = [
        "-c",
        "head -c 64M /dev/zero | tail -c 64M",
        "-c",
        "true",
        "-r",
        "3",
        "--json",
    ];
    let found = document(timed(&mut yamba, &words));
    assert!(of(&found[0], "peak_memory_bytes") >= 64.0 * 1024.0 * 1024.0);
    assert!(found[1]["command"]["peak_memory_bytes"].is_null());
    assert!(of(&found[0], "minor_faults") > 16384.0);
    assert!(of(&found[0], "system_ns") + of(&found[0], "user_ns") > 1e6);
    assert_eq!(found[0]["command"]["shell"], "/bin/sh");
    assert!(found[1]["command"]["shell"].is_null());
}

/// The empty command takes as long as the shell alone, so that nothing is left of it.
#[test]
fn start_of_shell_is_subtracted() {
    let mut yamba = Yamba::new();
    let words = [
        "-c",
        ":",
        "-c",
        "sleep 0.03; sleep 0.03",
        "-r",
        "20",
        "--json",
        "--raw",
    ];
    let answer = timed(&mut yamba, &words);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    let [nothing, sleeps] = [0, 1].map(|i| &run["benchmarks"][i]);
    let shell = nothing["command"]["shell_ns"].as_array().unwrap();
    let level = shell
        .iter()
        .map(|s| s.as_f64().unwrap())
        .fold(0.0, f64::max);
    assert!(nothing["median"].as_f64().unwrap().abs() < level);
    // Two more starts of `sleep` are part of the command; the shell's own start is not.
    let walls = sleeps["command"]["wall_ns"].as_array().unwrap();
    let wall = walls
        .iter()
        .map(|s| s.as_f64().unwrap())
        .fold(f64::INFINITY, f64::min);
    assert!(sleeps["command"]["min_ns"].as_f64().unwrap() < wall);
    assert!(sleeps["median"].as_f64().unwrap() > 60e6 - level);
}

#[test]
fn preparation_runs_before_each_run_and_parameters_are_replaced() {
    let mut yamba = Yamba::new();
    let words = [
        "-c",
        "cat {file}",
        "--parameter",
        "file=a,b",
        "--prepare",
        "echo {file} >> log; echo > {file}",
        "-r",
        "4",
        "-w",
        "2",
        "-n",
        "cat",
        "--json",
    ];
    let found = document(timed(&mut yamba, &words));
    let names: Vec<&str> = found.iter().map(|b| b["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cat file=a", "cat file=b"]);
    assert_eq!(found[1]["parameters"]["file"], "b");
    let log = fs::read_to_string(yamba.folder.path().join("log")).unwrap();
    for file in ["a", "b"] {
        assert_eq!(log.lines().filter(|line| *line == file).count(), 6);
    }
    // The order of the commands changes from round to round.
    let words = [
        "-c",
        "sh -c 'echo {n} >> order'",
        "--parameter",
        "n=1,2",
        "-r",
        "40",
        "-w",
        "0",
        "--seed",
        "7",
    ];
    timed(&mut yamba, &words).ok();
    let order = fs::read_to_string(yamba.folder.path().join("order")).unwrap();
    let rounds: Vec<&str> = order.lines().collect();
    assert_eq!(rounds.len(), 80);
    let first = rounds.chunks(2).filter(|round| round[0] == "1").count();
    assert!((5..=35).contains(&first), "{first} of 40");
    assert!(rounds.chunks(2).all(|round| round[0] != round[1]));
}

#[test]
fn failing_command_costs_only_its_own_figure() {
    let mut yamba = Yamba::new();
    let words = [
        "-c",
        "sh -c 'echo no luck >&2; exit 3'",
        "-c",
        "true",
        "-r",
        "3",
    ];
    let answer = timed(&mut yamba, &words);
    assert_eq!(answer.status, 1);
    answer.says(&[
        "FAILED",
        "exited with status 3",
        "--ignore-failure",
        "no luck",
        "3 runs",
    ]);
    let words = [
        "-c",
        "sh -c 'exit 3'",
        "-c",
        "sh -c 'kill -SEGV $$'",
        "-r",
        "3",
        "-i",
        "--shell",
        "none",
        "--json",
    ];
    let found = document(timed(&mut yamba, &words));
    assert_eq!(found[0]["command"]["ends"]["3"], 3);
    assert_eq!(found[1]["command"]["ends"]["SIGSEGV"], 3);
    timed(&mut yamba, &words[..words.len() - 1]).says(&[
        "3 of 3 runs failed, and count (3 with status 3)",
        "3 of 3 runs failed, and count (3 with SIGSEGV)",
    ]);
    let words = ["-c", "true", "--prepare", "false", "-r", "3"];
    timed(&mut yamba, &words).says(&["FAILED", "the preparation exited with status 1"]);
}

#[test]
fn hanging_command_is_ended_with_its_children() {
    let mut yamba = with_own_folder();
    let words = [
        "-c",
        "sh -c 'sleep 1000 & sleep 1000'",
        "--timeout",
        "200ms",
    ];
    let answer = timed(&mut yamba, &words);
    assert_eq!(answer.status, 1);
    answer.says(&["took longer than 0.2 s", "--timeout"]);
    // A killed process may still be ending when the command has ended.
    until("children are killed", || {
        processes_of(yamba.folder.path()).is_empty()
    });
    let words = ["-c", "sh -c 'sleep 1000 & :'", "-r", "2"];
    timed(&mut yamba, &words).ok();
    until("background process is killed", || {
        processes_of(yamba.folder.path()).is_empty()
    });
}

#[test]
fn impossible_commands_are_refused_before_anything_runs() {
    let mut yamba = Yamba::new();
    for (words, parts) in [
        (
            &["-c", "no_such_program_here"][..],
            &["no_such_program_here", "not found"][..],
        ),
        (&["-c", "echo 'open"], &["quote"]),
        (&["-c", " "], &["empty command"]),
        (
            &["-c", "true", "-c", "true"],
            &["two commands are called `true`", "--name"],
        ),
        (
            &["-c", "true", "--parameter", "n=1"],
            &["no command has {n}"],
        ),
        (&["-c", "true", "--parameter", "n"], &["NAME=A,B,C"]),
        // Options of commands, with a statement.
        (&["f();", "--name", "new"], &["--name", "cannot be used"]),
        (&["f();", "--warmup", "2"], &["--warmup", "cannot be used"]),
        (
            &["-c", "true", "-n", "a", "-n", "b"],
            &["2 names for 1 commands"],
        ),
        (&["-c", "true", "--input", "missing"], &["--input missing"]),
        (&["-c", "true", "--asm", "nop"], &["cannot be used with"]),
        (
            &["-c", "touch made", "-c", "no_such_program_here"],
            &["not found"],
        ),
    ] {
        timed(&mut yamba, words).refused(parts);
    }
    assert!(!yamba.folder.path().join("made").exists());
}

#[test]
fn interrupted_commands_keep_their_runs_and_leave_no_process() {
    let yamba = with_own_folder();
    let words = [
        "time",
        "-c",
        "sh -c 'echo x >> runs; sleep 0.05'",
        "--time",
        "100s",
        "--json",
    ];
    let mut command = yamba.command(&words);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .start();
    let runs = yamba.folder.path().join("runs");
    until("four runs", || {
        fs::read_to_string(&runs).is_ok_and(|text| text.lines().count() > 4)
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let answer = Answer::of(child.finish());
    assert_eq!(answer.status, 1, "{}", answer.err);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(run["interrupted"], true);
    crate::schema::is_run(&run);
    assert!(run["benchmarks"][0]["samples"].as_array().unwrap().len() >= 3);
    assert_eq!(processes_of(yamba.folder.path()), [] as [u32; 0]);
}
