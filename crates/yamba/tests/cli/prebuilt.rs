//! Benchmarks without a compiler: the programs of a bundle, as packages contain it.

use std::fs;

use serde_json::Value;

use crate::support::Yamba;

/// A bundle of two benchmarks, and a command that finds it and no compiler.
fn without_compiler() -> Yamba {
    let mut yamba = Yamba::new().without("YAMBA_HOME");
    yamba.run("bundle lat_syscall_getppid lat_pipe -o suite.bundle").ok();
    let place = yamba.folder.path().join("suite.bundle");
    let cache = yamba.folder.path().join("cache");
    yamba.env("YAMBA_PREBUILT", place).env("YAMBA_CACHE", cache).env("PATH", "/nowhere")
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
#[ignore = "needs g++"]
fn bundle_is_measured_without_a_compiler_and_the_run_says_so() {
    let mut yamba = without_compiler();
    let answer = yamba.run("run lat_syscall_getppid lat_pipe --quick --json").ok();
    let said = answer.err.matches("there is no C++ compiler").count();
    assert_eq!(said, 1, "{}", answer.err);
    let run = document(&answer.out);
    let entries = run["benchmarks"].as_array().unwrap();
    assert!(entries.iter().all(|e| e["status"] == "ok"), "{}", answer.out);
    assert_eq!(run["producer"]["elsewhere"], true);
    // The run has the compiler and the sources of the bundle's programs. These are linked
    // statically, so they are others than those that are compiled here.
    let mut compiling = Yamba::new().without("YAMBA_HOME");
    let direct = compiling.run("run lat_syscall_getppid --quick --json").ok().out;
    let direct = document(&direct);
    let compiler = &run["producer"]["compiler"];
    assert!(compiler.is_string() && *compiler == direct["producer"]["compiler"], "{compiler}");
    let [own, other] = [&run, &direct].map(provenance);
    assert!(own["files"].is_array() && own["files"] == other["files"], "{own}");
    assert!(own["program"].is_string() && own["program"] != other["program"], "{own}");
    // They are unpacked once.
    let before = unpacked(&yamba);
    assert_eq!(before.len(), 2);
    yamba.run("run lat_pipe --quick").ok();
    assert_eq!(unpacked(&yamba), before);
}

/// The provenance of the entry of `lat_syscall_getppid`.
fn provenance(run: &Value) -> Value {
    let mut entries = run["benchmarks"].as_array().unwrap().iter();
    entries.find(|e| e["name"] == "lat_syscall_getppid").unwrap()["provenance"].clone()
}

/// The unpacked programs with the time at which each was written.
fn unpacked(yamba: &Yamba) -> Vec<(std::path::PathBuf, std::time::SystemTime)> {
    let cache = fs::read_dir(yamba.folder.path().join("cache")).unwrap().flatten();
    let folders = cache.filter(|e| e.file_name().to_string_lossy().starts_with("programs-"));
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
    let mut all: Vec<_> =
        files.map(|f| (f.path(), f.metadata().unwrap().modified().unwrap())).collect();
    all.sort();
    all
}

#[test]
#[ignore = "needs g++"]
fn what_is_not_prebuilt_is_named_with_its_remedy() {
    let mut yamba = without_compiler();
    yamba = yamba.file(
        "mine.yamba",
        "yamba mine extends Latency { void benchmark(iter_t n) { while (n-- > 0) do_not_optimize(n); } }\n",
    );
    let answer = yamba.run("run lat_pipe bw_pipe --quick");
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    assert!(answer.err.contains("bw_pipe is not among the prebuilt programs"), "{}", answer.err);
    assert!(answer.err.contains("apt install g++"), "{}", answer.err);
    let answer = yamba.run("run mine.yamba");
    assert_eq!(answer.status, 2, "{}{}", answer.out, answer.err);
    assert!(answer.err.contains("mine is not among the prebuilt programs"), "{}", answer.err);
    yamba.run("run lat_pipe -O3").refused(&["no C++ compiler"]);
}

/// A benchmark that no bundle can contain is skipped, and the others are measured.
#[test]
#[ignore = "needs g++"]
fn benchmark_with_shared_libraries_is_skipped_with_its_remedy() {
    let mut yamba = Yamba::new().without("YAMBA_HOME");
    yamba.run("bundle lat_pipe lat_mpi -o suite.bundle").ok();
    let place = yamba.folder.path().join("suite.bundle");
    let mut yamba = yamba.env("YAMBA_PREBUILT", place).env("PATH", "/nowhere");
    let answer = yamba.run("run lat_pipe lat_mpi --quick --json").ok();
    let run = document(&answer.out);
    let entries = run["benchmarks"].as_array().unwrap();
    let entry = entries.iter().find(|e| e["class"] == "lat_mpi").unwrap();
    assert_eq!(entry["status"], "skipped", "{entry}");
    let note = entry["notes"][0].as_str().unwrap();
    assert!(note.contains("shared libraries") && note.contains("apt install g++"), "{note}");
    // A class of one's own with this name is another benchmark.
    let text = "yamba lat_mpi extends Latency { void benchmark(iter_t n) { while (n-- > 0) do_not_optimize(n); } }\n";
    let answer = yamba.file("lat_mpi.yamba", text).run("run lat_mpi.yamba");
    assert_eq!(answer.status, 2, "{}{}", answer.out, answer.err);
    assert!(answer.err.contains("lat_mpi is not among the prebuilt programs"), "{}", answer.err);
}

/// A class of one's own with the name of a prebuilt one, or another base class, is another
/// benchmark.
#[test]
#[ignore = "needs g++"]
fn changed_class_is_not_prebuilt() {
    let mut yamba = without_compiler();
    let text = "yamba lat_pipe extends Latency { void benchmark(iter_t n) { while (n-- > 0) do_not_optimize(n); } }\n";
    yamba = yamba.file("lat_pipe.yamba", text);
    let answer = yamba.run("run lat_pipe.yamba");
    assert_eq!(answer.status, 2, "{}{}", answer.out, answer.err);
    assert!(answer.err.contains("lat_pipe is not among the prebuilt programs"), "{}", answer.err);
}

#[test]
#[ignore = "needs g++"]
fn unusable_bundle_is_refused_by_name() {
    let mut yamba = without_compiler();
    let place = yamba.folder.path().join("suite.bundle");
    let whole = fs::read(&place).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"", &[whole.as_slice(), b"x"].concat()] {
        fs::write(&place, damaged).unwrap();
        yamba.run("run lat_pipe --quick").refused(&["suite.bundle", "a damaged one"]);
    }
    fs::write(&place, &whole).unwrap();
    // A checkout has other files than the program, or may have them.
    let mut other = without_compiler().env("YAMBA_HOME", crate::support::root());
    other.run("run lat_pipe --quick").refused(&["built from other files"]);
    let mut none = Yamba::new().without("YAMBA_HOME").env("YAMBA_PREBUILT", "nowhere.bundle");
    none.run("run lat_pipe --prebuilt").refused(&["nowhere.bundle"]);
    let mut none = Yamba::new().without("YAMBA_HOME");
    none.run("run lat_pipe --prebuilt").refused(&["no prebuilt programs", "YAMBA_PREBUILT"]);
}

