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

fn number(benchmark: &Value, key: &str) -> f64 {
    benchmark["command"][key].as_f64().unwrap()
}

/// A sleep takes its time and hardly any of the processor's.
#[test]
fn time_of_sleep_is_wall_clock_and_not_processor_time() {
    let mut yamba = Yamba::new();
    let words = ["-c", "sleep 0.05", "-c", "sleep 0.2", "-r", "6", "--json", "--raw"];
    let found = document(timed(&mut yamba, &words));
    for (benchmark, ns) in found.iter().zip([50e6, 200e6]) {
        let samples = benchmark["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 6);
        assert!(samples.iter().all(|s| s.as_f64().unwrap() >= ns), "{samples:?}");
        assert!(number(benchmark, "user_ns") + number(benchmark, "system_ns") < ns / 2.0);
        assert_eq!(benchmark["unit"], "ns");
        assert_eq!(benchmark["valid"], true);
        assert_eq!(benchmark["command"]["ends"]["0"], 6);
    }
    assert_eq!(found[1]["name"], "sleep 0.2");
    let ratio = &found[1]["command"]["to_reference"];
    assert_eq!(ratio["reference"], "sleep 0.05");
    assert!(ratio["interval"][0].as_f64().unwrap() > 1.0, "{ratio}");
    assert!(found[0]["command"]["to_reference"].is_null());
}

/// `tail` keeps 64 MiB until its input ends.
#[test]
fn memory_and_processor_time_are_those_of_all_processes_of_the_command() {
    let mut yamba = Yamba::new();
    let words = ["-c", "head -c 64M /dev/zero | tail -c 64M", "-c", "true", "-r", "3", "--json"];
    let found = document(timed(&mut yamba, &words));
    assert!(number(&found[0], "peak_memory_bytes") >= 64.0 * 1024.0 * 1024.0);
    assert!(found[1]["command"]["peak_memory_bytes"].is_null());
    assert!(number(&found[0], "minor_faults") > 16384.0);
    assert!(number(&found[0], "system_ns") + number(&found[0], "user_ns") > 1e6);
    assert_eq!(found[0]["command"]["shell"], "/bin/sh");
    assert!(found[1]["command"]["shell"].is_null());
}

/// The empty command takes as long as the shell alone, so that nothing is left of it.
#[test]
fn start_of_shell_is_subtracted() {
    let mut yamba = Yamba::new();
    let words = ["-c", ":", "-c", "sleep 0.03; sleep 0.03", "-r", "20", "--json", "--raw"];
    let answer = timed(&mut yamba, &words);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    let [nothing, sleeps] = [0, 1].map(|i| &run["benchmarks"][i]);
    let shell = nothing["command"]["shell_ns"].as_array().unwrap();
    let level = shell.iter().map(|s| s.as_f64().unwrap()).fold(0.0, f64::max);
    assert!(nothing["median"].as_f64().unwrap().abs() < level);
    // Two more starts of `sleep` are part of the command; the shell's own start is not.
    let walls = sleeps["command"]["wall_ns"].as_array().unwrap();
    let wall = walls.iter().map(|s| s.as_f64().unwrap()).fold(f64::INFINITY, f64::min);
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
    let words = ["-c", "sh -c 'echo no luck >&2; exit 3'", "-c", "true", "-r", "3"];
    let answer = timed(&mut yamba, &words);
    assert_eq!(answer.status, 1);
    answer.says(&["FAILED", "exited with status 3", "--ignore-failure", "no luck", "3 runs"]);
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
    let words = ["-c", "sh -c 'sleep 1000 & sleep 1000'", "--timeout", "200ms"];
    let answer = timed(&mut yamba, &words);
    assert_eq!(answer.status, 1);
    answer.says(&["took longer than 0.2 s", "--timeout"]);
    // A killed process may still be ending when the command has ended.
    until("children are killed", || processes_of(yamba.folder.path()).is_empty());
    let words = ["-c", "sh -c 'sleep 1000 & :'", "-r", "2"];
    timed(&mut yamba, &words).ok();
    until("background process is killed", || processes_of(yamba.folder.path()).is_empty());
}

#[test]
fn impossible_commands_are_refused_before_anything_runs() {
    let mut yamba = Yamba::new();
    for (words, parts) in [
        (&["-c", "no_such_program_here"][..], &["no_such_program_here", "not found"][..]),
        (&["-c", "echo 'open"], &["quote"]),
        (&["-c", " "], &["empty command"]),
        (&["-c", "true", "-c", "true"], &["two commands are called `true`", "--name"]),
        (&["-c", "true", "--parameter", "n=1"], &["no command has {n}"]),
        (&["-c", "true", "--parameter", "n"], &["NAME=A,B,C"]),
        // Options of commands, with a statement.
        (&["f();", "--name", "new"], &["--name", "cannot be used"]),
        (&["f();", "--warmup", "2"], &["--warmup", "cannot be used"]),
        (&["-c", "true", "-n", "a", "-n", "b"], &["2 names for 1 commands"]),
        (&["-c", "true", "--input", "missing"], &["--input missing"]),
        (&["-c", "true", "--asm", "nop"], &["cannot be used with"]),
        (&["-c", "touch made", "-c", "no_such_program_here"], &["not found"]),
    ] {
        timed(&mut yamba, words).refused(parts);
    }
    assert!(!yamba.folder.path().join("made").exists());
}

#[test]
fn interrupted_commands_keep_their_runs_and_leave_no_process() {
    let yamba = with_own_folder();
    let words = ["time", "-c", "sh -c 'echo x >> runs; sleep 0.05'", "--time", "100s", "--json"];
    let mut command = yamba.command(&words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    let runs = yamba.folder.path().join("runs");
    until("four runs", || fs::read_to_string(&runs).is_ok_and(|text| text.lines().count() > 4));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let answer = Answer::read(child.finish());
    assert_eq!(answer.status, 1, "{}", answer.err);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(run["interrupted"], true);
    crate::schema::is_run(&run);
    assert!(run["benchmarks"][0]["samples"].as_array().unwrap().len() >= 3);
    assert_eq!(processes_of(yamba.folder.path()), [] as [u32; 0]);
}

/// Ends with a status that says where its standard output goes, by fstat.
const DETECTOR: &str = "\
[ /dev/fd/1 -ef /dev/null ] && exit 7
[ -p /dev/fd/1 ] && exit 8
[ -f /dev/fd/1 ] && exit 9
exit 10
";

#[test]
fn output_goes_into_pipe_unless_option_says_otherwise() {
    let mut yamba = Yamba::new().file("detector", DETECTOR);
    std::os::unix::fs::symlink("/dev/null", yamba.folder.path().join("link")).unwrap();
    let command = ["-c", "sh detector", "-r", "2", "-i"];
    let said = "the output went to /dev/null: a program can see that";
    for (options, status, is_noted) in [
        (&[][..], "8", false),
        (&["--output", "pipe"], "8", false),
        (&["--output", "null"], "7", true),
        (&["--output", "/dev/null"], "7", true),
        (&["--output", "link"], "7", true),
        (&["--output", "file"], "9", false),
    ] {
        let words = [&command[..], options, &["--json"]].concat();
        let found = document(timed(&mut yamba, &words));
        assert_eq!(found[0]["command"]["ends"][status], 2, "{options:?} {found:?}");
        assert_eq!(found[0]["notes"].to_string().contains(said), is_noted, "{options:?}");
        let output = options.get(1).unwrap_or(&"pipe");
        assert_eq!(found[0]["command"]["output"], *output);
    }
    // The shell whose time is subtracted has the same output, and the test reads this process's
    // output by a pipe.
    let words = ["-c", "sh detector; exit $?", "-r", "2", "-i", "--output", "inherit"];
    timed(&mut yamba, &words).says(&["2 with status 8"]);
    let json = [&words[..], &["--json"]].concat();
    timed(&mut yamba, &json).refused(&["--output inherit", "--json"]);
    // The exit status says what this command sees, since its figure is lost.
    let words =
        ["time", "-c", "sh -c '[ /dev/fd/1 -ef /dev/null ]'", "-r", "2", "--output", "inherit"];
    let mut command = yamba.command(&words);
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(yamba.run_words(&words).status, 1);
}

#[test]
fn file_of_output_has_what_the_last_run_wrote() {
    let text: String = (0..5000).map(|i| format!("line {i}\n")).collect();
    let mut yamba = Yamba::new().file("numbers", &text);
    let words = ["-c", "grep -r 9 numbers", "-r", "3", "--output", "found"];
    timed(&mut yamba, &words).ok();
    let found = fs::read_to_string(yamba.folder.path().join("found")).unwrap();
    let expected: String =
        text.lines().filter(|line| line.contains('9')).map(|line| format!("{line}\n")).collect();
    assert_eq!(found, expected);
    let words = ["-c", "wc -c", "-r", "1", "--input", "numbers", "--output", "count"];
    timed(&mut yamba, &words).ok();
    let count = fs::read_to_string(yamba.folder.path().join("count")).unwrap();
    assert_eq!(count.trim(), text.len().to_string());
    for (words, parts) in [
        (
            &["-c", "cat", "--input", "numbers", "--output", "./numbers"][..],
            &["--output ./numbers: it is an input of this command"][..],
        ),
        (
            &["-c", "cat", "--input", "numbers", "--export-json", "numbers"],
            &["numbers is an input of this command"],
        ),
        (&["-c", "true", "--output", "missing/file"], &["--output missing/file"]),
        (&["-c", "no_such_program_here", "--output", "numbers"], &["not found"]),
    ] {
        timed(&mut yamba, words).refused(parts);
    }
    assert_eq!(fs::read_to_string(yamba.folder.path().join("numbers")).unwrap(), text);
}

/// A figure of 7 s, which no command here takes, in each form that Yamba or its programs write.
const RECORDS: &str = "{\"schema\":\"yamba-run/1\",\"benchmarks\":[{\"name\":\"x\",\"median\":7e9}]}\n\
{\"event\":\"batch\",\"ns\":7000000000}\n  time    7 s [7, 7]  mean 7 s, 7 s to 7 s, 9 runs\nx takes 7 times as long as y\n";

#[test]
fn what_command_prints_is_no_result() {
    let bytes = [RECORDS.as_bytes(), b"\xff\xfe\0\r\n\x1b[2J", &[b'x'; 100_000], b"no end of line"]
        .concat();
    let mut yamba = Yamba::new().file("bytes", bytes);
    let words = [
        "-c",
        "cat bytes",
        "-c",
        "sh -c 'cat bytes >&2; cat bytes; kill -KILL $$'",
        "-c",
        "yes | head -c 100M",
        "-r",
        "2",
        "-i",
        "-w",
        "0",
    ];
    let found = document(timed(&mut yamba, &[&words[..], &["--json"]].concat()));
    assert_eq!(found.len(), 3);
    for (benchmark, end) in found.iter().zip(["0", "SIGKILL", "0"]) {
        assert_eq!(benchmark["command"]["ends"][end], 2, "{benchmark}");
        assert!(benchmark["median"].as_f64().unwrap() < 7e9);
    }
    let answer = timed(&mut yamba, &words).ok();
    assert!(
        !answer.out.contains("7 times as long") && !answer.out.contains("7 s ["),
        "{}",
        answer.out
    );
    // A failed run shows the end of its standard error, within its own entry.
    let words = ["-c", "sh -c 'cat bytes >&2; exit 3'", "-r", "2", "--json"];
    let answer = timed(&mut yamba, &words);
    assert_eq!(answer.status, 1);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    let notes = run["benchmarks"][0]["notes"].to_string();
    assert!(notes.contains("exited with status 3") && notes.contains("no end of line"), "{notes}");
    assert_eq!(run["benchmarks"][0]["median"], Value::Null);
}

/// Ends the processes of a folder, whatever fails.
struct Ended<'a>(&'a std::path::Path);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        for pid in processes_of(self.0) {
            let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Both children keep the standard output of the command open for longer than any test waits.
#[test]
fn process_left_in_background_is_named_and_hangs_nothing() {
    let mut yamba = with_own_folder();
    let folder = yamba.folder.path().to_owned();
    let _end = Ended(&folder);
    let words = ["-c", "sh -c 'sleep 1000 & echo begun'", "-c", "echo none", "-r", "3", "--json"];
    let found = document(timed(&mut yamba, &words));
    let notes = found[0]["notes"].to_string();
    // On a busy machine, the child of `sh` may not have become `sleep` yet.
    for part in
        ["3 of 3 runs left processes in the background (s", "), which Yamba ended after the run"]
    {
        assert!(notes.contains(part), "{notes}");
    }
    assert!(!found[1]["notes"].to_string().contains("background"), "{}", found[1]);
    assert_eq!(processes_of(&folder), [] as [u32; 0]);
    // A child that has ended by itself is no such process.
    let words = ["-c", "sh -c 'true & wait; true & sleep 0.05'", "-r", "3", "--json"];
    let found = document(timed(&mut yamba, &words));
    assert!(!found[0]["notes"].to_string().contains("background"), "{}", found[0]);
    let words = [
        "-c",
        "sh -c 'rm -f ready; setsid sh -c \"echo > ready; exec sleep 1000\" & until [ -e ready ]; do sleep 0.01; done'",
        "-r",
        "2",
        "-w",
        "0",
        "--json",
    ];
    let found = document(timed(&mut yamba, &words));
    let notes = found[0]["notes"].to_string();
    for part in [
        "2 of 2 runs left processes in the background (",
        "), outside its process group, which Yamba did not end",
    ] {
        assert!(notes.contains(part), "{notes}");
    }
    assert_eq!(processes_of(&folder).len(), 2);
}

#[test]
fn process_of_preparation_runs_until_end_of_run() {
    let mut yamba = with_own_folder();
    let folder = yamba.folder.path().to_owned();
    let _end = Ended(&folder);
    let words = [
        "-c",
        "sh -c 'kill -0 $(cat server) && cat server >> runs'",
        "--prepare",
        "sleep 1000 & echo $! > server",
        "-r",
        "3",
        "-w",
        "0",
        "--json",
    ];
    let found = document(timed(&mut yamba, &words));
    assert_eq!(found[0]["command"]["ends"]["0"], 3);
    assert!(!found[0]["notes"].to_string().contains("background"), "{}", found[0]);
    let runs = fs::read_to_string(folder.join("runs")).unwrap();
    let servers: std::collections::BTreeSet<&str> = runs.lines().collect();
    assert_eq!(servers.len(), 3, "{runs}");
    assert_eq!(processes_of(&folder), [] as [u32; 0]);
}

/// The range of n values contains the median with probability 1 - 2^(1 - n): 93.75 % with five
/// values, 96.875 % with six.
#[test]
fn fewer_than_six_runs_give_no_interval_and_no_verdict() {
    let mut yamba = Yamba::new();
    for runs in ["1", "2", "3", "5"] {
        let words = ["-c", "true", "-c", "sleep 0.05", "-r", runs];
        let answer = timed(&mut yamba, &words).ok();
        let said = format!(
            "no interval and no comparison: 95 % confidence needs 6 runs, these are {runs}"
        );
        assert_eq!(answer.out.matches(&said).count(), 2, "{}", answer.out);
        for verdict in ["times as long", "no difference shown", "["] {
            assert!(!answer.out.contains(verdict), "{}", answer.out);
        }
        let found = document(timed(&mut yamba, &[&words[..], &["--json"]].concat()));
        for benchmark in &found {
            assert_eq!(benchmark["confidence_interval"], Value::Null);
            assert_eq!(benchmark["command"]["to_reference"], Value::Null);
            assert!(benchmark["median"].as_f64().unwrap() > 0.0);
        }
    }
    let words = ["-c", "true", "-c", "sleep 0.4", "-r", "6"];
    let answer = timed(&mut yamba, &words).ok();
    assert!(!answer.out.contains("no interval"), "{}", answer.out);
    answer.says(&["sleep 0.4 takes", "times as long as true ["]);
}

#[test]
fn options_of_statements_are_refused_with_commands() {
    let mut yamba = Yamba::new();
    for words in [
        &["--include", "stdio.h"][..],
        &["-O", "3"],
        &["-D", "X=1"],
        &["-l", "m"],
        &["-I", "."],
        &["--init", "rax=1"],
        &["--march", "native"],
        &["--std", "c++20"],
        &["--pkg-config", "zlib"],
        &["--process-limit", "5"],
    ] {
        let all = [&["-c", "touch made"], words].concat();
        timed(&mut yamba, &all).refused(&["--command", "cannot be used with"]);
    }
    timed(&mut yamba, &["f();", "--output", "null"]).refused(&["--output", "cannot be used"]);
    assert!(!yamba.folder.path().join("made").exists());
}

/// Without expansion of file names, and with a value that contains a comma.
#[test]
fn shell_has_arguments_and_values_have_commas() {
    let mut yamba = Yamba::new();
    let words = [
        "-c",
        "echo * {v}",
        "-S",
        "sh -f",
        "-L",
        r"v=one\,two,three",
        "-r",
        "1",
        "-w",
        "0",
        "--output",
        "out",
        "--json",
    ];
    let run = timed(&mut yamba, &words);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    let found = found["benchmarks"].as_array().unwrap();
    let names: Vec<&str> = found.iter().map(|b| b["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo * one,two", "echo * three"]);
    assert_eq!(found[0]["command"]["shell"], "sh -f");
    assert_eq!(found[0]["parameters"]["v"], "one,two");
    let out = fs::read_to_string(yamba.folder.path().join("out")).unwrap();
    assert!(["* one,two\n", "* three\n"].contains(&out.as_str()), "{out}");
    let words = ["-c", "echo a", "-L", "delay=0.01,0.02", "-p", "sleep {delay}", "-r", "1"];
    timed(&mut yamba, &words).ok().says(&["echo a (delay=0.01)\n", "echo a (delay=0.02)\n"]);
}

/// The order of all steps of two commands: set-ups once before all rounds, clean-ups once after
/// them.
#[test]
fn untimed_commands_run_around_rounds_and_runs() {
    let mut yamba = Yamba::new();
    let words = [
        "-c",
        "sh -c 'echo run {n} >> log'",
        "-L",
        "n=1,2",
        "--setup",
        "echo setup {n} >> log",
        "--prepare",
        "echo prepare {n} >> log",
        "--conclude",
        "echo conclude {n} >> log",
        "--cleanup",
        "echo cleanup {n} >> log",
        "-w",
        "1",
        "-r",
        "2",
        "--json",
    ];
    let found = document(timed(&mut yamba, &words));
    let log = fs::read_to_string(yamba.folder.path().join("log")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2 + 3 * 6 + 2, "{log}");
    assert_eq!(lines[..2], ["setup 1", "setup 2"]);
    assert_eq!(lines[20..], ["cleanup 1", "cleanup 2"]);
    for run in lines[2..20].chunks(3) {
        let of = run[0].strip_prefix("prepare ").unwrap();
        assert_eq!(run[1..], [format!("run {of}"), format!("conclude {of}")]);
    }
    assert_eq!(found[1]["command"]["setup"], "echo setup 2 >> log");
    assert_eq!(found[1]["command"]["cleanup"], "echo cleanup 2 >> log");
}

#[test]
fn failing_untimed_commands_are_named() {
    let mut yamba = Yamba::new();
    let run = |yamba: &mut Yamba, option: &str| {
        let words = ["-c", "sh -c 'echo >> runs'", option, "echo why >&2; exit 4", "-r", "2"];
        timed(yamba, &words)
    };
    for (option, said) in [
        ("--setup", "the set-up exited with status 4"),
        ("--prepare", "the preparation exited with status 4"),
        ("--conclude", "the conclusion exited with status 4"),
    ] {
        let answer = run(&mut yamba, option);
        assert_eq!(answer.status, 1, "{option}");
        answer.says(&["FAILED", said, "> why"]);
    }
    // Nothing ran after a failed set-up or preparation; the run before a failed conclusion did.
    let runs = fs::read_to_string(yamba.folder.path().join("runs")).unwrap();
    assert_eq!(runs.lines().count(), 1);
    // The runs before a failed clean-up count.
    run(&mut yamba, "--cleanup").ok().says(&["2 runs", "the clean-up exited with status 4", "why"]);
}

/// A server of a set-up serves all runs, and that of a preparation its run and its conclusion.
#[test]
fn processes_of_set_up_and_preparation_run_as_long_as_they_are_needed() {
    let mut yamba = with_own_folder();
    let folder = yamba.folder.path().to_owned();
    let _end = Ended(&folder);
    let words = [
        "-c",
        "sh -c 'kill -0 $(cat all) && kill -0 $(cat one)'",
        "--setup",
        "sleep 1000 & echo $! > all",
        "--prepare",
        "sleep 1000 & echo $! > one",
        "--conclude",
        "kill $(cat one)",
        "--cleanup",
        "kill -0 $(cat all)",
        "-r",
        "2",
        "--json",
    ];
    let found = document(timed(&mut yamba, &words));
    assert_eq!(found[0]["command"]["ends"]["0"], 2);
    assert_eq!(found[0]["notes"].to_string().matches("clean-up").count(), 0, "{}", found[0]);
    until("server is ended", || processes_of(&folder).is_empty());
}

#[test]
fn clean_up_runs_after_interrupt() {
    let yamba = with_own_folder();
    let words = [
        "time",
        "-c",
        "sh -c 'echo x >> runs; sleep 0.05'",
        "--cleanup",
        "echo done > cleaned",
        "--time",
        "100s",
    ];
    let child = yamba.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    let runs = yamba.folder.path().join("runs");
    until("two runs", || fs::read_to_string(&runs).is_ok_and(|text| text.lines().count() > 2));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(Answer::read(child.finish()).status, 1);
    assert!(yamba.folder.path().join("cleaned").exists());
}

#[test]
fn listed_exit_statuses_count() {
    let mut yamba = Yamba::new();
    let words = |codes| ["-c", "sh -c 'exit 3'", "-r", "2", codes];
    timed(&mut yamba, &words("--ignore-failure=1,3")).ok().says(&["2 with status 3"]);
    let answer = timed(&mut yamba, &words("--ignore-failure=1,2"));
    assert_eq!(answer.status, 1);
    answer.says(&["FAILED", "--ignore-failure does not list 3"]);
    timed(&mut yamba, &words("--ignore-failure=all-non-zero")).ok();
    timed(&mut yamba, &words("--ignore-failure=x")).refused(&["exit statuses from 0 to 255"]);
    let killed = ["-c", "sh -c 'kill -TERM $$'", "-r", "2", "--ignore-failure=1"];
    assert_eq!(timed(&mut yamba, &killed).status, 1);
}

/// A sleep of 150 ms is longer than one of 50 ms by 200 %.
#[test]
fn slower_command_fails_the_gate() {
    let mut yamba = Yamba::new();
    // The time is over only on a machine that is too busy to decide.
    let gated = |head| ["-c", "sleep 0.05", "-c", head, "--fail-above", "80%", "--time", "60s"];
    let answer = timed(&mut yamba, &gated("sleep 0.15"));
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["gate failed", "sleep 0.15", "times as long as sleep 0.05"]);
    let answer = timed(&mut yamba, &gated("sleep 0.051")).ok().says(&["gate passed"]);
    // It ends at the look at which it is decided, with half as many runs again at each.
    let looks = [6, 9, 14, 21, 32, 48, 72, 108, 162, 243, 365, 548];
    let is_early = |n: &i32| answer.out.matches(&format!(", {n} runs")).count() == 2;
    assert!(looks.iter().any(is_early), "{}", answer.out);
    // The document stays one document, and the reference has a name.
    let words =
        ["-c", "sleep 0.2", "--reference", "sleep 0.05", "--reference-name", "base", "--json"];
    let answer =
        timed(&mut yamba, &[&words[..], &["--fail-above", "50%", "--time", "60s"]].concat());
    assert_eq!(answer.status, 1, "{}", answer.err);
    assert!(answer.err.contains("gate failed"), "{}", answer.err);
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    crate::schema::is_run(&run);
    assert_eq!(run["benchmarks"][1]["command"]["to_reference"]["reference"], "base");
    for (words, parts) in [
        (
            &["-c", "true", "-c", "cat", "--fail-above", "5%", "-r", "5"][..],
            &["at least 6 runs"][..],
        ),
        (&["-c", "true", "--fail-above", "5%"], &["there is one command", "--reference"]),
        (&["f();", "--fail-above", "5%"], &["--fail-above is for whole commands"]),
        (&["f();", "--store", "x"], &["--store is for whole commands"]),
    ] {
        timed(&mut yamba, words).refused(parts);
    }
}

/// The names are known at the end only.
#[test]
fn limit_for_no_command_is_an_error_after_the_results() {
    let mut yamba = Yamba::new();
    let words = ["-c", "true", "-c", "cat", "--fail-above", "x=5%", "-r", "6"];
    let answer = timed(&mut yamba, &words);
    assert_eq!(answer.status, 2);
    assert!(answer.err.contains("no benchmark x"), "{}", answer.err);
    assert!(answer.out.contains("6 runs"), "{}", answer.out);
}

#[test]
fn faster_command_is_compared_with_its_reference() {
    let mut yamba = Yamba::new();
    let words = ["-c", "sleep 0.01", "--reference", "sleep 0.4", "-r", "6"];
    let out = timed(&mut yamba, &words).ok().out;
    assert!(out.contains("sleep 0.01 takes 0."), "{out}");
    assert!(out.contains("times as long as sleep 0.4 ["), "{out}");
}

#[test]
fn run_is_stored_and_other_commands_work_with_it() {
    let mut yamba = Yamba::new();
    let words = ["-c", "sleep 0.01", "-c", "sh -c 'exit {s}'", "-L", "s=2,3", "-i", "-r", "6"];
    for _ in 0..2 {
        let said = timed(&mut yamba, &words).ok().err;
        assert!(said.contains("stored: "), "{said}");
    }
    yamba.run("show").ok().says(&["sleep 0.01", "sh -c 'exit 2'"]);
    yamba.run("history *sleep*").ok().says(&["sleep 0.01"]);
    yamba.run("report latest -o page.html").ok();
    let page = fs::read_to_string(yamba.folder.path().join("page.html")).unwrap();
    assert!(page.contains("sleep 0.01"));
    // On a busy host both are disturbed, and not compared.
    yamba.run("compare latest~1 latest").says(&["sleep 0.01", "sh -c 'exit 3'"]);
    let exported = yamba.run("export --format hyperfine").ok();
    assert!(!exported.err.contains("--raw"), "{}", exported.err);
    let results: Value = serde_json::from_str(&exported.out).unwrap();
    let results = results["results"].as_array().unwrap();
    assert_eq!(results[0]["exit_codes"], serde_json::json!([0, 0, 0, 0, 0, 0]));
    assert_eq!(results[2]["exit_codes"], serde_json::json!([3, 3, 3, 3, 3, 3]));
    assert_eq!(results[2]["parameters"], serde_json::json!({"s": "3"}));
    let times: Vec<f64> =
        results[0]["times"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
    assert!(times.len() == 6 && times.iter().all(|time| (0.01..1.0).contains(time)), "{times:?}");
    // Without what shows its errors it is no run to compare with.
    let mut yamba = yamba.file("hyperfine.json", &exported.out);
    yamba
        .run("import hyperfine.json")
        .refused(&["is a run of Yamba in the form of", "--format json"]);
    // `time` writes the same file itself.
    let words = ["-c", "true", "-r", "1", "--export-json", "one.json"];
    timed(&mut yamba, &words).ok();
    let one = fs::read_to_string(yamba.folder.path().join("one.json")).unwrap();
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["results"][0]["stddev"], Value::Null);
    assert_eq!(one["results"][0]["times"].as_array().unwrap().len(), 1);
}

/// The processes that the command and its preparation have started end, too.
#[test]
fn killed_timing_leaves_no_process() {
    let yamba = Yamba::new();
    let folder = yamba.folder.path().to_owned();
    let words =
        ["time", "-c", "touch begun; sleep 600; true", "--prepare", "sleep 600 & touch prepared"];
    let mut command = yamba.command(&words);
    command.env("TMPDIR", &folder);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    until("the command", || folder.join("begun").exists() && processes_of(&folder).len() >= 4);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until("the end of all processes", || processes_of(&folder).is_empty());
}
