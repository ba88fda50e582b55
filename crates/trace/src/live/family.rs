//! The processes of an application: their numbers, their processor time, and their end.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Add;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Processor time and page faults of processes, as `/proc` counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in user space, in ticks of 10 ms.
    pub user_ticks: u64,
    /// Processor time in the kernel, in ticks of 10 ms.
    pub kernel_ticks: u64,
    /// Page faults without reading from storage.
    pub minor_faults: u64,
    /// Page faults that read from storage.
    pub major_faults: u64,
}

impl Usage {
    /// User and kernel time, in ticks of 10 ms.
    pub fn ticks(self) -> u64 {
        self.user_ticks + self.kernel_ticks
    }

    /// The use since an earlier time.
    pub fn since(self, before: Usage) -> Usage {
        Usage {
            user_ticks: self.user_ticks.saturating_sub(before.user_ticks),
            kernel_ticks: self.kernel_ticks.saturating_sub(before.kernel_ticks),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
        }
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, other: Usage) -> Usage {
        Usage {
            user_ticks: self.user_ticks + other.user_ticks,
            kernel_ticks: self.kernel_ticks + other.kernel_ticks,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
        }
    }
}

/// The name of the tracer's process. Its own use is not the application's.
pub const TRACER: &str = "strace";

/// The descendants of a process, but for some and their descendants.
#[derive(Debug)]
pub struct Family {
    root: u32,
    has_root: bool,
    left_out: RefCell<BTreeSet<u32>>,
}

/// A process as `/proc/PID/stat` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    name: String,
    has_ended: bool,
    parent: u32,
    own: Usage,
    /// Those of its descendants that have ended and were waited for.
    reaped: Usage,
}

impl Family {
    /// The descendants of the calling process. Orphans among them become its children.
    pub fn descendants() -> Family {
        let own = rustix::process::getpid();
        // Without it, a daemon that leaves its parent is not found any more.
        let _ = rustix::process::set_child_subreaper(Some(own));
        Family {
            root: own.as_raw_nonzero().get().unsigned_abs(),
            has_root: false,
            left_out: RefCell::default(),
        }
    }

    /// A process and its descendants.
    pub fn rooted_at(process: u32) -> Family {
        Family { root: process, has_root: true, left_out: RefCell::default() }
    }

    /// Does not count this process and its descendants.
    pub fn leave_out(&self, process: u32) {
        self.left_out.borrow_mut().insert(process);
    }

    /// The use of the children of a process that have ended and were waited for, with their own
    /// such children. `self` is this process.
    pub fn reaped_by(process: &str) -> Usage {
        let found = fs::read(format!("/proc/{process}/stat")).ok();
        let found = found.as_deref().and_then(parsed);
        found.map_or(Usage::default(), |process| process.reaped)
    }

    /// The use of the processes and of their descendants that have ended and were waited for,
    /// without the tracer.
    pub fn usage(&self) -> Usage {
        let each = self.processes().into_values();
        each.fold(Usage::default(), |sum, process| {
            let own = match process.name == TRACER {
                true => Usage::default(),
                false => process.own,
            };
            sum + own + process.reaped
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

    /// The numbers of the processes.
    pub fn numbers(&self) -> Vec<u32> {
        self.processes().into_keys().collect()
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
            let text = fs::read(entry.path().join("stat")).ok();
            if let Some(process) = text.as_deref().and_then(parsed) {
                all.insert(number, process);
            }
        }
        let left_out = self.left_out.borrow();
        let is_member = |number: u32| {
            let mut at = number;
            // The depth of a tree is limited, so that numbers that are reused meanwhile make no
            // circle.
            for _ in 0..all.len() {
                match all.get(&at) {
                    Some(_) if left_out.contains(&at) => return false,
                    Some(process) if process.parent == self.root => return true,
                    Some(_) if at == self.root => return self.has_root,
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

/// Reads `/proc/PID/stat`, see proc(5). The name is in brackets and may have any byte: Linux keeps
/// 15 bytes of it, which may end within a character.
fn parsed(text: &[u8]) -> Option<Process> {
    let text = String::from_utf8_lossy(text);
    let (begin, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // The state is field 3, and the first one here.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    // Behind the number of faults is that of the children, and behind both times those of the
    // children.
    let usage = |of_children: usize| {
        Some(Usage {
            minor_faults: field(10 + of_children)?,
            major_faults: field(12 + of_children)?,
            user_ticks: field(14 + 2 * of_children)?,
            kernel_ticks: field(15 + 2 * of_children)?,
        })
    };
    Some(Process {
        name: begin.split_once('(')?.1.to_owned(),
        has_ended: matches!(*fields.first()?, "Z" | "X"),
        parent: u32::try_from(field(4)?).ok()?,
        own: usage(0)?,
        reaped: usage(1)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_has_name_parent_and_times() {
        let text = "77 (a) b)) S 5 77 77 0 -1 4194304 10 20 1 2 100 50 7 3 20 0 1 0 99 0 0\n";
        let expected = Process {
            name: "a) b)".to_owned(),
            has_ended: false,
            parent: 5,
            own: Usage { minor_faults: 10, major_faults: 1, user_ticks: 100, kernel_ticks: 50 },
            reaped: Usage { minor_faults: 20, major_faults: 2, user_ticks: 7, kernel_ticks: 3 },
        };
        assert_eq!(parsed(text.as_bytes()), Some(expected.clone()));
        assert_eq!(parsed(b"77 (a) S 5"), None);
        let cut = [b"77 (\xc3", &text.as_bytes()[5..]].concat();
        let name = "\u{fffd}) b)".to_owned();
        assert_eq!(parsed(&cut), Some(Process { name, ..expected }));
    }
}
