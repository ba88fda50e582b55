//! The kinds of a process's descriptors, from the calls that open, copy and close them.

use std::borrow::Cow;
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::call::{Arguments, Call, Kind, Property};
use crate::kinds::Kinds;
use crate::modes::{changed, is_file, opened_file};

/// The kind of a descriptor that was open before the trace began.
const INHERITED: Kind = Cow::Borrowed("inherited");

/// Finds the kind of a descriptor that no call has shown.
pub type LookUp = fn(process: u32, descriptor: i64) -> Option<Kind>;

/// The descriptors of all traced processes.
#[derive(Debug, Default)]
pub struct Descriptors {
    /// The table of each process. Threads share one.
    of_process: FxHashMap<u32, usize>,
    tables: Vec<Kinds>,
    /// When the current call returned, in ns. Without times, that is 0.
    now_ns: u64,
    /// Processes made by `vfork`, which share the memory of their parent until they execute a
    /// program.
    borrowing: FxHashSet<u32>,
    /// The table of a process that the trace has not seen before.
    at_start: Kinds,
    look_up: Option<LookUp>,
}

impl Descriptors {
    /// Descriptors of processes that begin with these kinds.
    pub fn beginning_with(at_start: HashMap<i64, Kind>) -> Descriptors {
        Descriptors { at_start: Kinds::new(at_start), ..Descriptors::default() }
    }

    /// Adds a process with these threads and kinds.
    pub fn add(&mut self, threads: &[u32], kinds: HashMap<i64, Kind>) {
        let index = self.tables.len();
        self.tables.push(Kinds::new(kinds));
        let each = threads.iter().map(|thread| (*thread, index));
        self.of_process.extend(each);
    }

    /// The next call returned at this time, in ns. It may come after later calls of other threads.
    /// But a call that changes the kind of a descriptor comes before the calls of other threads
    /// that use the new kind.
    pub fn at(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// Looks for kinds of descriptors that no call has shown.
    pub fn looking_up(mut self, look_up: LookUp) -> Descriptors {
        self.look_up = Some(look_up);
        self
    }

    /// The kind of an argument that is a descriptor. `None`: it is no descriptor.
    pub fn kind_of(
        &mut self,
        process: u32,
        arguments: &dyn Arguments,
        index: usize,
    ) -> Option<Kind> {
        let number = arguments.descriptor(index)?;
        let (look_up, now_ns) = (self.look_up, self.now_ns);
        let table = self.table(process);
        if let Some(shown) = arguments.shown_kind(index) {
            // A path shows neither a directory nor the modes of a file.
            let known = table.get(number, now_ns);
            let of_calls = known.filter(|known| *known == "directory" || is_file(known));
            return Some(of_calls.filter(|_| shown == "file").cloned().unwrap_or(shown));
        }
        if let Some(known) = table.get(number, now_ns) {
            return Some(known.clone());
        }
        let found = look_up.and_then(|look_up| look_up(process, number));
        if let Some(kind) = &found {
            table.open(number, kind.clone(), now_ns);
        }
        Some(found.unwrap_or(INHERITED))
    }

    /// Notes that a process is there. A process that no call made begins with the descriptors of
    /// the first one.
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

    /// Follows a call that has succeeded, except calls that make processes.
    pub fn follow(&mut self, process: u32, call: &Call) {
        let arguments = call.arguments;
        let result = call.result.unwrap_or_default();
        match call.name.as_ref() {
            "close" => {
                let closed = arguments.descriptor(0).unwrap_or(-1);
                let now_ns = self.now_ns;
                self.table(process).close(closed, now_ns);
            }
            "close_range" if !arguments.has(Property::ClosesLater) => {
                let end = |index| arguments.size(index).map(|number| number as i64);
                if let (Some(first), Some(last)) = (end(0), end(1)) {
                    let now_ns = self.now_ns;
                    self.table(process).close_range(first, last, now_ns);
                }
            }
            "pipe" | "pipe2" => self.pair(process, &arguments.pair(0), "pipe"),
            "socketpair" => self.pair(process, &arguments.pair(3), "unix"),
            "dup" | "dup2" | "dup3" | "accept" | "accept4" => {
                self.copy(process, arguments, result);
            }
            "fcntl" | "fcntl64" if arguments.has(Property::Duplicates) => {
                self.copy(process, arguments, result);
            }
            "fcntl" | "fcntl64" if arguments.has(Property::SetsFlags) => {
                let kind = self.kind_of(process, arguments, 0);
                let kind = kind.and_then(|kind| changed(&kind, arguments));
                if let (Some(kind), Some(number)) = (kind, arguments.descriptor(0)) {
                    self.open(process, number, kind);
                }
            }
            "getdents64" => {
                let listed = arguments.descriptor(0).unwrap_or(-1);
                let now_ns = self.now_ns;
                let known = self.table(process).get(listed, now_ns).cloned();
                if let Some(kind) = known.or_else(|| arguments.shown_kind(0)) {
                    self.open(process, listed, listed_kind(kind));
                }
            }
            "execve" | "execveat" => {
                self.borrowing.remove(&process);
            }
            _ => {
                if let Some(kind) = opened(call) {
                    self.open(process, result, kind);
                }
            }
        }
    }

    /// Follows the making of a process or thread. A process that shares memory borrows it until it
    /// executes a program.
    pub fn begin(&mut self, parent: u32, child: u32, shares_files: bool, borrows: bool) {
        self.meet(parent);
        let mut index = self.of_process[&parent];
        if !shares_files {
            self.tables.push(self.tables[index].copied());
            index = self.tables.len() - 1;
        }
        self.of_process.insert(child, index);
        if borrows {
            self.borrowing.insert(child);
        }
    }

    /// The table of a process that makes a call.
    fn table(&mut self, process: u32) -> &mut Kinds {
        let (tables, at_start) = (&mut self.tables, &self.at_start);
        let index = self.of_process.entry(process).or_insert_with(|| {
            tables.push(at_start.clone());
            tables.len() - 1
        });
        &mut tables[*index]
    }

    fn pair(&mut self, process: u32, pair: &[i64], kind: &'static str) {
        for number in pair {
            self.open(process, *number, Cow::Borrowed(kind));
        }
    }

    fn copy(&mut self, process: u32, arguments: &dyn Arguments, to: i64) {
        if let Some(kind) = self.kind_of(process, arguments, 0) {
            self.open(process, to, kind);
        }
    }

    fn open(&mut self, process: u32, number: i64, kind: Kind) {
        let now_ns = self.now_ns;
        self.table(process).open(number, kind, now_ns);
    }
}

/// The kind of the descriptor that a call returns.
fn opened(call: &Call) -> Option<Kind> {
    let arguments = call.arguments;
    let kind = match call.name.as_ref() {
        "open" | "openat" | "openat2" | "creat" => return Some(opened_kind(arguments)),
        "socket" => socket_kind(arguments),
        "eventfd" | "eventfd2" => "eventfd",
        "epoll_create" | "epoll_create1" => "epoll",
        "timerfd_create" => "timerfd",
        "signalfd" | "signalfd4" => "signalfd",
        "inotify_init" | "inotify_init1" => "inotify",
        "memfd_create" => "memfd",
        _ => return None,
    };
    Some(Cow::Borrowed(kind))
}

fn socket_kind(arguments: &dyn Arguments) -> &'static str {
    let kinds = [
        (Property::Unix, "unix"),
        (Property::Netlink, "netlink"),
        (Property::Stream, "tcp"),
        (Property::Datagrams, "udp"),
    ];
    let found = kinds.iter().find(|(property, _)| arguments.has(*property));
    found.map_or("socket", |(_, kind)| kind)
}

