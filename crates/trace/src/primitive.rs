//! The primitive that a system call uses.

use std::borrow::Cow;

use yamba_predict::{BLOCKED, WAITING};

use crate::call::{Call, Kind, Property};
use crate::descriptors::{Descriptors, listed_kind, opened_kind, path_kind};
use crate::modes::kind_of_use;

/// A primitive with its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// The primitive without its kind.
    pub name: Cow<'static, str>,
    /// The kind in brackets.
    pub kind: Option<Kind>,
    /// Its size.
    pub size: Option<f64>,
    /// Whether the call failed.
    pub has_failed: bool,
}

impl Used {
    /// A use without size.
    pub fn new(name: &'static str, kind: Option<&'static str>) -> Used {
        Used {
            name: Cow::Borrowed(name),
            kind: kind.map(Cow::Borrowed),
            size: None,
            has_failed: false,
        }
    }
}

/// Calls with a descriptor as their first argument, under the name of the primitive.
const OF_DESCRIPTORS: &[(&str, &str)] = &[
    // The kernel does the work of `read` and `write`, and reads a list or a position before.
    ("read", "read"),
    ("readv", "read"),
    ("pread64", "read"),
    // strace before 4.9 shows them by these names.
    ("pread", "read"),
    ("pwrite", "write"),
    ("preadv", "read"),
    ("preadv2", "read"),
    ("recvfrom", "read"),
    ("recvmsg", "read"),
    ("recv", "read"),
    ("write", "write"),
    ("writev", "write"),
    ("pwrite64", "write"),
    ("pwritev", "write"),
    ("pwritev2", "write"),
    ("sendto", "write"),
    ("sendmsg", "write"),
    ("send", "write"),
    // Their results are numbers of messages.
    ("sendmmsg", "sendmmsg"),
    ("recvmmsg", "recvmmsg"),
    ("sendfile", "sendfile"),
    ("splice", "splice"),
    ("copy_file_range", "copy_file_range"),
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

/// Calls whose result is the number of bytes that they moved, or of descriptors that they found
/// ready.
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
    // The name of 32-bit processes.
    ("_newselect", "select"),
    ("pipe2", "pipe"),
    ("eventfd2", "eventfd"),
];

/// The primitive of a call. Failed calls have the kind `failed`: they end early, and their cost is
/// not that of the others.
pub fn used(process: u32, call: &Call, descriptors: &mut Descriptors) -> Used {
    let (name, kind) = named(process, call, descriptors);
    let kind = kind.map(|kind| kind_of_use(&name, kind));
    if call.result.is_some_and(|result| result < 0) {
        return Used { name, kind: Some(Cow::Borrowed("failed")), size: None, has_failed: true };
    }
    Used { size: size(&name, call), name, kind, has_failed: false }
}

fn named(
    process: u32,
    call: &Call,
    descriptors: &mut Descriptors,
) -> (Cow<'static, str>, Option<Kind>) {
    let arguments = call.arguments;
    // 32-bit processes have calls of their own for times of 64 bits.
    let own_name = call.name.strip_suffix("_time64");
    let own_name = own_name.unwrap_or(call.name);
    if let Some(name) = found(OF_DESCRIPTORS, own_name) {
        return (name, descriptors.kind_of(process, arguments, 0));
    }
    let (name, kind) = match own_name {
        // A program may open a directory without saying that it is one.
        "getdents64" => {
            let kind = descriptors.kind_of(process, arguments, 0);
            ("getdents64", kind.map(listed_kind))
        }
        "open" | "openat" | "openat2" | "creat" => ("open", Some(opened_kind(arguments))),
        "newfstatat" if arguments.has(Property::EmptyPath) => {
            ("fstat", descriptors.kind_of(process, arguments, 0))
        }
        "stat" | "lstat" | "newfstatat" | "statx" | "stat64" | "lstat64" | "fstatat64" => {
            ("stat", Some(path_kind(arguments.path())))
        }
        "access" | "faccessat" | "faccessat2" => ("access", Some(path_kind(arguments.path()))),
        "mmap" | "mmap2" => {
            let kind = descriptors.kind_of(process, arguments, 4);
            ("mmap", kind.or(Some(Cow::Borrowed("anonymous"))))
        }
        "clone" | "clone3" if arguments.has(Property::Thread) => {
            ("clone", Some(Cow::Borrowed("thread")))
        }
        "clone" | "clone3" if arguments.has(Property::SharesMemory) => ("vfork", None),
        "execve" | "execveat" if descriptors.borrows_memory(process) => {
            ("execve", Some(Cow::Borrowed("vfork")))
        }
        "fork" | "clone" | "clone3" => ("fork", None),
        _ => {
            let same = || match own_name.len() == call.name.len() {
                true => call.name.clone(),
                false => Cow::Owned(own_name.to_owned()),
            };
            let name = found(OTHER_NAMES, own_name).unwrap_or_else(same);
            let has_blocked = WAITING.contains(&&*name) && arguments.has(Property::Blocked);
            return (name, has_blocked.then_some(Cow::Borrowed(BLOCKED)));
        }
    };
    (Cow::Borrowed(name), kind)
}

fn found(list: &[(&str, &'static str)], name: &str) -> Option<Cow<'static, str>> {
    let found = list.iter().find(|(known, _)| *known == name);
    found.map(|(_, name)| Cow::Borrowed(*name))
}

fn size(name: &str, call: &Call) -> Option<f64> {
    match name {
        // The cost of `poll` grows with the descriptors that are asked, ready or not.
        "mmap" | "munmap" | "poll" => call.arguments.size(1),
        name if SIZED.contains(&name) => Some(call.result? as f64),
        _ => None,
    }
}
