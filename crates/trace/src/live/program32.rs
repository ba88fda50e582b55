//! A 32-bit program that makes system calls.
//!
//! Clock ticks charge more of a call from a 32-bit program to the user than of a call from a 64-bit
//! program ([`super::TickBorder`]). A 64-bit program cannot make the same calls: its calls by `int
//! 0x80` enter the kernel by another path.

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Child;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;

use super::group;
use super::times::Times;

/// Calls of the first run. The number of calls of the second run follows from its time.
const FIRST: u32 = 1 << 17;

/// Calls of the second run are at most this multiple of [`FIRST`]: 6 s if a call takes 700 ns.
const MOST: f64 = 64.0;

/// Load address of the file.
const BASE: u32 = 0x0804_8000;

/// The headers: one of 52 bytes for the file and two of 32 bytes for its segments.
const HEADERS: u32 = 52 + 2 * 32;

/// The work of the program.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Number of passes, at least 1.
    pub passes: u32,
    /// Rounds of an empty loop in each pass, at least 1.
    pub spins: u32,
    /// Whether each pass calls `getppid`.
    pub makes_calls: bool,
}

/// Whether the file of a program, which is searched in `PATH`, has 32-bit code of x86. Only this
/// file counts, and not the programs that it starts.
pub fn is_32_bit(program: &str) -> bool {
    let begins = |path: &Path| -> io::Result<[u8; 20]> {
        let mut begin = [0; 20];
        File::open(path)?.read_exact(&mut begin)?;
        Ok(begin)
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|folder| folder.join(program));
    let found = if program.contains('/') {
        begins(Path::new(program)).ok()
    } else {
        places.find_map(|place| begins(&place).ok())
    };
    // ELFCLASS32 is 1, and EM_386 is 3. Programs for x32 have 32-bit files, too, and make 64-bit
    // calls.
    found.is_some_and(|begin| begin.starts_with(b"\x7fELF\x01") && begin[18..] == [3, 0])
}

/// User time by clock ticks of a system call that a 32-bit program makes, in ns, from about
/// `enough_ns` of processor time.
///
/// # Errors
/// If this system does not run the program, or ends it by a signal.
pub fn user_ns_each_call(enough_ns: f64) -> io::Result<f64> {
    let calls = |passes| Work { passes, spins: 1, makes_calls: true };
    let first = times_of(calls(FIRST))?;
    let more = (enough_ns / first.all_ns()).clamp(1.0, MOST);
    let passes = (f64::from(FIRST) * more) as u32;
    Ok(times_of(calls(passes))?.user_ns / f64::from(passes))
}

/// The processor time of the program.
///
/// # Errors
/// If this system does not run it, or ends it by a signal.
pub fn times_of(work: Work) -> io::Result<Times> {
    let child = start(work)?;
    let (mut status, process) = (0, child.id().cast_signed());
    // SAFETY: all bytes 0 are a valid value of this struct of numbers, which the call then fills.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values of the right type.
    while unsafe { libc::wait4(process, &raw mut status, 0, &raw mut usage) } != process {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
        return Ok(Times::of(&usage));
    }
    let end = if libc::WIFSIGNALED(status) {
        format!("signal {}", libc::WTERMSIG(status))
    } else {
        "no vDSO for 32-bit programs".to_owned()
    };
    Err(io::Error::other(format!("a 32-bit program ended: {end}")))
}

/// Starts the program from a file in memory.
fn start(work: Work) -> io::Result<Child> {
    let make = |flags| memfd_create("program of 32 bits", MemfdFlags::CLOEXEC | flags);
    // Before Linux 6.3, each such file is executable, and the flag is unknown.
    let made = make(MemfdFlags::EXEC).or_else(|error| match error {
        Errno::INVAL => make(MemfdFlags::empty()),
        _ => Err(error),
    });
    let mut file = File::from(made?);
    file.write_all(&program(work))?;
    group(&format!("/proc/self/fd/{}", file.as_raw_fd())).spawn()
}

