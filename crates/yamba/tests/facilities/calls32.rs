//! System calls of 32-bit programs, and the part of them that clock ticks charge to the user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;
use yamba_trace::live::TickBorder;
use yamba_trace::live::program32::{Work, program, times_of};

use crate::Missing;
use crate::support::needs;

const CALLS: u32 = 1 << 18;

fn work(passes: u32, makes_calls: bool) -> Work {
    Work { passes, spins: 20, makes_calls }
}

fn in_file(work: Work) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    fs::write(&path, program(work)).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
    (folder, path)
}

fn runs_32_bit_programs() -> Result<(), Missing> {
    // ENOEXEC: the kernel has no loader for such a file.
    let lacks = |error: &std::io::Error| {
        error.raw_os_error() == Some(8) || error.to_string().contains("no vDSO")
    };
    match times_of(work(1, true)) {
        Err(error) if lacks(&error) => {
            Err(Missing::new("this kernel runs no 32-bit programs of x86"))
        }
        ran => {
            ran.unwrap();
            Ok(())
        }
    }
}

/// strace sees the calls of the program, and no others.
pub fn program_makes_its_calls() -> Result<(), Missing> {
    needs(&["strace"]);
    runs_32_bit_programs()?;
    let (folder, program) = in_file(work(123, true));
    let trace = folder.path().join("trace");
    let mut strace = Command::new("strace");
    let traced = strace.arg("-o").arg(&trace).arg(program).status().unwrap();
    let text = fs::read_to_string(trace).unwrap_or_default();
    if !text.starts_with("execve(") {
        return Err(Missing::new("tracing is not permitted"));
    }
    let names = text.lines().filter_map(|line| line.split_once('('));
    let calls: Vec<&str> = names.map(|(name, _)| name).collect();
    let expected = [vec!["execve"], vec!["getppid"; 123], vec!["exit"]].concat();
    assert_eq!(calls, expected, "{text}");
    assert!(traced.success(), "{text}");
    Ok(())
}

/// The same program without calls takes the user's part of the time. Both alternate, since the
/// machine's speed changes.
pub fn time_of_calls_is_that_beside_known_user_time() -> Result<(), Missing> {
    runs_32_bit_programs()?;
    let (_folder, path) = in_file(work(1, true));
    let found = TickBorder::measure(path.to_str().unwrap()).unwrap();
    assert!(found.failure.is_none(), "{:?}", found.failure);
    let (mut true_ns, mut by_ticks) = (0.0, 0.0);
    const ROUNDS: u32 = 60;
    for _ in 0..ROUNDS {
        let [alone, with_calls] = [false, true].map(|calls| times_of(work(CALLS, calls)).unwrap());
        true_ns += with_calls.all_ns() - alone.all_ns();
        by_ticks += with_calls.kernel_ns - alone.kernel_ns;
    }
    let calls = f64::from(CALLS) * f64::from(ROUNDS);
    let with_border = by_ticks + found.border.missed_ns([calls, 0.0]);
    let each = [with_border, true_ns, by_ticks].map(|ns| ns / calls);
    assert!(
        (with_border / true_ns - 1.0).abs() < 0.15,
        "with the border, truth, and ticks alone, in ns a call: {each:?}"
    );
    Ok(())
}