/// `--prebuilt` and studies, where a compiler is.
#[test]
#[ignore = "needs g++"]
fn prebuilt_programs_are_measured_where_a_compiler_is() {
    let mut yamba = without_compiler();
    let study = r#"title = "Pipes"
[[measurement]]
category = "Pipes"
label = "round trip"
benchmark = "lat_pipe"
unit = "us"
"#;
    yamba = yamba.file("pipes.toml", study).env("PATH", std::env::var_os("PATH").unwrap());
    let answer = yamba.run("run lat_pipe --quick --json --prebuilt").ok();
    assert_eq!(document(&answer.out)["producer"]["elsewhere"], true);
    assert!(!answer.err.contains("compiler"), "{}", answer.err);
    yamba
        .run("run lat_pipe -O3 --prebuilt")
        .refused(&["prebuilt programs take no options of a compiler"]);
    let answer = yamba.run("study pipes.toml --quick --prebuilt --json");
    assert!(answer.status < 2, "{}{}", answer.out, answer.err);
    let run = yamba.run("show latest --json").ok().out;
    assert_eq!(document(&run)["producer"]["elsewhere"], true);
}

/// The program of a bundle is used only while the headers that it includes are as they were.
#[test]
#[ignore = "needs g++"]
fn program_with_a_changed_header_is_not_prebuilt() {
    let text = "native { #include \"work.h\" }\n\
        yamba works extends Latency { void benchmark(iter_t n) { while (n-- > 0) work(); } }\n";
    let header = "static inline void work() { asm volatile(\"\"); }\n";
    let mut yamba =
        Yamba::new().without("YAMBA_HOME").file("works.yamba", text).file("work.h", header);
    yamba.run("bundle works.yamba -o works.bundle").ok();
    let place = yamba.folder.path().join("works.bundle");
    let mut yamba = yamba.env("YAMBA_PREBUILT", place);
    let run = document(&yamba.run("run works.yamba --prebuilt --quick --json").ok().out);
    let hash = &run["benchmarks"][0]["provenance"]["inputs"]["includes"][0]["hash"];
    assert_eq!(run["sources"][hash.as_str().unwrap()], header);
    let mut yamba = yamba.file("work.h", "static inline void work() { asm volatile(\"nop\"); }\n");
    let answer = yamba.run("run works.yamba --prebuilt --quick");
    assert_eq!(answer.status, 2, "{}{}", answer.out, answer.err);
    assert!(answer.err.contains("works is not among the prebuilt programs"), "{}", answer.err);
}

/// Programs for another processor run in their emulator, and only on request.
#[test]
#[ignore = "needs g++ and an emulator"]
fn prebuilt_programs_of_another_processor_are_emulated() {
    let mut yamba = Yamba::new().without("YAMBA_HOME");
    yamba.run("bundle lat_integer_add --target riscv64-linux --quick -o suite.bundle").ok();
    let place = yamba.folder.path().join("suite.bundle");
    let mut yamba = yamba.env("YAMBA_PREBUILT", place);
    let words = "run lat_integer_add --prebuilt --target riscv64-linux --quick --json";
    let run = document(&yamba.run(words).ok().out);
    let notes = run["benchmarks"][0]["notes"].to_string();
    assert!(notes.contains("emulated by qemu-riscv64"), "{notes}");
    let mut yamba = yamba.env("PATH", "/nowhere");
    yamba.run("run lat_integer_add --target riscv64-linux").refused(&["no C++ compiler"]);
}

/// Nothing replaces the compiler that a user has chosen.
#[test]
fn mistyped_compiler_is_named() {
    let mut yamba = Yamba::new().env("CXX", "no-such-compiler -O2");
    for words in ["run lat_pipe --quick", "run lat_pipe --quick --dry-run", "build lat_pipe"] {
        yamba.run(words).refused(&["CXX", "there is no program `no-such-compiler`"]);
    }
}
