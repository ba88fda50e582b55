//! Stops the processes of a launch that no control group holds, to count them or to end them, though they start others meanwhile.
//!
//! Running processes would leave the search little processor time. Stopped ones leave it all, start no other, and keep their
//! children from becoming orphans, which would have to be searched for.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::strays::{self, Started};

/// Ending takes milliseconds, unless the processes start others faster than they are found.
const PATIENCE: Duration = Duration::from_secs(20);

/// The niceness of the search: it must find processes faster than the processors make them.
const URGENT: i32 = -20;

/// Counts the processes and threads of the launch, which goes on afterwards.
pub(super) fn count(launch: Started, scratch: &Path) -> u64 {
    urgently(|| {
        let mut threads = 0;
        let stopped = stop(launch, scratch, &mut threads);
        signal_all(stopped, Signal::CONT);
        threads
    })
}

/// Ends every process of the launch.
pub(super) fn end(launch: Started, scratch: &Path) {
    let begun = Instant::now();
    urgently(|| {
        while begun.elapsed() < PATIENCE {
            let stopped = stop(launch, scratch, &mut 0);
            if stopped.is_empty() {
                return;
            }
            signal_all(stopped, Signal::KILL);
            strays::bury();
        }
    });
}

/// Only root's search may have precedence; an ordinary user's has not.
fn urgently<T>(search: impl FnOnce() -> T) -> T {
    let usual = rustix::process::getpriority_process(None);
    let _ = rustix::process::setpriority_process(None, URGENT);
    let found = search();
    if let Ok(usual) = usual {
        let _ = rustix::process::setpriority_process(None, usual);
    }
    found
}

/// Stops the launch's processes until a search finds none that runs, and adds up their threads. Gives back when each began. A search
/// reads only the processes that the one before did not find.
fn stop(launch: Started, scratch: &Path, threads: &mut u64) -> HashMap<i32, u64> {
    let begun = Instant::now();
    // It was started as the leader of a group.
    if let Some(group) = launch.process() {
        let _ = rustix::process::kill_process_group(group, Signal::STOP);
    }
    let mut stopped = HashMap::new();
    loop {
        let found = strays::family(launch, scratch, &stopped);
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

/// A number may have become another process's, if something else has ended the one that had it.
fn signal_all(processes: HashMap<i32, u64>, what: Signal) {
    for (pid, since) in processes {
        if strays::is_same(pid, since) {
            signal(pid, what);
        }
    }
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}
