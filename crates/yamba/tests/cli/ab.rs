//! `yamba ab`: two programs against each other. The programs are scripts that answer as those of a
//! known harness do, with times that the tests set.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use yamba_child_guard::StartGuarded;

use crate::ci_example::{comments_are_replaced, with_github};
use crate::support::{Answer, Yamba, needs, processes_of, root, until};

/// The build of a test's repository. A file that cannot be executed matches the glob, too.
const BUILD: &str = "mkdir out; cp source out/bench-1; echo > out/bench-1.d";

/// A program of Google Benchmark with two benchmarks. `LEVEL` is the time of the second one; both
/// vary by about 1 %. Appends its filter to `filters`. `EXTRA` is run before it writes.
const BENCH: &str = r#"#!/bin/sh
filter=
for word; do
    case $word in
    --help) echo '[--benchmark_filter=<regex>] [--benchmark_out=<filename>]'; exit ;;
    --benchmark_out=*) out=${word#*=} ;;
    --benchmark_filter=*) filter=${word#*=} ;;
    esac
done
echo "$filter" >> filters
EXTRA
awk -v seed="$$" -v level=LEVEL 'BEGIN {
    srand(seed)
    print "{\"context\": {\"library_version\": \"v9.9\"}, \"benchmarks\": ["
    for (n = 1; n <= 2; n++) {
        time = (n == 1 ? 100 : level) * (0.99 + 0.02 * rand())
        printf "{\"name\": \"BM_%s\", \"run_type\": \"iteration\", \"real_time\": %f, \"time_unit\": \"ns\"}%s\n", n, time, n == 1 ? "," : ""
    }
    print "]}"
}' > "$out"
"#;

fn bench(level: &str, extra: &str) -> String {
    BENCH.replace("LEVEL", level).replace("EXTRA", extra)
}

/// Makes executable files.
fn with(programs: &[(&str, String)]) -> Yamba {
    programs.iter().fold(Yamba::new(), |yamba, (name, text)| {
        let yamba = yamba.file(name, text);
        assert!(yamba.other("chmod").args(["+x", name]).status().unwrap().success());
        yamba
    })
}

fn compared(yamba: &mut Yamba, words: &[&str]) -> Answer {
    let own = ["ab", "--base", "./base", "--head", "./head", "--seed", "1"];
    yamba.run_words(&[&own, words].concat())
}

#[test]
fn planted_slowdown_fails_the_gate_and_is_stored() {
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("230", ""))]);
    let words = ["--fail-above", "5%", "--json", "--junit", "result.xml"];
    let answer = compared(&mut yamba, &words);
    assert_eq!(answer.status, 1, "{}", answer.err);
    let found: Value = serde_json::from_str(&answer.out).unwrap();
    let verdicts: Vec<&str> = found["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["same", "slower"]);
    assert_eq!(found["gate"]["slower"][0]["name"], "BM_2");
    assert!(found["interleaved"]["rounds"].as_u64().unwrap() >= 6);
    let junit = fs::read_to_string(yamba.folder.path().join("result.xml")).unwrap();
    assert!(junit.contains(r#"tests="2" failures="1" errors="0" skipped="0""#), "{junit}");
    // Both runs are in the store, with program, harness and launches.
    let stored = yamba.run_words(&["show", found["b"]["id"].as_str().unwrap(), "--json"]).ok();
    let run: Value = serde_json::from_str(&stored.out).unwrap();
    crate::schema::is_run(&run);
    let harness = &run["producer"]["harness"];
    assert_eq!(harness["adapter"], "google-benchmark");
    assert_eq!(harness["version"], "Google Benchmark v9.9");
    assert_eq!(harness["words"][0], "./head");
    assert!(run["benchmarks"][1]["launches"].as_array().unwrap().len() >= 6);
    // Only the first figure of a comparison of stored runs is a suspicion.
    let answer = yamba.run("compare latest~1 latest").ok();
    answer.says(&["BM_2", "suspect", "kept no sources; `yamba ab` measures two programs"]);
    // They cannot be re-measured, whatever is trusted.
    let answer = yamba.run("compare latest~1 latest --fail-above 5% --trust-sources");
    answer.says(&["results of another program, without sources; `yamba ab`"]);
    // Only the later program counts in a history.
    yamba.run("history BM_2").ok().says(&["1 run, program ./base, that of the latest is ./head"]);
}

#[test]
fn equal_programs_pass_and_one_program_differs_by_noise_only() {
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("200", ""))]);
    let answer = compared(&mut yamba, &["--fail-above", "5%"]).ok();
    answer.says(&["gate passed", "2 of 2 judged", "rounds, each with one process of both sides"]);
}

/// The first benchmark is decided at the first look: later processes measure only the other.
#[test]
fn undecided_benchmarks_are_measured_further() {
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("201", ""))]);
    let words = ["--fail-above", "BM_1=20%", "--fail-above", "0.5%", "--time", "3s", "--json"];
    compared(&mut yamba, &words);
    let filters = fs::read_to_string(yamba.folder.path().join("filters")).unwrap();
    let filters: Vec<&str> = filters.lines().collect();
    assert!(filters[..12].iter().all(|filter| filter.is_empty()), "{filters:?}");
    assert_eq!(filters.get(12), Some(&"^(BM_2)$"), "{filters:?}");
}

