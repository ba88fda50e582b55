//! `yamba study`: measuring, reporting faults, and the shipped studies.

use serde_json::{Value, json};
use yamba_record::{Benchmark, Parameters, Run, Status};
use yamba_store::{Location, Store};

use crate::schema;
use crate::support::{Yamba, root};

const SHORT: &str = r#"
title = "A short one"

[[measurement]]
label = "Loop"
benchmark = "lat_loop"
parameters = { turns = [256, 1024] }
unit = "ns"
predicted = "..1000 ns"
reason = "one addition"

[[measurement]]
id = "long"
label = "Long loop"
benchmark = "lat_loop"
parameters = { turns = 1024 }
predicted = "5.. s"
reason = "a wrong one"

[[measurement]]
label = "Ratio"
benchmark = "lat_loop"
parameters = { turns = 256 }
predicted = "0.001..1000 times"
of = "long"
reason = "it is the same loop"

[[measurement]]
label = "Spread"
benchmark = "lat_loop"
parameters = { turns = 256 }
statistic = "variation_within"
predicted = "0..1"
reason = "only samples show it"
"#;

/// A store with a run without benchmarks, for read-only tests.
fn with_an_empty_run() -> Yamba {
    with_a_run_of(&[])
}

/// A store with a run that skipped these benchmarks.
fn with_a_run_of(skipped: &[String]) -> Yamba {
    with_entries(skipped.iter().map(|n| yamba_harness::not_started(n)).collect())
}

fn with_entries(benchmarks: Vec<Benchmark>) -> Yamba {
    let yamba = Yamba::new();
    let path = yamba.folder.path().join("results.sqlite");
    let mut run: Run = Run::new(yamba_record::Machine::default());
    run.id = "0011223344556677".to_owned();
    run.benchmarks = benchmarks;
    Store::open(&Location::File(path)).unwrap().add(&run).unwrap();
    yamba
}

#[test]
#[ignore = "needs g++"]
fn study_is_measured_stored_and_reported_from_the_store() {
    let mut yamba = Yamba::new().file("short.toml", SHORT);
    let quick = "study short.toml --quick --launches 2 --time 200ms";
    let answer = yamba.run(&format!("{quick} --json")).ok();
    let measured: Value = serde_json::from_str(&answer.out).unwrap();
    schema::holds("yamba-study/1", &measured);
    let rows = measured["rows"].as_array().unwrap();
    // On a busy machine a figure may be disturbed, and then its verdict is unknown.
    let is_disturbed = answer.out.contains("disturbed:");
    for (row, verdict) in rows.iter().zip(["within", "within", "below", "within"]) {
        let told = row["verdict"].as_str().unwrap();
        let is_right = told == verdict || (is_disturbed && told == "unknown");
        assert!(is_right, "{verdict}: {row}");
    }
    assert_eq!(rows.len(), 5);
    assert!(rows[4]["measured"].is_object(), "{}", rows[4]);
    assert_eq!(rows[1]["parameters"]["turns"], 1024);
    assert_eq!(rows[0]["measured"]["unit"], "ns");
    assert_eq!(rows[2]["predicted"], serde_json::json!({"low": 5.0, "high": null, "unit": "s"}));
    assert_eq!(rows[3]["predicted"]["of"], "long");

    // All rows share two settings, each of which is measured once and stored.
    let kept: Value = serde_json::from_str(&yamba.run("show --json").ok().out).unwrap();
    assert_eq!(kept["benchmarks"].as_array().unwrap().len(), 2);
    assert_eq!(kept["id"], measured["run"]);
    let again = yamba.run("study short.toml --from latest --json").ok();
    assert_eq!(serde_json::from_str::<Value>(&again.out).unwrap(), measured);
    yamba.run("study short.toml --from latest").ok().says(&[
        "A short one",
        "Loop (turns=256)",
        "5 predictions: ",
    ]);
    assert_eq!(rows[3]["multiple"]["interval_scope"], "between runs");
    let page = yamba.run("study short.toml --from latest --md").ok();
    page.says(&["# A short one", "| Operation |", "`yamba run lat_loop --set 'turns=1024'`"]);
    the_page_has_the_study_as_it_was(&mut yamba);
}

fn the_page_has_the_study_as_it_was(yamba: &mut Yamba) {
    let link = "href=\"#entry-";
    let path = yamba.folder.path().join("short.toml");
    std::fs::write(&path, SHORT.replace("A short one", "A later one")).unwrap();
    yamba.run("report -o -").ok().says(&["Study: A short one", link]);
    yamba.run("study short.toml --from latest --html").ok().says(&[
        "Study: A later one",
        link,
        "<figure class=\"samples\"",
    ]);
    // The study is shown with a figure from a non-default store; its commands name that store.
    let store = yamba.folder.path().join("results.sqlite");
    let command =
        format!("<code>yamba run lat_loop --set 'turns=1024' --store {}</code>", store.display());
    yamba.run("report -o -").ok().says(&[command.as_str()]);
}

