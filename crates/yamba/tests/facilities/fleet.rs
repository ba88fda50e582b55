//! `yamba fleet run` with Slurm, MPI and ssh on this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use yamba_child_guard::{Guarded, StartGuarded};

use crate::Missing;
use crate::far::{Far, Server};
use crate::slurm::Cluster;
use crate::support::{Answer, Yamba};

/// A benchmark that needs a few seconds for each task.
const SLURM: &str = "fleet run --with slurm -N 8 --quick --name june --json lat_pipe";

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn started(yamba: &Yamba, text: &str) -> Guarded {
    let mut command = yamba.command(&words(text));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.start()
}

/// The tasks in a list of the document, by rank.
fn tasks(document: &Value, list: &str) -> BTreeMap<u64, Value> {
    let tasks = document[list].as_array().unwrap().iter();
    tasks.map(|task| (task["rank"].as_u64().unwrap(), task.clone())).collect()
}

/// The processes whose arguments contain all of these words.
fn processes(arguments: &[&str]) -> Vec<i32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let matching = all.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let own: Vec<&[u8]> = line.split(|b| *b == 0).collect();
        let has = |word: &&str| own.contains(&word.as_bytes());
        arguments.iter().all(has).then_some(pid)
    });
    matching.collect()
}

/// The rank of the task that runs on a node.
fn running(cluster: &Cluster, node: &str) -> Option<u64> {
    let said = cluster.run(&["squeue", "-h", "-r", "-t", "R", "-w", node, "-o", "%K"]);
    said.lines().next()?.trim().parse().ok()
}

/// Kills the bundle of a task that runs on this node. Returns its rank.
fn kill_task(cluster: &Cluster, node: &str) -> u64 {
    cluster.until("a task runs on the node", |cluster| running(cluster, node).is_some());
    loop {
        let Some(rank) = running(cluster, node) else {
            continue;
        };
        let bundle = processes(&["--into", "--rank", &rank.to_string()]);
        // One of the processes may have ended since. The task is killed all the same, and no other
        // may be killed beside it.
        let signals = bundle.iter().filter_map(|pid| Pid::from_raw(*pid));
        let sent = signals.filter(|pid| kill_process(*pid, Signal::KILL).is_ok());
        if sent.count() > 0 {
            return rank;
        }
    }
}

/// Eight tasks on two nodes. One task is killed, and one node is drained while its tasks wait.
pub fn killed_task_and_drained_node_are_named_and_resumed() -> Result<(), Missing> {
    let cluster = Cluster::start()?;
    let mut yamba = Yamba::new().env("SLURM_CONF", cluster.configuration());
    let folder = yamba.folder.path().join("june");
    let command = started(&yamba, SLURM);
    cluster.until("tasks run on both nodes", |cluster| {
        folder.join("task.sh").exists()
            && ["n1", "n2"].iter().all(|node| running(cluster, node).is_some())
    });
    let drain = ["scontrol", "update", "nodename=n2", "state=drain", "reason=bad DIMM"];
    cluster.run(&drain);
    let killed = kill_task(&cluster, "n1");
    let answer = Answer::read(command.finish());
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    let (measured, missing) = (tasks(&document, "measured"), tasks(&document, "missing"));
    let ranks: BTreeSet<u64> = measured.keys().chain(missing.keys()).copied().collect();
    assert_eq!(ranks, (0..8).collect());
    for (rank, task) in &missing {
        let reason = task["reason"].as_str().unwrap();
        if *rank == killed {
            assert!(reason.contains("signal 9"), "{task}");
        } else {
            assert_eq!(task["node"], "n2", "{task}, and task {killed} was killed");
            assert!(reason.contains("bad DIMM"), "{task}");
        }
    }
    // Only the task that ran on the drained node could end there.
    assert!(missing.len() >= 4 && missing.contains_key(&killed), "{document}");
    stored_runs_are(&mut yamba, &measured);

    cluster.run(&["scontrol", "update", "nodename=n2", "state=resume"]);
    let resumed = yamba.run("fleet run --resume june --json").ok();
    let document: Value = serde_json::from_str(&resumed.out).unwrap();
    let all = tasks(&document, "measured");
    assert_eq!((all.len(), tasks(&document, "missing").len()), (8, 0));
    for (rank, task) in &measured {
        assert_eq!(all[rank], *task, "it is not measured again");
    }
    stored_runs_are(&mut yamba, &all);
    let again = yamba.run(SLURM).ok();
    assert_eq!(
        serde_json::from_str::<Value>(&again.out).unwrap()["measured"],
        document["measured"]
    );
    Ok(())
}