/// The file of the program, for the loader of Linux on x86: `Elf32_Ehdr`, two `Elf32_Phdr`, and its
/// code.
pub fn program(work: Work) -> Vec<u8> {
    let code = code(work);
    let size = HEADERS + code.len() as u32;
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    // An executable file for EM_386.
    file.extend(halves([2, 3]));
    // Version, first instruction, offset of the headers of segments; no sections, no flags.
    file.extend(words([1, BASE + HEADERS, 52, 0, 0]));
    // Sizes of both kinds of headers, and two of the second kind; no sections.
    file.extend(halves([52, 32, 2, 0, 0, 0]));
    // PT_LOAD, readable and executable.
    file.extend(words([1, 0, BASE, BASE, size, size, 5, 4096]));
    // PT_GNU_STACK, readable and writable.
    file.extend(words([0x6474_e551, 0, 0, 0, 0, 0, 6, 16]));
    file.extend(code);
    file
}

fn halves<const N: usize>(values: [u16; N]) -> impl Iterator<Item = u8> {
    values.into_iter().flat_map(u16::to_le_bytes)
}

fn words<const N: usize>(values: [u32; N]) -> impl Iterator<Item = u8> {
    values.into_iter().flat_map(u32::to_le_bytes)
}

/// The instructions: they call `getppid` by the vDSO, as the C library does, and exit. The status
/// is 1 if the kernel shows no vDSO.
fn code(work: Work) -> Vec<u8> {
    const BEGIN: [u8; 27] = [
        0x8b, 0x0c, 0x24, // mov ecx, [esp]: the number of arguments
        0x8d, 0x74, 0x8c, 0x08, // lea esi, [esp + 4 ecx + 8]: the environment
        0xad, // lodsd: the rest of the environment
        0x85, 0xc0, // test eax, eax
        0x75, 0xfb, // jnz to lodsd
        0xad, // lodsd: the key of an entry of the auxiliary vector
        0x89, 0xc2, // mov edx, eax
        0xad, // lodsd: its value
        0x85, 0xd2, // test edx, edx: AT_NULL
        0x74, 0x25, // jz to status 1
        0x83, 0xfa, 0x20, // cmp edx, 32: AT_SYSINFO
        0x75, 0xf3, // jne to the next entry
        0x89, 0xc7, // mov edi, eax: the entry into the kernel
    ];
    const SPIN: [u8; 8] = [
        0x49, // dec ecx
        0x75, 0xfd, // jnz to dec
        0xb8, 0x40, 0x00, 0x00, 0x00, // mov eax, 64: getppid
    ];
    const END: [u8; 22] = [
        0x4b, // dec ebx
        0x75, 0xee, // jnz to the next pass
        0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1: exit with the status in ebx
        0xcd, 0x80, // int 0x80
        0xbb, 0x01, 0x00, 0x00, 0x00, // mov ebx, 1
        0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1
        0xcd, 0x80, // int 0x80
    ];
    let (passes, spins) = (work.passes.to_le_bytes(), work.spins.to_le_bytes());
    let call: [u8; 2] = if work.makes_calls {
        [0xff, 0xd7] // call edi
    } else {
        [0x66, 0x90] // no operation
    };
    [
        BEGIN.as_slice(),
        &[0xbb], // mov ebx, passes
        &passes,
        &[0xb9], // mov ecx, spins
        &spins,
        &SPIN,
        &call,
        &END,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_of_a_program_is_that_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let mut file = program(Work { passes: 1, spins: 1, makes_calls: true });
        let width = |file: &[u8]| {
            std::fs::write(&path, file).unwrap();
            is_32_bit(path.to_str().unwrap())
        };
        assert!(width(&file));
        // The same class for EM_X86_64, and the same processor with the other class.
        file[18] = 62;
        assert!(!width(&file));
        file[18] = 3;
        file[4] = 2;
        assert!(!width(&file));
        assert!(!width(b"#!/bin/sh\n"));
        assert!(!is_32_bit("no such program"));
    }
}
