//! Runs a program whose processes have no vDSO, the kernel's code in each process that reads clocks in user mode. Each clock reading of the C library is then a system call.
//!
//! A process finds this code by the entry `AT_SYSINFO_EHDR` of its auxiliary vector (getauxval(3)), which the kernel writes on the stack at each execve. ptrace stops the processes there, and the entry
//! becomes `AT_IGNORE`. Apart from that, they run on. They also do if this process is killed.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Types of entries in the auxiliary vector, see `linux/auxvec.h`.
const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
const AT_SYSINFO_EHDR: u64 = 33;

/// The code segment of 32-bit processes.
const CS_32: u64 = 0x23;

/// Runs a program and its descendants to their ends. Returns the exit status of the program; 128 and the number of the signal if one ended it.
///
/// # Errors
/// If the program cannot be started or traced.
pub fn run_without_vdso(command: &[String]) -> io::Result<u8> {
    let mut program = Command::new(&command[0]);
    program.args(&command[1..]);
    // SAFETY: the closure runs in the forked child and makes one system call, without allocating.
    unsafe {
        program.pre_exec(|| Ok(ptrace::traceme()?));
    }
    let child = program.spawn()?;
    let first = Pid::from_raw(child.id().cast_signed());
    // It stops at its execve.
    waitpid(first, None)?;
    let follows = Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE;
    ptrace::setoptions(first, follows)?;
    hide_vdso(first)?;
    resumed(ptrace::cont(first, None))?;
    follow(first)
}

/// Lets all traced threads run on from each stop, until none is left. Returns the exit status of the first process.
fn follow(first: Pid) -> io::Result<u8> {
    let mut threads = HashSet::from([first]);
    let mut status = 0;
    loop {
        let (thread, signal) = match waitpid(None, Some(WaitPidFlag::__WALL)) {
            Ok(WaitStatus::Exited(thread, code)) => {
                if thread == first {
                    status = code.to_le_bytes()[0];
                }
                continue;
            }
            Ok(WaitStatus::Signaled(thread, signal, _)) => {
                if thread == first {
                    status = 128 + signal as u8;
                }
                continue;
            }
            Ok(WaitStatus::PtraceEvent(thread, _, event)) => {
                if event == ptrace::Event::PTRACE_EVENT_EXEC as i32 {
                    // It may have been killed meanwhile.
                    let _ = hide_vdso(thread);
                }
                (thread, None)
            }
            // The first stop of a new thread is that of ptrace.
            Ok(WaitStatus::Stopped(thread, Signal::SIGSTOP)) if threads.insert(thread) => {
                (thread, None)
            }
            Ok(WaitStatus::Stopped(thread, signal)) => (thread, Some(signal)),
            Ok(_) | Err(Errno::EINTR) => continue,
            Err(Errno::ECHILD) => return Ok(status),
            Err(e) => return Err(e.into()),
        };
        resumed(ptrace::cont(thread, signal))?;
    }
}

/// A thread that was killed in its stop cannot run on.
fn resumed(result: nix::Result<()>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Changes the auxiliary vector of a process that has just executed a program. On the stack are the number of arguments, the arguments and 0, the environment and 0, and the pairs of the vector.
fn hide_vdso(process: Pid) -> io::Result<()> {
    let registers = ptrace::getregs(process)?;
    let width = if registers.cs == CS_32 { 4 } else { 8 };
    let memory = File::options()
        .read(true)
        .write(true)
        .open(format!("/proc/{process}/mem"))?;
    let mut at = registers.rsp;
    let mut next = || -> io::Result<u64> {
        let mut word = [0; 8];
        memory.read_exact_at(&mut word[..width], at)?;
        at += width as u64;
        Ok(u64::from_le_bytes(word))
    };
    for _ in 0..=next()? {
        next()?;
    }
    while next()? != 0 {}
    loop {
        match next()? {
            AT_NULL => return Ok(()),
            AT_SYSINFO_EHDR => break,
            _ => next()?,
        };
    }
    memory.write_all_at(&AT_IGNORE.to_le_bytes()[..width], at - width as u64)
}
