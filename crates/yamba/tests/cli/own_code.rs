//! Measuring code of the user: libraries, include folders and options of the compiler, in `compile`
//! clauses and on the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Yamba, needs};

/// Its evidence is the answer of a library, `benchmarks/asks.yamba` beside the folder `library`.
const ASKS: &str = "native {
    #include <answer.h>
}
yamba asks
{
    compile {
        include_dir \"../library\";
        link \"../library/libanswer.a\";
    }
    volatile unsigned x = 0;
    void benchmark() { for (int i = 0; i < 50; i++) x = x + 1; }
    evidence unsigned answer() { return library_answer(); }
}
";

fn compiler(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("g++");
    let status = command.current_dir(folder).args(arguments).status();
    assert!(status.unwrap().success(), "{arguments:?}");
}

/// Packs `NAME.o` into `libNAME.a`.
fn pack(folder: &Path, name: &str) {
    let library = format!("lib{name}.a");
    let _ = fs::remove_file(folder.join(&library));
    let mut archive = Command::new("ar");
    let archive = archive.current_dir(folder);
    let archive = archive.args(["rcs", &library, &format!("{name}.o")]);
    assert!(archive.status().unwrap().success());
}

/// Builds `libNAME.a` of this C++ source.
fn archive(folder: &Path, name: &str, source: &str) {
    fs::create_dir_all(folder).unwrap();
    let file = format!("{name}.cc");
    fs::write(folder.join(&file), source).unwrap();
    compiler(folder, &["-O1", "-c", &file]);
    pack(folder, name);
}

/// Builds `library/libanswer.a` and `library/libshared.so` with this answer.
fn library(yamba: &Yamba, answer: u32) -> PathBuf {
    let folder = yamba.folder.path().join("library");
    fs::create_dir_all(&folder).unwrap();
    let header = "#pragma once\nunsigned library_answer();\n";
    fs::write(folder.join("answer.h"), header).unwrap();
    // A call alone may take no longer than the loop around it.
    let source = format!(
        "#include \"answer.h\"\nunsigned library_answer() {{ volatile unsigned answer = 0; while (answer < {answer}) answer = answer + 1; return answer; }}\n"
    );
    fs::write(folder.join("answer.cc"), source).unwrap();
    compiler(&folder, &["-O1", "-c", "answer.cc"]);
    compiler(
        &folder,
        &["-shared", "-fPIC", "-Wl,-soname,libshared.so", "answer.cc", "-o", "libshared.so"],
    );
    pack(&folder, "answer");
    folder
}

/// A folder `benchmarks` with `asks.yamba`, beside the library with the answer 1. Its path is part
/// of the key of each program, so no other test finds these programs in the common cache.
fn yamba(text: &str) -> Yamba {
    needs(&["ar"]);
    let yamba = Yamba::new();
    let folder = yamba.folder.path().to_owned();
    fs::create_dir(folder.join("benchmarks")).unwrap();
    fs::write(folder.join("benchmarks/asks.yamba"), text).unwrap();
    library(&yamba, 1);
    yamba
}

/// The benchmark of a run with these options.
fn measured(yamba: &mut Yamba, options: &str) -> Value {
    let words = format!("run benchmarks/asks.yamba --quick --time 50ms --json {options}");
    let answer = yamba.run(&words).ok();
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    run["benchmarks"][0].clone()
}

fn answer(benchmark: &Value) -> f64 {
    benchmark["evidence"]["answer"]["median"].as_f64().unwrap()
}

fn program(benchmark: &Value) -> &str {
    benchmark["provenance"]["program"].as_str().unwrap()
}

#[test]
#[ignore = "needs g++ and ar"]
fn clause_links_library_relative_to_its_file_and_its_change_rebuilds_program() {
    let mut yamba = yamba(ASKS);
    let first = measured(&mut yamba, "");
    assert_eq!(answer(&first), 1.0);
    assert_eq!(program(&measured(&mut yamba, "")), program(&first));
    library(&yamba, 2);
    let second = measured(&mut yamba, "");
    assert_eq!(answer(&second), 2.0);
    assert_ne!(program(&second), program(&first));
    library(&yamba, 1);
    assert_eq!(program(&measured(&mut yamba, "")), program(&first));
}

