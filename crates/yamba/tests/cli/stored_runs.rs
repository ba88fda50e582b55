//! The content of the store after a run ends in any way.

use std::process::Stdio;
use std::time::Duration;

use yamba_child_guard::StartGuarded;

use crate::support::{Answer, MANY, Yamba, json, rescued, until};

#[test]
#[ignore = "needs g++"]
fn stored_run_equals_its_document() {
    let mut yamba = Yamba::new().file("many.yamba", MANY);
    let measured = json(&mut yamba, "run many.yamba --set size=3 --quick --json");
    let kept = json(&mut yamba, "show latest --json");
    assert_eq!(kept, measured);
    let listed = json(&mut yamba, "runs --json");
    assert_eq!(listed[0]["id"], measured["id"]);
    assert_eq!(listed[0]["complete"], true);
    assert_eq!(listed[0]["benchmarks"][0], "many");
}

#[test]
fn store_is_a_file_whatever_its_name() {
    let mut yamba = Yamba::new();
    let folder = yamba.folder.path().to_owned();
    for name in [":memory:", "file:x?mode=memory"] {
        yamba.run(&format!("time -c true -r 10 --store {name}")).ok();
        let listed = json(&mut yamba, &format!("runs --json --store {name}"));
        assert_eq!(listed.as_array().unwrap().len(), 1, "{name}");
        assert!(folder.join(name).is_file(), "{name}");
    }
}

#[test]
fn run_whose_store_is_removed_is_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new().env("TMPDIR", folder.path());
    let store = yamba.folder.path().join("removed.sqlite");
    let words = ["time", "-c", "sleep 0.2", "-r", "10", "--store", "removed.sqlite"];
    let mut command = yamba.command(&words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    until("the run is in the store", || {
        json(&mut yamba, "runs --json --store removed.sqlite").as_array().unwrap().len() == 1
    });
    std::fs::remove_file(&store).unwrap();
    let answer = Answer::read(child.finish()).ok();
    let document = rescued(folder.path());
    for part in ["was removed or replaced", &format!("`yamba import {document}` stores it")] {
        assert!(answer.err.contains(part), "no `{part}` in\n{}", answer.err);
    }
    assert!(!answer.err.contains("yamba rm"), "{}", answer.err);
    yamba.run(&format!("import {document} --store removed.sqlite")).ok();
}

#[test]
fn run_that_is_removed_while_it_is_measured_is_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new().env("TMPDIR", folder.path());
    let mut command = yamba.command(&["time", "-c", "sleep 0.2", "-r", "10"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    until("the run is in the store", || {
        json(&mut yamba, "runs --json").as_array().unwrap().len() == 1
    });
    yamba.run("rm latest").ok();
    let answer = Answer::read(child.finish()).ok();
    let document = rescued(folder.path());
    assert!(answer.err.contains(&format!("`yamba import {document}` stores it")), "{}", answer.err);
    assert!(!answer.err.contains("yamba rm"), "{}", answer.err);
}

/// Both have seen that the name is free when they began to build.
#[test]
#[ignore = "needs g++"]
fn only_one_of_two_runs_gets_a_name() {
    let yamba = Yamba::new().file("many.yamba", MANY);
    let words = ["run", "many.yamba", "--set", "size=3", "--quick", "--name", "base"];
    let begin = || {
        let mut command = yamba.command(&words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).start()
    };
    let both = [begin(), begin()].map(|child| Answer::read(child.finish()));
    let mut statuses = both.each_ref().map(|answer| answer.status);
    statuses.sort_unstable();
    assert_eq!(statuses, [0, 2], "{}{}", both[0].err, both[1].err);
    assert!(
        both.iter().any(|answer| answer.err.contains("has the name base")
            || answer.err.contains("has this name"))
    );
    let mut yamba = yamba;
    assert_eq!(json(&mut yamba, "runs --json").as_array().unwrap().len(), 1);
}

#[test]
fn damaged_store_takes_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut yamba = Yamba::new().env("TMPDIR", folder.path());
    yamba.run("time -c true -r 10 --store data/yamba/results.sqlite").ok();
    let store = yamba.folder.path().join("data/yamba/results.sqlite");
    let mut bytes = std::fs::read(&store).unwrap();
    // All but the first page, which has the version.
    bytes[4096..].fill(0xff);
    std::fs::write(&store, bytes).unwrap();
    let words = "time -c true -r 10";
    yamba
        .run(&format!("{words} --store data/yamba/results.sqlite"))
        .refused(&["results.sqlite is damaged"]);
    let data = yamba.folder.path().join("data");
    let mut yamba = yamba.without("YAMBA_STORE").env("XDG_DATA_HOME", data);
    let answer = yamba.run(words).ok();
    assert!(answer.err.contains("is damaged"), "{}", answer.err);
    let document = rescued(folder.path());
    assert!(answer.err.contains(&format!("`yamba import {document}` stores it")), "{}", answer.err);
}

