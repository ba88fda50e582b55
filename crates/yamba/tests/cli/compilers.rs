//! Compilers of any name: wrapper scripts, commands of several words, and programs that are none.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Answer, Yamba};

const ADDS: &str = "yamba adds extends Latency\n{\n    void benchmark(iter_t n) { while (n-- > 0) do_not_optimize(n); }\n}\n";

/// A compiler by this name, which is a shell script, and a command that uses it.
fn with_script(name: &str, script: &str) -> (Yamba, PathBuf) {
    let yamba = Yamba::new().file("adds.yamba", ADDS);
    let place = yamba.folder.path().join("my tools");
    fs::create_dir(&place).unwrap();
    let place = place.join(name);
    fs::write(&place, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    let cache = yamba.folder.path().join("cache");
    (yamba.env("CXX", &place).env("YAMBA_CACHE", cache), place)
}

/// The run of `adds`, which is valid.
fn measured(yamba: &mut Yamba) -> Value {
    let answer = yamba.run("run adds.yamba --quick --json").ok();
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(run["benchmarks"][0]["status"], "ok", "{}", answer.out);
    run
}

#[test]
#[ignore = "needs g++"]
fn wrapper_at_a_path_with_spaces_compiles() {
    let (mut yamba, place) = with_script("compile", "exec g++ \"$@\"");
    let run = measured(&mut yamba);
    assert!(run["producer"]["compiler"].as_str().unwrap().contains("g++"));
    let mut yamba = yamba.env("CXX", format!("{} -DTWICE", place.display()));
    let run = measured(&mut yamba);
    let facts = &run["benchmarks"][0]["provenance"]["inputs"]["facts"];
    assert_eq!(facts["options"], "-DTWICE", "{facts}");
}

/// As with `ccache g++`. The folder of the command does not matter for what is built.
#[test]
#[ignore = "needs g++"]
fn command_of_two_words_compiles_once_for_all_folders() {
    let (yamba, _) = with_script("starts", "echo \"$@\" >>\"$STARTS\"; exec \"$@\"");
    let starts = yamba.folder.path().join("starts");
    let command = format!("{}/my tools/starts g++", yamba.folder.path().display());
    let mut yamba = yamba.env("CXX", command).env("STARTS", &starts);
    let path = yamba.folder.path().join("adds.yamba");
    let build = ["build", path.to_str().unwrap()];
    yamba.run_words(&build).ok();
    let started = || fs::read_to_string(&starts).unwrap();
    let before = started();
    let other = tempfile::tempdir().unwrap();
    let output = yamba.command(&build).current_dir(&other).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The second build asks for the version and the place of a library.
    let after = started();
    assert!(!after[before.len()..].contains(" -o "), "{after}");
}

#[test]
#[ignore = "needs clang++"]
fn clang_by_another_name_is_not_taken_for_gcc() {
    let (mut yamba, _) = with_script("g++", "exec clang++ \"$@\"");
    let run = measured(&mut yamba);
    assert!(run["producer"]["compiler"].as_str().unwrap().contains("clang"));
    // clang++ counts bytes, so a letter of two bytes moves the place of this error.
    let text = ADDS.replace("do_not_optimize(n)", "/* äö */ no_such_name(n)");
    let mut yamba = yamba.file("adds.yamba", text);
    let answer = yamba.run("build adds.yamba").refused(&["no_such_name"]);
    assert!(answer.err.contains("adds.yamba:3:57"), "{}", answer.err);
}

/// clang++ in the place of zig, with its macro, and with its linker, which lists no files.
const ZIG: &str = r#"[ "$1" != c++ ] || shift
for word; do
    shift
    case $word in
    -Wl,-t) echo "error: unsupported linker arg: -t" >&2; exit 1 ;;
    -mcpu=baseline) touch "$MARKS" ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec clang++ -D_LIBCPP_ABI_VERSION=1 "$@""#;

