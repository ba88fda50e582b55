//! Adds threads to the traced ones.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::time::{ClockId, clock_gettime};

use super::kernel::{insert, update};
use super::layout::{CONTROL, CONTROL_BYTES, MODES, PLACE, PLACE_BYTES, value as value_of};

/// Of pidfd_open(2): the number is that of a thread.
const PIDFD_THREAD: libc::c_uint = 0x80;

/// The traced threads.
#[derive(Debug)]
pub struct Threads {
    /// The task storage.
    pub storage: OwnedFd,
    /// The map with the data for the programs.
    pub control: OwnedFd,
    /// Its value, apart from the generation.
    pub control_value: [u8; CONTROL_BYTES],
}

impl Threads {
    /// Duplicates the descriptors, for a forked child.
    pub fn try_clone(&self) -> io::Result<Threads> {
        Ok(Threads {
            storage: self.storage.try_clone()?,
            control: self.control.try_clone()?,
            control_value: self.control_value,
        })
    }

    /// Adds this process, which has one thread. Allocates nothing, so that a forked child may use
    /// it.
    pub fn add_this_process(&self) -> io::Result<()> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        self.add(own.unsigned_abs(), 0, None)
    }

    /// Adds a thread of a running process.
    pub fn add_running(&self, process: u32, thread: u32) -> io::Result<()> {
        let flags = if process == thread { 0 } else { PIDFD_THREAD };
        // The number of the call in which it is, or a word.
        let text = fs::read_to_string(format!("/proc/{process}/task/{thread}/syscall"));
        let text = text.unwrap_or_default();
        let call = text.split(' ').next().and_then(|n| n.trim().parse().ok());
        self.add(thread, flags, call)
    }

    fn add(&self, thread: u32, flags: libc::c_uint, call: Option<u64>) -> io::Result<()> {
        // SAFETY: this call takes numbers only.
        let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, thread, flags) };
        let descriptor = i32::try_from(descriptor).unwrap_or(-1);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor, so that it has no other owner.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let now = now_ns();
        let mut state = [0; PLACE_BYTES];
        let mut set = |name, number: u64| {
            let at = value_of(PLACE, name) as usize;
            state[at..at + 8].copy_from_slice(&number.to_ne_bytes());
        };
        set("place.since", now);
        set("place.ids", thread.into());
        if let Some(number) = call {
            set("place.mode", value_of(MODES, "MODE_CALL") as u64);
            set("place.number", number);
        }
        let key = descriptor.as_raw_fd().unsigned_abs();
        match insert(self.storage.as_fd(), key, &state) {
            // A thread that was added before has made it meanwhile.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(e) => Err(e),
            Ok(()) => self.renew(),
        }
    }

    /// Begins a generation: each processor looks its thread up again. Allocates nothing.
    pub fn renew(&self) -> io::Result<()> {
        let mut value = self.control_value;
        let at = value_of(CONTROL, "control.generation") as usize;
        value[at..at + 8].copy_from_slice(&now_ns().to_ne_bytes());
        update(self.control.as_fd(), 0, &value)
    }
}

/// The kernel's monotonic clock, in ns.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