#[test]
#[ignore = "needs g++"]
fn run_is_named_at_its_start() {
    let mut yamba = Yamba::new().file("many.yamba", MANY);
    let words = "run many.yamba --set size=3 --quick --name";
    let measured = json(&mut yamba, &format!("{words} base --json"));
    assert_eq!(measured["tags"], serde_json::json!(["base"]));
    assert_eq!(json(&mut yamba, "show base --json"), measured);
    // Wrong names are refused before anything is built.
    for (name, why) in [
        ("base", "has this name"),
        ("latest", "it means the latest one"),
        ("cafe", "a run's id may begin so"),
        ("a,b", "cannot be a tag"),
    ] {
        yamba.run(&format!("run nothing.yamba --name {name}")).refused(&[why]);
        yamba.run(&format!("study system --quick --name {name}")).refused(&[why]);
    }
    assert_eq!(json(&mut yamba, "runs --json").as_array().unwrap().len(), 1);
}

/// Kills runs at several moments. Each time, all measured entries are stored with every raw batch.
#[test]
#[ignore = "needs g++"]
fn killed_run_leaves_measured_entries_in_the_store() {
    let mut yamba = Yamba::new().file("many.yamba", MANY);
    yamba.run("build many.yamba").ok();
    for (round, more) in [0, 130, 410].into_iter().enumerate() {
        let mut child = yamba.begin(&["run", "many.yamba", "--quick"]);
        until("an entry is kept", || {
            let listed = json(&mut yamba, "runs --json");
            let all = listed.as_array().unwrap();
            all.len() > round && !all[0]["benchmarks"].as_array().unwrap().is_empty()
        });
        yamba.run("runs").ok().says(&["running"]);
        std::thread::sleep(Duration::from_millis(more));
        child.kill().unwrap();
        child.wait().unwrap();
        let answer = yamba.run("show").ok();
        assert!(answer.err.contains("was cut off"), "{}", answer.err);
        let listed = json(&mut yamba, "runs --json");
        assert_eq!(listed[0]["complete"], false);
        let run = json(&mut yamba, "show latest --json --raw");
        let entries = run["benchmarks"].as_array().unwrap();
        assert!(!entries.is_empty() && entries.len() < 200);
        for entry in entries {
            assert!(!entry["batches"]["ns"].as_array().unwrap().is_empty());
        }
        assert!(!run["sources"].as_object().unwrap().is_empty());
    }
}

/// A store named with `--store` must be available before anything is measured. The default store
/// may be missing.
#[test]
#[ignore = "needs g++"]
fn unavailable_store_is_reported() {
    let mut yamba = Yamba::new().file("many.yamba", MANY).file("taken", "no folder");
    let store = yamba.folder.path().join("taken/results.sqlite");
    let words = ["run", "many.yamba", "--set", "size=3", "--quick"];
    let asked: Vec<&str> = [&words[..], &["--store", store.to_str().unwrap()]].concat();
    yamba.run_words(&asked).refused(&["taken", "--store FILE"]);
    let mut yamba = yamba.env("YAMBA_STORE", &store);
    yamba.run_words(&words).refused(&["taken", "--store FILE"]);
    let folder = tempfile::tempdir().unwrap();
    let taken = yamba.folder.path().join("taken");
    let mut yamba =
        yamba.without("YAMBA_STORE").env("XDG_DATA_HOME", taken).env("TMPDIR", folder.path());
    let answer = yamba.run_words(&words).ok().says(&["many"]);
    for part in ["not stored", "the whole run is in", "yamba import"] {
        assert!(answer.err.contains(part), "no `{part}` in\n{}", answer.err);
    }
    let warnings = answer.err.matches("warning: this run is not stored").count();
    assert_eq!(
        (warnings, answer.err.matches("what is not stored").count()),
        (1, 0),
        "{}",
        answer.err
    );
    assert!(!answer.err.contains("warning: the whole run"), "{}", answer.err);
}