#[test]
fn failing_programs_are_refused_or_given_up_with_lines_of_their_output() {
    let fails = "echo one >&2; seq 20 >&2; echo two >&2; exit 3";
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("200", fails))]);
    let shown = ["--head", "exited with status 3", "one\n", "... 14 lines ...\n", "20\n", "two"];
    compared(&mut yamba, &[]).refused(&shown);
    // It works twice.
    let later = format!("[ $(wc -l < filters) -lt 6 ] || {{ {fails}; }}");
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("200", &later))]);
    let answer = compared(&mut yamba, &["--json", "--junit", "j.xml"]);
    assert_eq!(answer.status, 1, "{}", answer.err);
    let junit = fs::read_to_string(yamba.folder.path().join("j.xml")).unwrap();
    assert!(junit.contains("name=\"measurement ended early\""), "{junit}");
    assert!(junit.contains("<error message=\"--head: 3 of its processes failed"), "{junit}");
    assert!(!junit.contains("time was too short"), "{junit}");
    assert!(answer.err.contains("measuring ended early"), "{}", answer.err);
    assert!(answer.err.contains("status 3"), "{}", answer.err);
    let both = "echo 'assert 1 == 2'; echo a warning >&2; exit 3";
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("200", both))]);
    compared(&mut yamba, &[]).refused(&["a warning", "standard output:", "assert 1 == 2"]);
    let garbage = r#"echo 'no JSON' > "$out"; exit 0"#;
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("200", garbage))]);
    compared(&mut yamba, &[]).refused(&["--head", "is no JSON"]);
}