/// Otherwise the linker would take the function from the archive of the clause, and the program
/// would load the shared object from its folder.
#[test]
#[ignore = "needs g++ and ar"]
fn library_of_the_command_line_replaces_that_of_the_clause() {
    for name in ["libanswer.a", "libshared.so"] {
        let mut yamba = yamba(&ASKS.replace("libanswer.a", name));
        let folder = yamba.folder.path().to_owned();
        fs::rename(folder.join("library"), folder.join("other")).unwrap();
        library(&yamba, 2);
        assert_eq!(answer(&measured(&mut yamba, "")), 2.0);
        let replaced = measured(&mut yamba, &format!("-l other/{name}"));
        assert_eq!(answer(&replaced), 1.0);
    }
}

/// The linker searches an archive only for what it misses so far.
#[test]
#[ignore = "needs g++ and ar"]
fn replaced_library_stands_before_those_that_it_needs() {
    let links = "\"../library/libanswer.a\"";
    let both = format!("{links}, \"../needed/libneeded.a\"");
    let mut yamba = yamba(&ASKS.replace(links, &both));
    for (place, answer) in [("library", 3), ("other", 4)] {
        let folder = yamba.folder.path().join(place);
        let source = format!(
            "unsigned needed(); unsigned library_answer() {{ return needed() + {answer}; }}"
        );
        archive(&folder, "answer", &source);
    }
    let needed = yamba.folder.path().join("needed");
    archive(&needed, "needed", "unsigned needed() { return 10; }");
    assert_eq!(answer(&measured(&mut yamba, "")), 13.0);
    let replaced = measured(&mut yamba, "-l other/libanswer.a");
    assert_eq!(answer(&replaced), 14.0);
}

#[test]
#[ignore = "needs g++ and ar"]
fn flags_are_recorded_by_origin_and_each_makes_another_program() {
    let mut yamba = yamba(ASKS);
    let all = [
        ("", ""),
        ("-O3", "-O3"),
        ("-O0", "-O0"),
        ("-DNUMBER=3", "-DNUMBER=3"),
        ("--std gnu++20", "-std=gnu++20"),
        ("--link m", "-lm"),
    ];
    let mut programs = Vec::new();
    for (options, recorded) in all {
        let benchmark = measured(&mut yamba, options);
        assert_eq!(answer(&benchmark), 1.0, "{options}");
        let inputs = &benchmark["provenance"]["inputs"];
        let facts = &inputs["facts"];
        assert_eq!(facts["compile clauses"], "libanswer.a", "{options}");
        assert_eq!(facts["command line"].as_str().unwrap_or(""), recorded);
        let folder = yamba.folder.path().canonicalize().unwrap();
        let library = folder.join("library");
        let clauses = json!({
            "compile": ["-I", library],
            "link": [library.join("libanswer.a")],
        });
        assert_eq!(inputs["flags"]["clauses"], clauses);
        programs.push(program(&benchmark).to_owned());
    }
    programs.sort();
    programs.dedup();
    assert_eq!(programs.len(), all.len());
}

/// Without the clause, the options of the command line take its place. They also reach `build` and
/// `disasm`.
#[test]
#[ignore = "needs g++ and ar"]
fn command_line_replaces_clause() {
    let (before, rest) = ASKS.split_once("    compile {").unwrap();
    let (_, after) = rest.split_once("}\n").unwrap();
    let text = format!("{before}    bitstring one = 0xc3;\n{after}");
    let mut yamba = yamba(&text);
    let options = "-I library --link library/libanswer.a";
    assert_eq!(answer(&measured(&mut yamba, options)), 1.0);
    yamba.run(&format!("build benchmarks/asks.yamba {options}")).ok();
    yamba.run(&format!("disasm benchmarks/asks.yamba one {options}")).ok();
    let missing = yamba.run("build benchmarks/asks.yamba");
    missing.refused(&["answer.h", "No such file"]);
}

