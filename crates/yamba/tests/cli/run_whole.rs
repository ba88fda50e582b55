//! `yamba run` for several benchmarks: groups, tags, dry runs, and results when some benchmarks
//! fail.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use yamba_child_guard::StartGuarded;

use crate::support::{Answer, Yamba, until};

/// A benchmark with little work and the additional `members`.
fn spin(name: &str, members: &str) -> String {
    format!(
        "yamba {name} extends Latency
{{
    {members}
    volatile int sum;
    void benchmark(iter_t iterations) {{ while (iterations-- > 0) sum = sum + 1; }}
}}
"
    )
}

/// A suite with these files in a folder that `YAMBA_HOME` names.
fn suite(files: &[(&str, String)]) -> Yamba {
    let yamba = Yamba::new();
    let home = yamba.folder.path().join("home");
    for part in ["runtime", "library"] {
        let to = home.join(part);
        fs::create_dir_all(&home).unwrap();
        std::os::unix::fs::symlink(crate::support::root().join(part), to).unwrap();
    }
    for (path, text) in files {
        let path = home.join("suite").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    yamba.env("YAMBA_HOME", home)
}

fn mixed() -> Yamba {
    let names = "param const char *kind = \"one\" over {\"one\", \"two\", \"three\", \"four\"};";
    suite(&[
        (
            "memory/wide.yamba",
            spin(
                "wide",
                "tags slow, large;\n    param int size = 1 over {1, 2, 3, 4, 5, 6, 7, 8};",
            ),
        ),
        ("cpu/named.yamba", spin("named", names)),
        (
            "cpu/absent.yamba",
            spin("absent", "void prepare() { yamba::skip(\"needs the moon; wait for it\"); }"),
        ),
        (
            "ipc/gone.yamba",
            spin(
                "gone",
                "tags slow;\n    void prepare() { yamba::skip(\"needs the moon; wait for it\"); }",
            ),
        ),
    ])
}

fn document(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap()
}

/// The name and swept value of each entry.
fn points(document: &Value) -> Vec<String> {
    let each = document["benchmarks"].as_array().unwrap().iter();
    each.map(|b| {
        let values = b["parameters"].as_object().unwrap().values();
        let values: Vec<String> = values.map(|v| format!(" {v}")).collect();
        format!("{}{}", b["name"].as_str().unwrap(), values.concat()).replace('"', "")
    })
    .collect()
}

/// Without names: groups in display order, sweeps over numbers thinned, sweeps over words kept.
#[test]
#[ignore = "needs g++"]
fn dry_run_lists_entries_and_time() {
    let mut yamba = mixed();
    let plan = document(&yamba.run("run --dry-run --json --disk-limit 32M").ok());
    assert_eq!(plan["schema"], "yamba-plan/1");
    let thinned = [
        "absent",
        "named one",
        "named two",
        "named three",
        "named four",
        "wide 1",
        "wide 5",
        "wide 8",
        "gone",
    ];
    assert_eq!(points(&plan), thinned);
    let wide = &plan["benchmarks"][5];
    assert_eq!(wide["notes"][0], "3 of 8 points: `yamba run wide` measures all");
    assert_eq!((&wide["launches"], &wide["topic"]), (&6.into(), &"Memory".into()));
    assert_eq!(wide["tags"], serde_json::json!(["slow", "large"]));
    // Two points take 2 s each; three points share that time.
    assert!(wide["time_s"].as_f64().unwrap() < 2.0);
    assert_eq!(plan["disk_room"], 32 << 20);
    let text = yamba.run("run --dry-run").ok().out;
    let lines = [
        "Processor\n  absent",
        "\nMemory\n  wide",
        "size=1,5,8",
        "[slow, large]",
        "9 figures, 54 launches, about",
        "Nothing was measured. A benchmark may still be skipped when it begins",
    ];
    for part in lines {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    for words in ["run wide --dry-run --json", "run --thorough --tag large --dry-run --json"] {
        assert_eq!(points(&document(&yamba.run(words).ok())).len(), 8, "{words}");
    }
    let plan =
        document(&yamba.run("run wide --sweep size=3,9 -P 1,2 --launches 4 --dry-run --json").ok());
    assert_eq!(points(&plan), ["wide 3", "wide 3", "wide 9", "wide 9"]);
    assert_eq!((&plan["launches"], &plan["benchmarks"][1]["processes"]), (&16.into(), &2.into()));
}

/// Selects benchmarks that have any of several tags.
#[test]
#[ignore = "needs g++"]
fn run_with_tag_measures_only_tagged() {
    let mut yamba = mixed();
    let mut chosen = |words: &str| {
        let mut names = points(&document(&yamba.run(words).ok()));
        names.iter_mut().for_each(|n| *n = n.split(' ').next().unwrap().to_owned());
        names.dedup();
        names
    };
    assert_eq!(chosen("run --tag slow --dry-run --json"), ["wide", "gone"]);
    assert_eq!(chosen("run --only-tag large --dry-run --json"), ["wide"]);
    assert_eq!(chosen("run --only-tag large --tag slow --dry-run --json"), ["wide", "gone"]);
}

/// A run of the whole suite leaves out benchmarks with the tag `optional`; a name, a pattern or
/// another tag selects them.
#[test]
#[ignore = "needs g++"]
fn optional_benchmark_runs_only_by_name_pattern_or_tag() {
    let mut yamba = suite(&[
        ("cpu/usual.yamba", spin("usual", "tags both;")),
        ("cpu/extra.yamba", spin("extra", "tags both, optional;")),
    ]);
    let mut chosen = |words: &str| points(&document(&yamba.run(words).ok()));
    assert_eq!(chosen("run --dry-run --json"), ["usual"]);
    assert_eq!(chosen("run --thorough --dry-run --json"), ["usual"]);
    for selection in ["extra", "ext*", "--only-tag optional"] {
        let words = format!("run {selection} --dry-run --json");
        assert_eq!(chosen(&words), ["extra"], "{words}");
    }
    assert_eq!(chosen("run --only-tag both --dry-run --json"), ["extra", "usual"]);
}

/// A run without names measures only some points of a sweep that a class declares, but all points
/// of a sweep that `--sweep` gives.
#[test]
#[ignore = "needs g++"]
fn requested_sweep_is_not_subsampled() {
    let mut yamba = mixed();
    let mut sizes = |words: &str| points(&document(&yamba.run(words).ok())).len();
    assert_eq!(sizes("run --only-tag large --dry-run --json"), 3);
    let asked = "run --only-tag large --sweep size=1,2,3,4,5 --dry-run --json";
    assert_eq!(sizes(asked), 5);
}

/// Headings, one line for all benchmarks skipped for the same reason, and the counts.
#[test]
#[ignore = "needs g++"]
fn run_of_several_topics_has_headings() {
    let answer = mixed().run("run --quick --launches 1").ok();
    let out = &answer.out;
    let order = [
        "Processor\n",
        "named",
        "kind=four",
        "\nMemory\n",
        "wide",
        "size=1",
        "size=8",
        "all of wide: 3 of 8 points: `yamba run wide`",
        "\nSkipped\n  absent, gone: needs the moon; wait for it\n",
        "7 figures: 7 valid; 2 skipped.\n",
    ];
    let mut at = 0;
    for part in order {
        let found = out[at..].find(part);
        at += found.unwrap_or_else(|| panic!("no `{part}` after {at} in\n{out}")) + part.len();
    }
    assert!(!out.contains("Communication") && !out.contains('\x1b'), "{out}");
}

/// A failing benchmark does not affect the figures of others.
#[test]
#[ignore = "needs g++"]
fn failures_lose_only_their_own_figure() {
    let mut yamba = suite(&[
        (
            "cpu/aborted.yamba",
            spin("aborted", "void setup() { fputs(\"too short\", stderr); abort(); }"),
        ),
        ("cpu/good.yamba", spin("good", "")),
        (
            "cpu/crash.yamba",
            spin("crash", "void setup() { *static_cast<volatile int *>(nullptr) = 1; }"),
        ),
        ("cpu/forked.yamba", spin("forked", "void setup() { fork(); }")),
        ("cpu/killed.yamba", spin("killed", "void setup() { kill(getpid(), SIGKILL); }")),
        (
            "file/forbidden.yamba",
            spin("forbidden", "void setup() { must(open(\"/proc/self/no/such\", O_RDONLY)); }"),
        ),
        (
            "file/vast.yamba",
            spin("vast", "void setup() { scratch_file(\"vast\", uint64_t(1) << 50); }"),
        ),
        (
            "memory/hungry.yamba",
            spin(
                "hungry",
                "native { #include <sys/mman.h> }\n    void setup() { must(mmap(nullptr, size_t(-1) / 4, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); }",
            ),
        ),
        ("memory/skipped.yamba", spin("skipped", "void prepare() { yamba::skip(\"not here\"); }")),
        ("process/unbuilt.yamba", spin("unbuilt", "void setup() { no_such_function(); }")),
        ("time/misfit.yamba", spin("misfit", "at_least 1 MB/s;")),
        (
            "time/unbounded.yamba",
            spin(
                "unbounded",
                "evidence double truth() expects [__builtin_nan(\"\"), 1] { return 0; }",
            ),
        ),
        ("time/wrong.yamba", spin("wrong", "evidence double truth() expects [1, 1] { return 0; }")),
    ]);
    let answer = yamba.run("run --quick --launches 1 --json");
    assert_eq!(answer.status, 1, "{}", answer.err);
    let run = document(&answer);
    crate::schema::is_run(&run);
    let statuses: Vec<(&str, &str)> = run["benchmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| (b["name"].as_str().unwrap(), b["status"].as_str().unwrap()))
        .collect();
    let expected = [
        ("aborted", "crashed"),
        ("crash", "crashed"),
        ("forked", "crashed"),
        ("good", "ok"),
        ("killed", "crashed"),
        ("hungry", "crashed"),
        ("skipped", "skipped"),
        ("unbuilt", "crashed"),
        ("forbidden", "crashed"),
        ("vast", "skipped"),
        ("misfit", "crashed"),
        ("unbounded", "crashed"),
        ("wrong", "invalid"),
    ];
    assert_eq!(statuses, expected);
    let told = "misfit: its figure is in ns, and cannot be held against a bound in MB/s;";
    assert!(answer.out.contains(told), "{}", answer.out);
    assert!(answer.err.contains("no_such_function"), "{}", answer.err);
    let note = |index: usize| run["benchmarks"][index]["notes"][0].as_str().unwrap();
    assert!(note(0).contains("SIGABRT (abort): ") && note(0).contains("too short"), "{}", note(0));
    assert!(note(2).contains("a child process that the benchmark forked"), "{}", note(2));
}

/// If nothing else is measured, a fault in the class is reported as an error.
#[test]
#[ignore = "needs g++"]
fn class_that_cannot_be_measured_is_rejected_alone() {
    let mut yamba = Yamba::new().file("misfit.yamba", spin("misfit", "at_most 3;"));
    for words in ["run misfit.yamba --quick", "run misfit.yamba --dry-run"] {
        yamba.run(words).refused(&[
            "error: misfit: its figure is in ns, and cannot be held against a bound without a unit",
        ]);
    }
}

/// Bounds may depend on the number of processes and on the spread between launches.
#[test]
#[ignore = "needs g++"]
fn bounds_apply_under_load_and_to_spread() {
    let counted = "evidence uint64_t known() expects [processes, processes] { return processes; }";
    let text = "native {
    #include <sys/stat.h>
}
yamba unsteady extends Quantity
{
    double found;
    const char *unit() { return \"apples\"; }
    void setup()
    {
        struct stat there;
        found = stat(FILE, &there) == 0 ? 4 : 1;
        must(close(must(open(FILE, O_WRONLY | O_CREAT, 0600))));
    }
    double value() { return found; }
    at_least 1;
    at_most SPREAD spread;
}
";
    let mut yamba = Yamba::new().file("counted.yamba", spin("counted", counted));
    let run = document(&yamba.run("run counted.yamba --quick --launches 1 -P 1,2 --json").ok());
    assert_eq!(run["benchmarks"][1]["evidence"]["known"]["median"], 2.0);
    for (spread, status) in [("5", "ok"), ("3.9", "invalid")] {
        let yamba = Yamba::new();
        let file = yamba.folder.path().join("there");
        let file = format!("{:?}", file.to_str().unwrap());
        let text = text.replace("FILE", &file).replace("SPREAD", spread);
        let mut yamba = yamba.file("unsteady.yamba", text);
        let run = document(&yamba.run("run unsteady.yamba --launches 6 --time 1s --json"));
        let figure = &run["benchmarks"][0];
        assert_eq!(figure["status"], status, "{figure}");
        let notes = figure["notes"].to_string();
        assert_eq!(
            notes.contains("not known: 1 to 4 apples are 4 times apart, more than 3.9"),
            status == "invalid",
            "{notes}"
        );
    }
}

/// Ctrl-C while a benchmark hangs in its second launch still yields a complete document.
#[test]
#[ignore = "needs g++"]
fn interrupted_run_writes_finished_entries() {
    // When the first benchmark starts its second launch, all have had one.
    let hang = "void setup()
    {
        bool is_first = access(\"FIRST\", F_OK) != 0;
        must(close(must(open(is_first ? \"FIRST\" : \"SECOND\", O_WRONLY | O_CREAT, 0600))));
        while (!is_first) pause();
    }";
    let yamba = Yamba::new();
    let first = yamba.folder.path().join("first");
    let mark = yamba.folder.path().join("mark");
    let hang =
        hang.replace("FIRST", first.to_str().unwrap()).replace("SECOND", mark.to_str().unwrap());
    let yamba = yamba.file("good.yamba", spin("good", "")).file("hang.yamba", spin("hang", &hang));
    let mut run = yamba.command(&["run", "good.yamba", "hang.yamba", "--quick", "--json"]);
    let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).start();
    until("the second launch has begun", || mark.exists());
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let answer = Answer::read(child.finish());
    assert_eq!(answer.status, 1, "{}", answer.err);
    let run = document(&answer);
    crate::schema::is_run(&run);
    assert_eq!(run["interrupted"], true);
    let each = run["benchmarks"].as_array().unwrap().iter();
    let measured: Vec<(&str, &str)> =
        each.map(|b| (b["name"].as_str().unwrap(), b["status"].as_str().unwrap())).collect();
    assert_eq!(measured, [("good", "ok"), ("hang", "ok")]);
    assert!(answer.err.contains("what was measured is kept"), "{}", answer.err);
}
