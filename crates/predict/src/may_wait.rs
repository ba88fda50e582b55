//! Calls that may wait for storage, another process or an event. The cost of the null call says
//! nothing about them.

/// Calls by what they may wait for. A call of another name is taken to return at once.
const MAY_WAIT: [&[&str]; 5] = [
    // Storage: written data, or a change of a file system.
    &[
        "fsync",
        "fdatasync",
        "sync",
        "syncfs",
        "msync",
        "sync_file_range",
        "truncate",
        "ftruncate",
        "fallocate",
        "unlink",
        "unlinkat",
        "rename",
        "renameat",
        "renameat2",
        "mkdir",
        "mkdirat",
        "rmdir",
        "link",
        "linkat",
        "symlink",
        "symlinkat",
        "readahead",
        "io_getevents",
        "io_pgetevents",
        "io_uring_enter",
        "swapoff",
        "umount2",
    ],
    // Data: a file, a pipe, or the other end of a connection.
    &[
        "read",
        "write",
        "sendfile",
        "splice",
        "tee",
        "vmsplice",
        "copy_file_range",
        "sendmmsg",
        "recvmmsg",
        "getdents64",
        "connect",
        "accept",
        "msgrcv",
        "msgsnd",
        "mq_timedreceive",
        "mq_timedsend",
    ],
    // An event or a time.
    &[
        "epoll_wait",
        "poll",
        "select",
        "pause",
        "nanosleep",
        "clock_nanosleep",
        "rt_sigsuspend",
        "rt_sigtimedwait",
    ],
    // A lock.
    &[
        "futex",
        "futex_wait",
        "futex_waitv",
        "flock",
        "semop",
        "semtimedop",
    ],
    // Another process, or a program that is read from storage.
    &[
        "wait4", "waitpid", "waitid", "vfork", "execve", "execveat", "uselib",
    ],
];

/// The kind of a call that failed. It ends early.
const FAILED: &str = "failed";

/// Whether a use may wait. A failed one ends early.
pub(crate) fn may_wait(name: &str) -> bool {
    let (call, kind) = name.split_once('(').unwrap_or((name, ""));
    let is_listed = || MAY_WAIT.iter().any(|calls| calls.contains(&call));
    kind.trim_end_matches(')') != FAILED && is_listed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_a_call_wait_as_the_call_and_failed_calls_do_not() {
        for name in [
            "fdatasync(file)",
            "futex",
            "read(pipe)",
            "epoll_wait(blocked)",
        ] {
            assert!(may_wait(name), "{name}");
        }
        for name in ["futex(failed)", "getppid", "setsockopt(udp)", "readlink"] {
            assert!(!may_wait(name), "{name}");
        }
    }
}