#[test]
#[ignore = "needs g++ and ar"]
fn shared_object_and_package_are_found_at_run_time() {
    let shared = ASKS.replace("libanswer.a", "libshared.so");
    let mut yamba = yamba(&shared);
    assert_eq!(answer(&measured(&mut yamba, "")), 1.0);
    library(&yamba, 2);
    assert_eq!(answer(&measured(&mut yamba, "")), 2.0);

    needs(&["pkg-config"]);
    let folder = yamba.folder.path().join("library");
    let package = format!(
        "folder={}\nName: answer\nDescription: answers\nVersion: 1\nCflags: -I${{folder}} -DPACKAGE=1\nLibs: -L${{folder}} -lshared\n",
        folder.display()
    );
    fs::write(folder.join("answer.pc"), package).unwrap();
    let (before, rest) = ASKS.split_once("        include_dir").unwrap();
    let (_, after) = rest.split_once("libanswer.a\";\n").unwrap();
    let text = format!("{before}        pkg_config \"answer\";\n{after}");
    let text = text.replace("library_answer();", "library_answer() + PACKAGE;");
    fs::write(yamba.folder.path().join("benchmarks/asks.yamba"), text).unwrap();
    yamba = yamba.env("PKG_CONFIG_PATH", &folder);
    assert_eq!(answer(&measured(&mut yamba, "")), 3.0);
}

/// A fault of a clause has its place in the file.
#[test]
#[ignore = "needs g++ and ar"]
fn setting_that_cannot_be_used_is_refused_at_its_place() {
    let mut yamba = yamba(ASKS);
    let path = yamba.folder.path().join("benchmarks/asks.yamba");
    let faults = [
        ("link \"gone.a\";", ":8:14", "there is no library"),
        ("link \"does_not_exist\";", ":8:14", "no library `does_not_exist`"),
        ("include_dir \"gone\";", ":8:21", "there is no folder"),
        ("pkg_config \"no_such_package\";", ":8:20", "`no_such_package`"),
        ("std \"c++14\";", ":8:13", "older than C++17"),
        ("opt \"3\";", ":8:9", "no setting `opt`"),
    ];
    for (setting, place, fault) in faults {
        let text = ASKS.replace("        link", &format!("        {setting}\n        link"));
        fs::write(&path, text).unwrap();
        let refused = yamba.run("build benchmarks/asks.yamba");
        refused.refused(&[&format!("asks.yamba{place}"), fault]);
    }
    fs::write(&path, ASKS).unwrap();
    let options = [
        ("--link gone.a", "--link: there is no library"),
        ("--link does_not_exist", "no library `does_not_exist`"),
        ("-I gone", "--include-dir: there is no folder"),
        ("--pkg-config no_such_package", "`no_such_package`"),
        ("--std c++14", "older than C++17"),
        ("-O4", "no optimisation level"),
        ("-D 3=4", "name of a macro"),
    ];
    for (option, fault) in options {
        let refused = yamba.run(&format!("build benchmarks/asks.yamba {option}"));
        refused.refused(&[fault]);
    }
    yamba = yamba.env("PKG_CONFIG", "no-pkg-config");
    let refused = yamba.run("build benchmarks/asks.yamba --pkg-config zlib");
    refused.refused(&["no-pkg-config is not installed", "PKG_CONFIG"]);
}

#[test]
#[ignore = "needs g++ and ar"]
fn time_measures_function_of_library() {
    let mut yamba = yamba(ASKS);
    let folder = yamba.folder.path().join("library");
    let statement = "library_answer();";
    for link in ["libanswer.a", "libshared.so"] {
        let link = folder.join(link).display().to_string();
        let header = folder.join("answer.h").display().to_string();
        let words = ["time", "--json", "--include", &header, "--link", &link, statement];
        let answer = yamba.run_words(&words).ok();
        let run: Value = serde_json::from_str(&answer.out).unwrap();
        let inputs = &run["benchmarks"][0]["provenance"]["inputs"];
        let linked = inputs["flags"]["command_line"]["link"][0].as_str();
        assert_eq!(linked, fs::canonicalize(&link).unwrap().to_str());
    }
    let missing = yamba.run_words(&["time", "--link", "gone.a", statement]);
    missing.refused(&["--link: there is no library", "gone.a"]);
}