/// The store has exactly these runs, each with its place in the fleet and a valid figure.
#[track_caller]
fn stored_runs_are(yamba: &mut Yamba, tasks: &BTreeMap<u64, Value>) {
    let runs: Value = serde_json::from_str(&yamba.run("runs --json").ok().out).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), tasks.len(), "{runs}");
    for (rank, task) in tasks {
        let id = task["id"].as_str().unwrap();
        let run = yamba.run(&format!("show {id} --json")).ok().out;
        let run: Value = serde_json::from_str(&run).unwrap();
        assert_eq!(run["fleet"]["name"], "june");
        assert_eq!(run["fleet"]["node"], task["node"]);
        assert_eq!(run["fleet"]["rank"], *rank);
        let median = run["benchmarks"][0]["median"].as_f64();
        assert!(median.is_some_and(|m| m > 0.0), "{run}");
    }
}

/// A host that cannot be reached costs only itself.
pub fn unreachable_host_of_ssh_is_named() {
    let far = Far::new(Server::start);
    let mut yamba = far.yamba();
    let name = far.server.name().to_owned();
    let command = format!(
        "fleet run --with ssh --host {name} --host nowhere.invalid --quick --name june --json lat_pipe"
    );
    let answer = yamba.run(&command);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    let (measured, missing) = (tasks(&document, "measured"), tasks(&document, "missing"));
    assert_eq!(measured[&0]["node"], name.as_str());
    let reason = missing[&1]["reason"].as_str().unwrap();
    assert!(reason.contains("nowhere.invalid"), "{reason}");
    stored_runs_are(&mut yamba, &measured);
    // The folder of the fleet has its captures and its plan; the runs are in the store.
    let report = yamba.run("fleet report ./june --json");
    assert_eq!(report.status, 1, "one node cannot be compared: {}", report.err);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!(report["missing"], serde_json::json!(["nowhere.invalid"]));
    far.leaves_nothing();
}

/// The command of MPI for root on a machine with few processors.
fn mpirun() -> Result<&'static str, Missing> {
    if Path::new("/usr/bin/mpirun").exists() && Path::new("/usr/bin/mpicxx").exists() {
        return Ok("mpirun --allow-run-as-root --oversubscribe");
    }
    let why = "needs mpirun and mpicxx: scripts/install-missing cluster installs them";
    Err(Missing::new(why))
}

/// Starts rank 1 in a time name space whose clock is 1000 s ahead.
const AHEAD: &str = r#"#!/bin/sh
first="$1 $2 $3 $4"; shift 4
exec mpirun --allow-run-as-root --oversubscribe $first sh -c '
    [ "$OMPI_COMM_WORLD_RANK" = 1 ] || exec "$@"
    exec unshare --time --fork --monotonic 1000 -- "$@"' sh "$@"
"#;