#[test]
#[ignore = "needs g++"]
fn set_applies_to_measurements_with_the_parameter() {
    let mut yamba = Yamba::new().file("short.toml", SHORT);
    let plan = yamba.run("study short.toml --dry-run --json --set turns=4").ok();
    let plan: Value = serde_json::from_str(&plan.out).unwrap();
    let entries = plan["benchmarks"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{plan}");
    assert_eq!(entries[0]["parameters"]["turns"], 4);
    yamba
        .run("study short.toml --set turn=4")
        .refused(&["no parameter `turn`", "did you mean turns?"]);
}

/// A value that the run lacks has a row without a figure, whether it stands alone or in a list.
#[test]
fn value_of_a_list_that_the_run_lacks_has_a_row() {
    let point = |turns: u64| {
        let mut entry = yamba_harness::not_started("lat_loop");
        (entry.status, entry.valid) = (Status::Ok, true);
        entry.parameters = Parameters(vec![("turns".to_owned(), turns.into())]);
        (entry.unit, entry.median) = (Some("ns".to_owned()), Some(200.0));
        entry.confidence_interval = Some([190.0, 210.0]);
        entry
    };
    let study = SHORT.split("[[measurement]]").take(2).collect::<Vec<_>>().join("[[measurement]]");
    let rows = |turns: &[u64]| {
        let mut yamba = with_entries(turns.iter().map(|t| point(*t)).collect());
        yamba = yamba.file("short.toml", &study);
        let answer = yamba.run("study short.toml --from latest --json");
        let told: Value = serde_json::from_str(&answer.out).unwrap();
        let rows = told["rows"].as_array().unwrap().iter();
        let rows = rows.map(|row| (row["parameters"]["turns"].clone(), row["status"].is_null()));
        (answer.status, rows.collect::<Vec<_>>())
    };
    assert_eq!(rows(&[256, 1024]), (0, vec![(json!(256), false), (json!(1024), false)]));
    assert_eq!(rows(&[256]), (1, vec![(json!(256), false), (Value::Null, true)]));
}

#[test]
fn study_errors_have_a_place() {
    let refused = |from: &str, to: &str, parts: &[&str]| {
        let count = if from == "turns" { 9 } else { 1 };
        let text = SHORT.replacen(from, to, count);
        assert_ne!(text, SHORT);
        with_an_empty_run()
            .file("wrong.toml", text)
            .run("study wrong.toml --from latest")
            .refused(parts);
    };
    refused("lat_loop", "lat_lop", &["wrong.toml:6:13", "lat_lop", "did you mean lat_loop?"]);
    refused("lat_loop", "Latency", &["wrong.toml:6:13", "Latency"]);
    refused("turns", "turn", &["wrong.toml:7:", "no parameter `turn`", "turns"]);
    refused("unit = \"ns\"", "unit = \"nsec\"", &["wrong.toml:8:8", "`nsec` is no unit", "cycles"]);
    refused("..1000 ns", "..1000 MB/s", &["wrong.toml:9:13", "MB/s", "a time"]);
    refused("unit =", "evidence = \"x\"\nunit =", &["wrong.toml:8:12", "no evidence `x`"]);
    refused("unit =", "uint =", &["wrong.toml:8:1", "unknown key `uint`", "`unit`"]);
    refused("title", "[[[", &["wrong.toml:2:"]);

    let mut yamba = Yamba::new().file("latin.toml", b"title = \"\xe9\"\n");
    yamba.run("study latin.toml").refused(&["latin.toml:1", "UTF-8"]);
    yamba.run("study nowhere.toml").refused(&["nowhere.toml", "yamba study new"]);
    yamba.run("study .").refused(&["no study is named ."]);
    yamba.run("study sytem").refused(&["sytem", "did you mean system?"]);
    yamba.run("study latin").refused(&["latin.toml here"]);
    yamba.run("study system --from latest --quick").refused(&["--from", "--quick"]);
}

#[test]
fn shipped_studies_name_existing_benchmarks() {
    let mut yamba = with_an_empty_run();
    let listed: Value = serde_json::from_str(&yamba.run("study --json").ok().out).unwrap();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"system"), "{names:?}");
    for name in &names {
        yamba
            .run(&format!("study {name} --from latest"))
            .refused(&["has nothing that", &format!("yamba study {name}")]);
        let text = root().join(format!("studies/{name}.toml"));
        let study = yamba_session::study::read(&std::fs::read_to_string(text).unwrap()).unwrap();
        let first = study.measurements[0].benchmark.clone();
        let answer = with_a_run_of(&[first]).run(&format!("study {name} --from latest --json"));
        assert_eq!(answer.status, 1, "the other rows are not in the run");
        let told: Value = serde_json::from_str(&answer.out).unwrap();
        let rows = told["rows"].as_array().unwrap();
        assert!(rows.len() > 3, "{name}");
        assert!(rows.iter().all(|r| r["verdict"].is_null()), "{name}");
        for row in rows {
            assert!(row["predicted"] != Value::Null, "{row}");
            let is_plain = row["evidence"].is_null() && row["fit"].is_null();
            assert!(!is_plain || (row["base"].is_string() && row["overhead"].is_string()), "{row}");
        }
    }
    // The embedded studies give the same list.
    let embedded = Yamba::new().without("YAMBA_HOME").run("study --json").ok();
    assert_eq!(serde_json::from_str::<Value>(&embedded.out).unwrap(), listed);
}

#[test]
fn new_study_overwrites_no_file() {
    let measured = ["lat_syscall_getppid", "lat_fork_exit", "lat_thread_create_join", "lat_mem_rd"];
    let mut yamba = with_a_run_of(&measured.map(str::to_owned));
    yamba.run("study new course.toml").ok();
    yamba
        .run("study course.toml --from latest")
        .ok()
        .says(&["System call", "Nothing is predicted"]);
    let path = yamba.folder.path().join("course.toml");
    std::fs::write(&path, "mine").unwrap();
    yamba.run("study new course.toml").refused(&["course.toml", "exists already"]);
    assert_eq!(std::fs::read_to_string(path).unwrap(), "mine");
    yamba.run("study new course").refused(&["course", ".toml"]);
    yamba
        .run("study new no/such/course.toml")
        .refused(&["no/such/course.toml", "help: its folder must exist"]);
}
