//! Runs stored in PostgreSQL.

#[path = "../../../store/tests/kept/server.rs"]
mod server;

use std::fs;
use std::process::Stdio;

use serde_json::Value;
use server::Server;
use yamba_child_guard::StartGuarded;

use crate::results::{another_day, commands};
use crate::support::{MANY, Yamba, column, json, until};

/// One test for all, since a server takes a second to start.
#[test]
#[ignore = "needs g++ and postgres"]
fn postgresql_database_is_a_store() {
    let server = Server::start();
    let url = server.database("runs", "").replace('@', ":secret@");
    let yamba = Yamba::new().file("many.yamba", MANY);
    let mut yamba = yamba.env("YAMBA_STORE", &url);
    each_command(&mut yamba, &url);
    killed_run_leaves_measured_entries_in_the_store(&mut yamba, &server);
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
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|r| &r["id"]).collect();
    assert_eq!(ids, [&second["id"], &first["id"]]);
    yamba.run("tag latest~1 base").ok().says(&["base"]);
    yamba.run("compare base latest").ok().says(&["many"]);
    a_page_leads_there_without_the_password(yamba);
    yamba.run("export base --format csv").ok().says(&["many"]);
    let refused = yamba.run("show nothing").refused(&["nothing", "tags: base"]);
    assert!(!refused.err.contains("secret"), "{}", refused.err);
    yamba.run("rm base").ok();
    assert_eq!(json(yamba, "runs --json").as_array().unwrap().len(), 1);
}

fn a_page_leads_there_without_the_password(yamba: &mut Yamba) {
    let page = yamba.run("report base latest -o -").ok().out;
    assert!(!page.contains("secret"));
    let commands = commands(&page);
    assert_eq!(commands.len(), 4, "{commands:?}");
    for command in commands {
        assert!(command.contains("postgresql://yamba@"), "{command}");
        another_day(yamba, &command).says(&["many"]);
    }
}

fn entries(server: &Server) -> i64 {
    server.count("runs", "SELECT count(*) FROM yamba.entry")
}

/// Each entry's raw batches in order: launch and duration.
fn batches(run: &Value) -> Vec<Vec<(u64, f64)>> {
    let each = run["benchmarks"].as_array().unwrap().iter();
    let of = |entry: &Value| {
        let launches = column(entry, "launch").into_iter().map(|n| n.as_u64().unwrap());
        let times = column(entry, "ns").into_iter().map(|ns| ns.as_f64().unwrap());
        launches.zip(times).collect()
    };
    each.map(of).collect()
}

/// All entries that were visible before a run was killed remain stored.
fn killed_run_leaves_measured_entries_in_the_store(yamba: &mut Yamba, server: &Server) {
    let before = entries(server);
    let mut child = yamba.begin(&["run", "many.yamba", "--quick"]);
    until("entries are kept", || entries(server) > before + 5);
    let seen = json(yamba, "show latest --json --raw");
    child.kill().unwrap();
    child.wait().unwrap();
    let answer = yamba.run("show latest --json --raw").ok();
    assert!(answer.err.contains("was cut off"), "{}", answer.err);
    let left: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(left["id"], seen["id"]);
    assert_eq!(left["sources"], seen["sources"]);
    let (seen, left) = (batches(&seen), batches(&left));
    assert!(seen.len() > 5 && left.len() < 200);
    let is_there = |(place, of_it): (usize, &Vec<(u64, f64)>)| left[place].starts_with(of_it);
    assert!(seen.iter().enumerate().all(is_there), "{seen:?}\n{left:?}");
    assert!(left.iter().all(|of_it| !of_it.is_empty()));
    assert_eq!(json(yamba, "runs --json")[0]["complete"], false);
}

/// If the server fails during a run, the remaining entries go to a file, and at the end the run
/// goes to another file that can be imported.
fn a_run_outlives_the_server(yamba: &mut Yamba, server: Server) {
    let before = entries(&server);
    // The run takes longer than the test and is stopped when everything has been checked.
    let said = yamba.folder.path().join("said");
    let mut child = yamba
        .command(&["run", "many.yamba"])
        .env("TMPDIR", yamba.folder.path())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said).unwrap())
        .start();
    until("an entry is kept", || entries(&server) > before);
    drop(server);
    until("it is said", || {
        let said = fs::read_to_string(&said).unwrap();
        said.contains("cannot be stored now") && said.contains("what is not stored is in")
    });
    let spool = named(yamba, "yamba-unstored-", ".sqlite").unwrap();
    until("the rest is there", || {
        let run = json(yamba, &format!("show --json --store {spool}"));
        run["benchmarks"].as_array().is_some_and(|all| !all.is_empty())
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let said = fs::read_to_string(&said).unwrap();
    for part in ["the whole run is in", "yamba import"] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    assert_eq!(named(yamba, "yamba-unstored-", ""), None);
    let name = named(yamba, "yamba-run-", ".json").unwrap();
    yamba.run(&format!("import {name} --store own.sqlite")).ok();
    let run = json(yamba, "show --json --store own.sqlite");
    assert_eq!(run["benchmarks"].as_array().unwrap().len(), 200);
    assert_eq!(run["interrupted"], true);
}

/// A file whose name has this beginning and end.
fn named(yamba: &Yamba, begins: &str, ends: &str) -> Option<String> {
    let files = fs::read_dir(yamba.folder.path()).unwrap().flatten();
    let mut names = files.filter_map(|f| f.file_name().into_string().ok());
    names.find(|name| name.starts_with(begins) && name.ends_with(ends))
}
