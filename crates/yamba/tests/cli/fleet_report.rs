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
    let of = |(place, median): (usize, &f64)| json!({"median": median, "cycles": null, "samples": 1, "cycle_ns": null, "round": place});
    json!({
        "name": format!("{}_{at}", topic.to_lowercase()), "class": "x", "ports": [], "parameters": {"size": 8},
        "processes": 1, "status": "ok", "valid": true, "figure": figure, "unit": "ns", "median": launches[0],
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
fn folder_without_documents_is_refused() {
    let mut yamba = Yamba::new();
    std::fs::create_dir(yamba.folder.path().join("empty")).unwrap();
    yamba.run("fleet report empty").refused(&["empty", "no document"]);
    yamba.run("fleet report nowhere").refused(&["no run is kept there yet"]);
}
