//! Tests for PostgreSQL only.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::sample::{entry, run, several_runs};
use super::server::{Server, launched};
use super::{SAME, TestStore};
use yamba_store::{Detail, Location, Store, StoreError};

#[test]
#[ignore = "needs postgres"]
fn postgresql() {
    let mut server = Server::start();
    for (name, body) in SAME {
        eprintln!("{name}");
        body(&TestStore::database(&server.database(name, "")));
    }
    other_schema_is_left_unchanged(&server);
    tables_of_the_version_before_are_completed(&server);
    foreign_tables_are_left_unchanged(&server);
    user_without_write_privilege_can_read(&server);
    lost_connection_is_reopened(&server);
    unreachable_server_is_reported(&server);
    damaged_entry_names_pg_dump(&server);
    many_writers_lose_nothing_when_the_server_restarts(&mut server);
}

/// The name of the service, in the environment of a child process.
const SERVICE: &str = "YAMBA_TEST_SERVICE";

/// The variables of this process would be those of all tests, so this test starts itself again with
/// them.
#[test]
#[ignore = "needs postgres"]
fn service_and_password_come_from_files() {
    match std::env::var(SERVICE) {
        Ok(service) => {
            let place = TestStore::database(&format!("postgresql://?service={service}"));
            place.open().add(&run("0a", 1.0)).unwrap();
        }
        Err(_) => only_the_right_password_opens(&Server::start()),
    }
}

fn only_the_right_password_opens(server: &Server) {
    server.database("served", "");
    server.sql(
        "served",
        "CREATE ROLE guarded LOGIN PASSWORD 'se:cret'; GRANT ALL ON DATABASE served TO guarded",
    );
    let folder = server.folder.path();
    let rules = "local all guarded scram-sha-256\nlocal all all trust\n";
    fs::write(folder.join("data/pg_hba.conf"), rules).unwrap();
    server.sql("postgres", "SELECT pg_reload_conf()");
    let host = folder.display();
    let service = format!("[mine]\nhost={host}\nuser=guarded\ndbname=served\n");
    fs::write(folder.join("services"), service).unwrap();
    for (password, is_right) in [("wrong", false), ("se\\:cret", true)] {
        let passwords = folder.join(format!("passwords {is_right}"));
        fs::write(&passwords, format!("localhost:5432:served:guarded:{password}\n")).unwrap();
        fs::set_permissions(&passwords, fs::Permissions::from_mode(0o600)).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--include-ignored", "--exact"])
            .arg("servers::service_and_password_come_from_files")
            .env("PGSERVICEFILE", folder.join("services"))
            .env("PGPASSFILE", passwords)
            .env(SERVICE, "mine")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout);
        assert_eq!(child.status.success(), is_right, "{said}");
    }
}

/// Writers at the same time, each with its own connection, as collectors of many fleets.
const WRITERS: usize = 64;

/// Runs of each writer.
const RUNS: usize = 3;

