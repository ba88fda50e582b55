//! The names of the calls of x86, by number.

use std::borrow::Cow;

use super::shared::{
    CALLS, CallDetail, FILE_POSITION, SENDFILE_POSITION, SENT_AT_ONCE, SIX_ARGUMENTS, TEXT,
    TWO_DESCRIPTORS,
};

/// The calls whose events take bytes from the program's memory, each with the index of the argument
/// that points to them.
const READS: &[(&str, u8, u8)] = &[
    ("open", TEXT, 0),
    ("creat", TEXT, 0),
    ("openat", TEXT, 1),
    ("openat2", TEXT, 1),
    ("stat", TEXT, 0),
    ("lstat", TEXT, 0),
    ("stat64", TEXT, 0),
    ("lstat64", TEXT, 0),
    ("newfstatat", TEXT, 1),
    ("fstatat64", TEXT, 1),
    ("statx", TEXT, 1),
    ("access", TEXT, 0),
    ("faccessat", TEXT, 1),
    ("faccessat2", TEXT, 1),
    ("pipe", TWO_DESCRIPTORS, 0),
    ("pipe2", TWO_DESCRIPTORS, 0),
    ("socketpair", TWO_DESCRIPTORS, 3),
    ("socketcall", SIX_ARGUMENTS, 1),
];

/// Other calls that change the kinds of descriptors.
const DESCRIBING: &[&str] = &[
    "close",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "fcntl64",
    "socket",
    "accept",
    "accept4",
    "eventfd",
    "eventfd2",
    "epoll_create",
    "epoll_create1",
    "timerfd_create",
    "signalfd",
    "signalfd4",
    "inotify_init",
    "inotify_init1",
    "memfd_create",
    "getdents64",
];

/// The calls whose events take the position in a file, if files are recorded.
const FILE_READS: &[(&str, u8, u8)] = &[
    ("read", FILE_POSITION, 0),
    ("readv", FILE_POSITION, 0),
    ("pread64", FILE_POSITION, 0),
    ("preadv", FILE_POSITION, 0),
    ("preadv2", FILE_POSITION, 0),
    ("write", FILE_POSITION, 0),
    ("writev", FILE_POSITION, 0),
    ("pwrite64", FILE_POSITION, 0),
    ("pwritev", FILE_POSITION, 0),
    ("pwritev2", FILE_POSITION, 0),
    ("sendfile", SENDFILE_POSITION, 1),
];

/// The details of events by number of the call, for processes of 64 and of 32 bits.
pub type Details = [[CallDetail; CALLS]; 2];

/// The name of a call.
pub fn name(number: u32, is_32_bit: bool) -> Cow<'static, str> {
    match known(number as usize, is_32_bit) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("syscall_{number}")),
    }
}

fn known(number: usize, is_32_bit: bool) -> Option<&'static str> {
    if is_32_bit {
        syscalls::x86::Sysno::new(number).map(|call| call.name())
    } else {
        syscalls::x86_64::Sysno::new(number).map(|call| call.name())
    }
}

/// The data that the programs in the kernel report of each call. With `files`, they report the
/// places in files of calls of 64-bit processes.
pub fn details(files: bool) -> Details {
    let mut tables = [[CallDetail::default(); CALLS]; 2];
    for (table, is_32_bit) in tables.iter_mut().zip([false, true]) {
        for (number, entry) in table.iter_mut().enumerate() {
            if let Some(name) = known(number, is_32_bit) {
                *entry = detail(name, files && !is_32_bit);
            }
        }
    }
    tables
}

fn detail(name: &str, files: bool) -> CallDetail {
    let file_reads = FILE_READS.iter().filter(|_| files);
    let found = READS.iter().chain(file_reads).find(|(known, ..)| *known == name);
    match found {
        Some(&(_, detail, argument)) => CallDetail { detail, argument },
        None if DESCRIBING.contains(&name) => CallDetail { detail: SENT_AT_ONCE, argument: 0 },
        None => CallDetail::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_kernel() {
        for (number, is_32_bit, expected) in [
            (libc::SYS_read as u32, false, "read"),
            (libc::SYS_newfstatat as u32, false, "newfstatat"),
            (libc::SYS_exit_group as u32, false, "exit_group"),
            (1, true, "exit"),
            (102, true, "socketcall"),
            (192, true, "mmap2"),
            (9999, false, "syscall_9999"),
        ] {
            assert_eq!(name(number, is_32_bit), expected);
        }
    }

    #[test]
    fn paths_of_both_tables_are_read() {
        let [table, _] = details(true);
        assert_eq!(table[libc::SYS_pread64 as usize].detail, FILE_POSITION);
        let [table, narrow] = details(false);
        let text = |argument| CallDetail { detail: TEXT, argument };
        assert_eq!(table[libc::SYS_openat as usize], text(1));
        assert_eq!(table[libc::SYS_read as usize], CallDetail::default());
        assert_eq!(table[libc::SYS_accept4 as usize].detail, SENT_AT_ONCE);
        assert_eq!(narrow[5], text(0), "open");
        assert_eq!(narrow[102], CallDetail { detail: SIX_ARGUMENTS, argument: 1 });
        assert_eq!(details(true)[1][3], CallDetail::default(), "read of 32 bits");
    }
}
