//! Stops the processes of a launch without control groups, to count or kill them while they start
//! others.
//!
//! Running processes would leave the search little processor time. Stopped ones use none and start
//! no others. They also stay the parents of their children, which as orphans would have to be
//! searched for.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::orphans::{self, Started};

/// Longest time for killing. It takes milliseconds unless processes start others faster than they
/// are found.
const PATIENCE: Duration = Duration::from_secs(20);

/// Niceness of the search: it must find processes faster than they start others.
const URGENT: i32 = -20;

/// Counts the processes and threads of a launch. They continue afterwards.
pub(super) fn count(launch: Started, scratch: &Path) -> u64 {
    urgently(|| {
        let mut threads = 0;
        let stopped = stop(launch, scratch, &mut threads);
        signal_all(stopped, Signal::CONT);
        threads
    })
}

/// Kills every process of the launch.
pub(super) fn end(launch: Started, scratch: &Path) {
    let begun = Instant::now();
    urgently(|| {
        while begun.elapsed() < PATIENCE {
            let stopped = stop(launch, scratch, &mut 0);
            if stopped.is_empty() {
                return;
            }
            signal_all(stopped, Signal::KILL);
            orphans::bury();
        }
    });
}

/// Runs the search with high priority if the user may raise it (root).
fn urgently<T>(search: impl FnOnce() -> T) -> T {
    let usual = rustix::process::getpriority_process(None);
    let _ = rustix::process::setpriority_process(None, URGENT);
    let found = search();
    if let Ok(usual) = usual {
        let _ = rustix::process::setpriority_process(None, usual);
    }
    found
}

/// Stops the launch's processes until a search finds no running one. Adds up their threads, and
/// returns their start times. Each search reads only processes that the one before did not find.
fn stop(launch: Started, scratch: &Path, threads: &mut u64) -> HashMap<i32, u64> {
    let begun = Instant::now();
    // The launch was started as the leader of its group.
    if let Some(group) = launch.process() {
        let _ = rustix::process::kill_process_group(group, Signal::STOP);
    }
    let mut stopped = HashMap::new();
    loop {
        let found = orphans::family(launch, scratch, &stopped);
        if found.is_empty() || begun.elapsed() > PATIENCE {
            return stopped;
        }
        for process in found {
            signal(process.pid, Signal::STOP);
            stopped.insert(process.pid, process.since);
            *threads += process.threads;
        }
    }
}

/// Signals processes if they still have their number: another process may have got it.
fn signal_all(processes: HashMap<i32, u64>, what: Signal) {
    for (pid, since) in processes {
        if orphans::is_same(pid, since) {
            signal(pid, what);
        }
    }
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}