/// Every writer repeats a refused run until it is stored. The server is restarted while they write.
fn many_writers_lose_nothing_when_the_server_restarts(server: &mut Server) {
    let place = TestStore::database(&server.database("crowded", ""));
    drop(place.open());
    let stored = AtomicUsize::new(0);
    let begin = Barrier::new(WRITERS + 1);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (place, stored, begin) = (&place, &stored, &begin);
            scope.spawn(move || {
                let mut store = place.open();
                begin.wait();
                for number in 0..RUNS {
                    let run = run(&format!("{writer:02}-{number}"), number as f64);
                    while let Err(error) = store.add(&run) {
                        assert!(!error.to_string().contains("already"), "{error}");
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        store.call_again();
                    }
                    stored.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        begin.wait();
        while stored.load(Ordering::SeqCst) < WRITERS {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(stored.load(Ordering::SeqCst) < WRITERS * RUNS, "the restart is too late");
        // The server ends at once, without the end of any transaction.
        server.stop();
        server.process = launched(server.folder.path());
    });
    let all = place.open().runs().unwrap();
    assert_eq!(all.len(), WRITERS * RUNS);
    assert!(all.iter().all(|run| run.complete));
}

fn refused(url: &str) -> StoreError {
    let location = Location::parse(OsStr::new(url)).unwrap();
    let Err(error) = Store::open(&location) else {
        panic!("{url} was opened");
    };
    assert!(error.to_string().starts_with(url), "{error}");
    assert!(error.help_text().is_some(), "{error}");
    error
}

fn other_schema_is_left_unchanged(server: &Server) {
    let url = server.database("later", "");
    let place = TestStore::database(&url);
    place.open().add(&run("0a", 1.0)).unwrap();
    let version = || server.count("later", "SELECT version FROM yamba.form");
    let known = version();
    server.sql("later", "UPDATE yamba.form SET version = 99");
    let error = refused(&url);
    assert!(error.to_string().contains("another version"), "{error}");
    assert_eq!(version(), 99);
    server.sql("later", &format!("UPDATE yamba.form SET version = {known}"));
    let read = place.open().run("0a", Detail::Batches).unwrap();
    assert_eq!(read, run("0a", 1.0));
}

fn tables_of_the_version_before_are_completed(server: &Server) {
    let place = TestStore::database(&server.database("before", ""));
    place.open().add(&run("0a", 1.0)).unwrap();
    server.sql(
        "before",
        "ALTER TABLE yamba.run DROP COLUMN fleet; UPDATE yamba.form SET version = 2",
    );
    let mut store = place.open();
    assert_eq!(store.run("0a", Detail::Batches).unwrap(), run("0a", 1.0));
    assert_eq!(store.fleets().unwrap(), [""; 0]);
    assert_eq!(server.count("before", "SELECT version FROM yamba.form"), 3);
}

fn foreign_tables_are_left_unchanged(server: &Server) {
    let url = server.database("other", "");
    server.sql("other", "CREATE SCHEMA yamba; CREATE TABLE yamba.run (id TEXT)");
    assert!(refused(&url).to_string().contains("no store of Yamba's"));
    server.sql("other", "INSERT INTO yamba.run VALUES ('x'); DROP TABLE yamba.run");
    // An empty schema may have been created for a user who may not create one.
    TestStore::database(&url).open();

    let latin = "ENCODING 'LATIN1' TEMPLATE template0";
    let error = refused(&server.database("latin", latin));
    assert!(error.to_string().contains("LATIN1"), "{error}");
    assert!(refused(&server.url("absent")).to_string().contains("absent"));
}

fn user_without_write_privilege_can_read(server: &Server) {
    let url = server.database("shared", "");
    TestStore::database(&url).open().add(&run("0a", 1.0)).unwrap();
    server.sql(
        "shared",
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA yamba TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA yamba TO reader",
    );
    let mut store = TestStore::database(&url.replace("yamba@", "reader@")).open();
    assert_eq!(store.run("0a", Detail::Batches).unwrap(), run("0a", 1.0));
    let error = store.remove("0a").unwrap_err();
    assert!(error.to_string().contains("permission denied"), "{error}");
    assert!(error.help_text().unwrap().contains("GRANT"), "{error:?}");
    assert_eq!(store.runs().unwrap().len(), 1);
}

/// Terminates all connections to the database.
fn cut_off(server: &Server, database: &str) {
    let all = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
    );
    server.sql("postgres", &all);
    let left = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'");
    while server.count("postgres", &left) > 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn lost_connection_is_reopened(server: &Server) {
    let url = server.database("lost", "");
    let place = TestStore::database(&url);
    let mut store = place.open();
    let mut whole = run("0a", 1.0);
    whole.benchmarks = (0..3).map(|i| entry(&format!("lat_{i}"), 3)).collect();
    store.begin(&whole).unwrap();
    for (place, benchmark) in whole.benchmarks.iter().enumerate() {
        cut_off(server, "lost");
        store.put("0a", place, benchmark).unwrap();
    }
    cut_off(server, "lost");
    store.finish(&whole).unwrap();
    assert!(place.open().runs().unwrap()[0].complete);
    assert_eq!(place.open().run("0a", Detail::Batches).unwrap(), whole);
}

/// One attempt to reconnect, and another after `call_again`.
fn unreachable_server_is_reported(server: &Server) {
    let url = server.database("away", "");
    let mut store = TestStore::database(&url).open();
    store.begin(&run("0a", 1.0)).unwrap();
    let allow = |is: bool| {
        let sql = format!("ALTER DATABASE away ALLOW_CONNECTIONS {is}");
        server.sql("postgres", &sql);
    };
    allow(false);
    cut_off(server, "away");
    let put = |store: &mut Store| store.put("0a", 0, &entry("lat_a", 3));
    let error = put(&mut store).unwrap_err();
    assert!(error.to_string().starts_with(&url), "{error}");
    allow(true);
    assert!(put(&mut store).is_err());
    store.call_again();
    put(&mut store).unwrap();
    let read = store.run("0a", Detail::Batches).unwrap();
    assert_eq!(read.benchmarks, [entry("lat_a", 3)]);
}

/// A database with the usual runs, damaged by the statement `harm`.
fn harmed(server: &Server, name: &str, harm: &str) -> TestStore {
    let place = TestStore::database(&server.database(name, ""));
    let mut store = place.open();
    for run in several_runs() {
        store.add(&run).unwrap();
    }
    server.sql(name, &format!("SET search_path = yamba; {harm}"));
    place
}

fn damaged_entry_names_pg_dump(server: &Server) {
    let harm = "UPDATE entry SET samples = substr(samples, 9) WHERE run = '0b' AND place = 1";
    let mut store = harmed(server, "damaged", harm).open();
    let error = store.run("0b", Detail::Batches).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    assert!(error.help_text().unwrap().contains("pg_dump"), "{error:?}");
    for was in several_runs().iter().filter(|run| run.id != "0b") {
        assert_eq!(store.run(&was.id, Detail::Batches).unwrap(), *was);
    }
}
