//! The vDSO: the kernel's code in each process that reads clocks in user mode. Without it, each
//! clock reading of the C library is a system call.
//!
//! A process finds this code by the entry `AT_SYSINFO_EHDR` of its auxiliary vector (getauxval(3)),
//! which the kernel writes on the stack at each execve. The entry becomes `AT_IGNORE`.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::ptrace::{CS_32, registers};

/// Types of entries in the auxiliary vector, see `linux/auxvec.h`.
const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
const AT_SYSINFO_EHDR: u64 = 33;

/// Changes the auxiliary vector of a process that has just executed a program. On the stack are the
/// number of arguments, the arguments and 0, the environment and 0, and the pairs of the vector.
pub fn hide_vdso(process: c_int) -> io::Result<()> {
    let registers = registers(process)?;
    let width = if registers.cs == CS_32 { 4 } else { 8 };
    let memory = File::options().read(true).write(true).open(format!("/proc/{process}/mem"))?;
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
