//! ptrace(2) and its stops.

use std::ffi::c_int;
use std::io;
use std::ptr;

/// A stop by a signal, or that of a new thread, see ptrace(2). `libc` lacks it.
const EVENT_STOP: c_int = 128;

/// The code segment of 32-bit processes.
pub const CS_32: u64 = 0x23;

/// The signals that stop a process until it is continued.
const STOPS: [c_int; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// A stop of a traced thread.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    pub signal: c_int,
    /// The number of the ptrace event that stopped the thread. 0: a signal stopped it.
    pub event: c_int,
}

impl Stop {
    pub fn new(status: c_int) -> Stop {
        Stop { signal: libc::WSTOPSIG(status), event: status >> 16 }
    }

    /// Whether a signal stops the process until it is continued.
    pub fn stays(self) -> bool {
        self.event == EVENT_STOP && STOPS.contains(&self.signal)
    }
}

/// Whether the thread of a request has ended.
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH)
}

/// Waits for a stop or the end of a child or traced thread; -1: of any. Returns its number and its
/// status.
pub fn wait(child: c_int) -> io::Result<(c_int, c_int)> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    match unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) } {
        -1 => Err(io::Error::last_os_error()),
        thread => Ok((thread, status)),
    }
}

/// A request whose last argument is a number: a signal or options.
pub fn request(request: libc::c_uint, thread: c_int, number: c_int) -> io::Result<()> {
    let none = ptr::null_mut::<libc::c_void>();
    // SAFETY: requests with a number read and write no memory of this process.
    match unsafe { libc::ptrace(request, thread, none, libc::c_long::from(number)) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The registers of a stopped thread.
pub fn registers(thread: c_int) -> io::Result<libc::user_regs_struct> {
    let mut found = std::mem::MaybeUninit::uninit();
    let none = ptr::null_mut::<libc::c_void>();
    // SAFETY: the call fills all of `found`, which outlives it, if it succeeds.
    unsafe {
        match libc::ptrace(libc::PTRACE_GETREGS, thread, none, found.as_mut_ptr()) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(found.assume_init()),
        }
    }
}
