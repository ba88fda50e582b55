//! Runs a program whose processes have no vDSO, the kernel's code in each process that reads clocks in user mode. Each clock reading of the C library is then a system call.
//!
//! A process finds this code by the entry `AT_SYSINFO_EHDR` of its auxiliary vector (getauxval(3)), which the kernel writes on the stack at each execve. ptrace stops the processes there, and the entry
//! becomes `AT_IGNORE`. Apart from that, they run on. They also do if this process is killed, since the kernel then ends the tracing.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

/// Types of entries in the auxiliary vector, see `linux/auxvec.h`.
const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
const AT_SYSINFO_EHDR: u64 = 33;

/// The code segment of 32-bit processes.
const CS_32: u64 = 0x23;

/// The traced processes stop when they execute a program. New processes and threads are traced, too.
const OPTIONS: c_int = libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE;

/// A stop by a signal, or that of a new thread, see ptrace(2). `libc` lacks it.
const PTRACE_EVENT_STOP: c_int = 128;

/// The signals that stop a process until it is continued.
const STOPS: [c_int; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// Runs a program and its descendants to their ends. Returns the exit status of the program; 128 and the number of the signal if one ended it.
///
/// # Errors
/// If the program cannot be started or traced.
pub fn run_without_vdso(command: &[String]) -> io::Result<u8> {
    let mut program = Command::new(&command[0]);
    program.args(&command[1..]);
    // SAFETY: the closure runs in the forked child and makes one system call, without allocating.
    unsafe {
        program.pre_exec(|| request(libc::PTRACE_TRACEME, 0, 0));
    }
    let first = program.spawn()?.id().cast_signed();
    // SAFETY: the call takes two numbers. The process is a child whose end was not waited for, so the number is its own.
    let send = |signal| unsafe { libc::kill(first, signal) };
    if let Err(e) = seize(first) {
        send(libc::SIGKILL);
        return Err(e);
    }
    send(libc::SIGCONT);
    follow(first)
}

/// Hides the vDSO of a process that stops at its execve, and traces it by PTRACE_SEIZE: only then it can stay in a stop by a signal. It is stopped for the change.
fn seize(process: c_int) -> io::Result<()> {
    while let Err(e) = wait(process) {
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
    hide_vdso(process)?;
    request(libc::PTRACE_DETACH, process, libc::SIGSTOP)?;
    request(libc::PTRACE_SEIZE, process, OPTIONS)
}

/// Lets all traced threads run on from each stop, until none is left. Returns the exit status of the first process.
fn follow(first: c_int) -> io::Result<u8> {
    let mut found = None;
    loop {
        let (thread, status) = match wait(-1) {
            Ok(stop) => stop,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) if e.raw_os_error() == Some(libc::ECHILD) => return Ok(found.unwrap_or(0)),
            Err(e) => return Err(e),
        };
        if libc::WIFSTOPPED(status) {
            resume(thread, status)?;
        } else if thread == first && found.is_none() {
            let end = match libc::WIFEXITED(status) {
                true => libc::WEXITSTATUS(status),
                false => 128 + libc::WTERMSIG(status),
            };
            found = Some(end.to_le_bytes()[0]);
        }
    }
}

/// Lets a thread run on from a stop, or stay in a stop by a signal.
fn resume(thread: c_int, status: c_int) -> io::Result<()> {
    let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
    let resumed = match event {
        PTRACE_EVENT_STOP if STOPS.contains(&signal) => request(libc::PTRACE_LISTEN, thread, 0),
        0 => request(libc::PTRACE_CONT, thread, signal),
        _ => {
            if event == libc::PTRACE_EVENT_EXEC {
                // It may have been killed meanwhile.
                let _ = hide_vdso(thread);
            }
            request(libc::PTRACE_CONT, thread, 0)
        }
    };
    match resumed {
        // A thread that was killed in its stop cannot run on.
        Err(e) if e.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        resumed => resumed,
    }
}

/// Waits for a stop or the end of a child or traced thread; -1: of any.
fn wait(child: c_int) -> io::Result<(c_int, c_int)> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    match unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) } {
        -1 => Err(io::Error::last_os_error()),
        thread => Ok((thread, status)),
    }
}

/// A request whose last argument is a number: a signal or options.
fn request(request: libc::c_uint, thread: c_int, number: c_int) -> io::Result<()> {
    let none = ptr::null_mut::<libc::c_void>();
    // SAFETY: requests with a number read and write no memory of this process.
    match unsafe { libc::ptrace(request, thread, none, libc::c_long::from(number)) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The registers of a stopped thread.
fn registers(thread: c_int) -> io::Result<libc::user_regs_struct> {
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

/// Changes the auxiliary vector of a process that has just executed a program. On the stack are the number of arguments, the arguments and 0, the environment and 0, and the pairs of the vector.
fn hide_vdso(process: c_int) -> io::Result<()> {
    let registers = registers(process)?;
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
