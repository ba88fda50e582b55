//! A program is determined by its inputs: any changed input makes another program, and unchanged
//! inputs make the same one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Answer, Yamba, needs};

/// Its evidence has the value that its header defines.
const ASKS: &str = "native {
#include <answer.h>
}
yamba asks
{
    volatile unsigned x = 0;
    void benchmark() { x = x + 1; }
    evidence uint64_t answer() expects [0, 1000] { return ANSWER; }
}
";

/// A compiler that records its calls in `calls`, after running `first`. It does not optimise the
/// harness, which each of these tests compiles.
fn wrapper(folder: &Path, first: &str) {
    let path = folder.join("compiler");
    let text = format!(
        "#!/bin/sh\n{first}\necho \"$*\" >> \"${{0%/*}}/calls\"\n\
         case \"$*\" in */src/runtime.cc*) set -- \"$@\" -O0 ;; esac\nexec g++ \"$@\"\n"
    );
    // Replaced, not overwritten, since another test may be starting it at this moment.
    let aside = folder.join("compiler.new");
    fs::write(&aside, text).unwrap();
    fs::set_permissions(&aside, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(aside, path).unwrap();
}

/// `asks.yamba` with a header in `first`, which precedes `second` in `CPATH`, and a separate cache.
fn yamba(text: &str) -> Yamba {
    let yamba = Yamba::new().file("asks.yamba", text);
    let folder = yamba.folder.path().to_owned();
    for name in ["first", "second"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    wrapper(&folder, "");
    let path = format!("{0}/first:{0}/second", folder.display());
    yamba
        .env("CPATH", path)
        .env("CXX", folder.join("compiler"))
        .env("YAMBA_CACHE", folder.join("cache"))
}

fn header(yamba: &Yamba, place: &str, answer: u32) {
    let path = yamba.folder.path().join(place);
    fs::write(path, format!("#define ANSWER {answer}\n")).unwrap();
}

/// The evidence of a run, and the identity of its program.
fn run(yamba: &mut Yamba) -> (f64, String) {
    let answer = yamba.run("run asks.yamba --quick --time 50ms --json").ok();
    read(&answer.out)
}

fn read(document: &str) -> (f64, String) {
    let run: Value = serde_json::from_str(document).unwrap();
    let benchmark = &run["benchmarks"][0];
    let answer = benchmark["evidence"]["answer"]["median"].as_f64().unwrap();
    let program = benchmark["provenance"]["program"].as_str().unwrap();
    (answer, program.to_owned())
}

/// Counts compilations of the program since the last call. Parts that all programs share are not
/// counted.
fn compiled(yamba: &Yamba) -> usize {
    let calls = yamba.folder.path().join("calls");
    let text = fs::read_to_string(&calls).unwrap_or_default();
    fs::write(calls, "").unwrap();
    text.lines().filter(|l| l.contains("asks.cc")).count()
}

#[test]
#[ignore = "needs g++"]
fn include_change_rebuilds_program() {
    let mut yamba = yamba(ASKS);
    header(&yamba, "first/answer.h", 1);
    let path = yamba.folder.path().join("first/answer.h");
    let date = fs::metadata(&path).unwrap().modified().unwrap();
    let before = run(&mut yamba);
    // Same length and date as before.
    header(&yamba, "first/answer.h", 2);
    let open = fs::File::options().write(true).open(&path).unwrap();
    open.set_modified(date).unwrap();
    let after = run(&mut yamba);
    assert_eq!((before.0, after.0), (1.0, 2.0));
    assert_ne!(before.1, after.1);
    header(&yamba, "first/answer.h", 1);
    assert_eq!(run(&mut yamba), before);
}

#[test]
#[ignore = "needs g++"]
fn unchanged_inputs_are_not_compiled_again() {
    let mut yamba = yamba(ASKS);
    header(&yamba, "first/answer.h", 1);
    // A header that was written just now may have changed during compilation.
    std::thread::sleep(std::time::Duration::from_millis(50));
    let before = run(&mut yamba);
    assert_eq!(compiled(&yamba), 1);
    assert_eq!(run(&mut yamba), before);
    assert_eq!(compiled(&yamba), 0);
    // Rewritten with the same text, beside a new file of another name.
    header(&yamba, "first/answer.h", 1);
    header(&yamba, "first/other.h", 1);
    assert_eq!(run(&mut yamba), before);
    assert_eq!(compiled(&yamba), 0);
}

/// A relative path in `CPATH` means another folder in another working directory. An absolute one
/// does not.
#[test]
#[ignore = "needs g++"]
fn working_directory_rebuilds_program_only_if_cpath_is_relative() {
    let yamba = yamba(ASKS);
    let folder = yamba.folder.path().to_owned();
    header(&yamba, "first/answer.h", 1);
    fs::create_dir_all(folder.join("elsewhere/first")).unwrap();
    header(&yamba, "elsewhere/first/answer.h", 2);
    // A header that was written just now may have changed during compilation.
    std::thread::sleep(std::time::Duration::from_millis(50));
    let run_in = |place: &str, paths: &str| {
        let file = folder.join("asks.yamba").display().to_string();
        let mut command = yamba.command(&["run", &file, "--quick", "--time", "50ms", "--json"]);
        command.env("CPATH", paths).current_dir(folder.join(place));
        read(&Answer::read(command.output().unwrap()).ok().out).0
    };
    let absolute = folder.join("first").display().to_string();
    for (place, paths, answer, compilations) in [
        ("", absolute.as_str(), 1.0, 1),
        ("elsewhere", absolute.as_str(), 1.0, 0),
        ("", "first", 1.0, 1),
        ("elsewhere", "first", 2.0, 1),
    ] {
        assert_eq!(run_in(place, paths), answer, "{place} {paths}");
        assert_eq!(compiled(&yamba), compilations, "{place} {paths}");
    }
}

#[test]
#[ignore = "needs g++"]
fn identity_is_the_same_in_another_cache() {
    let mut yamba = yamba(ASKS);
    header(&yamba, "first/answer.h", 1);
    // The embedded files are in the cache.
    yamba = yamba.without("YAMBA_HOME");
    let before = run(&mut yamba);
    let other = yamba.folder.path().join("other cache");
    yamba = yamba.env("YAMBA_CACHE", &other);
    assert_eq!(run(&mut yamba), before);
    fs::remove_dir_all(other).unwrap();
    assert_eq!(run(&mut yamba), before);
    header(&yamba, "first/answer.h", 2);
    assert_ne!(run(&mut yamba).1, before.1);
}

#[test]
#[ignore = "needs g++"]
fn cpath_change_rebuilds_program() {
    let mut yamba = yamba(ASKS);
    header(&yamba, "first/answer.h", 1);
    header(&yamba, "second/answer.h", 2);
    assert_eq!(run(&mut yamba).0, 1.0);
    let second = yamba.folder.path().join("second");
    yamba = yamba.env("CPATH", second);
    assert_eq!(run(&mut yamba).0, 2.0);
}

#[test]
#[ignore = "needs g++"]
fn header_that_appears_earlier_in_the_search_path_rebuilds_program() {
    let mut yamba = yamba(ASKS);
    header(&yamba, "second/answer.h", 2);
    assert_eq!(run(&mut yamba).0, 2.0);
    header(&yamba, "first/answer.h", 1);
    assert_eq!(run(&mut yamba).0, 1.0);
}

#[test]
#[ignore = "needs g++"]
fn change_of_a_header_that_only_the_harness_includes_rebuilds_program() {
    let mut yamba = yamba(ASKS);
    header(&yamba, "first/answer.h", 1);
    let before = run(&mut yamba);
    let text = "__attribute__((used)) static const char added[] = \"added to the harness\";\n";
    let text = format!("#pragma once\n#include_next <cmath>\n{text}");
    fs::write(yamba.folder.path().join("first/cmath"), text).unwrap();
    let after = run(&mut yamba);
    assert_eq!(after.0, 1.0);
    assert_ne!(before.1, after.1);
}

#[test]
#[ignore = "needs g++"]
fn header_that_has_include_asks_for_rebuilds_program() {
    let text = ASKS.replace(
        "#include <answer.h>",
        "#if __has_include(<answer.h>)\n#include <answer.h>\n#else\n#define ANSWER 7\n#endif",
    );
    // The question is in a header, since a text in a `.yamba` file is compared directly.
    let (native, rest) = text.split_once("}\n").unwrap();
    let mut yamba = yamba(&format!("native {{\n#include <maybe.h>\n}}\n{rest}"));
    let maybe = yamba.folder.path().join("second/maybe.h");
    fs::write(maybe, native.trim_start_matches("native {")).unwrap();
    assert_eq!(run(&mut yamba).0, 7.0);
    header(&yamba, "first/answer.h", 1);
    assert_eq!(run(&mut yamba).0, 1.0);
}

#[test]
#[ignore = "needs g++"]
fn removed_header_is_an_error_and_not_the_old_program() {
    let mut yamba = yamba(ASKS);
    header(&yamba, "first/answer.h", 1);
    run(&mut yamba);
    fs::remove_file(yamba.folder.path().join("first/answer.h")).unwrap();
    let answer = yamba.run("build asks.yamba");
    assert_ne!(answer.status, 0);
    assert!(answer.err.contains("answer.h: No such file"), "{}", answer.err);
}

#[test]
#[ignore = "needs g++"]
fn compiler_of_another_version_makes_another_program() {
    let mut yamba = yamba(ASKS);
    header(&yamba, "first/answer.h", 1);
    let folder = yamba.folder.path().to_owned();
    // The script itself is unchanged; only the program that it starts has another version.
    let other = "if [ -e \"${0%/*}/new\" ] && [ \"$1\" = --version ]; then echo 'g++ (another) 99.1'; exit; fi";
    wrapper(&folder, other);
    let before = run(&mut yamba);
    assert_eq!(compiled(&yamba), 1);
    fs::write(folder.join("new"), "").unwrap();
    let after = run(&mut yamba);
    assert_eq!(compiled(&yamba), 1);
    assert_ne!(before.1, after.1);
}

/// Builds `libanswer.a` with this answer for the program to link.
fn library(folder: &Path, answer: u32) {
    let source = folder.join("answer.c");
    fs::write(&source, format!("unsigned library_answer(void) {{ return {answer}; }}\n")).unwrap();
    let object = folder.join("answer.o");
    let compile = ["-x", "c", "-c", "-o"];
    let mut compiler = Command::new("g++");
    let made = compiler.args(compile).arg(&object).arg(&source).status();
    let made = made.unwrap();
    let archive = folder.join("libanswer.a");
    let _ = fs::remove_file(&archive);
    let kept = Command::new("ar").arg("rcs").arg(archive).arg(object).status();
    assert!(made.success() && kept.unwrap().success());
}

fn with_library() -> Yamba {
    let yamba = yamba(&ASKS.replace(
        "#include <answer.h>",
        "extern \"C\" unsigned library_answer();\n#define ANSWER library_answer()",
    ));
    let folder = yamba.folder.path().to_owned();
    let compiler =
        format!("{0}/compiler -Wl,-u,library_answer -L{0} {0}/libanswer.a", folder.display());
    library(&folder, 1);
    yamba.env("CXX", compiler)
}

#[test]
#[ignore = "needs g++ and ar"]
fn library_change_rebuilds_program() {
    needs(&["ar"]);
    let mut yamba = with_library();
    let before = run(&mut yamba);
    library(yamba.folder.path(), 2);
    let after = run(&mut yamba);
    assert_eq!((before.0, after.0), (1.0, 2.0));
    assert_ne!(before.1, after.1);
}

/// Compilers do not list files that `.incbin` reads.
#[test]
#[ignore = "needs g++"]
fn change_of_assembly_include_rebuilds_program() {
    let text = ASKS.replace(
        "#include <answer.h>",
        "extern \"C\" const unsigned char the_answer[];
asm(\".section .rodata\\n.globl the_answer\\nthe_answer: .incbin 'answer.bin'\\n.previous\");
#define ANSWER the_answer[0]",
    );
    let mut yamba = yamba(&text.replace('\'', "\\\""));
    let data = yamba.folder.path().join("answer.bin");
    fs::write(&data, [1]).unwrap();
    let before = run(&mut yamba);
    fs::write(&data, [2]).unwrap();
    let after = run(&mut yamba);
    assert_eq!((before.0, after.0), (1.0, 2.0));
    assert_ne!(before.1, after.1);
}

/// Keeps a run in the store under a tag.
/// Stores a run whose figure counts. Tests run beside each other, which may disturb it.
fn keep(yamba: &mut Yamba, tag: &str) {
    for _ in 0..10 {
        yamba.run("run asks.yamba --quick --time 50ms").ok();
        let run = yamba.run("show latest --json").ok();
        let run: Value = serde_json::from_str(&run.out).unwrap();
        if run["benchmarks"][0]["is_disturbed"] == json!(false) {
            break;
        }
    }
    yamba.run(&format!("tag latest {tag}")).ok();
}

fn compared(yamba: &mut Yamba, words: &str) -> Value {
    let answer = yamba.run(&format!("compare first second --json {words}"));
    assert!(answer.status < 2, "{}", answer.err);
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
#[ignore = "needs g++"]
fn remeasure_rebuilds_with_headers_of_each_run() {
    let mut yamba = yamba(ASKS);
    let cache = yamba.folder.path().join("cache");
    header(&yamba, "first/answer.h", 1);
    keep(&mut yamba, "first");
    fs::remove_dir_all(&cache).unwrap();
    header(&yamba, "first/answer.h", 2);
    keep(&mut yamba, "second");
    // The header on disk now belongs to neither side.
    header(&yamba, "first/answer.h", 3);
    let document = compared(&mut yamba, "--remeasure");
    assert_eq!(document["remeasured"]["benchmarks"], json!(1));
    assert!(!document.to_string().contains("same program"), "{document}");
    let texts = yamba.run("show first --source asks").ok();
    texts.says(&["first/answer.h <==\n#define ANSWER 1\n"]);
    for (side, tag, expected) in [("a", "first", 1.0), ("b", "second", 2.0)] {
        let id = document["remeasured"][side]["id"].as_str().unwrap();
        let remade = read(&yamba.run(&format!("show {id} --json")).ok().out);
        let stored = read(&yamba.run(&format!("show {tag} --json")).ok().out);
        assert_eq!(remade.0, expected, "{side}");
        assert_eq!(remade, stored, "{side}");
    }
}

/// The reason why the only benchmark was not measured.
fn reason(document: &Value) -> String {
    assert_eq!(document["benchmarks"][0]["verdict"], "unknown", "{document}");
    document["benchmarks"][0]["reason"].to_string()
}

#[test]
#[ignore = "needs g++ and ar"]
fn remeasure_reports_changed_library() {
    needs(&["ar"]);
    let mut yamba = with_library();
    keep(&mut yamba, "first");
    library(yamba.folder.path(), 2);
    keep(&mut yamba, "second");
    let reason = reason(&compared(&mut yamba, "--remeasure"));
    assert!(reason.contains("A's program: library libanswer.a: "), "{reason}");
}

#[test]
#[ignore = "needs g++"]
fn remeasure_reports_changed_absolute_include() {
    let mut yamba = yamba("");
    let path = yamba.folder.path().join("answer.h");
    let text = ASKS.replace("<answer.h>", &format!("\"{}\"", path.display()));
    yamba = yamba.file("asks.yamba", text);
    for (answer, tag) in [(1, "first"), (2, "second")] {
        header(&yamba, "answer.h", answer);
        keep(&mut yamba, tag);
    }
    let reason = reason(&compared(&mut yamba, "--remeasure"));
    assert!(reason.contains("A's program: ") && reason.contains("answer.h"), "{reason}");
}

/// `#include "FILE"` finds a header beside the `.yamba` file, whatever the current folder is, and
/// `CPATH` is not needed.
#[test]
#[ignore = "needs g++"]
fn header_beside_the_file_is_found_and_its_change_rebuilds_program() {
    let text = ASKS.replace("<answer.h>", "\"answer.h\"");
    let mut yamba = yamba(&text).without("CPATH");
    let folder = yamba.folder.path().join("own");
    fs::create_dir(&folder).unwrap();
    fs::rename(yamba.folder.path().join("asks.yamba"), folder.join("asks.yamba")).unwrap();
    let words = "run own/asks.yamba --quick --time 50ms --json";
    let mut asked = || {
        let answer = yamba.run(words).ok();
        read(&answer.out)
    };
    fs::write(folder.join("answer.h"), "#define ANSWER 1\n").unwrap();
    let first = asked();
    assert_eq!(first.0, 1.0);
    assert_eq!(asked(), first);
    fs::write(folder.join("answer.h"), "#define ANSWER 2\n").unwrap();
    let second = asked();
    assert_eq!(second.0, 2.0);
    assert_ne!(second.1, first.1);
}
