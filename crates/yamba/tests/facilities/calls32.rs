//! `yamba trace` of a 32-bit program counts its calls.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::Missing;
use crate::support::{Yamba, needs};
use crate::tracing::{calls, traced, with_bpf};

/// The number of calls of `getppid`.
const CALLS: u32 = 123;

/// Load address of the file.
const BASE: u32 = 0x0804_8000;

/// The headers: one of 52 bytes for the file and one of 32 bytes for its segment.
const HEADERS: u32 = 52 + 32;

/// An executable file for EM_386 with this code: `Elf32_Ehdr` and an `Elf32_Phdr`.
fn program(code: &[u8]) -> Vec<u8> {
    let size = HEADERS + code.len() as u32;
    let halves = |values: &[u16]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let words = |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend(halves(&[2, 3]));
    // Version, first instruction, offset of the header of the segment; no sections, no flags.
    file.extend(words(&[1, BASE + HEADERS, 52, 0, 0]));
    // Sizes of both kinds of headers, and one of the second kind; no sections.
    file.extend(halves(&[52, 32, 1, 0, 0, 0]));
    // PT_LOAD, readable and executable.
    file.extend(words(&[1, 0, BASE, BASE, size, size, 5, 4096]));
    file.extend(code);
    file
}

/// Calls `getppid` [`CALLS`] times, and exits.
fn code() -> Vec<u8> {
    let mut code = vec![0xbb]; // mov ebx, CALLS
    code.extend(CALLS.to_le_bytes());
    code.extend([
        0xb8, 0x40, 0x00, 0x00, 0x00, // mov eax, 64: getppid
        0xcd, 0x80, // int 0x80
        0x4b, // dec ebx
        0x75, 0xf6, // jnz to mov eax
        0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1: exit with the status in ebx
        0xcd, 0x80, // int 0x80
    ]);
    code
}

/// Puts the program into the folder, if this kernel runs it.
fn with_program(yamba: &Yamba) -> Result<(), Missing> {
    let path = yamba.folder.path().join("program");
    fs::write(&path, program(&code())).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
    match Command::new(&path).status() {
        // ENOEXEC: the kernel has no loader for such a file.
        Err(error) if error.raw_os_error() == Some(8) => {
            Err(Missing::new("this kernel runs no 32-bit programs of x86"))
        }
        ran => {
            assert!(ran.unwrap().success());
            Ok(())
        }
    }
}

pub fn strace_counts_the_calls_of_a_32_bit_process() -> Result<(), Missing> {
    needs(&["strace"]);
    let mut yamba = Yamba::new();
    with_program(&yamba)?;
    assert_eq!(calls(&traced(&mut yamba, "strace", &["./program"]))["getppid"], f64::from(CALLS));
    Ok(())
}

pub fn bpf_counts_the_calls_of_a_32_bit_process() -> Result<(), Missing> {
    let mut yamba = with_bpf()?;
    with_program(&yamba)?;
    assert_eq!(calls(&traced(&mut yamba, "bpf", &["./program"]))["getppid"], f64::from(CALLS));
    Ok(())
}
