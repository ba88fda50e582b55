//! The kinds of a process's descriptors, from the calls that open, copy and close them.

use std::collections::{HashMap, HashSet};

use crate::line::Call;

/// The kind of a descriptor that was open before the trace began.
const INHERITED: &str = "inherited";

/// The descriptors of all traced processes.
#[derive(Debug, Default)]
pub struct Descriptors {
    /// The table of each process. Threads share one.
    of_process: HashMap<u32, usize>,
    tables: Vec<HashMap<i64, String>>,
    /// Processes made by `vfork`, which share the memory of their parent until they execute a program.
    borrowing: HashSet<u32>,
    /// The table of a process that the trace has not seen before.
    at_start: HashMap<i64, String>,
}

impl Descriptors {
    /// Descriptors of processes that begin with these kinds.
    pub fn beginning_with(at_start: HashMap<i64, String>) -> Descriptors {
        Descriptors {
            at_start,
            ..Descriptors::default()
        }
    }

    /// Descriptors of one process with these threads and kinds.
    pub fn of_threads(threads: &[u32], kinds: HashMap<i64, String>) -> Descriptors {
        Descriptors {
            of_process: threads.iter().map(|thread| (*thread, 0)).collect(),
            tables: vec![kinds],
            ..Descriptors::default()
        }
    }

    /// The kind of an argument that is a descriptor: `3`, or `3<TCP:[...]>` with `strace -yy`. `None`: it is no descriptor.
    pub fn kind(&mut self, process: u32, argument: &str) -> Option<String> {
        let number = descriptor(argument)?;
        if let Some((_, shown)) = argument.split_once('<') {
            return Some(shown_kind(shown));
        }
        let known = self.table(process).get(&number);
        Some(known.map_or(INHERITED.to_owned(), String::clone))
    }

    /// Notes that a process is there. A process that no call made begins with the descriptors of the first one.
    pub fn meet(&mut self, process: u32) {
        self.table(process);
    }

    /// Whether the process was met, or a call made it.
    pub fn knows(&self, process: u32) -> bool {
        self.of_process.contains_key(&process)
    }

    /// Forgets a process that has ended. Its number may be reused.
    pub fn end(&mut self, process: u32) {
        self.of_process.remove(&process);
        self.borrowing.remove(&process);
    }

    /// Whether the process was made by `vfork` and has not executed a program yet.
    pub fn borrows_memory(&self, process: u32) -> bool {
        self.borrowing.contains(&process)
    }

    /// Follows a call that has succeeded. Returns the process or thread that it made.
    pub fn follow(&mut self, process: u32, call: &Call) -> Option<u32> {
        let argument = |index: usize| call.arguments.get(index).copied().unwrap_or_default();
        let result = call.result.unwrap_or_default();
        match call.name {
            "close" => {
                let closed = descriptor(argument(0)).unwrap_or(-1);
                self.table(process).remove(&closed);
            }
            "pipe" | "pipe2" => self.pair(process, argument(0), "pipe"),
            "socketpair" => self.pair(process, argument(3), "unix"),
            "dup" | "dup2" | "dup3" => self.copy(process, argument(0), result),
            "fcntl" | "fcntl64" if argument(1).starts_with("F_DUPFD") => {
                self.copy(process, argument(0), result);
            }
            "accept" | "accept4" => self.copy(process, argument(0), result),
            "fork" | "vfork" | "clone" | "clone3" => {
                let shares = call
                    .arguments
                    .iter()
                    .any(|a| a.contains("CLONE_FILES") || a.contains("CLONE_THREAD"));
                let child = self.begin(process, result, shares);
                self.borrowing.extend(child.filter(|_| is_vfork(call)));
                return child;
            }
            "execve" | "execveat" => {
                self.borrowing.remove(&process);
            }
            _ => {
                if let Some(kind) = opened(call) {
                    self.table(process).insert(result, kind);
                }
            }
        }
        None
    }

    /// The table of a process that makes a call.
    fn table(&mut self, process: u32) -> &mut HashMap<i64, String> {
        let (tables, at_start) = (&mut self.tables, &self.at_start);
        let index = self.of_process.entry(process).or_insert_with(|| {
            tables.push(at_start.clone());
            tables.len() - 1
        });
        &mut tables[*index]
    }

