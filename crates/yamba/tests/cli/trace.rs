//! `yamba trace` and `yamba predict --measure` with real programs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use yamba_child_guard::StartGuarded;

use crate::schema;
use crate::support::{Answer, Yamba, needs, processes_of, until};

/// Writes one byte to each line that it reads.
const SERVER: &str = "exec 3<>requests; while read line <&3; do echo . > /dev/null; done";

/// Sends 50 requests of two bytes to the server, and waits until it has read them.
const LOAD: &str = r#"i=0
while [ $i -lt 50 ]; do echo r; i=$((i+1)); done > requests
sleep 0.5
echo "50 requests sent"
"#;

fn vector(yamba: &Yamba, name: &str) -> Value {
    let text = fs::read_to_string(yamba.folder.path().join(name)).unwrap();
    let found = serde_json::from_str(&text).unwrap();
    schema::holds("yamba-vector/1", &found);
    found
}

/// The uses of a vector by name and size.
fn uses(vector: &Value) -> BTreeMap<String, f64> {
    let each = vector["primitives"].as_array().unwrap().iter();
    each.map(|used| {
        let size = used["size"].as_f64().map(|s| format!("@{s}"));
        let name = used["name"].as_str().unwrap().to_owned() + &size.unwrap_or_default();
        (name, used["count"].as_f64().unwrap())
    })
    .collect()
}

fn with_server() -> Yamba {
    let yamba = Yamba::new().file("server.sh", SERVER).file("load.sh", LOAD);
    let made = yamba.other("mkfifo").arg("requests").status().unwrap();
    assert!(made.success());
    yamba
}

/// The dynamic linker prints the auxiliary vector that the kernel gave the process.
#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")),
    ignore = "needs x86_64 Linux with glibc"
)]
fn bare_processes_have_no_vdso() {
    let mut yamba = Yamba::new().env("LD_SHOW_AUXV", "1");
    let shown = |yamba: &mut Yamba, words: &[&str]| yamba.run_words(words).ok().out;
    // The program itself, one that it executes, and one that its child executes.
    let script = "/bin/true; env true; exec /bin/true";
    let all = shown(&mut yamba, &["bare", "--", "sh", "-c", script]);
    let lines = |name: &str| all.lines().filter(|line| line.starts_with(name)).count();
    // Yamba itself has one.
    assert_eq!((lines("AT_SYSINFO_EHDR:"), lines("AT_ENTRY:")), (1, 6), "{all}");
}

/// The exit status or the signal is that of the program.
#[test]
#[cfg_attr(not(all(target_os = "linux", target_arch = "x86_64")), ignore = "needs x86_64 Linux")]
fn bare_program_ends_as_it_would() {
    let mut yamba = Yamba::new();
    let exit = |status: i32| (Some(status), None);
    let signal = |number: i32| (None, Some(number));
    for (script, end) in [
        ("exit 7", exit(7)),
        ("exit 143", exit(143)),
        ("kill -TERM $$", signal(15)),
        ("kill -KILL $$", signal(9)),
        ("kill -SEGV $$", signal(11)),
        ("trap 'exit 3' USR1; kill -USR1 $$; exit 4", exit(3)),
        ("trap 'exit 6' RTMIN; kill -RTMIN $$; exit 4", exit(6)),
        ("kill -RTMAX $$", signal(64)),
        ("(sleep 0.2; kill -CONT $$) & kill -STOP $$; exit 8", exit(8)),
        ("(sleep 0.1; exit 5) & wait $!; exit $?", exit(5)),
        ("sleep 9 & kill -STOP $!; kill -KILL $!; wait $!; exit $?", exit(137)),
    ] {
        let words = ["bare", "--report", "report", "--", "bash", "-c", script];
        let output = yamba.command(&words).output().unwrap();
        let found = (output.status.code(), output.status.signal());
        assert_eq!(found, end, "{script}: {output:?}");
        let failure = fs::read_to_string(yamba.folder.path().join("report"));
        assert_eq!(failure.unwrap_or_default(), "");
    }
    let answer = yamba.run_words(&["bare", "--", "no-such-program"]);
    assert_eq!(answer.status, 2, "{}", answer.err);
}