/// Two processes of the head fail: four rounds are complete then, and two more are measured.
#[test]
fn failed_processes_are_reported_and_fail_a_strict_gate() {
    let fails = "case $(wc -l < filters) in 3|4|5|6) echo why >&2; exit 3 ;; esac";
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("200", fails))]);
    let answer = compared(&mut yamba, &["--fail-above", "20%", "--json"]).ok();
    assert!(answer.err.contains("warning: 2 of 8 processes of --head failed"), "{}", answer.err);
    assert!(answer.err.contains("status 3") && answer.err.contains("why"), "{}", answer.err);
    let found: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(found["interleaved"]["rounds"], 6);
    assert_eq!(found["benchmarks"][0]["launches"][0], 6);
    let failure = found["interleaved"]["failures"][0].as_str().unwrap();
    assert!(failure.ends_with("exited with status 3"), "{failure}");
    let stored = yamba.run_words(&["show", found["b"]["id"].as_str().unwrap(), "--json"]).ok();
    let run: Value = serde_json::from_str(&stored.out).unwrap();
    crate::schema::is_run(&run);
    assert_eq!(run["producer"]["harness"]["failed_processes"], 2);
    fs::remove_file(yamba.folder.path().join("filters")).unwrap();
    let words = ["--fail-above", "20%", "--strict", "--junit", "j.xml"];
    let answer = compared(&mut yamba, &words);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["gate failed: it is strict", "processes of --head failed"]);
    let junit = fs::read_to_string(yamba.folder.path().join("j.xml")).unwrap();
    assert!(junit.contains(r#"tests="3" failures="0" errors="1" skipped="0""#), "{junit}");
    assert!(junit.contains("<error message=\"2 of 8 processes of --head failed"), "{junit}");
}

/// The head of a pull request may fail always, not only once.
#[test]
fn benchmark_that_always_fails_in_the_head_is_lost() {
    let head = bench("200", "").replace(
        r#"BM_%s\", \"run_type"#,
        r#"BM_%s\", \"error_occurred\": true, \"error_message\": \"planted\", \"run_type"#,
    );
    let one = r#"/BM_1/ { sub("\"error_occurred.*planted\", ", "") } { print }"#;
    let head = head.replace("' > \"$out\"", &format!("' | awk '{one}' > \"$out\""));
    let mut yamba = with(&[("base", bench("200", "")), ("head", head)]);
    let words = ["--fail-above", "20%", "--strict", "--junit", "j.xml", "--json"];
    let answer = compared(&mut yamba, &words);
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let found: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(found["gate"]["lost"][0]["name"], "BM_2");
    assert_eq!(found["gate"]["lost"][0]["reason"], "crashed in B");
    let junit = fs::read_to_string(yamba.folder.path().join("j.xml")).unwrap();
    assert!(junit.contains("<error message=\"crashed in B\"/>"), "{junit}");
    // The base keeps its figures.
    let stored = yamba.run_words(&["show", found["a"]["id"].as_str().unwrap(), "--json"]).ok();
    let run: Value = serde_json::from_str(&stored.out).unwrap();
    assert_eq!(run["benchmarks"][1]["launches"].as_array().unwrap().len(), 6);
    assert!(run["benchmarks"][1]["median"].as_f64().unwrap() > 150.0);
}

#[test]
fn unknown_programs_and_options_are_refused() {
    let silent = "#!/bin/sh\nexit 0\n".to_owned();
    let mut yamba = with(&[("base", bench("200", "")), ("head", silent)]);
    compared(&mut yamba, &[]).refused(&[
        "./head is of no known harness",
        "google-benchmark",
        "--command",
    ]);
    let pytest = "#!/bin/sh\necho 'usage: pytest; PYTEST_ADDOPTS: extra options'\n".to_owned();
    let mut without_plugin = with(&[("base", pytest.clone()), ("head", pytest)]);
    let words = ["ab", "--base", "./base 'a test.py'", "--head", "./head"];
    without_plugin.run_words(&words).refused(&["./base 'a test.py' is of", "pytest-benchmark"]);
    compared(&mut yamba, &["--adapter", "nunit"]).refused(&["nunit", "pytest-benchmark"]);
    compared(&mut yamba, &["--fail-above", "1%", "--fail-above", "2%"]).refused(&["two limits"]);
    compared(&mut yamba, &["--junit", "no/such/folder.xml"]).refused(&["folder.xml"]);
    yamba
        .run_words(&["ab", "--base", "./missing", "--head", "./base"])
        .refused(&["./missing is not found"]);
    assert_eq!(yamba.run("ab --base ./base").status, 2);
}

/// A program that cannot answer is not taken for one of an unknown harness.
#[test]
fn program_that_cannot_name_its_harness_is_refused_with_its_output() {
    let library = "#!/bin/sh\necho 'libfoo.so.1: cannot open shared object file' >&2\nexit 127\n";
    let mut yamba = with(&[("base", bench("200", "")), ("head", library.to_owned())]);
    let shown = ["./head --help", "exited with status 127", "libfoo.so.1: cannot open"];
    compared(&mut yamba, &[]).refused(&shown);
    let head = yamba.folder.path().join("head");
    fs::set_permissions(&head, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    compared(&mut yamba, &[]).refused(&["exited with status 126", "ermission denied"]);
}

/// The jar says that it is one of JMH.
#[test]
fn program_of_jmh_is_not_asked() {
    let java = "#!/bin/sh\necho \"$*\" >> calls\nexit 4\n".to_owned();
    let jar = "PK META-INF/BenchmarkList".to_owned();
    let mut yamba = with(&[("java", java), ("b.jar", jar)]);
    let words = ["ab", "--base", "./java -jar b.jar", "--head", "./java -jar b.jar"];
    yamba.run_words(&words).refused(&["exited with status 4"]);
    let calls = fs::read_to_string(yamba.folder.path().join("calls")).unwrap();
    assert!(calls.starts_with("-jar b.jar -f 1") && !calls.contains("--help"), "{calls}");
}

#[test]
fn long_names_with_the_same_beginning_are_two_benchmarks() {
    let name = "x".repeat(300);
    let program = |level| bench(level, "").replace("BM_%s", &format!("{name}_%s"));
    let mut yamba = with(&[("base", program("200")), ("head", program("201"))]);
    let limit = format!("{name}_1=20%");
    let words = ["--fail-above", &limit, "--fail-above", "0.5%", "--time", "3s", "--json"];
    let found: Value = serde_json::from_str(&compared(&mut yamba, &words).out).unwrap();
    assert_eq!(found["benchmarks"].as_array().unwrap().len(), 2);
    let filters = fs::read_to_string(yamba.folder.path().join("filters")).unwrap();
    assert_eq!(filters.lines().nth(12), Some(format!("^({name}_2)$").as_str()));
}

/// A new version of a program may print its times in another unit.
#[test]
fn times_in_different_units_are_compared() {
    let head = bench("200", "").replace("\\\"ns\\\"", "\\\"us\\\"");
    let mut yamba = with(&[("base", bench("200", "")), ("head", head)]);
    let answer = compared(&mut yamba, &["--json"]).ok();
    let found: Value = serde_json::from_str(&answer.out).unwrap();
    for entry in found["benchmarks"].as_array().unwrap() {
        assert!((900.0..1100.0).contains(&entry["ratio"].as_f64().unwrap()), "{entry}");
    }
}

/// Without `--strict`, an undecided benchmark fails no gate, not even if all of them are.
#[test]
fn undecided_benchmarks_fail_only_a_strict_gate() {
    let mut yamba = with(&[("base", bench("200", "")), ("head", bench("200", ""))]);
    let words = ["--fail-above", "0.001%", "--time", "1ms"];
    let answer = compared(&mut yamba, &words).ok();
    answer.says(&[
        "no gate: 0 of 2 judged, 2 undecided",
        "\nundecided, the time was too short to decide: BM_1",
    ]);
    let answer = compared(&mut yamba, &[&words[..], &["--strict"]].concat());
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["gate failed: it is strict"]);
}

/// A sleep of 40 ms is longer than one of 20 ms, and a shell starts what needs one.
#[test]
fn whole_commands_are_timed() {
    let mut yamba = Yamba::new();
    let words = ["ab", "--command", "--base", "sleep 0.02", "--head", "sleep 0.02; sleep 0.02"];
    let answer = yamba
        .run_words(&[&words[..], &["--fail-above", "50%", "--prepare", "echo x >> made"]].concat());
    assert_eq!(answer.status, 1, "{}", answer.err);
    answer.says(&["command", "slower"]);
    let made = fs::read_to_string(yamba.folder.path().join("made")).unwrap();
    assert!(made.lines().count() >= 12, "{made}");
    // Stored runs of different commands are no history of one benchmark.
    let run: Value = serde_json::from_str(&yamba.run("show latest --json").ok().out).unwrap();
    crate::schema::is_run(&run);
    assert_eq!(run["benchmarks"][0]["name"], "/bin/sh -c 'sleep 0.02; sleep 0.02'");
    assert_eq!(run["benchmarks"][0]["command"]["output"], "pipe");
    let prepare = "/bin/sh -c 'echo x >> made'";
    assert_eq!(run["benchmarks"][0]["command"]["prepare"], prepare);
    assert_eq!(yamba.run("compare latest~1 latest").status, 2);
    let exported = yamba.run("export latest~1 --format hyperfine").ok().out;
    assert!(exported.contains("exit_codes") && exported.contains("sleep 0.02"), "{exported}");
}

/// A command whose output fills the disk is not timed with it.
#[test]
fn output_of_a_command_goes_into_a_pipe() {
    let script =
        "to=other; [ ! -p /dev/fd/1 ] || to=pipe; echo $to >> where; head -c 3000000 /dev/zero\n"
            .to_owned();
    let mut yamba = with(&[("script", script)]);
    let words = ["ab", "--command", "--base", "sh script", "--head", "sh script", "--time", "1ms"];
    yamba.run_words(&words).ok();
    let found = fs::read_to_string(yamba.folder.path().join("where")).unwrap();
    assert!(found.lines().all(|line| line == "pipe"), "{found}");
}

/// Answers as pytest with pytest-benchmark: a test `a/test_x.py`, and `b/test_y.py` where it is.
const PYTEST: &str = r#"#!/bin/sh
for word; do
    case $word in
    --help) mkdir -p .benchmarks; echo '[--benchmark-json=PATH] [--benchmark-min-rounds=NUM]'; exit ;;
    --benchmark-json=*) out=${word#*=} ;;
    old*|new*) folder=$word ;;
    esac
