//! Small programs beside the text that is generated for them: `golden/NAME.yamba` and
//! `golden/NAME.txt`.
//!
//! A program names its targets and the parts of the text that it is about, so a change elsewhere
//! leaves its expectation alone:
//!
//! ```text
//! // target: x86_64-linux aarch64-linux      generates the class NAME for each
//! // show: struct yamba_NAME                 from the first such line to the end of its block
//! // show: void a() .. void b()              from the first line to the next with those words
//! // show: assembler                         what the assembler reads
//! // block: 31 C0; field 0 255 1 0 0:8:8     the assembler's answer for each asm block, in order:
//! //                                         bytes, then for each ${} its minimum, maximum,
//! //                                         multiple, bias and VALUE:BLOCK:COUNT bits
//! ```
//!
//! `golden/library` is a small library for these programs. No file outside of `golden` and no C++
//! compiler is read or run. `UPDATE_EXPECT=1 cargo test -p yamba-codegen --test golden` writes the
//! texts.

#[path = "golden/case.rs"]
mod case;
#[path = "golden/excerpt.rs"]
mod excerpt;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use case::Case;
use similar::TextDiff;

/// Where a child process of a test writes every generated text.
const PRINT_TO: &str = "YAMBA_GOLDEN_PRINT_TO";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn cases() -> Vec<Case> {
    let programs = case::programs(&folder());
    assert!(programs.len() >= 30, "{} programs", programs.len());
    programs.iter().map(|path| Case::read(path)).collect()
}

/// How the text of a program differs from its expectation, if it does.
fn difference(case: &Case) -> Option<String> {
    let path = folder().join(format!("{}.txt", case.name));
    let actual = case.shown();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &actual).expect("the expectation is written");
        return None;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    (actual != expected).then(|| {
        let diff = TextDiff::from_lines(&expected, &actual);
        let name = &case.name;
        let (from, to) = (format!("golden/{name}.txt"), format!("generated for {name}.yamba"));
        diff.unified_diff().header(&from, &to).to_string()
    })
}

#[test]
fn generated_text_is_as_expected() {
    let differences: Vec<String> = cases().iter().filter_map(difference).collect();
    assert!(
        differences.is_empty(),
        "{}\nTo accept this text: UPDATE_EXPECT=1 cargo test -p yamba-codegen --test golden",
        differences.join("\n")
    );
}

#[test]
fn every_golden_file_has_a_program() {
    let entries = fs::read_dir(folder()).expect("the folder of programs");
    for path in entries.map(|e| e.expect("an entry").path()) {
        let is_text = path.extension().is_some_and(|e| e == "txt");
        let program = path.with_extension("yamba");
        assert!(!is_text || program.exists(), "{} has no program", path.display());
    }
}

/// `#line N` in the generated file's own name says that the next line is its line N: messages of
/// the compiler depend on it.
#[test]
fn line_numbers_are_those_of_the_source_file() {
    for case in cases() {
        for (target, cpp) in case.generated() {
            let own = format!("\"{}.cc\"", case.name);
            for (index, line) in cpp.lines().enumerate() {
                let number = line.strip_prefix("#line ").and_then(|l| l.strip_suffix(&own));
                let Some(number) = number else { continue };
                assert_eq!(number.trim(), (index + 2).to_string(), "{} on {target}", case.name);
            }
        }
    }
}

/// Every program for every target of the library, as one text.
fn all_text() -> String {
    let mut text = String::new();
    for case in cases() {
        for (target, cpp) in case.generated_for_all() {
            text += &format!("==== {} on {target}\n{cpp}", case.name);
        }
    }
    text
}

/// Another working directory, an environment without variables, and hash tables with another seed
/// change nothing. The expectations above hold every target's text on every host; that no source of
/// the crate asks for its host is checked by `clippy.toml` and `crates/yamba/tests/cli/house.rs`.
#[test]
fn generated_text_does_not_depend_on_environment() {
    if let Some(path) = std::env::var_os(PRINT_TO) {
        return fs::write(path, all_text()).expect("the text is written");
    }
    let here = all_text();
    let targets = here.lines().filter(|l| l.starts_with("==== ")).count();
    assert!(targets > 300, "{targets} texts");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden-elsewhere.txt");
    let done = Command::new(std::env::current_exe().expect("the test's own path"))
        .args(["--exact", "generated_text_does_not_depend_on_environment"])
        .env_clear()
        .env(PRINT_TO, &path)
        .current_dir("/")
        .output()
        .expect("the test starts again");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let elsewhere = fs::read_to_string(&path).expect("the other text");
    let diff = TextDiff::from_lines(&here, &elsewhere);
    assert!(here == elsewhere, "{}", diff.unified_diff());
    for foreign in [env!("CARGO_MANIFEST_DIR"), env!("CARGO_PKG_VERSION")] {
        assert!(!here.contains(foreign), "the text has {foreign}");
    }
}
