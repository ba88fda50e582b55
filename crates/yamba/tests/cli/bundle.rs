//! `yamba bundle`, the files that it makes, and what `yamba import` makes of their output.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use yamba_child_guard::StartGuarded;

use crate::support::Yamba;

/// Runs a bundle and returns its standard output.
fn printed(yamba: &Yamba, words: &[&str]) -> Vec<u8> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(yamba.folder.path());
    let output = command.env("TMPDIR", yamba.folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    output.stdout
}

fn bundled(yamba: &mut Yamba, words: &str) {
    yamba.run(&format!("bundle {words} --quick -o measure")).ok();
}

/// The document of the run that `yamba import` makes of these files.
fn imported(yamba: &mut Yamba, files: &str) -> Value {
    let id = yamba.run(&format!("import {files}")).ok().out;
    let shown = yamba.run(&format!("show {} --json", id.trim())).ok().out;
    serde_json::from_str(&shown).unwrap()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// A document has the same parts as that of a run, and its entries have figures.
#[test]
#[ignore = "needs g++"]
fn imported_run_has_the_form_of_a_run() {
    let mut yamba = Yamba::new();
    let names = "lat_integer_add lat_pipe bw_pipe";
    bundled(&mut yamba, names);
    let capture = printed(&yamba, &["./measure"]);
    serde_json::from_slice::<Value>(&capture).unwrap();
    let mut yamba = yamba.file("capture.json", &capture);
    let run = imported(&mut yamba, "capture.json");
    let direct = yamba.run(&format!("run {names} --quick --json")).ok().out;
    let direct: Value = serde_json::from_str(&direct).unwrap();
    assert_eq!(keys(&run), keys(&direct));
    assert_eq!(run["machine"]["cpu"], direct["machine"]["cpu"]);
    assert_eq!(run["machine"]["cpus"], direct["machine"]["cpus"]);
    assert_eq!(run["sources"], direct["sources"]);
    let entries = |run: &Value| run["benchmarks"].as_array().unwrap().clone();
    let (own, others) = (entries(&run), entries(&direct));
    assert_eq!(own.len(), others.len());
    for (entry, other) in own.iter().zip(&others) {
        for key in ["name", "parameters", "unit", "figure", "swept"] {
            assert_eq!(entry[key], other[key]);
        }
        assert_eq!(keys(&entry["evidence"]), keys(&other["evidence"]));
        assert_eq!(entry["launches"].as_array().unwrap().len(), 2);
        assert!(entry["median"].as_f64().unwrap() > 0.0, "{entry}");
        assert_eq!(entry["provenance"]["files"], other["provenance"]["files"]);
    }
    let again = yamba.run("import capture.json");
    again.refused(&["is in the store already"]);
}

/// Puts a message of the kernel into every fifth line of a log, and repeats every third.
fn interleaved(log: &[u8]) -> Vec<u8> {
    let mut out = b"login: \r\n".to_vec();
    for (number, line) in log.split_inclusive(|b| *b == b'\n').enumerate() {
        let cut = if number % 5 == 0 { line.len() / 2 } else { 0 };
        out.extend_from_slice(&line[..cut]);
        if cut > 0 {
            out.extend_from_slice(b"[    7.123456] usb 1-1: new device\r\n");
        }
        out.extend_from_slice(&line[cut..]);
        if number % 3 == 0 {
            out.extend_from_slice(line);
        }
    }
    out
}

#[test]
#[ignore = "needs g++"]
fn serial_log_gives_the_same_figures_between_messages_of_the_kernel() {
    let mut yamba = Yamba::new();
    bundled(&mut yamba, "lat_integer_add lat_pipe");
    let log = printed(&yamba, &["./measure", "--serial"]);
    let lines = log.split(|b| *b == b'\n');
    assert!(lines.clone().all(|line| line.len() < 256 && line.is_ascii()));
    let noisy = interleaved(&log);
    let count = lines.count();
    let half: Vec<u8> =
        log.split_inclusive(|b| *b == b'\n').take(count / 2).flatten().copied().collect();
    let yamba = yamba.file("clean.log", &log).file("noisy.log", noisy);
    let mut yamba = yamba.file("half.log", half);
    let figures = |yamba: &mut Yamba, words: &str, store: &str| {
        let id = yamba.run(&format!("import {words} --store {store}")).ok();
        let id = id.out.trim().to_owned();
        let shown = yamba.run(&format!("show {id} --json --store {store}")).ok().out;
        let run: Value = serde_json::from_str(&shown).unwrap();
        (run["benchmarks"].clone(), run["sources"].clone())
    };
    let (clean, sources) = figures(&mut yamba, "clean.log", "a.sqlite");
    assert_eq!(clean.as_array().unwrap().len(), 3);
    assert_eq!(figures(&mut yamba, "noisy.log", "b.sqlite").0, clean);
    assert_eq!(figures(&mut yamba, "half.log noisy.log", "c.sqlite").0, clean);
    assert_eq!(sources, serde_json::json!({}));
    // The bundle has what the line does not carry.
    let (with_origin, sources) = figures(&mut yamba, "clean.log --bundle measure", "d.sqlite");
    assert!(sources.as_object().unwrap().len() > 1);
    assert!(with_origin[0]["provenance"]["summary"].is_string());
    // Half of a run names what is missing.
    let cut = yamba.run("import half.log --store e.sqlite").ok();
    assert!(cut.err.contains("the end of the run"), "{}", cut.err);
}

/// Runs a bundle for each other instruction set. An emulator cannot start the programs by itself,
/// so the bundle starts it for each.
#[test]
#[ignore = "needs aarch64-linux-gnu-g++, riscv64-linux-gnu-g++, i686-linux-gnu-g++ and qemu-user"]
fn bundles_of_other_instruction_sets_measure_in_an_emulator() {
    for isa in ["aarch64", "riscv64", "x86_32"] {
        let mut yamba = Yamba::new();
        bundled(&mut yamba, &format!("lat_integer_add lat_pipe --target {isa}-linux"));
        let emulator = format!("qemu-{isa}");
        let capture = if isa == "x86_32" {
            printed(&yamba, &["./measure"])
        } else {
            printed(&yamba, &[&emulator, "./measure", "--emulator", &emulator])
        };
        let mut yamba = yamba.file("capture.json", &capture);
        let run = imported(&mut yamba, "capture.json");
        assert_eq!(run["machine"]["isa"], isa);
        for entry in run["benchmarks"].as_array().unwrap() {
            let notes = entry["notes"].to_string();
            assert_eq!(entry["launches"].as_array().unwrap().len(), 2, "{isa} {notes}");
            assert_eq!(notes.contains("emulated by"), isa != "x86_32", "{isa} {notes}");
        }
    }
}

/// A capture without its last part says nothing about whether the run was stopped.
#[test]
#[ignore = "needs g++"]
fn cut_capture_is_named_and_its_run_is_cut_off() {
    let mut yamba = Yamba::new();
    bundled(&mut yamba, "lat_syscall_getppid");
    let whole = printed(&yamba, &["./measure", "--fleet", "june", "--rank", "007"]);
    let other = String::from_utf8(printed(&yamba, &["./measure"])).unwrap();
    let is_early = |line: &&str| {
        !["launch", "end"].iter().any(|item| line.starts_with(&format!("{{\"item\":\"{item}\"")))
    };
    let cut: Vec<&str> = other.lines().filter(is_early).collect();
    let mut yamba = yamba.file("whole.json", whole).file("cut.json", cut.join("\n"));
    let answer = yamba.run("import whole.json cut.json").ok();
    assert!(answer.err.contains("note: cut.json: not in the capture"), "{}", answer.err);
    assert!(!answer.err.contains("whole.json"), "{}", answer.err);
    let ids: Vec<&str> = answer.out.lines().collect();
    yamba.run("runs").ok().says(&["cut off"]);
    let shown = yamba.run(&format!("show {}", ids[1])).ok().says(&["Without a launch"]);
    assert!(!shown.out.contains("Stopped"), "{}", shown.out);
    let shown = yamba.run(&format!("show {} --json", ids[0])).ok().out;
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["fleet"]["rank"], 7);
}

