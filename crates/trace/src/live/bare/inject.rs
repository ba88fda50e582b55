//! System calls that a traced thread makes on behalf of this process.

use std::ffi::c_int;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use libc::user_regs_struct as Registers;

use super::ptrace::{
    CALL, Stop, block_signals, is_gone, registers, request, set_registers, set_signal_mask, wait,
};

/// The status of waitpid(2) of a thread that has ended.
#[derive(Clone, Copy, Debug)]
pub struct ThreadEnd(pub c_int);

/// Why a call failed.
#[derive(Debug)]
pub enum CallError {
    /// The thread ended before.
    Ended(ThreadEnd),
    System(io::Error),
}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> CallError {
        CallError::System(error)
    }
}

/// A stopped thread that makes other system calls before it runs on. Its signals wait meanwhile.
pub struct Caller {
    thread: c_int,
    before: Registers,
    /// The address of a `syscall` instruction.
    instruction: u64,
    /// The thread's own mask of blocked signals.
    mask: u64,
    /// A signal that stops the process arrived meanwhile. It cannot be blocked, and is sent again.
    stopped: bool,
}

impl Caller {
    /// Prepares a thread of a 64-bit process that is stopped outside of a system call, or at the
    /// end of one.
    pub fn new(thread: c_int, before: Registers, instruction: u64) -> io::Result<Caller> {
        Ok(Caller { thread, before, instruction, mask: block_signals(thread)?, stopped: false })
    }

    /// Makes a call, and returns its result.
    pub fn call(&mut self, number: i64, argument: u64) -> Result<u64, CallError> {
        let to = Registers {
            rip: self.instruction,
            rax: number.cast_unsigned(),
            rdi: argument,
            // The kernel restarts no call.
            orig_rax: u64::MAX,
            ..self.before
        };
        set_registers(self.thread, &to)?;
        // The syscall-entry stop and the syscall-exit stop.
        for _ in 0..2 {
            self.run_to_call()?;
        }
        let result = registers(self.thread)?.rax.cast_signed();
        match i32::try_from(-result) {
            Ok(error @ 1..4096) => Err(io::Error::from_raw_os_error(error).into()),
            _ => Ok(result.cast_unsigned()),
        }
    }

    /// Lets the thread run to its next stop at a system call.
    fn run_to_call(&mut self) -> Result<(), CallError> {
        loop {
            // If it was killed, its end is awaited.
            let resumed = request(libc::PTRACE_SYSCALL, self.thread, 0);
            resumed.or_else(|e| if is_gone(&e) { Ok(()) } else { Err(e) })?;
            let (_, status) = loop {
                match wait(self.thread) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    found => break found?,
                }
            };
            if !libc::WIFSTOPPED(status) {
                return Err(CallError::Ended(ThreadEnd(status)));
            }
            match Stop::of(status) {
                Stop { signal: CALL, .. } => return Ok(()),
                stop => self.stopped |= stop.signal == libc::SIGSTOP,
            }
        }
    }

    /// Restores the thread.
    pub fn finish(self) -> io::Result<()> {
        set_registers(self.thread, &self.before)?;
        set_signal_mask(self.thread, self.mask)?;
        if self.stopped {
            // SAFETY: the call takes two numbers. The thread is stopped, so the number is its own.
            unsafe { libc::syscall(libc::SYS_tkill, self.thread, libc::SIGSTOP) };
        }
        Ok(())
    }
}

/// The code of a `syscall` instruction.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// The address of a `syscall` instruction in the vDSO, which is in memory even if the process does
/// not find it. To read it maps its page, so the process does not fault there. A page of a file
/// would be mapped with the pages around it.
pub fn instruction_of_vdso(process: c_int) -> io::Result<u64> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps"))?;
    let memory = File::open(format!("/proc/{process}/mem"))?;
    let vdso = maps.lines().find(|line| line.ends_with("[vdso]"));
    let find = |line| {
        let (start, end) = range(line)?;
        let mut code = vec![0; usize::try_from(end - start).ok()?];
        memory.read_exact_at(&mut code, start).ok()?;
        let place = code.windows(2).position(|pair| pair == SYSCALL)?;
        Some(start + place as u64)
    };
    vdso.and_then(find)
        .ok_or_else(|| io::Error::other("the vDSO of a process has no `syscall` instruction"))
}

/// The addresses of a line of `/proc/PID/maps`.
pub fn range(line: &str) -> Option<(u64, u64)> {
    let (start, rest) = line.split_once('-')?;
    let (end, _) = rest.split_once(' ')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    Some((address(start)?, address(end)?))
}
