//! `yamba time`: what its answers hold, never how long anything takes.

use serde_json::Value;

use crate::support::{Answer, Yamba, has};

fn document(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out)
        .unwrap_or_else(|e| panic!("{e}: {}{}", answer.out, answer.err))
}

/// The entry of a name in a run's document.
fn entry<'a>(run: &'a Value, name: &str) -> &'a Value {
    let all = run["benchmarks"].as_array().unwrap();
    let found = all.iter().find(|b| b["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {run:#}"))
}

#[test]
fn statements_are_entries_of_a_run() {
    if !has("g++") {
        return;
    }
    let words = [
        "time",
        "getppid();",
        "sqrt(x)",
        "--setup",
        "double x = 2; keep(x);",
        "--json",
    ];
    let answer = Yamba::new().run_words(&words).ok();
    let run = document(&answer);
    assert_eq!(run["schema"], "yamba-run/1");
    for name in ["statement/getppid();", "statement/sqrt(x)"] {
        let entry = entry(&run, name);
        assert_eq!(entry["status"], "ok", "{entry:#}");
        assert!(entry["median"].as_f64() > Some(0.0), "{entry:#}");
        assert!(entry["samples"].as_array().unwrap().len() >= 11);
    }
}

#[test]
fn what_is_wrong_is_shown_in_what_was_typed() {
    if !has("g++") {
        return;
    }
    for (words, place, message) in [
        (
            vec!["getppid(); foo;"],
            "statement:1:12",
            "'foo' was not declared",
        ),
        (
            vec!["getppid();", "x = 1;"],
            "statement 2:1:1",
            "'x' was not declared",
        ),
        (
            vec!["x;", "--setup", "int x = y;"],
            "--setup:1:9",
            "'y' was not declared",
        ),
        (
            vec!["f();", "--include", "no/such.h"],
            "--include:1",
            "no/such.h",
        ),
    ] {
        let words: Vec<&str> = std::iter::once("time").chain(words).collect();
        let answer = Yamba::new().env("CXX", "g++").run_words(&words);
        answer.refused(&[place, message]);
    }
    Yamba::new()
        .run_words(&["time", "f();}"])
        .refused(&["`}` without its counterpart"]);
}

#[test]
fn what_the_compiler_leaves_out_is_no_figure() {
    if !has("g++") {
        return;
    }
    let answer = Yamba::new().run_words(&["time", "return;"]);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["INVALID", "nothing measurable", "keep(VALUE)"]);
}

#[test]
fn a_statement_that_crashes_costs_its_own_figure() {
    if !has("g++") {
        return;
    }
    let words = ["time", "*(volatile int *)8 = 1;", "getppid();", "--json"];
    let answer = Yamba::new().run_words(&words);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let run = document(&answer);
    let crashed = entry(&run, "statement/*(volatile int *)8 = 1;");
    assert_eq!(crashed["status"], "crashed");
    assert!(crashed["notes"][0].as_str().unwrap().contains("SIGSEGV"));
    assert_eq!(entry(&run, "statement/getppid();")["status"], "ok");
}
