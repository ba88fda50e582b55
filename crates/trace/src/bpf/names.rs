//! The names of the calls of x86, by number.

use std::borrow::Cow;

use super::layout::{AT_ONCE, CALLS, READS_BYTES};

/// The bytes that an event takes from the memory of the program: a text, 8 bytes, or 24 bytes at
/// the place in an argument.
const TEXT: u8 = 0x10;
const TWO_DESCRIPTORS: u8 = 0x20;
const SIX_ARGUMENTS: u8 = 0x30;
/// The position in the file of a descriptor. For `SENT`, the third argument points to the position,
/// unless it is 0.
const FILE: u8 = 0x40;
const SENT: u8 = 0x50;

/// The calls whose events take bytes from the program's memory, each with the index of the argument
/// that points to them.
const READS: &[(&str, u8)] = &[
    ("open", TEXT),
    ("creat", TEXT),
    ("openat", TEXT | 1),
    ("openat2", TEXT | 1),
    ("stat", TEXT),
    ("lstat", TEXT),
    ("stat64", TEXT),
    ("lstat64", TEXT),
    ("newfstatat", TEXT | 1),
    ("fstatat64", TEXT | 1),
    ("statx", TEXT | 1),
    ("access", TEXT),
    ("faccessat", TEXT | 1),
    ("faccessat2", TEXT | 1),
    ("pipe", TWO_DESCRIPTORS),
    ("pipe2", TWO_DESCRIPTORS),
    ("socketpair", TWO_DESCRIPTORS | 3),
    ("socketcall", SIX_ARGUMENTS | 1),
];

/// Other calls that change the kinds of descriptors.
const DESCRIBING: &[(&str, u8)] = &[
    ("close", AT_ONCE),
    ("dup", AT_ONCE),
    ("dup2", AT_ONCE),
    ("dup3", AT_ONCE),
    ("fcntl", AT_ONCE),
    ("fcntl64", AT_ONCE),
    ("socket", AT_ONCE),
    ("accept", AT_ONCE),
    ("accept4", AT_ONCE),
    ("eventfd", AT_ONCE),
    ("eventfd2", AT_ONCE),
    ("epoll_create", AT_ONCE),
    ("epoll_create1", AT_ONCE),
    ("timerfd_create", AT_ONCE),
    ("signalfd", AT_ONCE),
    ("signalfd4", AT_ONCE),
    ("inotify_init", AT_ONCE),
    ("inotify_init1", AT_ONCE),
    ("memfd_create", AT_ONCE),
    ("getdents64", AT_ONCE),
];

/// The calls whose events take the position in a file, if files are recorded.
const FILE_READS: &[(&str, u8)] = &[
    ("read", FILE),
    ("readv", FILE),
    ("pread64", FILE),
    ("preadv", FILE),
    ("preadv2", FILE),
    ("write", FILE),
    ("writev", FILE),
    ("pwrite64", FILE),
    ("pwritev", FILE),
    ("pwritev2", FILE),
    ("sendfile", SENT | 1),
];

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

/// The table of how events are sent and what they take from memory, by number. The second half is
/// that of 32-bit processes. With `files`, it has the places in files of calls of 64-bit processes.
pub fn reads(files: bool) -> [u8; READS_BYTES] {
    let mut table = [0; READS_BYTES];
    for (index, entry) in table.iter_mut().enumerate() {
        let name = known(index % CALLS, index >= CALLS);
        let of_files = if files && index < CALLS { FILE_READS } else { &[] };
        let mut all = READS.iter().chain(DESCRIBING).chain(of_files);
        let found = all.find(|(known, _)| Some(*known) == name);
        *entry = found.map_or(0, |(_, read)| *read);
    }
    table
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
        let table = reads(true);
        assert_eq!(table[libc::SYS_pread64 as usize], FILE);
        assert_eq!(table[CALLS + 3], 0, "read of 32 bits");
        let table = reads(false);
        assert_eq!(table[libc::SYS_openat as usize], TEXT | 1);
        assert_eq!(table[libc::SYS_read as usize], 0);
        assert_eq!(table[libc::SYS_accept4 as usize], AT_ONCE);
        assert_eq!(table[CALLS + 5], TEXT, "open of 32 bits");
        assert_eq!(table[CALLS + 102], SIX_ARGUMENTS | 1);
    }
}