/// A launch whose line is gone is named, and nothing says that the run was stopped.
#[test]
#[ignore = "needs g++"]
fn lost_launches_of_each_capture_in_a_file_are_named() {
    let mut yamba = Yamba::new();
    bundled(&mut yamba, "lat_syscall_getppid lat_integer_add");
    let without = |capture: Vec<u8>, entry: u64, rounds: u64| {
        let is_lost = |line: &&str| {
            serde_json::from_str::<Value>(line.trim_end_matches(',')).is_ok_and(|item| {
                let is_launch = item["item"] == "launch" && item["entry"] == entry;
                is_launch && item["round"].as_u64() < Some(rounds)
            })
        };
        let text = String::from_utf8(capture).unwrap();
        text.lines().filter(|line| !is_lost(line)).map(|line| format!("{line}\n")).collect()
    };
    let captures: [String; 3] = [
        without(printed(&yamba, &["./measure"]), 0, 1),
        without(printed(&yamba, &["./measure"]), 1, 2),
        without(printed(&yamba, &["./measure"]), 0, 0),
    ];
    let mut yamba = yamba.file("all.json", captures.concat());
    let answer = yamba.run("import all.json").ok();
    let lost = ["1 of its 12 items", "launch 0 is lost", "2 of its 12 items", "launch 1 is lost"];
    lost.iter().for_each(|part| assert!(answer.err.contains(part), "{part}: {}", answer.err));
    let ids: Vec<&str> = answer.out.lines().collect();
    assert_eq!(ids.len(), 3);
    let mut entries = |id: &str| {
        let shown = yamba.run(&format!("show {id} --json")).ok().out;
        assert!(!shown.contains("stopped"), "{shown}");
        serde_json::from_str::<Value>(&shown).unwrap()["benchmarks"].clone()
    };
    let one_lost = entries(ids[0]);
    assert_eq!(one_lost[0]["launches"].as_array().unwrap().len(), 1);
    assert_eq!(one_lost[0]["status"], "ok");
    let all_lost = entries(ids[1]);
    assert_eq!(all_lost[1]["status"], "skipped");
    assert_eq!(all_lost[1]["notes"][0], "launch 0 is lost in the capture");
    assert!(!entries(ids[2]).to_string().contains("lost"));
}

