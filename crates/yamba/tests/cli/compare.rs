//! `yamba compare` with constructed documents, from files and from a store.

use std::process::Stdio;

use serde_json::{Value, json};
use yamba_record::{Run, Status};
use yamba_store::{Detail, Location, Store};

use crate::schema;
use crate::support::{Answer, Yamba, until};

const SIX: [f64; 6] = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0];

fn benchmark(name: &str, figure: &str, unit: &str, launches: &[f64]) -> Value {
    let launches: Vec<Value> = launches
        .iter()
        .map(|m| json!({"median": m, "cycles": null, "samples": 11, "cycle_ns": null}))
        .collect();
    let median = launches[0]["median"].clone();
    json!({
        "name": name, "class": name, "ports": [], "parameters": {"cold": false, "scale": 16}, "processes": 1,
        "status": "ok", "valid": true, "unit": unit, "operations": 1.0, "median": median,
        "confidence_interval": [median, median], "samples": [], "evidence": {}, "notes": [], "figure": figure,
        "launches": launches,
    })
}

/// A stored run of a fictitious machine.
pub fn stored_run(id: &str, factor: f64) -> Value {
    run(id, "6.1", "Z80", factor)
}

/// A run whose figures are `factor` times the usual ones.
fn run(id: &str, kernel: &str, cpu: &str, factor: f64) -> Value {
    let scaled = SIX.map(|x| x * factor);
    json!({
        "schema": "yamba-run/1", "id": format!("{id:0>16}"), "started_unix_s": 1.0, "finished_unix_s": 2.0,
        "machine": {"isa": "x86_64", "system": "linux", "kernel": kernel, "cpu": cpu, "cpus": 2,
            "memory": 1000, "page_size": 4096, "root": true, "virtual_machine": false, "scratch": null},
        "benchmarks": [
            benchmark("lat_same", "latency", "ns", &SIX),
            benchmark("lat_other", "latency", "ns", &scaled),
            benchmark("bw_other", "bandwidth", "MB/s", &scaled),
            benchmark("lat_once", "latency", "ns", &scaled[..1]),
            benchmark(&format!("only_{id}"), "latency", "ns", &SIX),
        ],
    })
}

