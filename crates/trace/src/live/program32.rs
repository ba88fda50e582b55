//! A 32-bit program that makes system calls.
//!
//! The kernel disables interrupts for longer at the end of a call from a 32-bit program, so that clock ticks charge more of it to the user. A 64-bit program cannot make such calls in the same way: by `int 0x80`, they
//! take another path.

use std::env;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};

use super::tick_border::{ENOUGH_NS, Used};

/// Calls of the first run, which tells how many calls take long enough.
const FIRST: u32 = 1 << 17;

/// Where the file lies in the memory of its process.
const BASE: u32 = 0x0804_8000;

/// The headers: one of 52 bytes for the file and two of 32 bytes for its segments.
const HEADERS: u32 = 52 + 2 * 32;

/// Whether the file of a program, which is searched in `PATH`, has 32-bit code.
pub fn is_32_bit(program: &str) -> bool {
    let begins = |path: &Path| -> io::Result<[u8; 5]> {
        let mut begin = [0; 5];
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
    // ELFCLASS32 is 1.
    found == Some(*b"\x7fELF\x01")
}

/// User time by clock ticks of a system call that a 32-bit program makes, in ns. `None`: this kernel runs no 32-bit programs of this machine's family.
///
/// # Errors
/// If the program cannot be made, or ended by a signal.
pub fn user_ns_each_call() -> io::Result<Option<f64>> {
    let Some(first) = times_of(FIRST)? else {
        return Ok(None);
    };
    let calls = f64::from(FIRST) * ENOUGH_NS / first.all_ns().max(1.0);
    let calls = calls.clamp(f64::from(FIRST), f64::from(u32::MAX));
    Ok(times_of(calls as u32)?.map(|used| used.user_ns / calls))
}

/// The processor time of the program, which makes this number of calls. `None`: it does not run here.
fn times_of(calls: u32) -> io::Result<Option<Used>> {
    let Some(child) = start(calls)? else {
        return Ok(None);
    };
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
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        return Err(io::Error::other(format!(
            "the 32-bit program was ended by signal {signal}"
        )));
    }
    Ok((libc::WEXITSTATUS(status) == 0).then(|| Used::of(&usage)))
}

/// Starts the program from a file in memory. `None`: this kernel refuses it.
fn start(calls: u32) -> io::Result<Option<Child>> {
    if !cfg!(target_arch = "x86_64") {
        return Ok(None);
    }
    let mut file = File::from(memfd_create("calls of 32 bits", MemfdFlags::CLOEXEC)?);
    file.write_all(&program(calls))?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let child = Command::new(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Ok(child.ok())
}

/// The file of the program, for the loader of Linux on x86: `Elf32_Ehdr`, two `Elf32_Phdr`, and [`code`].
fn program(calls: u32) -> Vec<u8> {
    let code = code(calls);
    let size = HEADERS + code.len() as u32;
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    let halves = |values: &[u16]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    // A program for the processor 386.
    let (kind, sizes) = (halves(&[2, 3]), halves(&[52, 32, 2, 0, 0, 0]));
    let words = |values: &[u32]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    file.extend(kind);
    // Version, first instruction, place of the segments' headers.
    file.extend(words(&[1, BASE + HEADERS, 52, 0, 0]));
    file.extend(sizes);
    // PT_LOAD, readable and executable.
    file.extend(words(&[1, 0, BASE, BASE, size, size, 5, 4096]));
    // PT_GNU_STACK, readable and writable.
    file.extend(words(&[0x6474_e551, 0, 0, 0, 0, 0, 6, 16]));
    file.extend(code);
    file
}

/// The instructions: they call `getppid` by the vDSO, as the C library does, and exit. The status is 1 if the kernel shows no vDSO.
fn code(calls: u32) -> Vec<u8> {
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
        0x74, 0x1d, // jz to status 1
        0x83, 0xfa, 0x20, // cmp edx, 32: AT_SYSINFO
        0x75, 0xf3, // jne to the next entry
        0x89, 0xc7, // mov edi, eax: the entry into the kernel
    ];
    const CALLS: [u8; 29] = [
        0xb8, 0x40, 0x00, 0x00, 0x00, // mov eax, 64: getppid
        0xff, 0xd7, // call edi
        0x4b, // dec ebx
        0x75, 0xf6, // jnz to mov
        0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1: exit with the status in ebx
        0xcd, 0x80, // int 0x80
        0xbb, 0x01, 0x00, 0x00, 0x00, // mov ebx, 1
        0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1
        0xcd, 0x80, // int 0x80
    ];
    // mov ebx, calls
    let number = [&[0xbb], calls.to_le_bytes().as_slice()].concat();
    [BEGIN.as_slice(), &number, &CALLS].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// The program in a file that may be executed.
    fn in_file(calls: u32) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        std::fs::write(&path, program(calls)).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        (folder, path.to_str().unwrap().to_owned())
    }

    #[test]
    fn width_of_programs_is_that_of_their_files() {
        let (_folder, program) = in_file(1);
        assert!(is_32_bit(&program));
        assert!(!is_32_bit(
            std::env::current_exe().unwrap().to_str().unwrap()
        ));
        assert!(!is_32_bit("cat"));
        assert!(!is_32_bit("/proc/version"));
        assert!(!is_32_bit("no such program"));
    }

    #[test]
    #[ignore = "needs strace and a kernel that runs 32-bit programs of x86"]
    fn program_makes_its_calls_and_ends() {
        let (folder, program) = in_file(123);
        let counted = folder.path().join("calls");
        let mut strace = Command::new("strace");
        strace.arg("-o").arg(&counted).arg(program);
        let status = strace.status().unwrap();
        let calls = std::fs::read_to_string(counted).unwrap();
        let number = calls.lines().filter(|l| l.starts_with("getppid()")).count();
        assert_eq!((status.code(), number), (Some(0), 123), "{calls}");
    }

    #[test]
    #[ignore = "needs a kernel that runs 32-bit programs of x86"]
    fn user_time_of_a_call_is_a_part_of_all_its_time() {
        let user_ns = user_ns_each_call().unwrap().unwrap();
        let calls = 4 * FIRST;
        let used = times_of(calls).unwrap().unwrap();
        let all_ns = used.all_ns() / f64::from(calls);
        assert!(
            0.0 < user_ns && user_ns < all_ns,
            "{user_ns} of {all_ns} ns"
        );
    }
}
