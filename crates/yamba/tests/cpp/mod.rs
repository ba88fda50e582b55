//! The runtime's own tests are C++: how they are compiled, and what came of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime")
}

/// A program of `runtime/tests`.
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
        .expect("a C++ compiler");
    assert!(done.status.success(), "{}", said(&done));
    out
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

pub fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Runs a test program, which says by its status whether all holds. Leaks are not looked for: the sanitizer cannot where processes may
/// not trace each other, as in many containers.
pub fn check(program: &Path) {
    let done = Command::new(program)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
}
