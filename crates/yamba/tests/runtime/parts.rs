//! The runtime's own C++ tests under sanitizers. Also checks that its headers compile on all
//! supported platforms.

use std::process::Command;

use crate::cpp::{self, POSIX, SANITIZED, check, check_parts, compile, said};

#[test]
#[ignore = "needs g++"]
fn parts_under_sanitizers() {
    check_parts("g++", &SANITIZED, &["unit"]);
}

/// The author's code may choose a locale whose numbers have a decimal comma.
#[test]
#[ignore = "needs g++ and the sources of glibc's locales"]
fn numbers_do_not_depend_on_locale() {
    let folder = tempfile::tempdir().unwrap();
    let locale = folder.path().join("nb_NO.UTF-8");
    let made = Command::new("localedef").args(["-i", "nb_NO", "-f", "UTF-8"]).arg(&locale).output();
    let made = made.expect("localedef starts: scripts/install-missing test installs it");
    assert!(made.status.success(), "{}", said(&made));
    check_parts("g++", &SANITIZED, &["locale", folder.path().to_str().unwrap()]);
}

/// The choice of a launch's processor, with recorded probes of two processors.
#[test]
#[ignore = "needs g++"]
fn launches_choose_quietest_processor() {
    let recorded = cpp::runtime().join("../tests/records/two-processors.txt");
    check_parts("g++", &SANITIZED, &["quietest", recorded.to_str().unwrap()]);
}

/// The search of `lat_dram_page`, in simulated memory with and without banks.
#[test]
#[ignore = "needs g++"]
fn row_conflicts_of_simulated_memory() {
    check_parts("g++", &SANITIZED, &["row_conflicts"]);
}

#[test]
#[ignore = "needs g++"]
fn composer_agrees_with_naive_model() {
    for seed in ["1", "2", "3"] {
        let done = check_parts("g++", &SANITIZED, &["composer", seed]);
        assert_eq!(said(&done), "ok\n", "seed {seed}");
    }
}

#[test]
#[ignore = "needs g++"]
fn parts_where_only_posix_is_known() {
    check_parts("g++", &POSIX, &["unit"]);
}

#[test]
#[ignore = "needs g++ and clang++"]
fn parts_with_the_other_compiler() {
    check_parts("clang++", &["-O2"], &["unit"]);
}

/// A complete measurement under sanitizers, with its records checked.
#[test]
#[ignore = "needs g++"]
fn measurement_runs_under_sanitizers() {
    let sample = compile("g++", "sample.cc", &SANITIZED, "sample-sanitized");
    for arguments in [
        &["--describe"][..],
        &["--time-ns", "20000"],
        &["--quick", "--time-ns", "20000", "--set", "mode=8"],
        &["--run", "--time-ns", "20000", "--choose", "1", "--home", "0", "--until-quiet"],
        &["--width-probes", "2000000", "--choose", "1"],
        &["--core-pairs"],
    ] {
        let done = check(&sample, arguments);
        assert!(done.stderr.is_empty(), "{}", said(&done));
    }
}

/// Every processor with a compiler here, with records from its emulator.
#[test]
#[ignore = "needs a C++ compiler and an emulator for every instruction set"]
fn other_processors() {
    for (compiler, emulator) in [
        ("aarch64-linux-gnu-g++", Some("qemu-aarch64")),
        ("riscv64-linux-gnu-g++", Some("qemu-riscv64")),
        ("i686-linux-gnu-g++", None),
    ] {
        let sample =
            compile(compiler, "sample.cc", &["-O2", "-static"], &format!("sample-{compiler}"));
        let mut command = match emulator {
            Some(emulator) => Command::new(emulator),
            None => Command::new(&sample),
        };
        if emulator.is_some() {
            command.arg(&sample);
        }
        let done = command.args(["--run", "--time-ns", "20000"]).output().unwrap();
        assert!(done.status.success(), "{}", said(&done));
        assert!(done.stdout.ends_with(b"{\"event\":\"end\"}\n"), "{}", said(&done));
    }
}

/// `runtime/src/runtime.cc` includes the other files, so an `#include` missing from one of them
/// would not show there.
#[test]
#[ignore = "needs g++"]
fn each_source_file_of_the_runtime_compiles_alone() {
    let mut sources = Vec::new();
    for folder in ["src", "support"] {
        let entries = std::fs::read_dir(cpp::runtime().join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        sources.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "cc")));
    }
    sources.sort();
    assert!(sources.len() > 10, "{sources:?}");
    let done = Command::new("g++")
        .args(["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(cpp::runtime())
        .args(&sources)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
}
