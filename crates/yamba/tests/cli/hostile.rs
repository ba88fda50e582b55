//! Files of strangers: huge, cut short, nested deeply, of many small things. Each is refused with one clear message, or taken, in bounded memory.

use std::fs::File;
use std::process::Command;

use crate::support::{Answer, Yamba};

/// Bytes of address space that a reader may have. The files here have a thirtieth of it.
const ROOM: u64 = 384 << 20;
const BYTES: usize = 12 << 20;

/// So little that a document of [`BYTES`] times ten and its text have no place in it; the program itself takes most of it.
const LITTLE_ROOM: u64 = 144 << 20;

/// `yamba import` of a file. It ends by a signal where it asks for more than [`ROOM`].
fn import(text: &str) -> Answer {
    import_in(ROOM, text)
}

fn import_in(room: u64, text: &str) -> Answer {
    let yamba = Yamba::new().file("their", text);
    let plain = yamba.command(&[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v $1 && exec \"$0\" import their"])
        .arg(plain.get_program())
        .arg((room >> 10).to_string())
        .current_dir(yamba.folder.path());
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    Answer::of(command.output().unwrap())
}

/// A list of the same thing again and again.
fn list(element: &str) -> String {
    let count = BYTES / (element.len() + 1);
    format!("[{}]", vec![element; count].join(","))
}

/// A document with something strange among the facts of its machine and something in its only entry.
fn document(details: &str, entry: &str) -> String {
    format!(
        r#"{{"schema": "yamba-run/1", "machine": {{"isa": "", "system": "", "kernel": "", "cpus": 1, "page_size": 1, "root": false,
            "details": {{{details}}}}}, "benchmarks": [{{"name": "x", "class": "x", "ports": [], "parameters": {{}}, "processes": 1,
            "status": "skipped", "valid": false, "samples": [], "evidence": {{}}, "notes": []{entry}}}]}}"#
    )
}

#[test]
fn documents_of_small_things() {
    import(&document("", "")).ok();
    for (details, entry) in [
        (format!(r#""caches": {}"#, list("{}")), String::new()),
        (format!(r#""tlbs": {}"#, list("[]")), String::new()),
        (
            String::new(),
            format!(r#", "launches": {}"#, list(r#"{"samples":1}"#)),
        ),
        (String::new(), format!(r#", "swept": {}"#, list(r#""""#))),
        (
            String::new(),
            format!(r#", "platform": {{"x": {}}}"#, list(r#"{"":0}"#)),
        ),
        (
            String::new(),
            format!(r#", "platform": {{"x": {}}}"#, list("[1]")),
        ),
    ] {
        let text = document(&details, &entry);
        import(&text).refused(&["their: takes more than", "of memory", "help:"]);
    }
    // Unknown facts, of a later version for example, take none.
    let unknown = format!(r#""unheard": {}"#, list("{}"));
    import(&document(&unknown, "")).ok();
}

/// What was measured, and much of it: neither the text nor all intervals are in memory at once.
#[test]
fn documents_of_many_intervals() {
    let interval = r#"{"launch":3,"process":0,"passes":1000,"operations":1000,"ns":123456.75,"dummy_ns":56.5,"cycle_ns":0.25,
        "disturbance":{"involuntary":0,"minor_faults":0,"stolen_ns":0.0},"sample":123.25,"evidence":{"faults":0.0},"outside":[]}"#;
    let intervals = vec![interval; 2000].join(",");
    let mut text = document("", &format!(r#", "intervals": [{intervals}]"#));
    let entry = text.find(r#"{"name""#).unwrap()..text.rfind("]}").unwrap();
    let more = format!(",{}", &text[entry.clone()]).repeat(BYTES * 10 / entry.len());
    text.insert_str(entry.end, &more);
    assert!(text.len() > BYTES * 9);
    import_in(LITTLE_ROOM, &text).ok();
}

#[test]
fn documents_that_are_nested_or_cut_short() {
    let deep = "[".repeat(BYTES);
    for (text, said) in [
        (deep.clone(), "ends too early"),
        (
            format!(r#"{{"schema": {deep}"#),
            "their: is no run document",
        ),
        (
            document(&format!(r#""caches": {deep}"#), ""),
            "expected u64",
        ),
        (
            document(
                "",
                &format!(r#", "platform": {{"x": {}{}}}"#, deep, "]".repeat(BYTES)),
            ),
            "recursion limit",
        ),
        (
            format!("{{\"benchmarks\": {}", list("{}")),
            "ends too early",
        ),
    ] {
        import(&text).refused(&[said]);
    }
}

#[test]
fn results_of_other_programs() {
    let lmbench =
        |text: &str| format!("[lmbench3.0 results]\nSimple syscall: 0.1 microseconds\n{text}");
    let rows = |rows: &str| format!(r#"{{"context": {{}}, "benchmarks": {rows}}}"#);
    let nested = format!(
        r#"[{{"name": "x", "y": {}{}{}}}]"#,
        "[".repeat(100),
        list("1"),
        "]".repeat(100)
    );
    for (text, said) in [
        (
            lmbench(&"x: 1 seconds\n".repeat(BYTES / 13)),
            "more than 50000 figures",
        ),
        (rows(&list(r#"{"name":""}"#)), "of memory"),
        (rows(&nested), "holds no figure"),
        (rows(&format!("{nested},")), "is no JSON"),
    ] {
        import(&text).refused(&[said]);
    }
    for text in [
        "x".repeat(BYTES),
        "\"size=1 ovr=1\n".repeat(BYTES / 14),
        "(".repeat(BYTES),
        "\u{fffd}\n".repeat(BYTES / 4),
    ] {
        import(&lmbench(&text)).ok();
    }
}

/// It is not even read.
#[test]
fn a_file_that_is_too_long() {
    let mut yamba = Yamba::new().file("their", "{");
    let file = File::options()
        .write(true)
        .open(yamba.folder.path().join("their"));
    file.unwrap().set_len(1 << 40).unwrap();
    for words in ["import their", "report ./their", "compare ./their ./their"] {
        yamba
            .run(words)
            .refused(&["is longer than 268435456 bytes", "--limit SIZE"]);
    }
}