/// The kind of an opened path. Calls for a path alone may not follow a link.
pub fn opened_kind(arguments: &dyn Arguments) -> Kind {
    let path = arguments.path();
    if arguments.has(Property::Directory) {
        Cow::Borrowed("directory")
    } else {
        let kind = linked_kind(path).unwrap_or_else(|| path_kind(path));
        if is_file(&kind) { opened_file(arguments) } else { kind }
    }
}

/// The kind of a descriptor whose entries a call lists. Those of `/proc` are no directories of a
/// file system.
pub fn listed_kind(known: Kind) -> Kind {
    if is_file(&known) || known == INHERITED { Cow::Borrowed("directory") } else { known }
}

/// The kind of what a path names, as far as the path shows it.
pub fn path_kind(path: &str) -> Kind {
    Cow::Borrowed(match path {
        path if path.starts_with("/dev/") => "device",
        path if path.starts_with("/proc/") || path.starts_with("/sys/") => "proc",
        _ => "file",
    })
}

/// The kind of the file to which a link of a process below `/proc` leads: its program, a mapped
/// file, or what a path below its working or root directory names. `None`: another path, or a link
/// to a descriptor, which the path does not describe.
fn linked_kind(path: &str) -> Option<Kind> {
    let (process, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    if !is_number(process) && process != "self" && process != "thread-self" {
        return None;
    }
    let of_thread = rest.strip_prefix("task/").and_then(|r| r.split_once('/'));
    let rest = of_thread.map_or(rest, |(_, rest)| rest);
    let (link, below) = rest.split_once('/').unwrap_or((rest, ""));
    match link {
        "root" => {
            let path = format!("/{below}");
            Some(linked_kind(&path).unwrap_or_else(|| path_kind(&path)))
        }
        "exe" | "cwd" => Some(Cow::Borrowed("file")),
        "map_files" if !below.is_empty() => Some(Cow::Borrowed("file")),
        _ => None,
    }
}

/// The kind that `strace -y` and `-yy` show.
pub fn shown_kind(shown: &str) -> Kind {
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
        return Cow::Borrowed(kind);
    }
    // The kernel's own name: `anon_inode:[timerfd]`, `anon_inode:[eventfd]`.
    let own = shown.strip_prefix("anon_inode:[");
    if let Some(own) = own.and_then(|rest| rest.split(']').next()) {
        return Cow::Owned(own.to_owned());
    }
    if shown.starts_with('/') {
        return path_kind(shown);
    }
    // `pidfd:[7]`, `signalfd:[INT]`
    let word = shown.split([':', '[', '<', ' ']).next().unwrap_or(shown);
    Cow::Owned(word.to_lowercase())
}
