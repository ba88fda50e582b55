//! The primitive that a system call uses.

use crate::descriptors::{Descriptors, is_vfork, opened_kind, path_kind};
use crate::line::Call;

/// A primitive with its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// The primitive.
    pub name: String,
    /// Its size.
    pub size: Option<f64>,
    /// Whether the call failed.
    pub has_failed: bool,
}

/// Calls with a descriptor as their first argument, under the name of the primitive.
const OF_DESCRIPTORS: &[(&str, &str)] = &[
    // The kernel does the work of `read` and `write`, and reads a list or a position before.
    ("read", "read"),
    ("readv", "read"),
    ("pread64", "read"),
    ("preadv", "read"),
    ("preadv2", "read"),
    ("recvfrom", "read"),
    ("recvmsg", "read"),
    ("write", "write"),
    ("writev", "write"),
    ("pwrite64", "write"),
    ("pwritev", "write"),
    ("pwritev2", "write"),
    ("sendto", "write"),
    ("sendmsg", "write"),
    // Their results are numbers of messages.
    ("sendmmsg", "sendmmsg"),
    ("recvmmsg", "recvmmsg"),
    ("sendfile", "sendfile"),
    ("splice", "splice"),
    ("copy_file_range", "copy_file_range"),
    ("getdents64", "getdents64"),
    ("close", "close"),
    ("fstat", "fstat"),
    ("lseek", "lseek"),
    ("fsync", "fsync"),
    ("fdatasync", "fdatasync"),
    ("ftruncate", "ftruncate"),
    ("fallocate", "fallocate"),
    ("fadvise64", "fadvise64"),
    ("flock", "flock"),
    ("fcntl", "fcntl"),
    ("ioctl", "ioctl"),
    ("connect", "connect"),
    ("accept", "accept"),
    ("accept4", "accept"),
    ("bind", "bind"),
    ("listen", "listen"),
    ("shutdown", "shutdown"),
    ("setsockopt", "setsockopt"),
    ("getsockopt", "getsockopt"),
    ("getsockname", "getsockname"),
    ("getpeername", "getpeername"),
    // Names of 32-bit processes.
    ("fstat64", "fstat"),
    ("_llseek", "lseek"),
    ("ftruncate64", "ftruncate"),
    ("fadvise64_64", "fadvise64"),
    ("fcntl64", "fcntl"),
    ("sendfile64", "sendfile"),
];

/// Calls whose result is the number of bytes that they moved, or of descriptors that they found ready.
const SIZED: &[&str] = &[
    "read",
    "write",
    "sendfile",
    "splice",
    "copy_file_range",
    "getdents64",
    "getrandom",
    "epoll_wait",
    "select",
];

/// Other names of a primitive without a kind.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("epoll_pwait", "epoll_wait"),
    ("epoll_pwait2", "epoll_wait"),
    ("ppoll", "poll"),
    ("pselect6", "select"),
    ("pipe2", "pipe"),
    ("eventfd2", "eventfd"),
];

/// The primitive of a call. Failed calls have the kind `failed`: they end early, and their cost is not that of the others.
pub fn used(process: u32, call: &Call, descriptors: &mut Descriptors) -> Used {
    let has_failed = call.result.is_some_and(|result| result < 0);
    let (name, kind) = named(process, call, descriptors);
    let kind = if has_failed {
        Some("failed".to_owned())
    } else {
        kind
    };
    let size = if has_failed { None } else { size(name, call) };
    let name = kind.map_or(name.to_owned(), |kind| format!("{name}({kind})"));
    Used {
        name,
        size,
        has_failed,
    }
}

fn named<'a>(
    process: u32,
    call: &Call<'a>,
    descriptors: &mut Descriptors,
) -> (&'a str, Option<String>) {
    let argument = |index: usize| call.arguments.get(index).copied().unwrap_or_default();
    let flags = |word: &str| call.arguments.iter().any(|a| a.contains(word));
    let found = |list: &[(&str, &'static str)]| {
        list.iter()
            .find(|(name, _)| *name == call.name)
            .map(|(_, name)| *name)
    };
    if let Some(name) = found(OF_DESCRIPTORS) {
        return (name, descriptors.kind(process, argument(0)));
    }
    match call.name {
        "open" | "openat" | "openat2" | "creat" => ("open", Some(opened_kind(call))),
        "newfstatat" if argument(1) == "\"\"" => ("fstat", descriptors.kind(process, argument(0))),
        "stat" | "lstat" | "newfstatat" | "statx" | "stat64" | "lstat64" | "fstatat64" => {
            ("stat", Some(path_of(call)))
        }
        "access" | "faccessat" | "faccessat2" => ("access", Some(path_of(call))),
        "mmap" | "mmap2" if argument(4) == "-1" => ("mmap", Some("anonymous".to_owned())),
        "mmap" | "mmap2" => ("mmap", descriptors.kind(process, argument(4))),
        "clone" | "clone3" if flags("CLONE_THREAD") => ("clone", Some("thread".to_owned())),
        "clone" | "clone3" if is_vfork(call) => ("vfork", None),
        "execve" | "execveat" if descriptors.borrows_memory(process) => {
            ("execve", Some("vfork".to_owned()))
        }
        "fork" | "clone" | "clone3" => ("fork", None),
        _ => (found(OTHER_NAMES).unwrap_or(call.name), None),
    }
}

fn path_of(call: &Call) -> String {
    let path = call.arguments.iter().find_map(|a| a.strip_prefix('"'));
    path_kind(path.unwrap_or_default()).to_owned()
}

fn size(name: &str, call: &Call) -> Option<f64> {
    match name {
        "mmap" | "munmap" => call.arguments.get(1)?.parse().ok(),
        // The cost grows with the descriptors that are asked, ready or not.
        "poll" => call.arguments.get(1)?.parse().ok(),
        name if SIZED.contains(&name) => Some(call.result? as f64),
        _ => None,
    }
}
