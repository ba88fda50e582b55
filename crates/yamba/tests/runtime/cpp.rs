//! Compiles and runs the runtime's own C++ tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Options of g++ under which faults of memory and undefined behaviour end the program.
pub const SANITIZED: [&str; 3] =
    ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Options for a system of which only POSIX is known.
pub const POSIX: [&str; 2] = ["-O2", "-DYAMBA_SYSTEM_POSIX"];

pub fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime")
}

fn temporary() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// A program of `runtime/tests` under the file name `name`.
pub fn compile(compiler: &str, source: &str, flags: &[&str], name: &str) -> PathBuf {
    let program = compiled(compiler, source, flags);
    let named = temporary().join(name);
    // Left by an earlier run of the tests.
    let _ = fs::remove_file(&named);
    fs::hard_link(program, &named).unwrap();
    named
}

/// A program of `runtime/tests`. Tests that want the same program share one compilation.
fn compiled(compiler: &str, source: &str, flags: &[&str]) -> PathBuf {
    type Compiled = Arc<OnceLock<PathBuf>>;
    static COMPILED: Mutex<BTreeMap<String, Compiled>> = Mutex::new(BTreeMap::new());
    let key = [&[compiler, source], flags].concat().join(" ");
    let compiled = {
        let mut all = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key.clone()).or_default().clone()
    };
    let program = compiled.get_or_init(|| {
        let out = temporary().join(key.replace('/', "_"));
        translate(compiler, source, flags, &out);
        out
    });
    program.clone()
}

fn translate(compiler: &str, source: &str, flags: &[&str], out: &Path) {
    let done = Command::new(compiler)
        .args(["-std=c++17", "-g1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(runtime())
        .args(flags)
        .arg(runtime().join("tests").join(source))
        .arg("-o")
        .arg(out)
        .output()
        .unwrap_or_else(|e| panic!("{compiler}: {e}: scripts/install-missing test installs it"));
    assert!(done.status.success(), "{}", said(&done));
}

/// The command with the suite of this checkout, and with the cache of the command-line tests, which
/// have built its harness.
pub fn yamba() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_yamba"));
    command
        .env("YAMBA_HOME", runtime().join(".."))
        .env("YAMBA_CACHE", temporary().join("cache"))
        // Cargo's value would make other programs than those of the command-line tests.
        .env_remove("LD_LIBRARY_PATH");
    command
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs a test program, whose exit status reports the result. Leak detection is off, since the
/// sanitizer needs to trace processes, which many containers forbid.
pub fn check(program: &Path, arguments: &[&str]) -> Output {
    let done = Command::new(program)
        .args(arguments)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
    done
}

/// Runs a group of the tests of `runtime/tests/parts.cc`.
pub fn check_parts(compiler: &str, flags: &[&str], group: &[&str]) -> Output {
    check(&compiled(compiler, "parts.cc", flags), group)
}
