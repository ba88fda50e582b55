//! `yamba fleet run --with ssh` with a script in the place of ssh, which imitates hosts by their
//! names.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Yamba, processes_of, until};

/// The last two words are the host, and the command line for its login shell. The output of
/// `piped` goes through a pipe, whose reader is the process that yamba knows, as with ssh.
const SSH: &str = r#"
for word; do host=$line; line=$word; done
export TMPDIR=$(dirname "$0")/tmp
case $host in
    noisy) printf '*** Welcome to M\374nchen ***\n'; sh -c "$line"; status=$?; echo logout; exit $status ;;
    nologin) echo "This account is not available."; exit 1 ;;
    full) export TMPDIR=$TMPDIR/missing; exec sh -c "$line" ;;
    ahead) sh -c "$line" | sed 's/"started_unix_s":1/"started_unix_s":9/' ;;
    piped)
        exec 3<&0
        rm -f "$TMPDIR.pipe"; mkfifo "$TMPDIR.pipe"
        sh -c "$line" <&3 3<&- >"$TMPDIR.pipe" &
        exec cat "$TMPDIR.pipe" ;;
    *) exec sh -c "$line" ;;
esac
"#;

const RUN: &str = "fleet run --with ssh --quick --name june --json lat_syscall_getppid";

fn yamba() -> Yamba {
    let yamba = Yamba::new().file("ssh.sh", SSH);
    fs::create_dir(yamba.folder.path().join("tmp")).unwrap();
    let ssh = format!("sh {}", yamba.folder.path().join("ssh.sh").display());
    yamba.env("YAMBA_SSH", ssh)
}

/// The document of a command with this exit status.
#[track_caller]
fn document(yamba: &mut Yamba, words: &str, status: i32) -> Value {
    let answer = yamba.run(words);
    assert_eq!(answer.status, status, "{}{}", answer.out, answer.err);
    serde_json::from_str(&answer.out).unwrap()
}

fn nodes(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|task| task["node"].as_str().unwrap()).collect()
}

/// Another fleet of the same name is no reason to measure nothing.
#[test]
#[ignore = "needs g++"]
fn fleet_of_the_same_name_in_another_folder_is_not_taken_for_this_one() {
    let mut yamba = yamba();
    let first = document(&mut yamba, &format!("{RUN} --into a --host n1"), 0);
    let second = format!("{RUN} --into b --host n2");
    yamba.run(&second).refused(&["the store has a fleet june already", "--name"]);
    // As if both had been planned before either had a run.
    let folder = yamba.folder.path().to_owned();
    let plan = fs::read_to_string(folder.join("a/fleet.json")).unwrap();
    fs::create_dir_all(folder.join("b")).unwrap();
    fs::write(folder.join("b/fleet.json"), plan.replace("\"n1\"", "\"n2\"")).unwrap();
    let second = document(&mut yamba, &second, 0);
    assert_eq!(nodes(&second["measured"]), ["n2"]);
    assert_ne!(second["measured"][0]["id"], first["measured"][0]["id"]);
    let again = document(&mut yamba, "fleet run --resume june --into a --json", 0);
    assert_eq!(again["measured"], first["measured"]);
    let other = format!("{RUN} --into a --host n1 --target aarch64-linux");
    yamba.run(&other).refused(&["other nodes, benchmarks or options"]);
}

/// A command that started nothing does not take the name.
#[test]
#[ignore = "needs g++"]
fn benchmarks_that_cannot_be_built_leave_the_name_free() {
    let faulty = "yamba faulty extends Latency { void benchmark(iter_t n) { no_name(n); } }\n";
    let mut yamba = yamba().file("faulty.yamba", faulty);
    let with = |name: &str| format!("{RUN} --host n1").replace("lat_syscall_getppid", name);
    yamba.run(&with("lat_syscall_typo")).refused(&["lat_syscall_typo"]);
    assert_eq!(yamba.run(&with("faulty.yamba")).status, 2);
    let found = document(&mut yamba, &with("lat_syscall_getppid"), 0);
    assert_eq!(nodes(&found["measured"]), ["n1"]);
}

#[test]
#[ignore = "needs g++"]
fn hosts_are_measured_or_missing_with_their_reason() {
    let mut yamba = yamba();
    let hosts = ["noisy", "nologin", "full", "ann@n1", "ahead"];
    let hosts = hosts.map(|host| format!("--host {host}")).join(" ");
    let found = document(&mut yamba, &format!("{RUN} {hosts}"), 1);
    assert_eq!(nodes(&found["measured"]), ["noisy", "n1"]);
    let missing = found["missing"].as_array().unwrap();
    let reasons = [
        ("nologin", "This account is not available."),
        ("full", "mktemp"),
        ("ahead", "the clock of its node is"),
    ];
    assert_eq!(missing.len(), reasons.len(), "{missing:?}");
    for (task, (node, reason)) in missing.iter().zip(reasons) {
        assert_eq!(task["node"], node);
        assert!(task["reason"].as_str().unwrap().contains(reason), "{task}");
    }
    let runs = document(&mut yamba, "runs --json", 0);
    let of_runs: Vec<&Value> =
        runs.as_array().unwrap().iter().map(|run| &run["fleet"]["node"]).collect();
    assert!(of_runs.len() == 2 && of_runs.contains(&&json!("n1")), "{of_runs:?}");
    yamba.run("runs").ok().says(&["june noisy: lat_syscall_getppid"]);
    // Two nodes are too few to compare any.
    let report = document(&mut yamba, "fleet report ./june --json", 1);
    assert_eq!(report["missing"], json!(["ahead", "full", "nologin"]));
    is_empty(&yamba.folder.path().join("tmp"));
}

#[track_caller]
fn is_empty(folder: &Path) {
    let left: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The task of a stopped command ends with it, so that `--resume` starts the only one.
#[test]
#[ignore = "needs g++"]
fn task_ends_with_its_command() {
    let mut yamba = yamba();
    let [part, temporary] = ["june/0.part", "tmp"].map(|name| yamba.folder.path().join(name));
    let command = RUN.replace("--quick", "--host piped");
    let words: Vec<&str> = command.split_whitespace().collect();
    let begun = yamba.begin(&words);
    let has = |item: &str| {
        let text = fs::read_to_string(&part).unwrap_or_default();
        text.contains(&format!("\"item\":\"{item}\""))
    };
    until("a launch is recorded", || has("launch"));
    kill_process(Pid::from_raw(begun.id() as i32).unwrap(), Signal::TERM).unwrap();
    until("the task has ended", || processes_of(&temporary).is_empty());
    assert!(!has("end"), "the task went on");
    drop(begun);
    is_empty(&temporary);
    let found = document(&mut yamba, "fleet run --resume june --json", 0);
    assert_eq!(nodes(&found["measured"]), ["piped"]);
}

#[test]
fn dry_run_refuses_what_the_command_refuses() {
    let mut yamba = Yamba::new();
    let command = "fleet run --with slurm -N 1 --dry-run";
    let words: Vec<&str> = command.split_whitespace().chain(["--name", "a b"]).collect();
    let answer = crate::support::Answer::read(yamba.command(&words).output().unwrap());
    answer.refused(&["no name of a fleet"]);
    yamba.run(&format!("{command} nosuch")).refused(&["nosuch"]);
    yamba.run(&format!("{command} lat_pipe")).ok().says(&["#SBATCH --array=0\n"]);
}
