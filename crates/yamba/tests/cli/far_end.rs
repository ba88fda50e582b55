//! `--remote HOST` with the test's own ssh server: figures, leftovers, and messages if there is no
//! far end.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use yamba_child_guard::{Guarded, StartGuarded};

use crate::far::{Far, Server};
use crate::support::{Yamba, processes_of, until};

/// An ssh server on this machine.
fn on_loopback() -> Far {
    Far::new(Server::start)
}

#[test]
#[ignore = "needs g++ and sshd"]
fn remote_run_measures_and_records_far_host() {
    let machine = on_loopback();
    let words = "run lat_tcp lat_udp lat_connect lat_ping --quick --remote 127.0.0.1 --json";
    let answer = machine.yamba().run(words);
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    let all = run["benchmarks"].as_array().unwrap();
    assert_eq!(all.len(), 4, "{}", answer.out);
    assert_eq!(run["producer"]["elsewhere"], true);
    for figure in all {
        let class = figure["class"].as_str().unwrap();
        if class == "lat_ping" && figure["status"] == "skipped" {
            continue; // requires a privilege
        }
        assert_eq!(figure["parameters"]["host"], "ssh:127.0.0.1");
        let platform = &figure["platform"];
        assert_eq!(platform["far_host"], "127.0.0.1", "{figure}");
        assert_eq!(platform["far_is_this_machine"], true, "{platform}");
        assert!(figure["notes"].to_string().contains("no packet leaves it"));
        let proof = match class {
            "lat_connect" => "accepted_per_connection",
            "lat_ping" => "requests_counted",
            _ => "answers_per_pass",
        };
        assert!(figure["evidence"][proof]["min"].as_f64().unwrap() >= 1.0);
    }
    machine.leaves_nothing();
}

/// A running measurement with a running far end, and the far end's processes.
fn measuring(machine: &Far) -> (Yamba, Guarded, Vec<u32>) {
    let mut yamba = machine.yamba();
    let words = "run lat_tcp --time 300s --remote 127.0.0.1 --set message=1";
    // Build first, since build time is not part of the test.
    yamba.run(&format!("{words} --dry-run")).ok();
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = yamba.command(&words);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::null()).start();
    let mut far = Vec::new();
    until("no far end starts", || {
        far = programs(machine);
        far.len() == 2
    });
    // From now on, a kill leaves no file to remove.
    assert_eq!(fs::read_dir(machine.server.far()).unwrap().count(), 0);
    (yamba, run, far)
}

/// The far end and its partner.
fn programs(machine: &Far) -> Vec<u32> {
    let mut all = processes_of(&machine.server.far());
    let program = |pid: u32| fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    // The program removes its own file when it starts.
    all.retain(|pid| program(*pid).ends_with("program (deleted)"));
    all
}

#[test]
#[ignore = "needs g++ and sshd"]
fn killed_remote_run_leaves_nothing() {
    let machine = on_loopback();
    let (_yamba, mut run, _) = measuring(&machine);
    run.kill().unwrap();
    run.wait().unwrap();
    machine.leaves_nothing();
}

#[test]
#[ignore = "needs g++ and sshd"]
fn dead_far_end_fails_only_its_launch() {
    let machine = on_loopback();
    let (_yamba, mut run, far) = measuring(&machine);
    for pid in &far {
        let _ = kill_process(Pid::from_raw(*pid as i32).unwrap(), Signal::KILL);
    }
    // One failure is tolerated: the next launch starts a new far end.
    until("it does not go on", || {
        let next = programs(&machine);
        run.try_wait().unwrap().is_some() || (next.len() == 2 && next != far)
    });
    let _ = kill_process(Pid::from_child(&run), Signal::INT);
    let output = run.finish();
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = ["gone", "reset by peer"].iter().any(|w| words.contains(w));
    assert!(told, "{text}");
    machine.leaves_nothing();
}

#[test]
#[ignore = "needs g++ and sshd"]
fn failed_ssh_login_has_help() {
    let machine = on_loopback();
    let words = "run lat_udp --quick --remote 127.0.0.1 --set message=1";
    let with = |ssh: &str| Yamba::new().env("YAMBA_SSH", ssh).run(words).ok();
    with(&machine.server.ssh_with("host")).says(&["skipped", "Permission denied", "BatchMode=yes"]);
    with("no-such-ssh").says(&["skipped", "no-such-ssh", "not found", "YAMBA_SSH"]);
    machine.leaves_nothing();
}

/// Replaces ssh and the other machine, on which the user has the login shell `LOGIN_SHELL`.
const LOGIN: &str = "#!/bin/sh
for command; do :; done
export SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'
exec $LOGIN_SHELL -c \"$command\"
";

