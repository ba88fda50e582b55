//! Imported files that are huge, truncated or deeply nested. Each is imported, or refused with one
//! clear message.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use yamba_child_guard::StartGuarded;

use crate::support::{Answer, Yamba};

/// Address space limit of the importing process in bytes. The files here have a thirtieth of it.
const ROOM: u64 = 384 << 20;
const BYTES: usize = 12 << 20;

/// The memory that an import may need besides the text of the document.
const LITTLE: u64 = 64 << 20;

/// Runs `yamba import` on a file with this text.
fn import(text: &str) -> Answer {
    let yamba = Yamba::new().file("their", text);
    Answer::read(importing(&yamba).output().unwrap())
}

/// Prepares `yamba import their`. A signal ends it if it allocates more than [`ROOM`].
fn importing(yamba: &Yamba) -> Command {
    let plain = yamba.command(&[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v $1 && exec \"$0\" import their"])
        .arg(plain.get_program())
        .arg((ROOM >> 10).to_string())
        .current_dir(yamba.folder.path());
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command
}

/// Like [`import`], but also returns the observed peak memory. The kernel reports the peak since
/// the start, so only growth after the last poll, milliseconds before the end, is missed.
fn import_and_memory(text: &str) -> (Answer, u64) {
    let yamba = Yamba::new().file("their", text);
    let mut import = importing(&yamba);
    let import = import.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = import.start();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most_resident(child.id()).unwrap_or(0).max(most);
        std::thread::sleep(Duration::from_millis(2));
    }
    (Answer::read(child.finish()), most)
}

/// The peak resident memory of a process in bytes. `None` after the process has ended.
fn most_resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

/// A JSON list that repeats one element.
fn list(element: &str) -> String {
    let count = BYTES / (element.len() + 1);
    format!("[{}]", vec![element; count].join(","))
}

/// A document with additional machine details and additional fields in its only entry.
fn document(details: &str, entry: &str) -> String {
    format!(
        r#"{{"schema": "yamba-run/1", "machine": {{"isa": "", "system": "", "kernel": "", "cpus": 1, "page_size": 1, "root": false,
            "details": {{{details}}}}}, "benchmarks": [{{"name": "x", "class": "x", "ports": [], "parameters": {{}}, "processes": 1,
            "status": "skipped", "valid": false, "samples": [], "evidence": {{}}, "notes": []{entry}}}]}}"#
    )
}

/// The document with its only entry repeated to about `bytes` bytes.
fn again_and_again(mut document: String, bytes: usize) -> String {
    let entry = document.find(r#"{"name""#).unwrap()..document.rfind("]}").unwrap();
    let more = format!(",{}", &document[entry.clone()]).repeat(bytes / entry.len());
    document.insert_str(entry.end, &more);
    document
}

/// A document with very many batches: not all batches are in memory at once.
#[test]
fn documents_with_many_batches_need_bounded_memory() {
    let each = |numbers: [&str; 2]| numbers.repeat(1000).join(",");
    let column = |name: &str, numbers| format!(r#""{name}":[{}]"#, each(numbers));
    let columns = [
        column("ns", ["123456.75", "123457.75"]),
        column("dummy_ns", ["56.5", "57.5"]),
        column("passes", ["1000", "1001"]),
        column("cycle_ns", ["0.25", "0.26"]),
        column("sample", ["123.25", "123.26"]),
    ];
    let text = document("", &format!(r#", "batches": {{{}}}"#, columns.join(",")));
    let text = again_and_again(text, BYTES * 10);
    assert!(text.len() > BYTES * 9);
    let (answer, most) = import_and_memory(&text);
    answer.ok();
    let allowed = text.len() as u64 + LITTLE;
    assert!((1..allowed).contains(&most), "{most} bytes");
}

#[test]
fn nested_or_truncated_documents_are_rejected() {
    let deep = "[".repeat(BYTES);
    for (text, said) in [
        (deep.clone(), "ends too early"),
        (format!(r#"{{"schema": {deep}"#), "their: is no run document"),
        (document(&format!(r#""caches": {deep}"#), ""), "expected u64"),
        (
            document("", &format!(r#", "platform": {{"x": {}{}}}"#, deep, "]".repeat(BYTES))),
            "recursion limit",
        ),
        (format!("{{\"benchmarks\": {}", list("{}")), "ends too early"),
    ] {
        import(&text).refused(&[said]);
    }
}

#[test]
fn hostile_results_of_other_programs_are_rejected() {
    let lmbench =
        |text: &str| format!("[lmbench3.0 results]\nSimple syscall: 0.1 microseconds\n{text}");
    let rows = |rows: &str| format!(r#"{{"context": {{}}, "benchmarks": {rows}}}"#);
    let nested =
        format!(r#"[{{"name": "x", "y": {}{}{}}}]"#, "[".repeat(100), list("1"), "]".repeat(100));
    let many = (0..BYTES / 18).map(|n| format!("x{n}: 1 seconds\n"));
    for (text, said) in [
        (lmbench(&many.collect::<String>()), "more than 50000 figures"),
        (rows(&nested), "holds no figure"),
        (rows(&format!("{nested},")), "is no JSON"),
    ] {
        import(&text).refused(&[said]);
    }
    for text in [
        "x".repeat(BYTES),
        "\"size=1 ovr=1\n".repeat(BYTES / 14),
        "(".repeat(BYTES),
        "x: 1 seconds\n".repeat(BYTES / 13),
        "\u{fffd}\n".repeat(BYTES / 4),
    ] {
        import(&lmbench(&text)).ok();
    }
}

/// A pipe has no known length, and counts like a file.
#[test]
fn document_is_read_from_a_pipe() {
    let text = document("", "");
    let yamba = || Yamba::new().file("their", text.replace("\"x\"", "\"y\""));
    let limited = |bytes: usize| {
        let limit = bytes.to_string();
        through_a_pipe(
            yamba().command(&["import", "/dev/stdin", "their", "--limit", &limit]),
            &text,
        )
    };
    limited(2 * text.len()).ok();
    limited(2 * text.len() - 1).refused(&["their: is longer than", "--limit SIZE"]);
}

/// Runs the command with a text as its standard input. The text must fit into a pipe buffer.
fn through_a_pipe(mut command: Command, text: &str) -> Answer {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    drop(writer);
    Answer::read(command.stdin(reader).output().unwrap())
}

/// The file is refused without being read.
#[test]
fn file_above_limit_is_rejected() {
    let mut yamba = Yamba::new().file("their", "{");
    let file = File::options().write(true).open(yamba.folder.path().join("their"));
    file.unwrap().set_len(1 << 40).unwrap();
    for words in ["import their", "report ./their", "compare ./their ./their"] {
        yamba.run(words).refused(&["is longer than 268435456 bytes", "--limit SIZE"]);
    }
}