/// The synchronised load of two tasks whose clocks differ by 1000 s. The record shows that each
/// batch ran beside one of the other task; a record in which one task is later fails the same
/// check.
pub fn tasks_measure_at_the_same_time_over_mpi() -> Result<(), Missing> {
    mpirun()?;
    let can_shift = Command::new("unshare").args(["--time", "--fork", "true"]).status();
    if !can_shift.is_ok_and(|s| s.success()) {
        return Err(Missing::new("no time name spaces here"));
    }
    let mut yamba = Yamba::new().file("ahead", AHEAD);
    let ahead = format!("sh {}", yamba.folder.path().join("ahead").display());
    yamba = yamba.env("YAMBA_MPIRUN", ahead);
    // The document has the host's own name, which MPI finds, too.
    let host = crate::slurm::host_name();
    let command = format!(
        "fleet run --with mpi --together --host {host} --host {host} --quick --name june --json lat_syscall_getppid"
    );
    let document: Value = serde_json::from_str(&yamba.run(&command).ok().out).unwrap();
    let together = &document["together"];
    assert_eq!(together["outside"], 0, "{together}");
    assert_eq!(together["batches"], 2 * 2 * 11, "{together}");
    let measured = tasks(&document, "measured");
    stored_runs_are(&mut yamba, &measured);

    let id = measured[&1]["id"].as_str().unwrap().to_owned();
    let text = yamba.run(&format!("export {id} --format json")).ok().out;
    let mut run: Value = serde_json::from_str(&text).unwrap();
    let entry = &mut run["benchmarks"][0];
    for launch in entry["launches"].as_array_mut().unwrap() {
        let clock = &launch["common_clock"];
        for n in [0, 1] {
            let number = |name: &str| clock[name][n].as_f64().unwrap();
            let true_error = (number("offset_ns") + 1e12).abs();
            assert!(true_error <= number("error_ns"), "{clock}");
        }
        // Wrong by the whole shift: on a busy machine, batches are longer than a second.
        launch["common_clock"]["offset_ns"] = serde_json::json!([0.0, 0.0]);
    }
    let mut yamba = yamba.file("late.json", run.to_string());
    yamba.run(&format!("rm {id}")).ok();
    yamba.run("import late.json").ok();
    let again = yamba.run(&command);
    assert_eq!(again.status, 1, "{}", again.out);
    let document: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(document["together"]["outside"], 44, "{document}");
    Ok(())
}

/// Two tasks on this machine, one after the other.
pub fn mpirun_starts_a_task_on_each_host() -> Result<(), Missing> {
    let mut yamba = Yamba::new().env("YAMBA_MPIRUN", mpirun()?);
    let command = "fleet run --with mpi -N 2 --host localhost --quick --name june --json lat_pipe";
    let document: Value = serde_json::from_str(&yamba.run(command).ok().out).unwrap();
    let measured = tasks(&document, "measured");
    assert_eq!(measured.len(), 2);
    stored_runs_are(&mut yamba, &measured);
    Ok(())
}

/// MPICH: tasks one after the other, and two that measure at the same time.
pub fn mpich_starts_tasks_and_a_load_at_the_same_time() -> Result<(), Missing> {
    let [run, compile] = ["mpirun.mpich", "mpicxx.mpich"];
    let is_here = |name: &str| Path::new("/usr/bin").join(name).exists();
    if !is_here(run) || !is_here(compile) {
        let why =
            "needs mpirun.mpich and mpicxx.mpich: scripts/install-missing cluster installs them";
        return Err(Missing::new(why));
    }
    let mut yamba = Yamba::new().env("YAMBA_MPIRUN", run).env("YAMBA_MPICXX", compile);
    let host = crate::slurm::host_name();
    let measured_by = |yamba: &mut Yamba, words: &str| -> Value {
        let command = format!("fleet run --with mpi {words} --quick --json lat_syscall_getppid");
        serde_json::from_str(&yamba.run(&command).ok().out).unwrap()
    };
    let document = measured_by(&mut yamba, &format!("-N 2 --host {host} --name apart"));
    assert_eq!(tasks(&document, "measured").len(), 2);
    let words = format!("--together --host {host} --host {host} --name together");
    let document = measured_by(&mut yamba, &words);
    assert_eq!(tasks(&document, "measured").len(), 2);
    let together = &document["together"];
    assert_eq!((&together["outside"], &together["batches"]), (&0.into(), &44.into()));
    Ok(())
}
