//! Adds threads to the traced ones.

use std::ffi::c_void;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::time::{ClockId, clock_gettime};

use super::shared::{MODE_CALL, MODE_USER, ThreadStart};

/// Flag of pidfd_open(2): the number is that of a thread.
const PIDFD_THREAD: libc::c_uint = 0x80;

/// The command of bpf(2) that sets the value of a key.
const MAP_UPDATE: libc::c_long = 2;
/// Its flags.
const ANY: u64 = 0;
const WITHOUT_VALUE: u64 = 1;

/// The traced threads.
#[derive(Debug)]
pub struct Threads {
    /// The task storage.
    pub storage: OwnedFd,
    /// The map with the generation of traced threads.
    pub generation: OwnedFd,
}

impl Threads {
    /// Duplicates the descriptors, for a forked child.
    pub fn try_clone(&self) -> io::Result<Threads> {
        Ok(Threads { storage: self.storage.try_clone()?, generation: self.generation.try_clone()? })
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

    fn add(&self, thread: u32, flags: libc::c_uint, call: Option<u32>) -> io::Result<()> {
        // SAFETY: this call takes numbers only.
        let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, thread, flags) };
        let descriptor = i32::try_from(descriptor).unwrap_or(-1);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor, so that it has no other owner.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let start = ThreadStart {
            slot: 0,
            since: now_ns(),
            mode: if call.is_some() { MODE_CALL } else { MODE_USER },
            number: call.unwrap_or(0),
            flags: 0,
            thread,
        };
        let key = descriptor.as_raw_fd().unsigned_abs();
        match update(&self.storage, key, &start, WITHOUT_VALUE) {
            // A thread that was added before has made it meanwhile.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(e) => Err(e),
            Ok(()) => self.renew(),
        }
    }

    /// Begins a generation: each processor looks its thread up again. Allocates nothing.
    pub fn renew(&self) -> io::Result<()> {
        update(&self.generation, 0, &now_ns(), ANY)
    }
}

/// The part of `union bpf_attr` for values of maps.
#[repr(C)]
struct ElementRequest {
    map: u32,
    padding: u32,
    key: *const u32,
    value: *const c_void,
    flags: u64,
}

/// Sets the value of a key. Allocates nothing: aya does, and has no task storage.
fn update<T: aya::Pod>(map: &OwnedFd, key: u32, value: &T, flags: u64) -> io::Result<()> {
    let request = ElementRequest {
        map: map.as_raw_fd().unsigned_abs(),
        padding: 0,
        key: &raw const key,
        value: (&raw const *value).cast(),
        flags,
    };
    // SAFETY: the request has the layout of the command's part of `union bpf_attr`, and the length
    // that is passed. The kernel reads a key of 4 bytes, and a value as long as those of the map:
    // `T` is the type of its values.
    let status = unsafe {
        libc::syscall(libc::SYS_bpf, MAP_UPDATE, &raw const request, size_of::<ElementRequest>())
    };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The kernel's monotonic clock, in ns.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}
