//! The processes of an application: their numbers, their processor time, and their end.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Processor time in clock ticks of 10 ms, as `/proc` counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// In user space.
    pub user: u64,
    /// In the kernel.
    pub system: u64,
}

impl Ticks {
    /// User and kernel.
    pub fn all(self) -> u64 {
        self.user + self.system
    }
}

/// All descendants of this process, but for some and their descendants.
#[derive(Debug)]
pub struct Family {
    root: u32,
    left_out: RefCell<BTreeSet<u32>>,
}

/// A process as `/proc/PID/stat` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    name: String,
    has_ended: bool,
    parent: u32,
    /// Its own processor time.
    own: Ticks,
    /// Processor time of its descendants that have ended and were waited for.
    reaped: Ticks,
}

impl Family {
    /// The descendants of the calling process. Orphans among them become its children.
    pub fn of_this_process() -> Family {
        let own = rustix::process::getpid();
        // Without it, a daemon that leaves its parent is not found any more.
        let _ = rustix::process::set_child_subreaper(Some(own));
        Family {
            root: own.as_raw_nonzero().get().unsigned_abs(),
            left_out: RefCell::default(),
        }
    }

    /// Does not count this process and its descendants.
    pub fn leave_out(&self, process: u32) {
        self.left_out.borrow_mut().insert(process);
    }

    /// Processor time of all children of this process that have ended and were waited for, with their own such children.
    pub fn reaped() -> Ticks {
        let text = fs::read_to_string("/proc/self/stat");
        let own = text.ok().as_deref().and_then(process);
        own.map_or(Ticks::default(), |own| own.reaped)
    }

    /// Processor time of the processes, with that of their descendants that have ended and were waited for.
    pub fn ticks(&self) -> Ticks {
        let each = self.processes().into_values();
        each.fold(Ticks::default(), |sum, process| Ticks {
            user: sum.user + process.own.user + process.reaped.user,
            system: sum.system + process.own.system + process.reaped.system,
        })
    }

    /// Asks the processes to end, and kills those that are left after some time.
    pub fn end(&self, limit: Duration) {
        for signal in [Signal::TERM, Signal::KILL] {
            let begun = Instant::now();
            self.signal(signal, None);
            while !self.is_empty() && begun.elapsed() < limit {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    /// Sends a signal to all processes except those with this name.
    pub fn signal(&self, signal: Signal, except: Option<&str>) {
        for (number, process) in self.processes() {
            let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid.filter(|_| except != Some(process.name.as_str())) {
                // A process that has ended meanwhile needs no signal.
                let _ = kill_process(pid, signal);
            }
        }
    }

    /// Whether no process is left, apart from those that have ended.
    pub fn is_empty(&self) -> bool {
        self.processes().values().all(|process| process.has_ended)
    }

    fn processes(&self) -> BTreeMap<u32, Process> {
        let mut all: BTreeMap<u32, Process> = BTreeMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let number = entry.file_name().to_str().and_then(|n| n.parse().ok());
            let Some(number) = number else { continue };
            let text = fs::read_to_string(entry.path().join("stat"));
            if let Some(process) = text.ok().as_deref().and_then(process) {
                all.insert(number, process);
            }
        }
        let left_out = self.left_out.borrow();
        let is_member = |number: u32| {
            let mut at = number;
            // The depth of a tree is limited, so that numbers that are reused meanwhile make no circle.
            for _ in 0..all.len() {
                match all.get(&at) {
                    Some(_) if left_out.contains(&at) => return false,
                    Some(process) if process.parent == self.root => return true,
                    Some(process) => at = process.parent,
                    None => return false,
                }
            }
            false
        };
        let members: Vec<u32> = all.keys().copied().filter(|n| is_member(*n)).collect();
        all.retain(|number, _| members.contains(number));
        all
    }
}

/// Reads `/proc/PID/stat`, see proc(5). The name is in brackets and may have any character.
fn process(text: &str) -> Option<Process> {
    let (begin, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // The state is field 3, and the first one here.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = |user| {
        Some(Ticks {
            user: field(user)?,
            system: field(user + 1)?,
        })
    };
    Some(Process {
        name: begin.split_once('(')?.1.to_owned(),
        has_ended: matches!(*fields.first()?, "Z" | "X"),
        parent: u32::try_from(field(4)?).ok()?,
        own: ticks(14)?,
        reaped: ticks(16)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_has_name_parent_and_times() {
        let text = "77 (a) b)) S 5 77 77 0 -1 4194304 10 20 0 0 100 50 7 3 20 0 1 0 99 0 0\n";
        let expected = Process {
            name: "a) b)".to_owned(),
            has_ended: false,
            parent: 5,
            own: Ticks {
                user: 100,
                system: 50,
            },
            reaped: Ticks { user: 7, system: 3 },
        };
        assert_eq!(process(text), Some(expected));
        assert_eq!(process("77 (a) S 5"), None);
    }
}
