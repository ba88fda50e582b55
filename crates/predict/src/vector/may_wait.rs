//! Calls that may wait for storage, another process or an event. The cost of the null call says
//! nothing about them.

/// Calls by what they may wait for. A call of another name is taken to return at once.
const MAY_WAIT: [&str; 6] = [
    // Storage: written data, or a request to a device.
    "fsync fdatasync sync syncfs msync sync_file_range sync_file_range2 arm_sync_file_range \
     readahead io_submit io_getevents io_pgetevents io_uring_enter swapon swapoff",
    // A change of a file system, which its journal may delay.
    "truncate truncate64 ftruncate fallocate mknod mknodat chmod fchmod fchmodat fchmodat2 \
     chown chown32 lchown lchown32 fchown fchown32 fchownat utime utimes futimesat utimensat \
     setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr \
     removexattrat quotactl quotactl_fd mount move_mount fsmount fsconfig umount umount2 \
     pivot_root unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir link linkat \
     symlink symlinkat",
    // Data: a file, a pipe, or the other end of a connection.
    // `ipc` is the one call of 32-bit processes for messages and semaphores.
    "read write sendfile splice tee vmsplice copy_file_range sendmmsg recvmmsg getdents \
     getdents64 connect accept msgrcv msgsnd mq_timedreceive mq_timedsend ipc",
    // An event or a time.
    // `restart_syscall` goes on with a call that waited, as when strace attaches to a process.
    "epoll_wait poll select pause nanosleep clock_nanosleep sigsuspend rt_sigsuspend \
     rt_sigtimedwait restart_syscall",
    // A lock.
    "futex futex_wait futex_waitv flock semop semtimedop",
    // Another process, or a program that is read from storage.
    "wait4 waitpid waitid vfork execve execveat uselib",
];

/// The kind of a call that failed. It ends early.
const FAILED: &str = "failed";

/// Whether a use may wait. A failed one ends early.
pub(crate) fn may_wait(name: &str) -> bool {
    let (call, kind) = name.split_once('(').unwrap_or((name, ""));
    let is_listed = || MAY_WAIT.iter().any(|calls| calls.split(' ').any(|other| other == call));
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
            "restart_syscall",
            "truncate64",
            "mknodat",
            "fchmodat",
            "lchown",
            "fsetxattr",
            "mount",
            "umount2",
            "io_submit",
            "sync_file_range2",
        ] {
            assert!(may_wait(name), "{name}");
        }
        for name in ["futex(failed)", "getppid", "setsockopt(udp)", "readlink"] {
            assert!(!may_wait(name), "{name}");
        }
    }
}
