//! The runtime's own tests, in C++, under the sanitizers.

use std::process::Command;

use crate::support::root;

#[test]
#[ignore = "needs g++"]
fn composer_agrees_with_naive_model() {
    let root = root();
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("composer");
    let compiled = Command::new("g++")
        .args([
            "-std=c++17",
            "-O1",
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ])
        .arg("-I")
        .arg(root.join("runtime"))
        .arg(root.join("runtime/tests/composer.cc"))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("g++");
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    for seed in ["1", "2", "3"] {
        let output = Command::new(&program)
            .args([seed, "2000"])
            .output()
            .expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(text, "ok\n", "seed {seed}");
    }
}
