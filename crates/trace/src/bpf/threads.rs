//! Adds threads to the map of traced threads.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::time::{ClockId, clock_gettime};

use super::kernel::update;
use super::layout::{THREAD_BYTES, THREAD_IDS};

/// Of pidfd_open(2): the number is that of a thread.
const PIDFD_THREAD: libc::c_uint = 0x80;

/// Places in the state of a thread.
const MODE: usize = 8;
const NUMBER: usize = 24;

/// Adds this process, which has one thread. Allocates nothing, so that a forked child may use it.
pub fn add_this_process(threads: BorrowedFd) -> io::Result<()> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    add(threads, own.unsigned_abs(), 0, None)
}

/// Adds a thread of a running process.
pub fn add_thread(threads: BorrowedFd, process: u32, thread: u32) -> io::Result<()> {
    let flags = if process == thread { 0 } else { PIDFD_THREAD };
    // The number of the call in which it is, or a word.
    let text = fs::read_to_string(format!("/proc/{process}/task/{thread}/syscall"));
    let text = text.unwrap_or_default();
    let number = text.split(' ').next().and_then(|n| n.trim().parse().ok());
    add(threads, thread, flags, number)
}

fn add(threads: BorrowedFd, thread: u32, flags: libc::c_uint, call: Option<u64>) -> io::Result<()> {
    // SAFETY: this call takes numbers only.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, thread, flags) };
    let descriptor = i32::try_from(descriptor).unwrap_or(-1);
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, so that it has no other owner.
    let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let mut state = [0; THREAD_BYTES];
    let now = clock_gettime(ClockId::Monotonic);
    let now = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
    state[..8].copy_from_slice(&now.to_ne_bytes());
    state[THREAD_IDS..THREAD_IDS + 4].copy_from_slice(&thread.to_ne_bytes());
    if let Some(number) = call {
        state[MODE] = 1;
        state[NUMBER..NUMBER + 8].copy_from_slice(&number.to_ne_bytes());
    }
    let key = descriptor.as_fd().as_raw_fd().unsigned_abs();
    update(threads, key, &state)
}