    fn pair(&mut self, process: u32, argument: &str, kind: &str) {
        let both = argument.trim_matches(['[', ']']).split(',');
        let numbers: Vec<i64> = both.filter_map(|n| descriptor(n.trim())).collect();
        let each = numbers.into_iter().map(|n| (n, kind.to_owned()));
        self.table(process).extend(each);
    }

    fn copy(&mut self, process: u32, from: &str, to: i64) {
        if let Some(kind) = self.kind(process, from) {
            self.table(process).insert(to, kind);
        }
    }

    fn begin(&mut self, parent: u32, child: i64, shares: bool) -> Option<u32> {
        let child = u32::try_from(child).ok().filter(|child| *child > 0)?;
        let copied = self.table(parent).clone();
        let index = if shares {
            self.of_process[&parent]
        } else {
            self.tables.push(copied);
            self.tables.len() - 1
        };
        self.of_process.insert(child, index);
        Some(child)
    }
}

/// Whether a call makes a process that shares the memory of its parent.
pub fn is_vfork(call: &Call) -> bool {
    let has = |word: &str| call.arguments.iter().any(|a| a.contains(word));
    call.name == "vfork" || (has("CLONE_VM") && !has("CLONE_THREAD"))
}

fn descriptor(argument: &str) -> Option<i64> {
    argument.split('<').next()?.parse().ok()
}

/// The kind of the descriptor that a call returns.
fn opened(call: &Call) -> Option<String> {
    let has = |word: &str| call.arguments.iter().any(|a| a.contains(word));
    let kind = match call.name {
        "open" | "openat" | "openat2" | "creat" => return Some(opened_kind(call)),
        "socket" if has("AF_UNIX") => "unix",
        "socket" if has("AF_NETLINK") => "netlink",
        "socket" if has("SOCK_STREAM") => "tcp",
        "socket" if has("SOCK_DGRAM") => "udp",
        "socket" => "socket",
        "eventfd" | "eventfd2" => "eventfd",
        "epoll_create" | "epoll_create1" => "epoll",
        "timerfd_create" => "timerfd",
        "signalfd" | "signalfd4" => "signalfd",
        "inotify_init" | "inotify_init1" => "inotify",
        "memfd_create" => "memfd",
        _ => return None,
    };
    Some(kind.to_owned())
}

/// The kind of an opened path.
pub fn opened_kind(call: &Call) -> String {
    if call.arguments.iter().any(|a| a.contains("O_DIRECTORY")) {
        return "directory".to_owned();
    }
    let path = call.arguments.iter().find_map(|a| a.strip_prefix('"'));
    path_kind(path.unwrap_or_default()).to_owned()
}

/// The kind of what a path names, as far as the path shows it.
pub fn path_kind(path: &str) -> &'static str {
    match path {
        path if path.starts_with("/dev/") => "device",
        path if path.starts_with("/proc/") || path.starts_with("/sys/") => "proc",
        _ => "file",
    }
}

/// The kind that `strace -y` and `-yy` show.
pub fn shown_kind(shown: &str) -> String {
    const SHOWN: [(&str, &str); 9] = [
        ("TCP", "tcp"),
        ("UDP", "udp"),
        ("UNIX", "unix"),
        ("NETLINK", "netlink"),
        ("socket:", "socket"),
        ("pipe:", "pipe"),
        ("/memfd:", "memfd"),
        ("anon_inode:[eventpoll]", "epoll"),
        ("anon_inode:inotify", "inotify"),
    ];
    let found = SHOWN.iter().find(|(begin, _)| shown.starts_with(begin));
    if let Some((_, kind)) = found {
        return (*kind).to_owned();
    }
    // The kernel's own name: `anon_inode:[timerfd]`, `anon_inode:[eventfd]`.
    let own = shown.strip_prefix("anon_inode:[");
    let own = own.and_then(|rest| rest.split(']').next());
    own.unwrap_or_else(|| path_kind(shown)).to_owned()
}
