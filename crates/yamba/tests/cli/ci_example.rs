//! `examples/ci`: the steps of a workflow that people copy, run as a hosted runner runs them. What they measure is made up.

use std::fs;

use yamba_record::Run;
use yamba_store::{Location, Store};

use crate::compare::stored_run;
use crate::support::{Answer, Yamba, has, root};

/// The script of the step of this name, as the workflow has it: one line, or a block.
fn script(name: &str) -> String {
    let text = fs::read_to_string(root().join("examples/ci/github-actions.yml")).unwrap();
    let steps = text.split("\n      - ");
    let step = steps
        .into_iter()
        .find(|s| s.starts_with(&format!("name: {name}\n")));
    let step = step.unwrap_or_else(|| panic!("no step {name}"));
    let (_, run) = step.split_once("        run: ").unwrap();
    match run.strip_prefix("|\n") {
        Some(block) => {
            let lines = block.lines().map_while(|l| l.strip_prefix("          "));
            lines.collect::<Vec<_>>().join("\n")
        }
        None => run.lines().next().unwrap().to_owned(),
    }
}

/// Where nothing can be said of the noise, there is a baseline all the same, and it is kept.
#[test]
fn noise_costs_a_workflow_no_baseline() {
    let text = fs::read_to_string(root().join("examples/ci/github-actions.yml")).unwrap();
    let (before, noise) = text.split_once("- name: Noise\n").unwrap();
    assert!(before.contains("- name: A new baseline\n"));
    let (step, after) = noise.split_once("\n      - ").unwrap();
    assert!(step.contains("        continue-on-error: true\n"));
    assert!(after.contains("actions/cache/save"));
}

/// As GitHub runs a step.
fn step(yamba: &Yamba, name: &str) -> Answer {
    let mut command = yamba.command(&[]);
    let program = fs::canonicalize(command.get_program()).unwrap();
    let folders = program.parent().unwrap().display().to_string();
    let path = format!("{folders}:{}", std::env::var("PATH").unwrap());
    let mut bash = std::process::Command::new("bash");
    let words = ["--noprofile", "--norc", "-eo", "pipefail", "-c"];
    bash.args(words).arg(script(name));
    bash.current_dir(yamba.folder.path());
    for (name, value) in command.env("PATH", path).env("CPU", "Z80").get_envs() {
        if let Some(value) = value {
            bash.env(name, value);
        }
    }
    Answer::of(bash.output().unwrap())
}

fn keep(store: &mut Store, id: u32, program: &str, factor: f64) {
    let mut document = stored_run(&format!("{id:x}"), factor);
    for benchmark in document["benchmarks"].as_array_mut().unwrap() {
        benchmark["about"] = serde_json::json!({"program": program});
    }
    let mut run: Run = serde_json::from_value(document).unwrap();
    run.started_unix_s = Some(f64::from(id));
    store.add(&run).unwrap();
}

#[test]
fn a_workflow_gates_against_the_baseline_and_keeps_a_few_runs() {
    if !has("bash") || !has("jq") {
        return;
    }
    let mut yamba = Yamba::new();
    let place = Location::File(yamba.folder.path().join("results.sqlite"));
    let mut store = Store::open(&place).unwrap();
    keep(&mut store, 1, "one", 1.0);
    step(&yamba, "Gate").ok().says(&["no baseline for Z80 yet"]);
    for id in 2..210 {
        keep(&mut store, id, "one", 1.0);
    }
    step(&yamba, "A new baseline").ok();
    let runs = yamba.run("runs --json").ok();
    let runs: Vec<serde_json::Value> = serde_json::from_str(&runs.out).unwrap();
    assert_eq!(runs.len(), 200);
    assert_eq!(runs[0]["tags"], serde_json::json!(["baseline"]));
    // A pull request that changes no program, however it is measured.
    keep(&mut store, 250, "one", 1.2);
    step(&yamba, "Gate").ok().says(&["gate passed"]);
    // One whose programs seem slower, and cannot be measured anew: of these nothing is decided, and it says so.
    keep(&mut store, 251, "two", 1.2);
    let answer = step(&yamba, "Gate");
    assert_eq!(answer.status, 0, "{}", answer.err);
    answer.says(&["undecided"]);
}

/// What is measured is left to the machine that does it: here it is only asked what would be.
#[test]
fn what_a_workflow_measures_is_there() {
    if !has("g++") {
        return;
    }
    let mut yamba = Yamba::new();
    let bench = yamba.folder.path().join("bench");
    fs::create_dir(&bench).unwrap();
    fs::write(
        bench.join("one.yamba"),
        "yamba one { void benchmark() {} }\n",
    )
    .unwrap();
    for name in ["Measure", "Noise"] {
        let script = script(name).replace("bench/*.yamba", "bench/one.yamba");
        let words = script.split_whitespace().take_while(|word| *word != "||");
        let words: Vec<&str> = words.collect();
        assert_eq!(words[0], "yamba");
        // Of `noise` nobody can ask what it would do: its options are right if only a name is wrong.
        let (told, words) = match name {
            "Measure" => ("one", [&words[1..], &["--dry-run"]].concat()),
            _ => ("no_such", [&words[1..], &["no_such"]].concat()),
        };
        let answer = yamba.run_words(&words);
        let all = format!("{}{}", answer.out, answer.err);
        assert!(all.contains(told), "{all}");
    }
}
