//! Application vectors in the store.

use serde_json::Value;

use crate::predict::{STRACE, run, vector};
use crate::support::{Yamba, json, rescued};

fn prepared() -> Yamba {
    Yamba::new()
        .file("here.json", run(1.0).to_string())
        .file("server.strace", STRACE)
        .file("nginx.vector", vector("nginx", 16.0, None).to_string())
        .file("small.vector", vector("nginx", 8.0, None).to_string())
}

fn predicted(yamba: &mut Yamba, name: &str) -> f64 {
    let found = json(yamba, &format!("predict {name} --on here.json --json"));
    found["predictions"][0]["predicted_ns"].as_f64().unwrap()
}

#[test]
fn trace_is_stored_beside_its_file_and_predicted_by_name() {
    let mut yamba = prepared();
    let words = "trace --from server.strace --application server -o server.vector";
    let said = yamba.run(words).ok().err;
    assert!(said.contains("vector ") && said.contains(" stored\n"), "{said}");
    let expected = predicted(&mut yamba, "server.vector");
    std::fs::remove_file(yamba.folder.path().join("server.vector")).unwrap();
    for name in ["server", "latest-vector"] {
        assert_eq!(predicted(&mut yamba, name), expected, "{name}");
    }
    let listed = json(&mut yamba, "runs --json");
    assert_eq!(listed[0]["vector_of"], "server");
    assert_eq!(listed[0]["benchmarks"], Value::Array(Vec::new()));
    yamba.run("runs").ok().says(&["vector of server"]);
    // A vector is no run of benchmarks.
    yamba.run("compare latest latest").refused(&["no run latest"]);
    yamba.run("tag latest-vector before").ok();
    assert_eq!(predicted(&mut yamba, "before"), expected);
    yamba.run("rm before").ok();
    yamba.run("predict server --on here.json").refused(&["no vector is stored"]);
}

#[test]
fn store_that_cannot_be_written_does_not_lose_the_vector() {
    let folder = tempfile::tempdir().unwrap();
    let mut yamba = prepared().env("YAMBA_STORE", "/dev/null/store").env("TMPDIR", folder.path());
    let words = "trace --from server.strace --application server -o server.vector";
    let said = yamba.run(words).ok().err;
    assert!(said.contains("warning: the run cannot be stored now: /dev/null/store"), "{said}");
    let expected = predicted(&mut yamba, "server.vector");
    let document = rescued(folder.path());
    assert!(said.contains(&format!("`yamba import {document}` stores it")), "{said}");
    let mut yamba = yamba.env("YAMBA_STORE", folder.path().join("results.sqlite"));
    yamba.run(&format!("import {document}")).ok();
    assert_eq!(predicted(&mut yamba, "server"), expected);
}

#[test]
fn vector_is_carried_to_another_store_by_export_and_import() {
    let mut yamba = prepared();
    yamba.run("import nginx.vector").ok();
    let expected = predicted(&mut yamba, "nginx");
    assert_eq!(expected, predicted(&mut yamba, "nginx.vector"));
    yamba.run("export nginx.vector --format csv").refused(&["no entry", "--format json"]);
    yamba.run("export latest-vector --format json -o app.json").ok();
    assert_eq!(predicted(&mut yamba, "app.json"), expected);
    yamba.run("import app.json --store other.sqlite").ok();
    assert_eq!(predicted(&mut yamba, "nginx --store other.sqlite"), expected);
    // The vector alone, as its own document.
    let shown = json(&mut yamba, "show latest-vector --store other.sqlite");
    let own: Value = serde_json::from_str(&vector("nginx", 16.0, None).to_string()).unwrap();
    assert_eq!(shown, own);
    // An id tells two vectors of one application apart.
    let id = yamba.run("import small.vector").ok().out;
    assert!(predicted(&mut yamba, id.trim()) < expected);
}

#[test]
fn dash_is_standard_output() {
    let mut yamba = prepared();
    let words = "trace --from server.strace --application server";
    let plain = yamba.run(words).ok().out;
    let dash = yamba.run(&format!("{words} -o -")).ok().out;
    assert_eq!(plain, dash);
    assert!(!yamba.folder.path().join("-").exists());
    yamba.run(&format!("{words} --files -")).refused(&["--files -", "name a file"]);
}

/// A vector alone does not say when its trace began.
#[test]
fn vector_that_was_stored_last_is_the_latest() {
    let mut yamba = prepared();
    yamba.run("trace --from server.strace --application nginx -o traced.vector").ok();
    yamba.run("import small.vector").ok();
    let expected = predicted(&mut yamba, "small.vector");
    // The traced program lies in the folder under its own name.
    let mut yamba = yamba.file("nginx", b"\x7fELF\xff\xfe");
    for name in ["latest-vector", "nginx"] {
        assert_eq!(predicted(&mut yamba, name), expected, "{name}");
    }
    let mut yamba = yamba.file("other", b"\x7fELF\xff\xfe");
    yamba
        .run("predict other --on here.json")
        .refused(&["other is no text, so no vector: ", "other"]);
}

/// The ratio of the times of a request and of a run says nothing.
#[test]
fn versions_with_different_units_are_not_compared() {
    let text = vector("nginx", 8.0, None).to_string();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["unit"] = "run".into();
    let mut yamba = prepared().file("run.vector", other.to_string());
    let versions = "predict nginx.vector --against run.vector --on here.json";
    yamba.run(versions).refused(&["a unit of nginx is a ", "and one of nginx a run", "--unit"]);
}

#[test]
fn faults_of_stored_vectors_are_named() {
    let mut broken = vector("broken", 1.0, None);
    broken["primitives"][0]["count"] = (-1).into();
    let mut yamba = prepared().file("broken.vector", broken.to_string());
    yamba
        .run("import nginx.vector broken.vector")
        .refused(&["broken.vector", "primitives[0].count"]);
    yamba.run("predict nginx --on here.json").refused(&["no run is kept there yet"]);
    yamba.run("import nginx.vector here.json").ok();
    yamba.run("predict apache --on here.json").refused(&["no run apache", "nginx"]);
    yamba
        .run("predict here.json --on here.json")
        .refused(&["here.json: this run holds no application's vector"]);
    yamba.run("predict none.vector --on here.json").refused(&["none.vector: No such file"]);
}
