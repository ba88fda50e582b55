//! Runs that are kept in PostgreSQL.

#[path = "../../../store/tests/kept/server.rs"]
mod server;

use std::fs;
use std::process::Stdio;

use serde_json::Value;
use server::Server;

use crate::kept::{MANY, json};
use crate::support::{Answer, Yamba, has, until};

/// In one test, since a server takes a second to start.
#[test]
fn a_database_is_a_store() {
    if !has("g++") {
        return;
    }
    let Some(server) = Server::start() else {
        return;
    };
    let url = server.database("runs", "").replace('@', ":secret@");
    let yamba = Yamba::new().file("many.yamba", MANY);
    let mut yamba = yamba.env("YAMBA_STORE", &url);
    each_command(&mut yamba, &url);
    a_run_outlives_the_server(&mut yamba, server);
}

fn each_command(yamba: &mut Yamba, url: &str) {
    let words = format!("run many.yamba --set size=3 --quick --json --store {url}");
    let first = json(yamba, &words);
    let second = json(yamba, "run many.yamba --set size=3 --quick --json");
    assert_eq!(json(yamba, "show latest~1 --json"), first);
    assert_eq!(json(yamba, "show --json"), second);
    assert!(!first.to_string().contains("secret"), "{first}");

    let listed = json(yamba, "runs --json");
    let ids: Vec<&Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["id"])
        .collect();
    assert_eq!(ids, [&second["id"], &first["id"]]);
    yamba.run("tag latest~1 base").ok().says(&["base"]);
    yamba.run("compare base latest").ok().says(&["many"]);
    yamba.run("report base latest -o both.html").ok();
    yamba.run("export base --format csv").ok().says(&["many"]);
    let refused = yamba
        .run("show nothing")
        .refused(&["nothing", "tags: base"]);
    assert!(!refused.err.contains("secret"), "{}", refused.err);
    yamba.run("rm base").ok();
    assert_eq!(json(yamba, "runs --json").as_array().unwrap().len(), 1);
}

/// What the server cannot take any more is in a file, from which the run can be imported elsewhere.
fn a_run_outlives_the_server(yamba: &mut Yamba, server: Server) {
    let points: Vec<String> = (1..=12).map(|i| i.to_string()).collect();
    let sweep = format!("size={}", points.join(","));
    let words = ["run", "many.yamba", "--quick", "--sweep", &sweep];
    let child = yamba
        .command(&words)
        .env("TMPDIR", yamba.folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("an entry is kept", || {
        server.count("runs", "SELECT count(*) FROM yamba.entry") > 1
    });
    drop(server);
    let answer = Answer::of(child.wait_with_output().unwrap()).ok();
    let warned = [
        "cannot be stored now",
        "the whole run is in",
        "yamba import",
    ];
    for part in warned {
        assert!(answer.err.contains(part), "no `{part}` in\n{}", answer.err);
    }
    let is_rescued = |name: &str| name.starts_with("yamba-run-") && name.ends_with(".json");
    let files = fs::read_dir(yamba.folder.path()).unwrap().flatten();
    let mut names = files.filter_map(|f| f.file_name().into_string().ok());
    let name = names.find(|name| is_rescued(name)).unwrap();
    yamba.run(&format!("import {name} --store own.sqlite")).ok();
    let run = json(yamba, "show --json --store own.sqlite");
    assert_eq!(run["benchmarks"].as_array().unwrap().len(), points.len());
}
