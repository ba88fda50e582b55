//! Compiles and runs the runtime's own C++ tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime")
}

/// Compiles a program of `runtime/tests`.
pub fn compile(compiler: &str, source: &str, flags: &[&str], name: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let done = Command::new(compiler)
        .args(["-std=c++17", "-g1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(runtime())
        .args(flags)
        .arg(runtime().join("tests").join(source))
        .arg("-o")
        .arg(&out)
        .output()
        .unwrap_or_else(|e| panic!("{compiler}: {e}: scripts/install-missing test installs it"));
    assert!(done.status.success(), "{}", said(&done));
    out
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs a test program, whose exit status reports the result. Leak detection is off, since the sanitizer needs to trace processes, which many
/// containers forbid.
pub fn check(program: &Path) {
    let done = Command::new(program)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
}
