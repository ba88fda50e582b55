//! Measuring circles: the order in which tests run, with a simulated clock; and real ones, with and without privilege.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

fn check_with(compiler: &str, flags: &[&str], name: &str) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let runtime = root().join("runtime");
    let done = Command::new(compiler)
        .args(["-std=c++17", "-g1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(&runtime)
        .args(flags)
        .arg(runtime.join("tests/circle.cc"))
        .arg("-o")
        .arg(&out)
        .output()
        .expect("a C++ compiler");
    assert!(done.status.success(), "{}", said(&done));
    let done = Command::new(&out)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
}

#[test]
fn groups_under_sanitizers() {
    let flags = [
        "-O1",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ];
    check_with("g++", &flags, "circle-sanitized");
}

#[test]
fn groups_with_the_other_compiler() {
    if has("clang++") {
        check_with("clang++", &["-O2"], "circle-clang");
    }
}
