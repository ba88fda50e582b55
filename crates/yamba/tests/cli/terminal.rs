//! What a person sees on a terminal, and a file or a pipe gets of the same. The terminal is one of script(1)'s.

use serde_json::json;
use yamba_record::{Benchmark, Machine, Run};

use crate::support::{Yamba, has};

/// What a terminal of so many columns gets.
fn on_terminal(yamba: &Yamba, columns: usize, more: (&str, &str), words: &str) -> String {
    let answer = yamba
        .other("script")
        .args(["-q", "-c"])
        .arg(format!("stty cols {columns} rows 40; yamba {words}"))
        .arg("/dev/null")
        .envs([("SHELL", "/bin/sh"), ("TERM", "xterm-256color"), more])
        // Where it is set, clap takes each terminal for one of colours, a dumb one too.
        .env_remove("CI")
        .output()
        .unwrap();
    let text = String::from_utf8(answer.stdout).unwrap();
    text.replace("\r\n", "\n")
}

const NO_MORE: (&str, &str) = ("LC_ALL", "C.UTF-8");

/// A text without colours, bold letters and the like.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (words, rest) = part.split_once('m').unwrap();
        assert!(words.chars().all(|c| c.is_ascii_digit() || c == ';'));
        text + rest
    })
}

/// A sweep with a long note, and an entry that is not valid.
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
        "median": size, "interval": [size, size + 1], "samples": [], "evidence": {},
        "notes": ["a word ".repeat(60).trim_end()],
        "charts": [{"figure": "latency", "against": "size", "by": null, "log": true, "fit_linear": false}],
    }))
    .unwrap()
}

fn yamba() -> Yamba {
    Yamba::new()
        .file("run.json", document())
        .file("bad.yamba", "yamba bad extends Nothing { }")
}

#[test]
fn colours_are_for_terminals_whose_owner_wants_them() {
    if !has("script") {
        return;
    }
    let mut yamba = yamba();
    for words in [
        "show run.json",
        "check bad.yamba",
        "show nothing",
        "run --nonsense",
        "show --help",
    ] {
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
    // A command is one line, however long.
    let told = lines.lines().filter(|l| !l.trim_start().starts_with("$ "));
    let widths = told.map(|l| l.chars().count());
    widths.max().unwrap()
}

#[test]
fn lines_are_as_wide_as_the_terminal() {
    if !has("script") {
        return;
    }
    let mut yamba = yamba();
    for words in [
        "show run.json",
        "show run.json --plot",
        "show --help",
        "machine",
    ] {
        let width = |columns| longest(&on_terminal(&yamba, columns, NO_MORE, words));
        let [narrow, usual, wide] = [60, 80, 150].map(width);
        assert!(narrow <= 60 && usual <= 80, "{words}: {narrow} {usual}");
        assert!(narrow < usual && usual < wide, "{words}: {usual} {wide}");
        let piped = longest(&yamba.run(words).ok().out);
        assert!(piped <= 100, "{words}: {piped}");
    }
}
