//! Output on a terminal, compared with output to a file or pipe. script(1) provides the terminal.

use std::num::NonZero;

use serde_json::json;
use yamba_record::{Benchmark, Machine, Run};

use crate::support::{Yamba, needs};

/// The output on a terminal with this many columns.
fn on_terminal(yamba: &Yamba, columns: usize, more: (&str, &str), words: &str) -> String {
    raw(yamba, columns, more, words).replace("\r\n", "\n")
}

/// All bytes of that output, as text.
fn raw(yamba: &Yamba, columns: usize, more: (&str, &str), words: &str) -> String {
    let answer = yamba
        .other("script")
        .args(["-q", "-c"])
        .arg(format!("stty cols {columns} rows 40; yamba {words}"))
        .arg("/dev/null")
        .envs([("SHELL", "/bin/sh"), ("TERM", "xterm-256color"), more])
        // If `CI` is set, clap colours its output on every terminal, even a dumb one.
        .env_remove("CI")
        .output()
        .unwrap();
    String::from_utf8(answer.stdout).unwrap()
}

/// Each screen that a terminal of this size shows while it receives `text`.
fn screens(columns: u16, text: &str) -> Vec<String> {
    let size = |count| NonZero::new(count).unwrap();
    let mut terminal = vt100::Parser::new(size(40), size(columns), 0);
    let mut screens = Vec::new();
    for piece in text.split_inclusive(['\x1b', '\r', '\n']) {
        terminal.process(piece.as_bytes());
        screens.push(terminal.screen().contents());
    }
    screens
}

/// Checks that no screen shows part of a split control sequence. Returns all screens.
#[track_caller]
fn clean_screens(columns: u16, text: &str) -> Vec<String> {
    let screens = screens(columns, text);
    for screen in &screens {
        for rest in ["[K", "[2K", "[1A", "[0m"] {
            assert!(!screen.contains(rest), "{rest} in\n{screen}\nof {text:?}");
        }
    }
    screens
}

const NO_MORE: (&str, &str) = ("LC_ALL", "C.UTF-8");

/// Removes colours and text styles.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (words, rest) = part.split_once('m').unwrap();
        assert!(words.chars().all(|c| c.is_ascii_digit() || c == ';'));
        text + rest
    })
}

/// A document with a sweep, a long note and an invalid entry.
fn document() -> String {
    let mut run = Run::new(Machine::default());
    run.id = "0123456789abcdef".to_owned();
    run.benchmarks = [(1, true), (10, false), (100, true), (1000, true)]
        .map(|(size, is_valid)| entry(size, is_valid))
        .to_vec();
    serde_json::to_string(&run).unwrap()
}

fn entry(size: u64, is_valid: bool) -> Benchmark {
    serde_json::from_value(json!({
        "name": "lat_mem", "class": "lat_mem", "ports": [], "parameters": {"size": size}, "processes": 1,
        "status": if is_valid { "ok" } else { "invalid" }, "valid": is_valid, "unit": "ns", "operations": 1,
        "median": size, "confidence_interval": [size, size + 1], "samples": [], "evidence": {},
        "notes": ["a word ".repeat(60).trim_end()],
        "charts": [{"figure": "latency", "against": "size", "by": null, "log": true, "fit_linear": false}],
    }))
    .unwrap()
}

fn yamba() -> Yamba {
    Yamba::new().file("run.json", document()).file("bad.yamba", "yamba bad extends Nothing { }")
}

#[test]
#[ignore = "needs script"]
fn colours_follow_terminal_and_no_color() {
    needs(&["script"]);
    let mut yamba = yamba();
    for words in
        ["show run.json", "check bad.yamba", "show nothing", "run --nonsense", "show --help"]
    {
        let look = |more| on_terminal(&yamba, 100, more, words);
        let seen = look(NO_MORE);
        assert!(seen.contains("\x1b["), "{words}: {seen}");
        for no in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            assert_eq!(look(no), plain(&seen), "{words} {no:?}");
        }
        assert_eq!(look(("NO_COLOR", "")), seen, "{words}");
        let piped = yamba.run(words);
        assert_eq!(piped.out + &piped.err, plain(&seen), "{words}");
    }
}

fn longest(text: &str) -> usize {
    let lines = plain(text);
    // A command is never wrapped.
    let told = lines.lines().filter(|l| !l.trim_start().starts_with("$ "));
    let widths = told.map(|l| l.chars().count());
    widths.max().unwrap()
}

#[test]
#[ignore = "needs script"]
fn lines_are_as_wide_as_the_terminal() {
    needs(&["script"]);
    let mut yamba = yamba();
    for words in ["show run.json", "show run.json --plot", "show --help", "machine"] {
        let width = |columns| longest(&on_terminal(&yamba, columns, NO_MORE, words));
        let [narrow, usual, wide] = [60, 80, 150].map(width);
        assert!(narrow <= 60 && usual <= 80, "{words}: {narrow} {usual}");
        assert!(narrow < usual && usual < wide, "{words}: {usual} {wide}");
        let piped = longest(&yamba.run(words).ok().out);
        assert!(piped <= 100, "{words}: {piped}");
    }
}