/// Two contents of one path. The second one takes twenty times as long.
#[test]
#[ignore = "needs g++ and ar"]
fn time_measures_the_new_content_of_a_shared_object() {
    let mut yamba = Yamba::new().file("work.h", "extern \"C\" void work();\n");
    let folder = yamba.folder.path().to_owned();
    for (tag, rounds) in [("first", 100), ("second", 2000)] {
        let source = format!(
            "volatile unsigned x; extern \"C\" void work() {{ for (int i = 0; i < {rounds}; i++) x = x + 1; }}"
        );
        fs::write(folder.join("x.cc"), source).unwrap();
        compiler(&folder, &["-O1", "-shared", "-fPIC", "x.cc", "-o", "libx.so"]);
        let words = ["time", "--json", "--include", "work.h", "--link", "./libx.so", "work();"];
        let run = yamba.run_words(&words).ok().out;
        yamba = yamba.file(&format!("{tag}.json"), run);
    }
    let found = yamba.run("compare first.json second.json --json");
    let found: Value = serde_json::from_str(&found.out).unwrap();
    let ratio = found["benchmarks"][0]["ratio"].as_f64().unwrap();
    assert!(ratio > 5.0, "{found}");
}

fn provenance(yamba: &mut Yamba, run: &str) -> Value {
    let shown = yamba.run(&format!("show {run} --json")).ok();
    let run: Value = serde_json::from_str(&shown.out).unwrap();
    run["benchmarks"][0]["provenance"].clone()
}

fn compared(yamba: &mut Yamba) -> Value {
    let answer = yamba.run("compare first second --json --remeasure");
    assert!(answer.status < 2, "{}", answer.err);
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
#[ignore = "needs g++ and ar"]
fn remeasure_builds_with_recorded_flags() {
    // A cache that the test can empty.
    let yamba = yamba(ASKS);
    let cache = yamba.folder.path().join("cache");
    let mut yamba = yamba.env("YAMBA_CACHE", &cache);
    let run = "run benchmarks/asks.yamba --quick --time 50ms";
    for (tag, options) in [("first", "-O1 -DNUMBER=1"), ("second", "-O3")] {
        yamba.run(&format!("{run} {options}")).ok();
        yamba.run(&format!("tag latest {tag}")).ok();
    }
    let document = compared(&mut yamba);
    assert_eq!(document["remeasured"]["benchmarks"], json!(1), "{document}");
    for (side, tag) in [("a", "first"), ("b", "second")] {
        let id = document["remeasured"][side]["id"].as_str().unwrap();
        let [remade, stored] = [id, tag].map(|name| provenance(&mut yamba, name));
        assert_eq!(remade["program"], stored["program"], "{side}");
        assert_eq!(remade["inputs"]["flags"], stored["inputs"]["flags"]);
    }
    // The cache holds the programs of both runs.
    let folder = yamba.folder.path().join("library");
    library(&yamba, 2);
    let document = compared(&mut yamba);
    assert_eq!(document["remeasured"]["benchmarks"], json!(1), "{document}");
    for (side, tag) in [("a", "first"), ("b", "second")] {
        let id = document["remeasured"][side]["id"].as_str().unwrap();
        let [remade, stored] = [id, tag].map(|name| provenance(&mut yamba, name));
        assert_eq!(remade["program"], stored["program"], "{side}");
    }
    fs::remove_dir_all(cache.join("programs")).unwrap();
    let reason = |document: Value| document["benchmarks"][0]["reason"].to_string();
    let changed = reason(compared(&mut yamba));
    assert!(changed.contains("it was linked with another "), "{changed}");
    fs::remove_file(folder.join("libanswer.a")).unwrap();
    let gone = reason(compared(&mut yamba));
    assert!(gone.contains("libanswer.a, which no longer exists"), "{gone}");
}

/// Functions of a program without optimisation do not replace those of the harness that read the
/// length of a cycle.
#[test]
#[ignore = "needs g++ and nm"]
fn harness_keeps_its_own_functions_without_optimisation() {
    needs(&["nm"]);
    let text = ASKS.replace("return library_answer();", "return yamba::cycle_length() > 0;");
    let mut yamba = yamba(&text);
    let built = yamba.run("build benchmarks/asks.yamba -O0").ok();
    let mut symbols = Command::new("nm");
    let output = symbols.arg(built.out.trim()).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let named = output.lines().filter(|l| l.contains("cycle_lengthEv"));
    let kinds: Vec<&str> = named.filter_map(|l| l.split(' ').nth(1)).collect();
    assert!(kinds.contains(&"t") && kinds.contains(&"W"), "{output}");
}