#[test]
#[ignore = "needs clang++"]
fn zig_compiles_for_any_processor_and_its_programs_are_kept() {
    let (yamba, _) = with_script("anything", ZIG);
    let marks = yamba.folder.path().join("baseline");
    let mut yamba = yamba.env("MARKS", &marks);
    let run = measured(&mut yamba);
    assert!(marks.exists(), "it compiled for the processor of this machine");
    let compiler = run["producer"]["compiler"].as_str().unwrap();
    assert!(compiler.starts_with("zig c++ ("), "{compiler}");
    let inputs = &run["benchmarks"][0]["provenance"]["inputs"];
    assert!(inputs["unlisted"].is_null(), "{inputs}");
    assert!(inputs["facts"]["system libraries"].is_string(), "{inputs}");
    fs::remove_file(&marks).unwrap();
    yamba.run("build adds.yamba").ok();
    assert!(!marks.exists(), "it was compiled again");
    // A library by its name is a file that is not known, so the program is not kept.
    yamba.run("build adds.yamba --link m").ok();
    fs::remove_file(&marks).unwrap();
    yamba.run("build adds.yamba --link m").ok();
    assert!(marks.exists(), "a program with an unknown library was kept");
}

/// `pip install yamba[compiler]` where no compiler is: a virtual environment with `yamba` and
/// ziglang.
#[test]
#[ignore = "needs clang++ and g++"]
fn compiler_of_the_python_package_builds_what_is_not_prebuilt() {
    let mut yamba = Yamba::new().without("YAMBA_HOME").file("adds.yamba", ADDS);
    yamba.run("bundle lat_pipe -o suite.bundle").ok();
    let root = yamba.folder.path().to_owned();
    let packages = root.join("lib/python3.11/site-packages");
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::create_dir_all(packages.join("ziglang")).unwrap();
    let program = root.join("bin/yamba");
    fs::copy(env!("CARGO_BIN_EXE_yamba"), &program).unwrap();
    let yamba = yamba
        .env("YAMBA_CACHE", root.join("cache"))
        .env("YAMBA_PREBUILT", root.join("suite.bundle"))
        .env("MARKS", root.join("baseline"))
        .env("PATH", "/nowhere");
    let run = |words: &str| {
        let mut command = yamba.surrounded(&program);
        Answer::read(command.args(words.split(' ')).output().unwrap())
    };
    run("build adds.yamba").refused(&["no C++ compiler", "help: install g++"]);
    fs::create_dir_all(packages.join("yamba")).unwrap();
    fs::write(packages.join("yamba/__init__.py"), "").unwrap();
    run("build adds.yamba").refused(&["pip install 'yamba[compiler]', or install g++"]);
    let zig = packages.join("ziglang/zig");
    fs::write(&zig, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{ZIG}\n")).unwrap();
    fs::set_permissions(&zig, fs::Permissions::from_mode(0o755)).unwrap();
    let compiled = |answer: Answer| {
        let run: Value = serde_json::from_str(&answer.ok().out).unwrap();
        assert_eq!(run["benchmarks"][0]["status"], "ok", "{run}");
        run["producer"]["elsewhere"] != true
    };
    assert!(compiled(run("run adds.yamba --quick --json")));
    let answer = run("run lat_pipe --quick --json");
    assert!(answer.err.contains("the Python package ziglang"), "{}", answer.err);
    assert!(!compiled(answer));
    // One that is not prebuilt decides for all, and so do options of the compiler.
    assert!(compiled(run("run lat_pipe adds.yamba --quick --json")));
    assert!(compiled(run("run lat_pipe -O3 --quick --json")));
}

#[test]
fn program_that_is_no_compiler_is_one_error() {
    for (script, says) in [
        ("exit 0", "no known compiler"),
        ("echo this is no compiler >&2; exit 3", "this is no compiler"),
        ("exit 3", "exit status: 3"),
    ] {
        let (mut yamba, place) = with_script("not a compiler", script);
        let name = format!("{}'` is no C++ compiler", place.display());
        let answer = yamba.run("run adds.yamba lat_pipe lat_syscall_getppid");
        let answer = answer.refused(&[&name, says, "CXX must name"]);
        assert_eq!(answer.err.matches("error:").count(), 1, "{}", answer.err);
        yamba.run("build adds.yamba").refused(&[&name, says]);
        // A bundle does not hide it.
        let mut yamba = yamba.env("YAMBA_PREBUILT", "any.bundle");
        yamba.run("run adds.yamba").refused(&[&name]);
    }
}