done
test() {
    echo "{\"fullname\": \"$1\", \"stats\": {\"median\": $2, \"min\": $2, \"max\": $2, \"rounds\": 1}}"
}
{
    echo '{"machine_info": {}, "benchmarks": ['
    test "$folder/a/test_x.py::test_t" "0.001$$"
    [ ! -e "$folder/b/test_y.py" ] || { echo ,; test "$folder/b/test_y.py::test_u" 0.002; }
    echo ']}'
} > "$out"
"#;

/// A further file in another folder does not rename the tests of all others, and `--help` leaves
/// no folder.
#[test]
fn names_of_pytest_do_not_depend_on_other_tests() {
    let mut yamba = with(&[("pytest", PYTEST.to_owned())]);
    let folder = yamba.folder.path().to_owned();
    for (tree, file) in [("old/a", "test_x.py"), ("new/a", "test_x.py"), ("new/b", "test_y.py")] {
        fs::create_dir_all(folder.join(tree)).unwrap();
        fs::write(folder.join(tree).join(file), "").unwrap();
    }
    let words = ["ab", "--base", "./pytest old", "--head", "./pytest new", "--time", "1s"];
    yamba.run_words(&words).ok().says(&["\na/test_x.py::test_t", "only in B: b/test_y.py::test_u"]);
    assert!(!folder.join(".benchmarks").exists());
    // A folder of the user stays.
    fs::create_dir(folder.join(".benchmarks")).unwrap();
    yamba.run_words(&words).ok();
    assert!(folder.join(".benchmarks").exists());
}

#[test]
fn option_that_yamba_sets_is_refused() {
    let mut yamba = with(&[("bench", bench("200", ""))]);
    let words = ["run", "--program", "./bench --benchmark_min_time=100x"];
    yamba.run_words(&words).refused(&["--benchmark_min_time=100x would not count"]);
    let words = ["ab", "--base", "./bench", "--head", "./bench --benchmark_repetitions=5"];
    yamba.run_words(&words).refused(&["--head: --benchmark_repetitions=5 would not count"]);
}

/// A folder with a repository of two commits, whose benchmarks `source` differ by 30 %.
fn repository() -> Yamba {
    let yamba = with(&[("source", bench("200", ""))]);
    let folder = yamba.folder.path();
    git(folder, &["init"]);
    git(folder, &["add", "source"]);
    git(folder, &["commit", "-m", "base"]);
    fs::write(folder.join("source"), bench("260", "")).unwrap();
    git(folder, &["commit", "-am", "head"]);
    yamba
}

fn git(folder: &Path, words: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
    let git = git.args(words).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(git.status().unwrap().success());
}

/// The script of a step of `action.yml`.
fn step(name: &str) -> String {
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let steps = text.split("\n    - ");
    let step = steps.into_iter().find(|step| step.starts_with(&format!("name: {name}\n")));
    let (_, block) = step.unwrap().split_once("      run: |\n").unwrap();
    let lines = block.lines().map_while(|line| line.strip_prefix("        "));
    lines.collect::<Vec<_>>().join("\n")
}