#[test]
#[ignore = "needs strace"]
fn run_of_a_command_is_counted() {
    needs(&["strace", "dd"]);
    let mut yamba = Yamba::new();
    let command = "dd if=/dev/zero of=/dev/null bs=1000 count=50 status=none";
    let answer = yamba.run(&format!("trace --how strace -o dd.vector -- {command}")).ok();
    assert!(answer.err.contains("page faults\n"), "{}", answer.err);
    let found = vector(&yamba, "dd.vector");
    let of = uses(&found);
    assert_eq!(of["read(device)@1000"], 50.0);
    assert_eq!(of["write(device)@1000"], 50.0);
    assert_eq!((of["execve"], of["exit_group"]), (1.0, 1.0));
    // Each page of the program that it touches first.
    assert!(of["page_fault"] > 10.0 && of["page_fault"] < 10_000.0, "{of:?}");
    assert_eq!(found["application"], "dd");
    assert_eq!(found["command"].as_array().unwrap().len(), 6);
    assert_eq!(found["traced"]["how"], "strace");
    // Without a file, the vector goes to standard output, and the output of the program to standard
    // error.
    let answer =
        yamba.run_words(&["trace", "--how", "strace", "--application", "x", "--", "echo", "hello"]);
    let printed: Value = serde_json::from_str(&answer.ok().out).unwrap();
    assert_eq!((&printed["application"], &printed["units"]), (&json!("x"), &json!(1.0)));
}

/// Children have the descriptors of their parent, and each call counts once.
#[test]
#[ignore = "needs strace"]
fn whole_tree_of_processes_is_counted() {
    needs(&["strace", "dd"]);
    let mut yamba = Yamba::new();
    let line = "dd if=/dev/zero bs=100 count=20 status=none | dd of=/dev/null bs=100 status=none; echo end; exit 3";
    let answer = yamba.run_words(&["trace", "--how", "strace", "-o", "v", "--", "sh", "-c", line]);
    assert_eq!(answer.status, 1, "{}", answer.err);
    assert!(answer.err.contains("error: sh: exit status: 3: the counts"), "{}", answer.err);
    assert_eq!(answer.out, "end\n");
    let found = vector(&yamba, "v");
    assert_eq!(found["traced"]["failure"], "exit status: 3");
    let of = uses(&found);
    assert_eq!(of["write(pipe)@100"], 20.0, "{of:?}");
    assert_eq!(of["read(device)@100"], 20.0);
    let calls = |names: &[&str]| {
        let is_one = |label: &str| names.iter().any(|name| label.starts_with(name));
        let each = of.iter().filter(|(label, _)| is_one(label));
        each.map(|(_, count)| count).sum::<f64>()
    };
    assert_eq!(calls(&["execve"]), 3.0, "{of:?}");
    assert_eq!(calls(&["fork", "vfork"]), 2.0, "{of:?}");
}

#[test]
#[ignore = "needs strace"]
fn server_is_counted_while_its_load_runs() {
    needs(&["strace"]);
    let mut yamba = with_server();
    let words = [
        "trace",
        "--how",
        "strace",
        "--load",
        "sh load.sh",
        "--units-from",
        "([0-9]+) requests",
        "--unit",
        "request",
        "-o",
        "server.vector",
        "--",
        "sh",
        "server.sh",
    ];
    let answer = yamba.run_words(&words).ok();
    assert!(answer.out.contains("50 requests sent"), "{}", answer.out);
    let found = vector(&yamba, "server.vector");
    assert_eq!((&found["units"], &found["unit"]), (&json!(50.0), &json!("request")));
    assert_eq!(found["load"], "sh load.sh");
    assert_eq!(found["units_from"], "([0-9]+) requests");
    let of = uses(&found);
    // The shell reads single bytes, opens /dev/null and writes two bytes for each request. Nothing
    // of its start-up is counted.
    assert_eq!(of["read(file)@1"], 2.0, "{of:?}");
    assert_eq!(of["open(device)"], 1.0);
    assert_eq!(of["write(device)@2"], 1.0);
    assert!(!of.contains_key("execve"), "{of:?}");
    assert_eq!(processes_of(yamba.folder.path()), [0; 0]);
}