/// Writes `a.json`; `b.json`, with another kernel and two benchmarks that differ by a fifth; and
/// `other.json` of another processor.
fn with_documents() -> Yamba {
    // The order of a class's parameters does not matter.
    let turned = run("b", "6.2", "Z80", 1.2).to_string();
    let turned = turned.replace(r#"{"cold":false,"scale":16}"#, r#"{"scale":16,"cold":false}"#);
    assert!(turned.contains(r#"{"scale":16,"cold":false}"#));
    Yamba::new()
        .file("a.json", run("a", "6.1", "Z80", 1.0).to_string())
        .file("b.json", turned)
        .file("other.json", run("c", "6.1", "6502", 1.2).to_string())
}

fn verdicts(document: &Value) -> Vec<(&str, &str, bool)> {
    let all = document["benchmarks"].as_array().unwrap().iter();
    all.map(|b| {
        let text = |name: &str| b[name].as_str().unwrap();
        (text("name"), text("verdict"), b["suspect"].as_bool().unwrap())
    })
    .collect()
}

const EXPECTED: [(&str, &str, bool); 4] = [
    ("lat_same", "same", false),
    ("lat_other", "unknown", true),
    ("bw_other", "unknown", true),
    ("lat_once", "unknown", false),
];

#[test]
fn compare_reads_two_documents() {
    let mut yamba = with_documents();
    let answer = yamba.run("compare a.json b.json").ok().says(&[
        "latency (less is better)",
        "bandwidth (more is better)",
        "geometric mean of 2",
        "suspect",
        "~",
        "not compared, one launch in A, one launch in B: lat_once",
        "not compared, only in A: only_a",
        "not compared, only in B: only_b",
        "2 suspected of 3 compared",
        "each launch is assumed to vary by 0.2 % at least",
    ]);
    assert!(answer.err.contains("kernel is 6.1 in A, 6.2 in B"), "{}", answer.err);
    assert!(!answer.out.contains("slower  ") && !answer.out.contains("faster  "));

    let answer = yamba.run("compare a.json b.json --json").ok();
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    schema::holds("yamba-compare/1", &document);
    let mut broken = document.clone();
    broken["benchmarks"][0]["verdict"] = json!("slow");
    assert!(!schema::is_held("yamba-compare/1", &broken));
    assert_eq!(
        (&document["a"]["id"], &document["b"]["id"]),
        (&json!("000000000000000a"), &json!("000000000000000b"))
    );
    assert_eq!(document["machine"]["identity"], json!([]));
    assert_eq!(document["machine"]["state"], json!([{"name": "kernel", "a": "6.1", "b": "6.2"}]));
    assert_eq!(verdicts(&document), EXPECTED);
    let other = &document["benchmarks"][1];
    assert!((other["ratio"].as_f64().unwrap() - 1.2).abs() < 1e-9);
    let [low, high] = [0, 1].map(|i| other["confidence_interval"][i].as_f64().unwrap());
    assert!(1.1 < low && low < 1.2 && 1.2 < high && high < 1.3);
    assert!(other["p"].as_f64().unwrap() < 0.01);
    assert_eq!((&other["launches"], &other["unit"]), (&json!([6, 6]), &json!("ns")));
    assert_eq!(other["parameters"], json!({"cold": false, "scale": 16}));
    let once = &document["benchmarks"][3];
    assert_eq!((&once["ratio"], &once["p"]), (&Value::Null, &Value::Null));

    let chosen = yamba.run("compare a.json b.json lat_* --json").ok();
    let chosen: Value = serde_json::from_str(&chosen.out).unwrap();
    assert_eq!(verdicts(&chosen).len(), 3);
}

#[test]
fn compare_reads_two_stored_runs() {
    let mut yamba = with_documents();
    let place = yamba.folder.path().join("kept.sqlite");
    let mut store = Store::open(&Location::File(place)).unwrap();
    for (id, started, factor) in [("aaaa000011112222", 10.0, 1.0), ("bbbb000011112222", 20.0, 1.2)]
    {
        let mut run: Run = serde_json::from_value(run(id, "6.1", "Z80", factor)).unwrap();
        run.started_unix_s = Some(started);
        store.add(&run).unwrap();
    }
    store.tag("aaaa000011112222", "base", true).unwrap();
    drop(store);
    for pair in ["base latest", "aaaa bbbb", "latest~1 latest", "a.json latest"] {
        let answer = yamba.run(&format!("compare {pair} --json --store kept.sqlite")).ok();
        let document: Value = serde_json::from_str(&answer.out).unwrap();
        assert_eq!(verdicts(&document), EXPECTED, "{pair}");
        assert_eq!(answer.err, "");
    }
    yamba.run("compare base nothing --store kept.sqlite").refused(&["nothing", "help: "]);
}

#[test]
fn comment_has_the_result_first_and_the_rest_folded() {
    let mut yamba = with_documents();
    let out = yamba.run("compare a.json b.json --md").ok().out;
    let first = out.lines().next().unwrap();
    assert_eq!(
        first,
        "### Performance: 1 seems slower, 1 seems faster, 1 without a shown difference, 2 undecided; 1 only in A"
    );
    let (open, folded) = out.split_once("<details>").unwrap();
    let rows = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.starts_with("| `"));
        rows.map(|row| row.split('`').nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(rows(open), ["lat_other", "bw_other"], "{open}");
    let slower = open.lines().find(|line| line.starts_with("| `lat_other`")).unwrap();
    assert!(slower.contains("| 1.200 | \\[1.1"), "{slower}");
    assert!(slower.ends_with("| **seems slower** |"), "{slower}");
    assert_eq!(rows(folded), ["lat_same"], "{folded}");
    for text in [
        "2 undecided: ",
        "one launch in A, one launch in B (1)",
        "The kernel is 6.1 in A, 6.2 in B.",
    ] {
        assert!(open.contains(text), "{text}: {open}");
    }
    assert!(folded.contains("lat\\_once") && folded.trim_end().ends_with("</details>"), "{folded}");
    // A gate's result stands before the table.
    let out = yamba.run("compare a.json b.json --md --fail-above 5%").out;
    assert!(out.contains("**gate passed") || out.contains("**no gate"), "{out}");
    assert_eq!(yamba.run("compare a.json b.json --md --json").status, 2);
}

#[test]
fn page_of_two_runs_has_verdicts() {
    let mut yamba = with_documents();
    let page = yamba.run("report a.json b.json -o -").ok().out;
    for text in [
        "Of B: 1 seems slower, 1 seems faster, 1 without a shown difference, 2 undecided; 1 only in A.",
        "The kernel is 6.1 in A, 6.2 in B.",
        r#"<span class="verdict slower">seems slower</span>"#,
        r#"<span class="verdict faster">seems faster</span>"#,
        r#"<span class="verdict same">no difference shown</span>"#,
        r#"<span class="verdict undecided">one launch in A, one launch in B</span>"#,
    ] {
        assert!(page.contains(text), "{text}");
    }
    // The pages of one run and of three runs have no comparison.
    for words in ["report a.json -o -", "report a.json b.json a.json -o -"] {
        let page = yamba.run(words).ok().out;
        assert!(!page.contains("What differs between"), "{words}");
    }
}

/// Two runs of one program, whose launches differ by a fifth.
#[test]
fn one_program_has_one_verdict_everywhere() {
    let of_one_program = |id: &str, factor: f64| {
        let mut run = run(id, "6.1", "Z80", factor);
        run["benchmarks"] = json!([benchmark("lat_x", "latency", "ns", &SIX.map(|x| x * factor))]);
        run["benchmarks"][0]["provenance"] = json!({"program": "00ff"});
        run.to_string()
    };
    let mut yamba = Yamba::new()
        .file("a.json", of_one_program("a", 1.0))
        .file("b.json", of_one_program("b", 1.2));
    let why = "the program is the same: the machine differs, or it is noise";
    let words = "compare a.json b.json --fail-above 5% --strict";
    for words in ["compare a.json b.json", words] {
        let answer = yamba.run(words).ok().says(&["<0.001", "same program", why]);
        assert!(!answer.out.contains("suspect\n"), "{}", answer.out);
    }
    yamba.run(words).ok().says(&["gate passed", "1 of 1 judged"]);
    let document: Value =
        serde_json::from_str(&yamba.run(&format!("{words} --json")).ok().out).unwrap();
    schema::holds("yamba-compare/1", &document);
    assert_eq!(verdicts(&document), [("lat_x", "same", false)]);
    assert_eq!(document["benchmarks"][0]["reason"], why);
    assert_eq!(
        (&document["gate"]["judged"], &document["gate"]["undecided"]),
        (&json!(1), &json!(0))
    );
    let comment = yamba.run(&format!("{words} --md")).ok().out;
    assert!(comment.starts_with("### Performance: 1 of the same program\n"), "{comment}");
    let page = yamba.run("report a.json b.json -o -").ok().out;
    assert!(page.contains("Of B: 1 of the same program."), "the summary");
    assert!(page.contains(&format!("1 differs, but {why}.")), "the remark");
}

#[test]
fn unlike_machines_are_refused_by_name() {
    let mut yamba = with_documents();
    yamba.run("compare a.json other.json").refused(&["cpu is Z80 in A, 6502 in B", "--across"]);
    let answer = yamba.run("compare a.json other.json --across --json").ok();
    assert!(answer.err.contains("cpu is Z80 in A, 6502 in B"), "{}", answer.err);
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(document["machine"]["identity"][0]["name"], "cpu");
    assert_eq!(verdicts(&document), EXPECTED);
}

#[test]
fn compare_rejects_wrong_input() {
    let mut nothing = run("d", "6.1", "Z80", 1.0);
    nothing["benchmarks"] = json!([benchmark("another", "latency", "ns", &SIX)]);
    let mut newer = run("e", "6.1", "Z80", 1.0);
    newer["schema"] = json!("yamba-run/9");
    let mut yamba = with_documents()
        .file("cut.json", &run("a", "6.1", "Z80", 1.0).to_string()[..200])
        .file("newer.json", newer.to_string())
        .file("nothing.json", nothing.to_string());
    for (words, parts) in [
        ("a.json cut.json", ["cut.json: ends too early", "get it again"]),
        ("a.json newer.json", ["newer.json", "yamba-run/9"]),
        ("a.json nothing.json", ["no benchmark in common", "help: "]),
        ("a.json b.json lat_sane", ["neither run has a benchmark lat_sane", "lat_same"]),
        ("a.json b.json lat_[", ["`lat_[` is no glob", ""]),
        ("a.json absent.json", ["absent.json", "help: "]),
    ] {
        yamba.run(&format!("compare {words}")).refused(&parts);
    }
}

#[test]
fn gate_without_judged_benchmarks_is_an_error() {
    let mut yamba = with_documents();
    let answer = yamba.run("compare a.json b.json lat_once --fail-above 5%");
    assert_eq!(answer.status, 2);
    let said = "there is nothing that the gate could judge";
    assert!(answer.err.contains(said), "{}", answer.err);
}

/// `yamba compare … | head`: a reader that stops early does not change the exit status.
#[test]
fn closed_output_pipe_does_not_change_exit_status() {
    let yamba = with_documents();
    let closed = |words: &str| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let words: Vec<&str> = words.split(' ').collect();
        let mut command = yamba.command(&words);
        let answer = command.stdout(writer).stderr(Stdio::piped());
        let answer = Answer::read(answer.output().unwrap());
        (answer.status, answer.err)
    };
    let nothing = "compare a.json b.json lat_once --fail-above 5%";
    for form in ["", " --json"] {
        let (status, err) = closed(&format!("{nothing}{form}"));
        assert_eq!(status, 2, "{err}");
        assert!(err.contains("nothing that the gate could judge"), "{err}");
    }
    let (status, err) = closed("compare a.json b.json --fail-above 5% --strict");
    assert_eq!(status, 1, "{err}");
    for words in
        ["compare a.json b.json lat_same", "export a.json --format csv", "show a.json --json"]
    {
        let (status, err) = closed(words);
        assert_eq!((status, err.contains("error")), (0, false), "{words}: {err}");
    }
}

/// A class whose pass is a chain of `count` dependent additions.
fn additions(count: u32) -> String {
    format!(
        "/// Additions that wait for each other.
yamba work
{{
    void benchmark()
    {{
        size_t x = 1;
        for (int i = 0; i < {count}; i++) asm volatile(\"add $5, %0\" : \"+r\"(x));
    }}
}}
"
    )
}

/// Three stored runs: of a program, of the same program, and of one with four times the work. Their
/// figures are constructed, so that other load cannot change them. Re-measured figures are real.
fn with_kept_runs() -> Yamba {
    let mut yamba = Yamba::new();
    for (count, tag) in [(300, "first"), (300, "again"), (1200, "slow")] {
        yamba = yamba.file("work.yamba", additions(count));
        let words = "run work.yamba --launches 6 --time 30ms -N 2 --json --store raw.sqlite";
        let document = yamba.run(words).out;
        let mut run: Run = serde_json::from_str(&document).unwrap();
        let work = &mut run.benchmarks[0];
        (work.status, work.interference.is_disturbed, work.details.cycles) =
            (Status::Ok, false, None);
        for (launch, factor) in work.launches.iter_mut().zip(SIX) {
            launch.median = Some(f64::from(count) * factor / 100.0);
        }
        run.tags = vec![tag.to_owned()];
        let place = Location::File(yamba.folder.path().join("results.sqlite"));
        Store::open(&place).unwrap().add(&run).unwrap();
    }
    yamba
}

/// The comparison document and the exit status. Retries while other load leaves no conclusive
/// figure.
fn remeasured(yamba: &mut Yamba, words: &str, can_be_unknown: bool) -> (i32, Value) {
    for _ in 0..10 {
        let answer = yamba.run(words);
        let document: Value = serde_json::from_str(&answer.out).expect(&answer.err);
        schema::holds("yamba-compare/1", &document);
        let is_unknown = document["benchmarks"][0]["verdict"] == "unknown";
        if document["remeasured"]["benchmarks"] == 1 && (can_be_unknown || !is_unknown) {
            return (answer.status, document);
        }
    }
    panic!("ten times no figure that says enough: {words}");
}

#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn gate_remeasures_before_it_fails() {
    let mut yamba = with_kept_runs();
    let words = "compare first slow --fail-above 20% --json";
    let (status, document) = remeasured(&mut yamba, words, false);
    assert_eq!(status, 1, "{document}");
    let gate = &document["gate"];
    assert_eq!((&gate["passed"], &gate["limit"]), (&json!(false), &json!(0.2)));
    assert_eq!(gate["slower"][0]["name"], "work");
    assert!(gate["slower"][0]["slowdown"].as_f64().unwrap() > 0.2);
    let work = &document["benchmarks"][0];
    assert_eq!((&work["verdict"], &work["suspect"]), (&json!("slower"), &json!(false)));
    assert_eq!(work["launches"], json!([18, 18]));
    assert_eq!(work["stored"]["launches"], json!([6, 6]));

    // The re-measured runs are stored, each with its own side's sources.
    for (side, count) in [("a", 300), ("b", 1200)] {
        let id = document["remeasured"][side]["id"].as_str().unwrap();
        let kept = yamba.run(&format!("show {id} --json")).ok();
        let run: Run = serde_json::from_str(&kept.out).unwrap();
        assert!(run.sources.values().any(|text| *text == additions(count)));
        assert_eq!(run.benchmarks[0].launches.len(), 18);
    }

    // A program is not slower than itself, even if its constructed launches differ.
    let words = "compare first again --fail-above 0.1% --json";
    let document: Value = serde_json::from_str(&yamba.run(words).ok().out).unwrap();
    assert_eq!(document["remeasured"], Value::Null);
    assert_eq!(document["gate"]["passed"], json!(true));

    let words = "compare slow first --fail-above 20% --remeasure --json";
    let (status, document) = remeasured(&mut yamba, words, false);
    assert_eq!((status, &document["gate"]["passed"]), (0, &json!(true)));
    assert_eq!(document["benchmarks"][0]["verdict"], "faster");

    let words = "compare first again --fail-above 0.1% --remeasure --json";
    let (status, document) = remeasured(&mut yamba, words, true);
    assert_eq!((status, &document["gate"]["passed"]), (0, &json!(true)));
    let verdict = document["benchmarks"][0]["verdict"].as_str().unwrap();
    assert!(["same", "unknown"].contains(&verdict), "{verdict}");
}

/// Each side is stored from its first launch on.
#[test]
#[cfg_attr(target_arch = "x86_64", ignore = "needs g++")]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "needs x86_64")]
fn remeasured_launches_survive_kill() {
    let mut yamba = with_kept_runs();
    let place = Location::File(yamba.folder.path().join("results.sqlite"));
    let mut store = Store::open(&place).unwrap();
    // More launches than can finish during the test.
    for tag in ["first", "slow"] {
        let id = store.find(tag).unwrap();
        let mut run = store.run(&id, Detail::Batches).unwrap();
        run.id = id.chars().rev().collect();
        run.tags = vec![format!("long-{tag}")];
        run.plan.time_ns = 20_000_000 * 1000;
        run.plan.launches = 1000;
        store.add(&run).unwrap();
    }
    let mut child = yamba.begin(&["compare", "long-first", "long-slow", "--remeasure"]);
    let mut begun = Vec::new();
    until("both sides are kept", || {
        begun = store.runs().unwrap();
        begun.retain(|run| !run.complete && run.entries[0] > 0);
        begun.len() == 2
    });
    child.kill().unwrap();
    child.wait().unwrap();
    for run in begun {
        let run = store.run(&run.id, Detail::Batches).unwrap();
        assert_eq!(run.producer.arguments[0], "compare");
        assert_eq!(run.benchmarks[0].name, "work");
        assert!(!run.benchmarks[0].records.batches().is_empty());
        assert!(!run.sources.is_empty());
    }
    let latest = yamba.run("show latest --json").ok().out;
    let latest: Run = serde_json::from_str(&latest).unwrap();
    assert_eq!(latest.producer.arguments[0], "run");
}

#[test]
fn candidates_that_cannot_be_remeasured_are_undecided() {
    let mut yamba = with_documents();
    let answer = yamba.run("compare a.json b.json --fail-above 5%").ok();
    assert!(answer.err.contains("B was measured on another machine: "), "{}", answer.err);
    answer.says(&[
        "suspect",
        "undecided, not re-measured: B was measured on another machine",
        "not gated, only in B: only_b",
        "lost, only in A: only_a",
        "gate passed: nothing is shown to be slower by more than 5 %; 2 of 3 judged, 1 undecided, 1 lost: no figure in B to compare",
    ]);
    let answer = yamba.run("compare a.json b.json --fail-above 5% --strict --json");
    assert_eq!(answer.status, 1, "{}", answer.err);
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    schema::holds("yamba-compare/1", &document);
    let gate = &document["gate"];
    let counts = ["gated", "judged", "undecided"].map(|name| gate[name].as_u64().unwrap());
    assert_eq!((&gate["passed"], counts), (&json!(false), [3, 2, 1]));
    assert_eq!(gate["lost"][0]["name"], "only_a");
    // A benchmark that is decided and present on both sides also passes with `--strict`.
    let words = "compare a.json b.json lat_same --fail-above 5% --strict";
    yamba.run(words).ok().says(&["1 of 1 judged\n"]);
    yamba.run("compare a.json a.json --fail-above 5%").refused(&["A and B are the same run"]);
    yamba.run("compare a.json b.json --strict").refused(&["--fail-above"]);
    let answer = yamba.run("compare a.json b.json --remeasure --json").ok();
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(document["remeasured"], Value::Null);
    assert!(verdicts(&document).iter().all(|(_, verdict, _)| *verdict == "unknown"));
    yamba
        .run("compare a.json b.json --fail-above 5")
        .refused(&["--fail-above", "a share between 0 and 1"]);
}

#[test]
fn limits_of_single_benchmarks_are_checked() {
    let mut yamba = with_documents();
    let gate = |yamba: &mut Yamba, words: &str| {
        let answer = yamba.run(&format!("compare a.json b.json {words} --json")).ok();
        let document: Value = serde_json::from_str(&answer.out).unwrap();
        schema::holds("yamba-compare/1", &document);
        document["gate"].clone()
    };
    let all = gate(&mut yamba, "--fail-above 5% --fail-above lat_same=10% --fail-above lat_s*=20%");
    assert_eq!((&all["limit"], &all["limits"]), (&json!(0.05), &json!({"lat_same": 0.2})));
    let own = gate(&mut yamba, "--fail-above lat_same=10%");
    let reasons = own["not_gated"].to_string();
    assert!(reasons.contains("it has no limit"), "{own}");
    assert_eq!(
        (&own["limit"], &own["judged"], &own["lost"]),
        (&json!(null), &json!(1), &json!([]))
    );
    let words = "compare a.json b.json --fail-above lat_same=10%";
    let said = "gate passed: nothing is shown to be slower by more than its limit; 1 of 1 judged";
    yamba.run(words).ok().says(&[said]);
    for (words, parts) in [
        ("--fail-above 5% --fail-above 6%", &["two limits are for all benchmarks"][..]),
        (
            "--fail-above 5% --fail-above lat_sane=6%",
            &["neither run has a benchmark lat_sane", "lat_same"],
        ),
        ("--fail-above lat_same=6", &["a share between 0 and 1"]),
        ("--fail-above =6%", &["GLOB=SHARE"]),
    ] {
        yamba.run(&format!("compare a.json b.json {words}")).refused(parts);
    }
}

#[test]
fn history_shows_where_benchmark_changed() {
    let mut yamba = Yamba::new();
    let place = yamba.folder.path().join("kept.sqlite");
    let mut store = Store::open(&Location::File(place)).unwrap();
    for i in 0..17 {
        let kernel = if i < 8 { "6.1" } else { "6.2" };
        let factor = (if i < 8 { 1.0 } else { 1.2 }) * (1.0 + f64::from(i % 3) * 0.001);
        let mut document = run(&format!("{i:016x}"), kernel, "Z80", factor);
        if i == 16 {
            document["benchmarks"][0]["is_disturbed"] = json!(true);
            document["benchmarks"][1]["status"] = json!("invalid");
            document["benchmarks"][1]["valid"] = json!(false);
        }
        let mut run: Run = serde_json::from_value(document).unwrap();
        run.started_unix_s = Some(f64::from(i) * 86400.0);
        store.add(&run).unwrap();
    }
    drop(store);
    let answer = yamba.run("history lat_same lat_other --store kept.sqlite").ok();
    answer.says(&[
        "lat_other cold=false scale=16",
        "1970-01-09 00:00",
        "changed at 00000000000000",
        "kernel is 6.1 before, 6.2 then",
        "no change is shown in 16 runs",
        "left out: lat_same cold=false scale=16 in 1 run, disturbed: 000000000000001",
        "left out: lat_other cold=false scale=16 in 1 run, invalid: 000000000000001",
    ]);
    let answer = yamba.run("history lat_oth* --json --store kept.sqlite").ok();
    let document: Value = serde_json::from_str(&answer.out).unwrap();
    schema::holds("yamba-history/1", &document);
    let [series] = &document["benchmarks"].as_array().unwrap()[..] else { panic!("{document}") };
    let [change] = &series["changes"].as_array().unwrap()[..] else { panic!("{series}") };
    assert_eq!((&change["index"], &change["run"]), (&json!(8), &json!("0000000000000008")));
    assert!((change["ratio"].as_f64().unwrap() - 1.2).abs() < 0.01);
    assert_eq!(series["points"].as_array().unwrap().len(), 16);
    let other = json!({"name": "lat_other", "parameters": {"cold": false, "scale": 16}, "processes": 1, "threads": 1});
    let invalid = json!({"run": "0000000000000010", "benchmark": other, "reason": "invalid"});
    assert_eq!(document["left_out"], json!([invalid]));
    let one = yamba.run("history lat_same --runs 2 --store kept.sqlite").ok();
    assert!(!one.out.contains("1 runs"), "{}", one.out);
    one.says(&["there is one run, and a change needs several: `yamba run lat_same`"]);
    yamba
        .run("history lat_none --store kept.sqlite")
        .refused(&["no stored run has a benchmark lat_none", "help: "]);
    yamba.run("history").refused(&["NAME|GLOB"]);
}

/// Otherwise the author of a document could run code with the rights of the user who compares it.
#[test]
#[ignore = "needs g++"]
fn sources_of_document_are_compiled_only_on_request() {
    let mut yamba = with_kept_runs();
    for tag in ["first", "slow"] {
        yamba.run(&format!("export {tag} --format json -o {tag}.json")).ok();
    }
    let unasked = |yamba: &mut Yamba, words: &str| {
        let answer = yamba.run(&format!("compare {words} --fail-above 20% --json"));
        assert_eq!(answer.status, 0, "{}", answer.err);
        let document: Value = serde_json::from_str(&answer.out).unwrap();
        let reason = document["gate"]["unconfirmed"][0]["reason"].to_string();
        assert!(reason.contains("--trust-sources"), "{document}");
        assert_eq!(document["benchmarks"][0]["verdict"], "unknown");
        assert_eq!(document["remeasured"]["benchmarks"], json!(null));
    };
    unasked(&mut yamba, "first.json slow.json");
    unasked(&mut yamba, "first slow.json");
    for tag in ["first", "slow"] {
        let words = format!("import {tag}.json --store others.sqlite");
        yamba.run(&words).ok();
    }
    unasked(&mut yamba, "latest~1 latest --store others.sqlite");
    unasked(&mut yamba, "latest~1 latest --store others.sqlite --remeasure");
}