/// A bundle whose output cannot be written stops, and leaves nothing on the machine.
#[test]
#[ignore = "needs g++"]
fn bundle_without_a_reader_ends_and_removes_its_files() {
    let mut yamba = Yamba::new();
    bundled(&mut yamba, "lat_syscall_getppid");
    let scratch = yamba.folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let mut command = Command::new("./measure");
    command.current_dir(yamba.folder.path()).env("TMPDIR", &scratch);
    let mut bundle = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    // The plan comes before the first launch.
    let mut begun = [0; 1000];
    bundle.stdout.take().unwrap().read_exact(&mut begun).unwrap();
    let ended = bundle.finish();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{errors}");
    assert_eq!(errors.matches("standard output: ").count(), 1, "{errors}");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    for option in ["--list", "--dry-run"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let place = yamba.folder.path().join("measure");
        let status = Command::new(place).arg(option).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(3), "{option}");
    }
}

#[test]
fn wrong_captures_and_bundles_are_refused() {
    let document = "{\"schema\":\"yamba-capture/9\",\"items\":[\n]}\n";
    let yamba = Yamba::new().file("new.json", document);
    let mut yamba = yamba.file("noise.log", "~yb 01234567 000000 003. 00000000 abc\n");
    yamba.run("import new.json").refused(&["yamba-capture/1"]);
    yamba.run("import noise.log").refused(&["right checksum"]);
    yamba.run("bundle no_such_benchmark -o x").refused(&["no_such_benchmark"]);
    assert!(!Path::new(yamba.folder.path()).join("x").exists());
    fs::write(yamba.folder.path().join("x"), "text").unwrap();
    let lost = "~yb 01234567 000000 002. 95ef8d1c {}\n";
    fs::write(yamba.folder.path().join("lost.log"), lost).unwrap();
    yamba.run("import lost.log --bundle x").refused(&["no bundle"]);
    yamba.run("bundle cpu lat_pipe -o x").refused(&["cpu is a folder of the suite, and lat_pipe"]);
    yamba.run("bundle lat_mpi -o x").refused(&["lat_mpi", "shared libraries"]);
    yamba.run("bundle lat_pipe -o no/x").refused(&["cannot write no/x"]);
}

/// The bundle names what is wrong with its options. One of which a byte differs, also in its index,
/// is damaged.
#[test]
#[ignore = "needs g++"]
fn wrong_options_and_damaged_bundles_end_with_status_2() {
    let mut yamba = Yamba::new();
    let faulty = "yamba faulty extends Latency { void benchmark(iter_t n) { no_name(n); } }\n";
    yamba = yamba.file("faulty.yamba", faulty);
    // The other benchmark is in the bundle, and the status says that one is missing.
    let answer = yamba.run("bundle lat_pipe faulty.yamba --quick -o measure");
    assert_eq!(answer.status, 1, "{}", answer.err);
    assert!(answer.err.contains("without faulty"), "{}", answer.err);
    let place = yamba.folder.path().join("measure");
    let refusal = |words: &[&str]| {
        let output = Command::new(&place).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (words, said) in [
        (&["--unknown"][..], "--unknown: there is no such option"),
        (&["--repeat", "0"], "--repeat: give a number above 0"),
        (&["--repeat", "2"], "only --serial repeats"),
        (&["--rank", "first"], "give a whole number"),
        (&["--scratch"], "its operand is missing"),
        (&["--scratch", "/no/such/folder"], "/no/such/folder: No such file"),
        (&["--emulator", "no-such-emulator"], "there is no such program"),
    ] {
        let text = refusal(words);
        assert!(text.contains(said) && text.contains("--help"), "{text}");
    }
    let whole = fs::read(&place).unwrap();
    let index = whole.windows(11).position(|w| w == b"\nlaunches 2").expect("its launches");
    let mut changed = whole.clone();
    changed[index + 10] = b'9';
    fs::write(&place, &changed).unwrap();
    assert!(refusal(&["--list"]).contains("its checksum is wrong"));
    fs::write(yamba.folder.path().join("empty.json"), "{}").unwrap();
    yamba.run("import empty.json --bundle measure").refused(&["damaged"]);
    fs::write(&place, &whole).unwrap();
    yamba.run("import empty.json --bundle measure").refused(&["none of the files is the capture"]);
    let capture = printed(&yamba, &["./measure"]);
    let mut yamba = yamba.file("capture.json", capture);
    yamba.run("bundle lat_integer_add --quick -o other").ok();
    yamba.run("import capture.json --bundle other").refused(&["is of the bundle", "not of"]);
    yamba.run("import capture.json --bundle measure").ok();
}