#[test]
#[ignore = "needs strace"]
fn running_process_is_counted_and_left_alone() {
    needs(&["strace"]);
    let mut yamba = with_server();
    let mut server = yamba.other("sh").arg("server.sh").start();
    let id = server.id().to_string();
    let state = || fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let words =
        ["trace", "--how", "strace", "-p", &id, "--load", "sh load.sh", "--units", "50", "-o", "v"];
    yamba.run_words(&words).ok();
    let found = vector(&yamba, "v");
    assert_eq!(found["command"], json!(["sh", "server.sh"]));
    assert_eq!(uses(&found)["read(file)@1"], 2.0);
    assert!(state().contains("TracerPid:\t0"), "{}", state());
    // An interrupt ends the trace, and the vector is written.
    let traced = yamba.begin(&["trace", "--how", "strace", "-p", &id, "-o", "v2"]);
    until("the server is traced", || !state().contains("TracerPid:\t0"));
    let sent = yamba.other("sh").arg("load.sh").stdout(Stdio::null()).status().unwrap();
    assert!(sent.success());
    let interrupt = yamba.other("kill").args(["-INT", &traced.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    assert!(traced.finish().status.success());
    assert_eq!(uses(&vector(&yamba, "v2"))["read(file)@1"], 100.0);
    // If Yamba is killed, the server runs on without a tracer.
    let mut traced = yamba.begin(&["trace", "--how", "strace", "-p", &id, "-o", "v3"]);
    until("the server is traced", || !state().contains("TracerPid:\t0"));
    traced.kill().unwrap();
    traced.wait().unwrap();
    until("the server has no tracer", || state().contains("TracerPid:\t0"));
    assert!(state().contains("State:\tS"), "{}", state());
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
#[ignore = "needs strace"]
fn faults_of_live_traces_are_named() {
    needs(&["strace"]);
    let mut yamba = Yamba::new();
    for (words, parts) in [
        (vec!["--", "no-such-program"], ["no system call", "must exist"]),
        (vec!["--load", "true", "--", "true"], ["ended before its load", "--load"]),
        (
            vec!["--load", "exit 3", "--", "sleep", "60"],
            ["load failed: exit status: 3", "messages"],
        ),
        (
            vec!["--units-from", "([0-9]+) x", "--", "sh", "-c", "echo y >&2"],
            ["--units-from", "no number above 0"],
        ),
        (vec!["--units-from", "x", "--", "sh", "-c", "echo y >&2"], ["--units-from", "one group"]),
        (vec!["-p", "999999999"], ["no such process", "ps -e"]),
        (vec!["-p", "1", "--", "true"], ["--pid", "cannot be used"]),
        (vec![], ["COMMAND", "required"]),
    ] {
        let all: Vec<&str> =
            ["trace", "--how", "strace", "-o", "v"].into_iter().chain(words).collect();
        yamba.run_words(&all).refused(&parts);
    }
    assert!(!yamba.folder.path().join("v").exists());
    assert_eq!(processes_of(yamba.folder.path()), [0; 0]);
    let mut without = Yamba::new().env("PATH", "/nowhere");
    without
        .run_words(&["trace", "--how", "strace", "--", "/bin/true"])
        .refused(&["strace cannot be started", "--from"]);
}

#[test]
#[ignore = "needs strace"]
fn stopped_trace_ends_its_program() {
    needs(&["strace"]);
    let yamba = Yamba::new();
    let mut command = yamba.command(&["trace", "--how", "strace", "-o", "v", "--", "sleep", "60"]);
    let traced = command.stderr(Stdio::piped()).start();
    sleep(Duration::from_secs(1));
    let interrupt = yamba.other("kill").args(["-INT", &traced.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let answer = traced.finish();
    assert_eq!(answer.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&answer.stderr).contains("no vector was made"));
    assert_eq!(processes_of(yamba.folder.path()), [0; 0]);
}

/// The program reads and writes single bytes, nearly all in the kernel, as the benchmarks do.
#[test]
#[ignore = "needs g++ and strace"]
fn measured_time_stands_beside_the_prediction() {
    needs(&["strace", "dd"]);
    let mut yamba = Yamba::new();
    let costs = "run lat_syscall_getppid lat_syscall_read lat_syscall_write --quick";
    yamba.run(costs).ok();
    let words = "trace --how strace -o dd.vector -- dd if=/dev/zero of=/dev/null bs=1 count=100000 status=none";
    yamba.run(words).ok();
    // The start of the program has calls that no run in the store has measured. Measuring them
    // would take minutes.
    let mut traced = vector(&yamba, "dd.vector");
    let all = traced["primitives"].as_array_mut().unwrap();
    all.retain(|used| used["count"].as_f64() >= Some(100_000.0));
    assert_eq!(all.len(), 2, "{all:?}");
    let line = "dd if=/dev/zero of=/dev/null bs=1 count=100000 status=none; exit 3";
    traced["command"] = json!(["sh", "-c", line]);
    let mut yamba = yamba.file("dd.vector", traced.to_string());
    let answer = yamba.run("predict dd.vector --measure --json");
    answer.refused(&["--measure: the command of dd failed, and did not in its trace"]);
    traced["traced"]["failure"] = json!("exit status: 3");
    let mut yamba = yamba.file("dd.vector", traced.to_string());
    let answer = yamba.run("predict dd.vector --measure --json").ok();
    let failed = "exit status: 3: the measured time is that of a command that failed";
    assert!(answer.err.contains(failed), "{}", answer.err);
    let found: Value = serde_json::from_str(&answer.out).unwrap();
    schema::holds("yamba-predict/1", &found);
    let found = &found["predictions"][0];
    let [low, high] = [0, 1].map(|i| found["measured_interval_ns"][i].as_f64().unwrap());
    let number = |key: &str| found[key].as_f64().unwrap();
    let (kernel, user) = (number("measured_ns"), number("measured_user_ns"));
    assert!(0.0 < low && low < kernel && kernel < high, "{low} {kernel} {high}");
    let ratio = number("predicted_ns") / kernel;
    assert!((0.4..2.5).contains(&ratio) && user > 0.0, "{found}");
    let error = number("predicted_ns") / kernel - 1.0;
    assert!((number("error") - error).abs() < 1e-9);
}

#[test]
fn only_an_application_that_can_run_here_is_measured() {
    let other = json!({
        "schema": "yamba-run/1", "id": "00000000000000aa", "started_unix_s": 1.0,
        "machine": {"isa": "z80", "system": "cpm", "kernel": "2.2", "cpu": "Z80", "cpus": 1,
            "memory": 1000, "page_size": 4096, "root": true, "virtual_machine": false, "scratch": null},
        "benchmarks": [],
    });
    let by_hand = json!({
        "schema": "yamba-vector/1", "application": "server", "unit": "request",
        "primitives": [{"name": "null", "count": 1}],
    });
    let mut yamba = Yamba::new()
        .file("other.json", other.to_string())
        .file("by_hand.vector", by_hand.to_string());
    for (words, parts) in [
        ("by_hand.vector --on other.json", ["another machine", "z80"]),
        ("by_hand.vector --on other.json --cost null=2x", ["--cost", "cannot be used"]),
    ] {
        yamba.run(&format!("predict {words} --measure")).refused(&parts);
    }
}

/// The runs under valgrind would find the input consumed.
#[test]
fn user_work_of_a_command_with_input_is_refused() {
    let yamba = Yamba::new().file("numbers", "1\n2\n");
    let words = ["trace", "--user", "-o", "sort.vector", "--", "sort"];
    let numbers = || fs::File::open(yamba.folder.path().join("numbers")).unwrap();
    for input in [Stdio::from(numbers()), Stdio::piped()] {
        let answer = Answer::read(yamba.command(&words).stdin(input).output().unwrap());
        answer.refused(&["--user: standard input is a file or a pipe", "sh -c 'COMMAND <FILE'"]);
    }
    assert!(!yamba.folder.path().join("sort.vector").exists());
    let with_units = [&words[..2], &["--units-from", "([0-9]+)"], &words[2..]].concat();
    let answer = Answer::read(yamba.command(&with_units).output().unwrap());
    answer.refused(&["--units-from"]);
}
