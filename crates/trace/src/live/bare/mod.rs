//! Runs a program without the vDSO, the kernel's code that saves its processes system calls. ptrace
//! stops each process for the change when it executes a program. Apart from that, they run on. They
//! also do if this process is killed, since the kernel then ends the tracing.

mod ptrace;
mod vdso;

use std::ffi::c_int;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use ptrace::{Stop, is_gone, request, wait};
use vdso::hide_vdso;

/// The traced processes stop when they execute a program. New processes and threads are traced,
/// too.
const OPTIONS: c_int = libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE;

/// Runs a program and its descendants to their ends, without a vDSO. Returns the exit status of the
/// program. If a signal ended the program, the same signal ends this process, whose parent then
/// sees the end of the program.
///
/// # Errors
/// If the program cannot be started or traced.
pub fn run_bare(command: &[String]) -> io::Result<u8> {
    let mut program = Command::new(&command[0]);
    program.args(&command[1..]);
    // SAFETY: the closure runs in the forked child and makes one system call, without allocating.
    unsafe {
        program.pre_exec(|| request(libc::PTRACE_TRACEME, 0, 0));
    }
    let first = program.spawn()?.id().cast_signed();
    wait_for_execve(first)?;
    // SAFETY: the call takes two numbers. The process is a stopped child, so the number is its own.
    let send = |signal| unsafe { libc::kill(first, signal) };
    if let Err(e) = seize(first) {
        send(libc::SIGKILL);
        return Err(e);
    }
    send(libc::SIGCONT);
    outlive_program();
    let end = follow(first)?;
    if let Some(signal) = end.signal() {
        end_by(signal);
    }
    Ok(status_in_shell(end))
}

/// Ends this process by a signal, without a core file of its own. Returns if the kernel does not
/// end the process, such as the first one of a container.
fn end_by(signal: c_int) {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // SAFETY: both calls take numbers. The default action of a signal runs no code of this process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// The exit status of a shell whose last command ended so: 128 and the number of the signal if one
/// ended the command.
fn status_in_shell(end: ExitStatus) -> u8 {
    let signal = end.signal().unwrap_or_default();
    end.code().unwrap_or(128 + signal).to_le_bytes()[0]
}

/// Ignores requests to end: the processes get them, too. If this process ended first, a process
/// that is stopped by such a signal would lose it.
fn outlive_program() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: an ignored signal runs no code.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Waits until a child stops at its execve.
fn wait_for_execve(child: c_int) -> io::Result<()> {
    loop {
        match wait(child) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Ok((_, status)) if !libc::WIFSTOPPED(status) => {
                return Err(io::Error::other("it was killed at its start"));
            }
            found => return found.map(drop),
        }
    }
}

/// Hides the vDSO of a process that stops at its execve, and traces it by PTRACE_SEIZE: only then
/// it can stay in a stop by a signal. It is stopped for the change.
fn seize(process: c_int) -> io::Result<()> {
    hide_vdso(process)?;
    request(libc::PTRACE_DETACH, process, libc::SIGSTOP)?;
    request(libc::PTRACE_SEIZE, process, OPTIONS)
}

/// Lets all traced threads run on from each stop, until none is left. Returns how the first process
/// ended.
fn follow(first: c_int) -> io::Result<ExitStatus> {
    let mut end = None;
    loop {
        let (thread, status) = match wait(-1) {
            Ok(stop) => stop,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) if e.raw_os_error() == Some(libc::ECHILD) => return Ok(end.unwrap_or_default()),
            Err(e) => return Err(e),
        };
        if libc::WIFSTOPPED(status) {
            resume(thread, Stop::new(status))?;
        } else if thread == first {
            end.get_or_insert(ExitStatus::from_raw(status));
        }
    }
}

/// Lets a thread run on from a stop, or stay in a stop by a signal.
fn resume(thread: c_int, stop: Stop) -> io::Result<()> {
    if stop.stays() {
        return or_gone(request(libc::PTRACE_LISTEN, thread, 0));
    }
    if stop.event == libc::PTRACE_EVENT_EXEC {
        // It may have been killed meanwhile.
        let _ = hide_vdso(thread);
    }
    let signal = if stop.event == 0 { stop.signal } else { 0 };
    or_gone(request(libc::PTRACE_CONT, thread, signal))
}

/// A thread that was killed in its stop cannot run on, and its end is reported.
fn or_gone(resumed: io::Result<()>) -> io::Result<()> {
    match resumed {
        Err(e) if is_gone(&e) => Ok(()),
        resumed => resumed,
    }
}