/// As GitHub runs it: the step fails, and has written the comment and the summary.
#[test]
fn action_fails_for_a_slower_head() {
    let yamba = repository();
    let folder = yamba.folder.path();
    let run = |fail_above: &str| {
        let mut bash = yamba.other("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step("Compare")]);
        bash.env("BASE", "HEAD~1").env("BUILD", BUILD).env("BENCH", "out/bench-*");
        bash.env("FAIL_ABOVE", fail_above).env("TIME", "1min").env("JUNIT", "result.xml");
        bash.env("RUNNER_TEMP", folder).env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
        Answer::read(bash.output().unwrap())
    };
    let answer = run("5%");
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    let comment = fs::read_to_string(folder.join("comment.md")).unwrap();
    assert!(comment.contains("gate failed") && comment.contains("BM_2"));
    assert_eq!(fs::read_to_string(folder.join("summary.md")).unwrap(), comment);
    assert!(fs::read_to_string(folder.join("result.xml")).unwrap().contains("failures=\"1\""));
    run("50%").ok().says(&["gate passed"]);
}

#[test]
#[ignore = "needs bash and jq"]
fn action_replaces_only_its_own_comment() {
    needs(&["bash", "jq"]);
    let yamba = Yamba::new().file("comment.md", "### Performance: nothing\n");
    let folder = yamba.folder.path();
    let post = || {
        let mut bash = yamba.other("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step("Comment")]);
        bash.env("RUNNER_TEMP", folder).env("NAME", "sorting").env("COMMIT", "0").env("JOB", "j");
        Answer::read(with_github(&mut bash, folder).output().unwrap()).ok();
        let posted = fs::read_to_string(folder.join("posted")).unwrap();
        assert_eq!(posted, "<!-- yamba ab sorting -->\n### Performance: nothing\n");
    };
    comments_are_replaced(folder, "<!-- yamba ab sorting -->", &post);
}

/// Runs the step that posts, and returns the text.
fn posted(yamba: &Yamba) -> String {
    let folder = yamba.folder.path();
    fs::write(folder.join("comments.json"), "[]").unwrap();
    let mut bash = yamba.other("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step("Comment")]);
    bash.env("RUNNER_TEMP", folder).env("NAME", "x").env("COMMIT", "0123").env("JOB", "job:1");
    Answer::read(with_github(&mut bash, folder).output().unwrap()).ok();
    fs::read_to_string(folder.join("posted")).unwrap()
}

#[test]
#[ignore = "needs bash and jq"]
fn action_posts_a_short_comment_for_each_commit() {
    needs(&["bash", "jq"]);
    let without = Yamba::new().file("comment.md", "");
    let text = posted(&without);
    assert!(text.contains("no result for 0123, see [the log](job:1)"), "{text}");
    let rows = "| `ä` | 1 ns |\n".repeat(5000);
    let long = format!("### Performance: x\n<details>\n{rows}\n</details>\n");
    let text = posted(&Yamba::new().file("comment.md", long));
    assert!(text.len() < 1000 && text.contains("### Performance: x\n"), "{text}");
    assert!(text.ends_with("[summary of the job](job:1) has all benchmarks.\n"), "{text}");
    let text = posted(&Yamba::new().file("comment.md", format!("### Performance: y\n{rows}")));
    assert!((55_000..65_000).contains(&text.len()), "{}", text.len());
}

/// A shallow clone lacks the base, whether it is a parent, a branch, a tag or a commit.
#[test]
fn action_finds_the_base() {
    let yamba = repository();
    let origin = yamba.folder.path();
    git(origin, &["branch", "stable", "HEAD~1"]);
    git(origin, &["tag", "v1", "HEAD~1"]);
    let output = |words: &[&str]| {
        let output = Command::new("git").current_dir(origin).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let base = output(&["rev-parse", "HEAD~1"]);
    for name in ["HEAD~1", "HEAD^1", "stable", "v1", &base] {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("file://{}", origin.display());
        git(folder.path(), &["clone", "--depth=1", "--single-branch", "--no-tags", &url, "clone"]);
        let mut bash = yamba.other("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step("Base")]);
        bash.current_dir(folder.path().join("clone")).env("BASE", name);
        let file = folder.path().join("output");
        Answer::read(bash.env("GITHUB_OUTPUT", &file).output().unwrap()).ok();
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("commit={base}\n"), "{name}");
    }
}

/// The package brings one program into `PATH`, and not its Python.
#[test]
#[ignore = "needs python3 with venv and pip"]
fn action_installs_beside_the_python_of_the_system() {
    needs(&["bash", "python3"]);
    let yamba = Yamba::new();
    let folder = yamba.folder.path();
    let wheel = r##"
import zipfile
with zipfile.ZipFile("fake-1-py3-none-any.whl", "w") as wheel:
    program = zipfile.ZipInfo("fake-1.data/scripts/yamba")
    program.external_attr = 0o100755 << 16
    wheel.writestr(program, "#!/bin/sh\necho from the wheel\n")
    wheel.writestr("fake-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: fake\nVersion: 1\n")
    wheel.writestr("fake-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("fake-1.dist-info/RECORD", "")
"##;
    assert!(yamba.other("python3").args(["-c", wheel]).status().unwrap().success());
    let mut bash = yamba.other("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step("Install")]);
    bash.env("PACKAGE", folder.join("fake-1-py3-none-any.whl")).env("RUNNER_TEMP", folder);
    Answer::read(bash.env("GITHUB_PATH", folder.join("path")).output().unwrap()).ok();
    let path = fs::read_to_string(folder.join("path")).unwrap();
    let programs = fs::read_dir(path.trim()).unwrap().flatten().map(|entry| entry.file_name());
    assert_eq!(programs.collect::<Vec<_>>(), ["yamba"]);
    let answer = Answer::read(Command::new(Path::new(path.trim()).join("yamba")).output().unwrap());
    assert_eq!(answer.ok().out, "from the wheel\n");
}

/// The key changes with the compiler, the build and the commit of the base.
#[test]
fn action_names_the_build_of_the_base_by_all_that_decides_it() {
    let yamba = repository();
    let folder = yamba.folder.path();
    let key = |toolchain: &str, build: &str, base: &str| {
        let _ = fs::remove_file(folder.join("key"));
        let mut bash = yamba.other("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step("Key")]);
        bash.env("BASE", base).env("BUILD", build).env("TOOLCHAIN", toolchain);
        Answer::read(bash.env("GITHUB_OUTPUT", folder.join("key")).output().unwrap()).ok();
        fs::read_to_string(folder.join("key")).unwrap()
    };
    let first = key("gcc 12", "make", "HEAD~1");
    assert!(first.starts_with("key=yamba-base-") && first.lines().count() == 1, "{first}");
    assert_eq!(key("gcc 12", "make", "HEAD~1"), first);
    for (toolchain, build, base) in
        [("gcc 13", "make", "HEAD~1"), ("gcc 12", "make all", "HEAD~1"), ("gcc 12", "make", "HEAD")]
    {
        assert_ne!(key(toolchain, build, base), first, "{toolchain} {build} {base}");
    }
}

/// In a folder of the repository, build and program are those of the same folder.
#[test]
fn folder_of_the_repository_is_that_of_build_and_program() {
    let yamba = repository();
    let folder = yamba.folder.path().join("sub");
    fs::create_dir(&folder).unwrap();
    fs::copy(yamba.folder.path().join("source"), folder.join("inner")).unwrap();
    git(yamba.folder.path(), &["add", "sub"]);
    git(yamba.folder.path(), &["commit", "-m", "sub"]);
    let run = |base: &str| {
        let words = ["ab", "--worktrees", base, "HEAD", "--build", "cp inner b", "--bench", "b"];
        Answer::read(yamba.command(&words).current_dir(&folder).output().unwrap())
    };
    // The sides are named by their revisions.
    run("HEAD").ok().says(&["BM_2", "base: HEAD b (", "head: HEAD b ("]);
    run("HEAD~1").refused(&["the revision of base has no folder sub/"]);
    // Both sides would be one program only outside of the tree.
    for (bench, is_inside) in [("../source", true), ("../../source", false)] {
        let words = ["ab", "--worktrees", "HEAD", "HEAD", "--bench", bench];
        let answer = Answer::read(yamba.command(&words).current_dir(&folder).output().unwrap());
        match is_inside {
            true => drop(answer.ok()),
            false => drop(answer.refused(&["lies outside of the working tree"])),
        }
    }
}

/// A kept tree is not built again for the same commit and command, also after a new clone.
#[test]
fn kept_working_trees_are_built_once() {
    let mut yamba = repository();
    let folder = yamba.folder.path().to_owned();
    let builds = folder.join("builds");
    let build = format!("basename $PWD >> {}; {BUILD}", builds.display());
    let run = |yamba: &mut Yamba, base: &str, build: &str| {
        let words = ["ab", "--worktrees", base, "HEAD", "--build", build, "--bench", "out/bench-*"];
        let more = ["--trees", "kept", "--fail-above", "50%"];
        yamba.run_words(&[&words[..], &more].concat()).ok();
        let text = fs::read_to_string(&builds).unwrap_or_default();
        let _ = fs::remove_file(&builds);
        text
    };
    assert_eq!(run(&mut yamba, "HEAD~1", &build), "base\nhead\n");
    assert_eq!(run(&mut yamba, "HEAD~1", &build), "");
    // A cache brings the base without git's own record of it.
    fs::remove_dir_all(folder.join(".git/worktrees")).unwrap();
    fs::remove_dir_all(folder.join("kept/head")).unwrap();
    assert_eq!(run(&mut yamba, "HEAD~1", &build), "head\n");
    // It would be measured as that of the commit.
    fs::write(folder.join("kept/head/source"), bench("900", "")).unwrap();
    assert_eq!(run(&mut yamba, "HEAD~1", &build), "head\n");
    assert_eq!(run(&mut yamba, "HEAD~1", &build), "");
    assert_eq!(run(&mut yamba, "HEAD", &build), "base\n");
    assert_eq!(run(&mut yamba, "HEAD", &format!("{build}; true")), "base\nhead\n");
}

/// A folder, a repository, a submodule and a working tree of the user's own stay as they are.
#[test]
fn trees_of_the_user_are_not_removed() {
    let mut yamba = repository();
    let folder = yamba.folder.path().to_owned();
    for case in ["folder", "clone", "submodule", "worktree"] {
        let tree = folder.join(case).join("base");
        fs::create_dir_all(&tree).unwrap();
        match case {
            "clone" => git(&tree, &["init"]),
            "submodule" => fs::write(tree.join(".git"), "gitdir: ../.git/modules/x\n").unwrap(),
            "worktree" => git(&folder, &["worktree", "add", "--detach", "worktree/base"]),
            _ => {}
        }
        fs::write(tree.join("letter"), "").unwrap();
        let words = ["ab", "--worktrees", "HEAD", "HEAD", "--bench", "source", "--trees", case];
        yamba.run_words(&words).refused(&[&format!("{case}/base is no working tree of Yamba")]);
        assert!(tree.join("letter").exists(), "{case}");
    }
}

/// The folder of another working tree may be on a disk that is not mounted now.
#[test]
fn record_of_an_absent_working_tree_of_the_user_stays() {
    let mut yamba = repository();
    let folder = yamba.folder.path().to_owned();
    git(&folder, &["worktree", "add", "--detach", "disk/feature"]);
    fs::rename(folder.join("disk"), folder.join("unmounted")).unwrap();
    for trees in [&["--trees", "kept"][..], &[]] {
        let words = ["ab", "--worktrees", "HEAD~1", "HEAD", "--bench", "source"];
        yamba.run_words(&[&words[..], trees].concat()).ok();
    }
    // A tree whose folder was deleted is made again.
    fs::remove_dir_all(folder.join("kept")).unwrap();
    let words = ["ab", "--worktrees", "HEAD", "HEAD", "--bench", "source", "--trees", "kept"];
    yamba.run_words(&words).ok();
    assert!(folder.join(".git/worktrees/feature").exists());
}

#[test]
fn revisions_are_built_in_working_trees_that_are_removed() {
    let mut yamba = repository();
    let folder = yamba.folder.path().to_owned();
    let words = ["ab", "--worktrees", "HEAD~1", "HEAD", "--build", BUILD, "--bench", "out/bench-*"];
    let answer = yamba.run_words(&[&words[..], &["--fail-above", "5%"]].concat());
    assert_eq!(answer.status, 1, "{}{}", answer.out, answer.err);
    answer.says(&["BM_2", "slower"]);
    let mut git = Command::new("git");
    let trees = git.current_dir(&folder).args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8(trees.stdout).unwrap().lines().count(), 1);
    // A name without a folder is a file of the tree.
    for bench in ["source", "sour*"] {
        let words = ["ab", "--worktrees", "HEAD~1", "HEAD", "--bench", bench];
        yamba.run_words(&words).ok().says(&["BM_2", "slower"]);
    }
    let words = ["ab", "--worktrees", "HEAD~1", "no-such", "--bench", "x"];
    yamba.run_words(&words).refused(&["no-such"]);
    let fails = "echo why; false";
    let words = ["ab", "--worktrees", "HEAD~1", "HEAD", "--build", fails, "--bench", "x"];
    yamba.run_words(&words).refused(&["why", "working tree of base"]);
    let words = ["ab", "--worktrees", "HEAD~1", "HEAD", "--build", BUILD, "--bench", "out/no-*"];
    yamba.run_words(&words).refused(&["no program in the working tree matches"]);
}

#[test]
fn interrupted_comparison_keeps_its_rounds_and_leaves_nothing() {
    let yamba = with(&[("base", bench("200", "sleep 0.05")), ("head", bench("200", "sleep 0.05"))]);
    let folder = yamba.folder.path().to_owned();
    let words = ["ab", "--base", "./base", "--head", "./head", "--fail-above", "0.01%", "--json"];
    let mut command = yamba.command(&words);
    command.env("TMPDIR", &folder);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    let filters = folder.join("filters");
    until("three rounds", || {
        fs::read_to_string(&filters).is_ok_and(|text| text.lines().count() > 6)
    });
    let pid = rustix::process::Pid::from_child(&child);
    // `timeout` sends two signals.
    for _ in 0..2 {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let answer = Answer::read(child.finish());
    assert_eq!(answer.status, 1, "{}", answer.err);
    let found: Value = serde_json::from_str(&answer.out).unwrap();
    assert!(found["benchmarks"][0]["launches"][0].as_u64().unwrap() >= 2);
    assert!(answer.err.contains("stored: "), "{}", answer.err);
    assert_eq!(processes_of(&folder), [] as [u32; 0]);
    let mut left = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name());
    assert!(!left.any(|name| name.to_string_lossy().starts_with("yamba-")));
}

/// Its rounds are in the store, and neither the program nor its children go on.
#[test]
fn killed_comparison_keeps_its_rounds_and_its_program_ends() {
    let hangs = "[ $(wc -l < filters) -lt 5 ] || { sleep 600; echo; }";
    let mut yamba = with(&[("base", bench("200", hangs)), ("head", bench("200", hangs))]);
    let folder = yamba.folder.path().to_owned();
    let mut command = yamba.command(&["ab", "--base", "./base", "--head", "./head"]);
    command.env("TMPDIR", &folder);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    let filters = folder.join("filters");
    until("the third round", || {
        fs::read_to_string(&filters).is_ok_and(|text| text.lines().count() == 5)
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    drop(child);
    until("the end of the program", || processes_of(&folder).is_empty());
    yamba.run("show latest").says(&["BM_1", "BM_2"]);
}

/// The build in a working tree of a repository, at the time when it has begun.
fn building(yamba: &Yamba, temporary: &Path) -> yamba_child_guard::Guarded {
    let build = format!("touch {}/begun; sleep 60; true", temporary.display());
    let words = ["ab", "--worktrees", "HEAD~1", "HEAD", "--build", &build, "--bench", "source"];
    let mut command = yamba.command(&words);
    command.env("TMPDIR", temporary);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    until("the build", || temporary.join("begun").exists());
    child
}

#[test]
fn stop_while_a_program_is_built_is_no_wrong_input() {
    let yamba = repository();
    let temporary = tempfile::tempdir().unwrap();
    let child = building(&yamba, temporary.path());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let answer = Answer::read(child.finish());
    assert_eq!(answer.status, 1, "{}", answer.err);
    assert!(answer.err.contains("was stopped"), "{}", answer.err);
}

/// Two whole builds may be in them.
#[test]
fn trees_of_a_killed_comparison_are_removed_by_the_next() {
    let yamba = repository();
    let temporary = tempfile::tempdir().unwrap();
    let child = building(&yamba, temporary.path());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    drop(child);
    let lost = || {
        let all = fs::read_dir(temporary.path()).unwrap().flatten();
        let of_trees = all.filter(|e| e.file_name().to_string_lossy().contains("-worktrees-"));
        of_trees.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    assert_eq!(lost().len(), 1);
    fs::File::open(&lost()[0]).unwrap().set_modified(then).unwrap();
    let words = ["ab", "--worktrees", "HEAD~1", "HEAD", "--bench", "source"];
    let mut command = yamba.command(&words);
    Answer::read(command.env("TMPDIR", temporary.path()).output().unwrap()).ok();
    assert_eq!(lost(), [] as [std::path::PathBuf; 0]);
    let mut git = Command::new("git");
    let trees = git.current_dir(yamba.folder.path()).args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8(trees.stdout).unwrap().lines().count(), 1);
}

/// Nothing is stored if there is no complete round.
#[test]
fn comparison_that_is_interrupted_in_its_first_round_stores_nothing() {
    let mut yamba = with(&[("base", bench("200", "sleep 9")), ("head", bench("200", "sleep 9"))]);
    let filters = yamba.folder.path().join("filters");
    let mut command = yamba.command(&["ab", "--base", "./base", "--head", "./head"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    until("the first process", || filters.exists());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let answer = Answer::read(child.finish());
    assert_eq!(answer.status, 1, "{}", answer.err);
    assert!(!answer.err.contains("stored"), "{}", answer.err);
    yamba.run("show latest").refused(&["no run"]);
}

fn alone_with<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--program", "./bench"], words].concat()
}

#[test]
fn one_program_alone_is_stored() {
    let mut yamba = with(&[("bench", bench("200", ""))]);
    let words = ["run", "--program", "./bench", "--launches", "3", "--name", "base", "--json"];
    let answer = yamba.run_words(&words).ok();
    let run: Value = serde_json::from_str(&answer.out).unwrap();
    crate::schema::is_run(&run);
    let names: Vec<&str> =
        run["benchmarks"].as_array().unwrap().iter().map(|b| b["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["BM_1", "BM_2"]);
    assert_eq!(run["benchmarks"][0]["launches"].as_array().unwrap().len(), 3);
    yamba.run("show base").ok().says(&["BM_1", "BM_2"]);
    yamba.run("runs").ok().says(&["BM_1 BM_2"]);
    yamba.run_words(&alone_with(&["--set", "a=1"])).refused(&["--set", "./bench --size 3"]);
    // Nothing is measured otherwise than the user asks for.
    let words =
        alone_with(&["-P", "2", "--cpu", "0", "--precision", "5%", "--warmup", "1s", "-O", "3"]);
    yamba.run_words(&words).refused(&[
        "a program of another harness: --precision, --processes, --warmup, --cpu, options of the compiler",
    ]);
    yamba
        .run_words(&alone_with(&["--placement", "pinned", "--threads", "2"]))
        .refused(&["--placement"]);
    yamba.run_words(&alone_with(&["--launches", "1", "--placement", "free"])).ok();
    yamba.run_words(&["run", "--program", "./none"]).refused(&["./none is not found"]);
}

/// A program of the protocol: two points of a sweep, whose batches take 7 ns for each operation.
const PROTOCOL: &str = r#"#!/bin/sh
size=1 set=false
previous=
for word; do
    [ "$previous" = --set ] && size=${word#size=} set=true
    [ "$previous" = --record-fd ] && fd=$word
    previous=$word
done
case "$*" in
*--describe*)
    echo '{"schema": "yamba-program/1", "class": "from_shell", "isa": "sh", "system": "linux", "figure": "latency",
        "unit": "ns", "parameters": [{"name": "size", "type": "int", "value": '$size', "over": [1, 2], "set": '$set'}]}' ;;
*--run*)
    {
        echo '{"event": "begin", "class": "from_shell", "figure": "latency", "unit": "ns"}'
        for index in 0 1 2 3 4 5 6 7 8 9 10; do
            echo '{"event": "batch", "index": '$index', "passes": 1, "operations": 1000, "ns": '$((size * 7000))', "dummy_ns": 0}'
        done
        echo '{"event": "end"}'
    } >&"$fd" ;;
esac
"#;

#[test]
fn program_of_the_protocol_is_measured_at_its_points() {
    let mut yamba = with(&[("program", PROTOCOL.to_owned())]);
    let answer = yamba.run_words(&["run", "--program", "./program", "--launches", "2", "--json"]);
    let run: Value = serde_json::from_str(&answer.ok().out).unwrap();
    let figures: Vec<(&str, f64)> = run["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| (b["name"].as_str().unwrap(), b["median"].as_f64().unwrap()))
        .collect();
    assert_eq!(figures, [("from_shell", 7.0), ("from_shell", 14.0)]);
}

/// It would be asked for ever.
#[test]
fn program_that_does_not_say_what_is_set_is_a_fault() {
    let mut yamba = with(&[("program", PROTOCOL.replace("set=true", "set=false"))]);
    let answer = yamba.run_words(&["run", "--program", "./program", "--json"]);
    assert_eq!(answer.status, 2, "{}", answer.err);
    assert!(answer.err.contains("size is not set, although --set gave it"), "{}", answer.err);
}
