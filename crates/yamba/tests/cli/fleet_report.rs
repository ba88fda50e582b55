//! `yamba fleet report` on a simulated fleet: two jobs of twelve nodes, of which one has slow
//! memory in the second job.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::schema;
use crate::support::{Yamba, json as document};

/// Nodes of the fleet. The last one has no document in the second job.
const NODES: usize = 12;

/// The slow node, and how much slower it is.
const SLOW: usize = 4;
const FACTOR: f64 = 1.2;

/// Figures of each resource.
const FIGURES: usize = 6;

fn fleet() -> Yamba {
    let yamba = Yamba::new();
    let mut random = Rng::with_seed(5);
    for (job, nodes) in [("j1", NODES), ("j2", NODES - 1)] {
        std::fs::create_dir_all(yamba.folder.path().join("results").join(job)).unwrap();
        for node in 0..nodes {
            let factor = if node == SLOW && job == "j2" { FACTOR } else { 1.0 };
            let path = format!("results/{job}/n{node}.json");
            let text = run(job, node, factor, &mut random).to_string();
            std::fs::write(yamba.folder.path().join(path), text).unwrap();
        }
    }
    std::fs::write(yamba.folder.path().join("results/j2/torn.json"), "{").unwrap();
    yamba
}

/// A run whose memory is slower by `factor`.
fn run(job: &str, node: usize, factor: f64, random: &mut Rng) -> Value {
    let resources = [("Memory", "latency", factor), ("Processor", "bandwidth", 1.0)];
    let each = resources.iter().flat_map(|of| (0..FIGURES).map(move |at| (of, at)));
    let entries: Vec<Value> = each
        .map(|((topic, figure, factor), at)| entry(topic, figure, at, *factor, random))
        .collect();
    json!({
        "schema": "yamba-run/1", "started_unix_s": if job == "j1" { 1e9 } else { 2e9 },
        "fleet": {"name": "simulated", "node": format!("n{node}"), "job": job, "rank": node},
        "machine": {"isa": "x86_64", "system": "linux", "kernel": "6.1", "cpus": 2, "page_size": 4096, "root": false},
        "benchmarks": entries,
    })
}

/// Six launches within 0.2 %.
fn entry(topic: &str, figure: &str, at: usize, factor: f64, random: &mut Rng) -> Value {
    let launches: Vec<f64> =
        (0..6).map(|_| 100.0 * factor * (1.0 + 0.002 * random.f64())).collect();
    let unit = if figure == "bandwidth" { "MB/s" } else { "ns" };
    let of = |(place, median): (usize, &f64)| json!({"median": median, "cycles": null, "samples": 1, "cycle_ns": null, "round": place});
    json!({
        "name": format!("{}_{at}", topic.to_lowercase()), "class": "x", "ports": [], "parameters": {"size": 8},
        "processes": 1, "status": "ok", "valid": true, "figure": figure, "unit": unit, "median": launches[0],
        "samples": launches, "launches": launches.iter().enumerate().map(of).collect::<Vec<_>>(),
        "provenance": {"topic": topic}, "evidence": {}, "notes": [],
    })
}

#[test]
fn document_names_slow_node_and_is_valid() {
    let mut yamba = fleet();
    let found = document(&mut yamba, "fleet report results --json");
    schema::holds("yamba-fleet-report/1", &found);
    let slow = found["slow"].as_array().unwrap();
    assert_eq!(slow.len(), 1, "{slow:?}");
    assert_eq!(
        (&slow[0]["node"], &slow[0]["resource"], &slow[0]["slow_since"]),
        (&json!("n4"), &json!("Memory"), &json!("j2"))
    );
    let ratio = slow[0]["ratio"].as_f64().unwrap();
    assert!((ratio - FACTOR).abs() < 0.01, "{ratio}");
    assert_eq!(found["jobs"][1]["nodes"], NODES - 1);
    assert_eq!(found["missing"], json!(["n11"]));
    let failed = found["failed"][0]["node"].as_str().unwrap();
    assert!(failed.contains("torn"), "{failed}");
    assert!(!schema::is_held("yamba-fleet-report/1", &json!({"schema": "yamba-fleet-report/1"})));
}

