//! `examples/ci`: runs the steps of the example workflow as a hosted runner does. Measured values
//! are constructed.

use std::fs;
use std::path::Path;
use std::process::Command;

use yamba_record::{Run, Status};
use yamba_store::{Location, Store};

use crate::compare::stored_run;
use crate::support::{Answer, Yamba, needs, root};

fn workflow() -> String {
    fs::read_to_string(root().join("examples/ci/github-actions.yml")).unwrap()
}

/// The shell of the steps. GitHub adds `pipefail` only if the workflow names the shell.
fn bash() -> Command {
    let mut bash = Command::new("bash");
    if workflow().contains("\ndefaults:\n  run:\n    shell: bash\n") {
        bash.args(["--noprofile", "--norc", "-eo", "pipefail"]);
    } else {
        bash.arg("-e");
    }
    bash
}

/// The script of the named workflow step: one line, or a block.
fn script(name: &str) -> String {
    let text = workflow();
    let steps = text.split("\n      - ");
    let step = steps.into_iter().find(|s| s.starts_with(&format!("name: {name}\n")));
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

/// Runs a step as GitHub does.
fn step(yamba: &Yamba, name: &str) -> Answer {
    let mut command = yamba.command(&[]);
    let program = fs::canonicalize(command.get_program()).unwrap();
    let folders = program.parent().unwrap().display().to_string();
    let path = format!("{folders}:{}", std::env::var("PATH").unwrap());
    let mut bash = bash();
    bash.arg("-c").arg(script(name));
    bash.current_dir(yamba.folder.path());
    for (name, value) in command.env("PATH", path).env("CPU", "Z80").get_envs() {
        if let Some(value) = value {
            bash.env(name, value);
        }
    }
    Answer::read(bash.output().unwrap())
}

fn keep(store: &mut Store, id: u32, program: &str, factor: f64) {
    let mut document = stored_run(&format!("{id:x}"), factor);
    for benchmark in document["benchmarks"].as_array_mut().unwrap() {
        benchmark["provenance"] = serde_json::json!({"program": program});
    }
    let mut run: Run = serde_json::from_value(document).unwrap();
    run.started_unix_s = Some(f64::from(id));
    store.add(&run).unwrap();
}

/// Stores a run in which every benchmark crashed.
fn keep_crashed(store: &mut Store, id: u32) {
    let mut run: Run = serde_json::from_value(stored_run(&format!("{id:x}"), 1.0)).unwrap();
    for benchmark in &mut run.benchmarks {
        benchmark.status = Status::Crashed;
        benchmark.valid = false;
    }
    run.started_unix_s = Some(f64::from(id));
    store.add(&run).unwrap();
}

#[test]
#[ignore = "needs bash and jq"]
fn workflow_gates_against_baseline_and_stores_few_runs() {
    needs(&["bash", "jq"]);
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
    // A pull request with unchanged programs, whatever its figures are.
    keep(&mut store, 250, "one", 1.2);
    step(&yamba, "Gate").ok().says(&["gate passed"]);
    posts_the_comment(&yamba);
    // A pull request whose programs seem slower but cannot be re-measured. The gate reports them as
    // undecided.
    keep(&mut store, 251, "two", 1.2);
    let answer = step(&yamba, "Gate");
    assert_eq!(answer.status, 0, "{}", answer.err);
    answer.says(&["undecided"]);
    // A pull request whose benchmarks crash: nothing can be judged. The step must fail although
    // `tee` ends with 0.
    keep_crashed(&mut store, 252);
    let answer = step(&yamba, "Gate");
    assert_eq!(answer.status, 2, "{}{}", answer.out, answer.err);
}

/// The step after the gate posts what the gate printed, and puts it into the summary of the job.
fn posts_the_comment(yamba: &Yamba) {
    let folder = yamba.folder.path();
    let post = || {
        let mut bash = bash();
        bash.arg("-c").arg(self::script("Comment")).current_dir(folder);
        bash.env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
        Answer::read(with_github(&mut bash, folder).output().unwrap()).ok();
        let comment = fs::read_to_string(folder.join("comment.md")).unwrap();
        assert!(comment.starts_with("### Performance: "), "{comment}");
        let posted = fs::read_to_string(folder.join("posted")).unwrap();
        assert_eq!(posted, format!("<!-- yamba gate -->\n{comment}"));
        let summary = fs::read_to_string(folder.join("summary.md")).unwrap();
        assert!(summary.ends_with(&comment), "{summary}");
    };
    comments_are_replaced(folder, "<!-- yamba gate -->", &post);
}

/// `gh api` for the comments of `comments.json`. Writes its calls to `calls`, and the text that it
/// is to post to `posted`.
const GH: &str = r#"#!/bin/bash
[ "$1" = api ] || exit 1
shift
method= filter= file= path=
while [ $# -gt 0 ]; do
    case $1 in
    --paginate | --silent) ;;
    --method) method=$2; shift ;;
    --jq) filter=$2; shift ;;
    -F) file=${2#body=@}; shift ;;
    *) path=$1 ;;
    esac
    shift
done
if [ -n "$filter" ]; then exec jq -r "$filter" comments.json; fi
echo "${method:-POST} $path" >> calls
cp "$file" posted
"#;

/// A command in a job of pull request 7 whose `gh` is [`GH`].
pub fn with_github<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    let gh = folder.join("gh");
    fs::write(&gh, GH).unwrap();
    fs::set_permissions(&gh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("PULL_REQUEST", "7").env("GITHUB_REPOSITORY", "o/r")
}

/// `post` makes a comment if there is only one of another workflow or person, and replaces its own.
pub fn comments_are_replaced(folder: &Path, marker: &str, post: &dyn Fn()) {
    let comment = |id: u32, kind: &str, body: &str| serde_json::json!({"id": id, "user": {"type": kind}, "body": body});
    let others = [comment(1, "Bot", "coverage"), comment(2, "User", &format!("{marker}\nmine"))];
    let own = comment(3, "Bot", &format!("{marker}\nold"));
    let later = comment(4, "Bot", "lint");
    for (comments, call) in [
        (others.to_vec(), "POST repos/o/r/issues/7/comments"),
        ([&others[..], &[own, later]].concat(), "PATCH repos/o/r/issues/comments/3"),
    ] {
        let text = serde_json::to_string(&comments).unwrap();
        fs::write(folder.join("comments.json"), text).unwrap();
        let _ = fs::remove_file(folder.join("calls"));
        post();
        let calls = fs::read_to_string(folder.join("calls")).unwrap();
        assert_eq!(calls, format!("{call}\n"));
    }
}

/// `--dry-run` lists what the step would measure.
#[test]
#[ignore = "needs g++"]
fn measure_step_of_workflow_finds_its_benchmarks() {
    let mut yamba = Yamba::new();
    let bench = yamba.folder.path().join("bench");
    fs::create_dir(&bench).unwrap();
    fs::write(bench.join("one.yamba"), "yamba one { void benchmark() {} }\n").unwrap();
    let script = script("Measure").replace("bench/*.yamba", "bench/one.yamba");
    let words: Vec<&str> = script.split_whitespace().collect();
    assert_eq!(words[0], "yamba");
    let answer = yamba.run_words(&[&words[1..], &["--dry-run"]].concat());
    let all = format!("{}{}", answer.out, answer.err);
    assert!(all.contains("one"), "{all}");
}