/// The far end starts and receives every character of its arguments.
#[test]
#[ignore = "needs g++"]
fn remote_login_shell_may_be_any() {
    let address = r"it's \ no! $HOME `address`";
    let paths = std::env::var_os("PATH").unwrap();
    let is_there = |shell: &&str| std::env::split_paths(&paths).any(|p| p.join(shell).is_file());
    let shells = ["sh", "bash", "tcsh", "bsd-csh", "fish"];
    for shell in shells.into_iter().filter(is_there) {
        let yamba = Yamba::new().file("login", LOGIN);
        let ssh = format!("sh {}", yamba.folder.path().join("login").display());
        let mut yamba =
            yamba.env("YAMBA_SSH", ssh).env("LOGIN_SHELL", shell).env("YAMBA_FAR_ADDRESS", address);
        let words = "run lat_udp --quick --remote there --set message=1 --json";
        let run: Value = serde_json::from_str(&yamba.run(words).ok().out).unwrap();
        let notes = &run["benchmarks"][0]["notes"];
        let told = format!("YAMBA_FAR_ADDRESS={address} is no address of this machine");
        let is_told = |note: &Value| note.as_str().is_some_and(|text| text.contains(&told));
        assert!(notes.as_array().unwrap().iter().any(is_told), "{shell}: {notes}");
    }
}

#[test]
#[ignore = "needs g++ and sshd"]
fn unwritable_remote_host_is_reported() {
    let machine = on_loopback();
    fs::remove_dir(machine.server.far()).unwrap();
    let words = "run lat_udp --quick --remote 127.0.0.1 --set message=1";
    let answer = machine.yamba().run(words).ok();
    answer.says(&["skipped", "cannot be started on", "$TMPDIR"]);
}

/// Replaces ssh and records each call.
const SILENT: &str =
    "#!/bin/sh\necho again >>\"$ASKED\"\nsleep 6\necho 'Connection timed out' >&2\nexit 255\n";

#[test]
#[ignore = "needs g++"]
fn unreachable_host_is_waited_for_once() {
    let yamba = Yamba::new().file("silent", SILENT);
    let [silent, asked] = ["silent", "asked"].map(|name| yamba.folder.path().join(name));
    let mut yamba = yamba.env("YAMBA_SSH", format!("sh {}", silent.display())).env("ASKED", &asked);
    let words = "run lat_tcp lat_udp --quick --remote nowhere --set message=1 --json";
    let answer = yamba.run(words).ok();
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    for figure in run["benchmarks"].as_array().unwrap() {
        let notes = figure["notes"].to_string();
        assert_eq!(figure["status"], "skipped", "{notes}");
        assert!(notes.contains("Connection timed out"), "{notes}");
    }
    assert_eq!(fs::read_to_string(asked).unwrap(), "again\n");
}

#[test]
#[ignore = "needs g++ and sshd"]
fn each_process_has_its_own_far_end() {
    let machine = on_loopback();
    let words = "run lat_tcp --quick --set message=1 -P 2 --remote 127.0.0.1 --json";
    let answer = machine.yamba().run(words);
    let run: Value = serde_json::from_str(&answer.out).expect(&answer.err);
    let figure = &run["benchmarks"][0];
    assert_eq!(figure["processes"], 2);
    let notes = figure["notes"].to_string();
    assert_ne!(figure["status"], "crashed", "{notes}");
    for proof in ["answers_per_pass", "tcp_bytes_per_byte"] {
        assert_eq!(figure["evidence"][proof]["min"], 1.0, "{notes}");
    }
    assert_eq!(notes.matches("the far end is 127.0.0.1").count(), 1, "{notes}");
    machine.leaves_nothing();
}

#[test]
#[ignore = "needs g++"]
fn invalid_host_name_is_rejected() {
    let mut yamba = Yamba::new();
    for (name, told) in [
        ("::1", "IPv4 only"),
        ("ssh://[::1]:22", "IPv4 only"),
        ("server:22", "ssh:ssh://NAME:PORT"),
        ("server;reboot", "no name of a machine has ';' in it"),
        ("", "stands the name of a machine"),
    ] {
        let value = format!("host=ssh:{name}");
        yamba.run_words(&["run", "lat_tcp", "--quick", "--set", &value]).refused(&[&value, told]);
    }
}

#[test]
fn wrong_remote_options_are_rejected() {
    let mut yamba = Yamba::new();
    yamba
        .run("run lat_pipe --remote server")
        .refused(&["lat_pipe does not measure between two machines", "--dry-run"]);
    yamba
        .run("run lat_tcp --remote server --set host=veth")
        .refused(&["contradict", "--sweep host=veth,ssh:server"]);
    yamba.run("run lat_tcp --remote=-oProxyCommand=true").refused(&["USER@HOST"]);
}