/// A node that booted without a clock must not make its job the first one.
#[test]
fn order_of_jobs_does_not_depend_on_one_clock() {
    let mut yamba = fleet();
    change(&yamba, "results/j2/n3.json", |run| run["started_unix_s"] = json!(100.0));
    let found = document(&mut yamba, "fleet report results --json");
    assert_eq!((&found["jobs"][0]["job"], &found["jobs"][1]["job"]), (&json!("j1"), &json!("j2")));
    assert_eq!(found["slow"][0]["node"], "n4");
}

/// Applies a change to a document.
fn change(yamba: &Yamba, file: &str, with: impl FnOnce(&mut Value)) {
    let path = yamba.folder.path().join(file);
    let mut run: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    with(&mut run);
    std::fs::write(path, run.to_string()).unwrap();
}

#[test]
fn copy_of_a_document_is_no_node() {
    let mut yamba = fleet();
    change(&yamba, "results/j2/n4.json", |run| run["id"] = json!("0123456789abcdef"));
    let folder = yamba.folder.path().join("results/j2");
    std::fs::copy(folder.join("n4.json"), folder.join("n98.json")).unwrap();
    change(&yamba, "results/j2/n98.json", |run| run["fleet"]["node"] = json!("n98"));
    // Nothing ever writes into the pipe, so a reader of it would wait for ever.
    let pipe = std::process::Command::new("mkfifo").arg(folder.join("pipe.json")).status();
    assert!(pipe.unwrap().success());
    let found = document(&mut yamba, "fleet report results --json");
    assert_eq!(found["jobs"][1]["nodes"], NODES - 1);
    let slow: Vec<&Value> = found["slow"].as_array().unwrap().iter().map(|s| &s["node"]).collect();
    assert_eq!(slow, [&json!("n4")]);
    let failed = found["failed"].as_array().unwrap();
    assert!(failed.iter().any(|f| f["node"] == "n98"), "{failed:?}");
}

#[test]
fn report_that_compared_nothing_fails() {
    let mut yamba = fleet();
    let answer = yamba.run("fleet report results/j1/n0.json results/j1/n1.json");
    assert_eq!(answer.status, 1, "{}", answer.err);
    answer.says(&["No node could be compared", "five nodes"]);
}

#[test]
fn text_has_slow_node_classes_and_smallest_slowdowns() {
    let answer = fleet().run("fleet report results").ok();
    answer.says(&[
        "11 nodes",
        "n4",
        "Memory",
        "1.2",
        "j2",
        "Classes of nodes",
        "Smallest slowdown of a resource",
        "n11",
        "torn",
    ]);
}

#[test]
fn page_has_the_slow_node_and_loads_nothing() {
    let mut yamba = fleet();
    let answer = yamba.run("fleet report results -o fleet.html").ok();
    let page = std::fs::read_to_string(yamba.folder.path().join("fleet.html")).unwrap();
    assert!(answer.err.contains(&format!("fleet.html: {} bytes", page.len())), "{}", answer.err);
    assert!(page.contains("<td data-title=\"node\">n4</td>"), "{page}");
    for loading in ["<link", "<script src", "<img", "@import", "url("] {
        assert!(!page.contains(loading), "{loading}");
    }
    let mut yamba = yamba.file("nodes", "n0\nn99\n");
    let found = document(&mut yamba, "fleet report results --nodes nodes --json");
    assert_eq!(found["missing"], json!(["n11", "n99"]));
}

#[test]
fn page_replaces_no_document_of_its_folder() {
    let mut yamba = fleet();
    let document = yamba.folder.path().join("results/j1/n3.json");
    let before = std::fs::read(&document).unwrap();
    let refused = "results/j1/n3.json is an input of this command";
    yamba.run("fleet report results -o results/j1/n3.json").refused(&[refused]);
    assert_eq!(std::fs::read(&document).unwrap(), before);
}

#[test]
fn folder_without_documents_is_refused() {
    let mut yamba = Yamba::new();
    std::fs::create_dir(yamba.folder.path().join("empty")).unwrap();
    yamba.run("fleet report empty").refused(&["empty", "no document"]);
    yamba.run("fleet report nowhere").refused(&["no run is kept there yet"]);
}