#[test]
#[ignore = "needs script"]
fn tables_and_lists_fit_narrow_terminals() {
    needs(&["script"]);
    let mut yamba = yamba();
    yamba.run("import run.json").ok();
    for words in
        ["list", "list clock", "list --platforms", "machine", "runs", "compare run.json latest"]
    {
        for columns in [40, 80, 200] {
            let text = on_terminal(&yamba, columns, NO_MORE, words);
            // The error about single numbers has long lines, as all errors.
            let text = text.split("\u{1b}[1;91merror").next().unwrap();
            assert!(longest(text) <= columns, "{words} {columns}: {text}");
        }
    }
}

const SLEEPER: &str = "yamba sleeper
{
    native {
        #include <unistd.h>
    }
    param const char *name = \"short\";
    bool may_wait() { return true; }
    void benchmark() { usleep(300); }
}
";

#[test]
#[ignore = "needs script and g++"]
fn progress_of_a_run_leaves_no_control_sequences_as_text() {
    needs(&["script"]);
    let yamba = Yamba::new().file("sleeper.yamba", SLEEPER);
    let words = "run sleeper.yamba --quick --time 1s";
    let screens = clean_screens(100, &raw(&yamba, 100, NO_MORE, words));
    for status in ["built 0 of 1", "launch 1 of 2, "] {
        assert!(screens.iter().any(|s| s.contains(status)), "{status}");
    }
    let last = screens.last().unwrap();
    assert!(!last.contains("built ") && !last.contains("launch "), "{last}");
    assert!(last.contains("sleeper") && last.contains(" stored"), "{last}");
}

#[test]
#[ignore = "needs script and g++"]
fn progress_of_time_leaves_no_control_sequences_as_text() {
    needs(&["script"]);
    let screens = clean_screens(100, &raw(&Yamba::new(), 100, NO_MORE, "time 'getppid();'"));
    assert!(screens.iter().any(|s| s.contains("building")));
    let last = screens.last().unwrap();
    assert!(last.starts_with("getppid();\n") && !last.contains("building"), "{last}");
}

/// A progress line shows a parameter's value, which may be any text.
#[test]
#[ignore = "needs script and g++"]
fn progress_shows_no_control_characters_of_a_parameter() {
    needs(&["script"]);
    let yamba = Yamba::new().file("sleeper.yamba", SLEEPER).file(
        "run.sh",
        "exec yamba run sleeper.yamba --quick --time 1s --set \"name=$(printf 'evil\\033[2J\\033]0;title\\007\\302\\233')\"\n",
    );
    let answer = yamba
        .other("script")
        .args(["-q", "-c", "stty cols 100 rows 40; sh run.sh", "/dev/null"])
        .envs([("SHELL", "/bin/sh"), ("TERM", "xterm-256color"), NO_MORE])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    assert!(text.contains("evil"), "{text:?}");
    for harmful in ["\x1b[2J", "\x1b]0;", "\x07", "\u{9b}"] {
        assert!(!text.contains(harmful), "{harmful:?} in {text:?}");
    }
}

/// Temporary files that a run left behind.
fn left(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    names.filter(|n| n.contains("yamba")).collect()
}

/// If no benchmark can be built, no file is created and no warning mentions storing.
#[test]
#[ignore = "needs g++"]
fn failed_build_leaves_no_file_and_says_only_what_is_wrong() {
    const BROKEN: &str = "yamba broken { void benchmark() { no_such_function(); } }\n";
    for store in ["results.sqlite", "/proc/none/results.sqlite"] {
        let temporary = tempfile::tempdir().unwrap();
        let mut yamba = Yamba::new()
            .file("broken.yamba", BROKEN)
            .file("broken_too.yamba", BROKEN.replace("broken", "broken_too"))
            .env("TMPDIR", temporary.path())
            .env("YAMBA_STORE", store);
        for words in ["broken.yamba", "broken.yamba broken_too.yamba", "broken.yamba --json"] {
            let answer = yamba.run(&format!("run {words} --quick"));
            assert_eq!(answer.status, 2, "{}", answer.err);
            assert!(answer.err.contains("broken.yamba:1:"), "{}", answer.err);
            assert!(!answer.err.contains("warning"), "{}", answer.err);
            assert_eq!(left(temporary.path()), Vec::<String>::new(), "{words} {store}");
        }
    }
}

#[test]
#[ignore = "needs g++"]
fn failed_build_of_some_stores_the_others() {
    let temporary = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new()
        .file("broken.yamba", "yamba broken { void benchmark() { no_such_function(); } }\n")
        .file("sleeper.yamba", SLEEPER)
        .env("TMPDIR", temporary.path());
    let answer = yamba.run("run broken.yamba sleeper.yamba --quick --time 1s");
    assert_eq!(answer.status, 1, "{}", answer.err);
    assert!(!answer.err.contains("warning"), "{}", answer.err);
    assert_eq!(left(temporary.path()), Vec::<String>::new());
    let shown = yamba.run("show latest").ok().out;
    assert!(shown.contains("sleeper") && shown.contains("broken"), "{shown}");
}
