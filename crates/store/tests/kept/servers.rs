//! What is PostgreSQL's alone.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::salvaged::{check, made_of_texts, salvage, written};
use super::sample::{entry, run};
use super::server::{Server, launched};
use super::{Place, SAME};
use yamba_store::{Detail, Location, Store, StoreError};

#[test]
fn postgresql() {
    let Some(mut server) = Server::start() else {
        return;
    };
    for (name, body) in SAME {
        eprintln!("{name}");
        body(&Place::database(&server.database(name, "")));
    }
    a_later_version_is_left_as_it_is(&server);
    the_first_form_is_brought_to_this_one(&server);
    what_is_not_ours_is_left_as_it_is(&server);
    who_may_not_write_may_read(&server);
    a_lost_connection_is_made_anew(&server);
    a_server_that_stays_away_is_said(&server);
    a_damaged_database_is_saved(&server);
    a_run_without_a_document_is_told(&server);
    a_table_may_be_gone(&server);
    texts_that_are_gone_are_told(&server);
    a_busy_server_is_not_damaged(&server);
    rows_may_move_meanwhile(&server);
    what_lies_behind_a_damaged_page_is_saved(&mut server);
}

fn refused(url: &str) -> StoreError {
    let location = Location::parse(OsStr::new(url)).unwrap();
    let Err(error) = Store::open(&location) else {
        panic!("{url} was opened");
    };
    assert!(error.to_string().starts_with(url), "{error}");
    assert!(error.mend().is_some(), "{error}");
    error
}

fn a_later_version_is_left_as_it_is(server: &Server) {
    let url = server.database("later", "");
    let place = Place::database(&url);
    place.open().add(&run("0a", 1.0)).unwrap();
    let version = || server.count("later", "SELECT version FROM yamba.form");
    let known = version();
    server.sql("later", "UPDATE yamba.form SET version = 99");
    let error = refused(&url);
    assert!(error.to_string().contains("later version"), "{error}");
    assert_eq!(version(), 99);
    server.sql("later", &format!("UPDATE yamba.form SET version = {known}"));
    let read = place.open().run("0a", Detail::Intervals).unwrap();
    assert_eq!(read, run("0a", 1.0));
}

/// The tables as the first version made them, with what it would have written of the runs in those of this one.
const AS_BEFORE: [&str; 3] = [
    "ALTER SCHEMA yamba RENAME TO present; CREATE SCHEMA yamba; SET search_path = yamba",
    include_str!("../../src/postgresql/1.sql"),
    "UPDATE form SET version = 1;
    INSERT INTO run (id, started, finished, head) SELECT id, started, finished, head FROM present.run ORDER BY rowid;
    INSERT INTO tag (run, tag) SELECT run, tag FROM present.tag ORDER BY rowid;
    INSERT INTO entry (run, place, name, parameters, valid, figures, samples, intervals)
        SELECT run, place, name, parameters, valid, figures, samples, intervals FROM present.entry;
    INSERT INTO source (hash, text) SELECT hash, text FROM present.source ORDER BY id;
    INSERT INTO run_source (run, source) SELECT run, new.id FROM present.run_source
        JOIN present.source AS old ON old.id = source JOIN source AS new USING (hash, text);
    DROP SCHEMA present CASCADE;
    CREATE ROLE looker LOGIN; GRANT USAGE ON SCHEMA yamba TO looker; GRANT SELECT ON ALL TABLES IN SCHEMA yamba TO looker",
];

/// Only their owner may do that: for others the tables stay as they are. What was written before there were checksums is read without.
fn the_first_form_is_brought_to_this_one(server: &Server) {
    let place = harmed(server, "first", &AS_BEFORE.join(";"));
    let columns = |database| {
        let sql = "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'yamba'";
        server.count(database, sql)
    };
    let version = || server.count("first", "SELECT version FROM yamba.form");
    let now = server.count("later", "SELECT version FROM yamba.form");
    let url = server.url("first");
    let Err(error) = Store::existing(&Place::database(&url.replace("yamba@", "looker@")).location)
    else {
        panic!("{url} was opened by who may not change it");
    };
    assert!(error.to_string().contains("earlier version"), "{error}");
    assert!(error.mend().unwrap().contains("owner"), "{error:?}");
    assert_eq!(version(), 1);

    let mut store = Store::existing(&place.location).unwrap().unwrap();
    assert_eq!((version(), columns("first")), (now, columns("later")));
    for was in written() {
        assert_eq!(store.run(&was.id, Detail::Intervals).unwrap(), was);
    }
    let mut another = run("0d", 4.0);
    another.benchmarks.truncate(1);
    store.add(&another).unwrap();
    assert_eq!(store.run("0d", Detail::Intervals).unwrap(), another);

    let (_folder, mut new) = new();
    let mut unchecked = Vec::new();
    salvage(&place.location, &mut new, |run| {
        unchecked.push(run.unchecked)
    })
    .unwrap();
    assert_eq!(unchecked, [6, 6, 6, 0]);
}

fn what_is_not_ours_is_left_as_it_is(server: &Server) {
    let url = server.database("other", "");
    server.sql(
        "other",
        "CREATE SCHEMA yamba; CREATE TABLE yamba.run (id TEXT)",
    );
    assert!(refused(&url).to_string().contains("no store of Yamba's"));
    server.sql(
        "other",
        "INSERT INTO yamba.run VALUES ('x'); DROP TABLE yamba.run",
    );
    // An empty schema may have been made for somebody who may not make one.
    Place::database(&url).open();

    let latin = "ENCODING 'LATIN1' TEMPLATE template0";
    let error = refused(&server.database("latin", latin));
    assert!(error.to_string().contains("LATIN1"), "{error}");
    assert!(
        refused(&server.url("absent"))
            .to_string()
            .contains("absent")
    );
}

fn who_may_not_write_may_read(server: &Server) {
    let url = server.database("shared", "");
    Place::database(&url).open().add(&run("0a", 1.0)).unwrap();
    server.sql(
        "shared",
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA yamba TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA yamba TO reader",
    );
    let mut store = Place::database(&url.replace("yamba@", "reader@")).open();
    assert_eq!(store.run("0a", Detail::Intervals).unwrap(), run("0a", 1.0));
    let error = store.remove("0a").unwrap_err();
    assert!(error.to_string().contains("permission denied"), "{error}");
    assert!(error.mend().unwrap().contains("GRANT"), "{error:?}");
    assert_eq!(store.runs().unwrap().len(), 1);
}

/// Ends all connections to the database.
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

fn a_lost_connection_is_made_anew(server: &Server) {
    let url = server.database("lost", "");
    let place = Place::database(&url);
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
    assert_eq!(place.open().run("0a", Detail::Intervals).unwrap(), whole);
}

/// It is called once, and again when that is asked for.
fn a_server_that_stays_away_is_said(server: &Server) {
    let url = server.database("away", "");
    let mut store = Place::database(&url).open();
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
    let read = store.run("0a", Detail::Intervals).unwrap();
    assert_eq!(read.benchmarks, [entry("lat_a", 3)]);
}

/// Of three runs, one is whole, one has lost entries and a text, and the document of one is damaged.
fn a_damaged_database_is_saved(server: &Server) {
    let url = server.database("damaged", "");
    let place = Place::database(&url);
    let mut store = place.open();
    for run in written() {
        store.add(&run).unwrap();
    }
    server.sql(
        "damaged",
        "SET search_path = yamba;
        UPDATE entry SET samples = substr(samples, 9) WHERE run = '0b' AND place = 1;
        UPDATE entry SET figures = 'x' WHERE run = '0b' AND place = 2;
        DELETE FROM entry WHERE run = '0b' AND place = 5;
        UPDATE source SET text = 'class X;' WHERE hash = 'h1';
        UPDATE run SET head = replace(head, 'yamba-run/1', 'yamba-run/7') WHERE id = '0c'",
    );
    let error = store.run("0b", Detail::Intervals).unwrap_err();
    assert!(error.mend().unwrap().contains("yamba salvage"), "{error:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut new = Store::open(&Location::File(folder.path().join("new.sqlite"))).unwrap();
    let mut told = Vec::new();
    let unread = salvage(&place.location, &mut new, |run| told.push(run)).unwrap();
    // The text's; those of runs and entries are told by their names.
    assert_eq!(unread.map(|u| (u.pages, u.rows)), Some((0, 1)));
    let read = ["0a", "0b"].map(|id| new.run(id, Detail::Intervals).unwrap());
    check(&read, &told);
    let [first, second, third] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!((first.saved, first.lost_texts), (6, 1));
    assert_eq!(second.lost, ["lat_1", "lat_2"]);
    assert_eq!((second.saved, second.nameless), (3, 1));
    assert!(
        third.refused.is_some() && third.lost.len() == 6,
        "{third:?}"
    );

    let empty = Place::database(&server.database("empty", ""));
    let error = salvage(&empty.location, &mut new, |_| ()).unwrap_err();
    assert!(error.to_string().contains("no run is kept"), "{error}");
}

/// A database with the usual runs, in which somebody has done harm.
fn harmed(server: &Server, name: &str, harm: &str) -> Place {
    let place = Place::database(&server.database(name, ""));
    let mut store = place.open();
    for run in written() {
        store.add(&run).unwrap();
    }
    server.sql(name, &format!("SET search_path = yamba; {harm}"));
    place
}

/// A store for what is saved.
fn new() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&Location::File(folder.path().join("new.sqlite"))).unwrap();
    (folder, store)
}

/// Nothing but its own row tells of it.
fn a_run_without_a_document_is_told(server: &Server) {
    let place = harmed(
        server,
        "documents",
        "UPDATE run SET head = 'x' WHERE id = '0b'; DELETE FROM entry WHERE run = '0b'; DELETE FROM tag WHERE run = '0b'",
    );
    let (_folder, mut new) = new();
    let mut told = Vec::new();
    salvage(&place.location, &mut new, |run| told.push(run)).unwrap();
    let whole: Vec<_> = told.iter().map(|t| (t.id.as_str(), t.is_whole())).collect();
    assert_eq!(whole, [("0a", true), ("0b", false), ("0c", true)]);
    let refused = told[1].refused.as_deref().unwrap();
    assert!(refused.contains("document"), "{refused}");
}

fn a_table_may_be_gone(server: &Server) {
    let harm = "DROP TABLE tag; ALTER TABLE source DROP COLUMN text";
    let place = harmed(server, "gone", harm);
    let (_folder, mut new) = new();
    let mut told = Vec::new();
    let unread = salvage(&place.location, &mut new, |run| told.push(run)).unwrap();
    let unread = unread.unwrap();
    assert_eq!(unread.tables, ["tag", "source"]);
    assert!(unread.cause.unwrap().contains("tag"));
    assert!(
        told.iter().all(|t| (t.saved, t.lost_texts) == (6, 2)),
        "{told:?}"
    );
    assert_eq!(told.len(), 3);
}

/// A page that is all zeros the server reads as empty, and says nothing: as if its rows had been deleted.
fn texts_that_are_gone_are_told(server: &Server) {
    let place = Place::database(&server.database("texts", ""));
    place.open().add(&made_of_texts("0a")).unwrap();
    server.sql("texts", "TRUNCATE yamba.source, yamba.run_source");
    let (_folder, mut new) = new();
    let mut told = Vec::new();
    let unread = salvage(&place.location, &mut new, |run| told.push(run)).unwrap();
    assert!(!unread.unwrap().is_any());
    assert_eq!((told[0].saved, told[0].lost_texts), (3, 2));
    assert!(!new.runs().unwrap()[0].complete);
}

/// A lock keeps it from an answer until its time is over.
fn a_busy_server_is_not_damaged(server: &Server) {
    let place = harmed(
        server,
        "busy",
        "ALTER DATABASE busy SET statement_timeout = '1s'",
    );
    let url = server.url("busy");
    let mut other = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    other.batch_execute("BEGIN; LOCK yamba.tag").unwrap();
    let (_folder, mut new) = new();
    let error = salvage(&place.location, &mut new, |_| ()).unwrap_err();
    assert!(error.to_string().contains("timeout"), "{error}");
    assert!(error.mend().unwrap().contains("limit"), "{error:?}");
}

/// What was the place of one entry is that of another, of the same run too.
fn rows_may_move_meanwhile(server: &Server) {
    let place = harmed(server, "moved", "");
    let (_folder, mut new) = new();
    let mut told = Vec::new();
    salvage(&place.location, &mut new, |run| {
        if run.id == "0a" {
            server.sql(
                "moved",
                "DELETE FROM yamba.entry WHERE run = '0a' AND place < 2",
            );
            server.sql("moved", "VACUUM FULL yamba.entry");
        }
        told.push(run);
    })
    .unwrap();
    assert!(told.iter().all(|t| t.is_whole()), "{told:?}");
    for run in written() {
        assert_eq!(new.run(&run.id, Detail::Intervals).unwrap(), run);
    }
}

/// The server's own, unless it was built otherwise.
const PAGE: u64 = 8192;

/// Writes over pages of tables, in their files: the server is stopped meanwhile, and reads the files anew.
fn destroy(server: &mut Server, database: &str, pages: &[(&str, u64)]) {
    let mut client = postgres::Client::connect(&server.url(database), postgres::NoTls).unwrap();
    let files = pages.iter().map(|(table, page)| {
        let sql = format!("SELECT pg_relation_filepath('{table}')");
        let path: String = client.query_one(&sql, &[]).unwrap().get(0);
        (server.folder.path().join("data").join(path), *page)
    });
    let files: Vec<(PathBuf, u64)> = files.collect();
    drop(client);
    // What is in the log only would be written again.
    server.sql(database, "CHECKPOINT");
    server.stop();
    for (path, page) in files {
        let file = File::options().write(true).open(path).unwrap();
        assert!(file.metadata().unwrap().len() >= (page + 1) * PAGE);
        file.write_all_at(&[0xA5; PAGE as usize], page * PAGE)
            .unwrap();
    }
    server.process = launched(server.folder.path());
}

/// A page of the entries, and the only one of the tags; the index of the entries cannot be read either.
fn what_lies_behind_a_damaged_page_is_saved(server: &mut Server) {
    let url = server.database("pages", "");
    let place = Place::database(&url);
    let mut store = place.open();
    // Few rows on each page.
    server.sql("pages", "ALTER TABLE yamba.entry SET (fillfactor = 10)");
    for run in written() {
        store.add(&run).unwrap();
    }
    drop(store);
    let on_it = "SELECT count(*) FROM yamba.entry WHERE ctid >= '(1,0)' AND ctid < '(2,0)'";
    let lost = server.count("pages", on_it) as usize;
    let behind = "SELECT count(*) FROM yamba.entry WHERE ctid >= '(2,0)'";
    assert!(lost > 0 && server.count("pages", behind) > 0);
    destroy(
        server,
        "pages",
        &[
            ("yamba.entry", 1),
            ("yamba.tag", 0),
            ("yamba.entry_pkey", 1),
        ],
    );
    let whole = place.open().run("0c", Detail::Intervals);
    assert!(whole.is_err(), "{whole:?}");

    let folder = tempfile::tempdir().unwrap();
    let mut new = Store::open(&Location::File(folder.path().join("new.sqlite"))).unwrap();
    let mut told = Vec::new();
    let unread = salvage(&place.location, &mut new, |run| told.push(run)).unwrap();
    assert_eq!(unread.map(|u| (u.pages, u.rows)), Some((2, 0)));
    let read = ["0a", "0b", "0c"].map(|id| new.run(id, Detail::Intervals).unwrap());
    check(&read, &told);
    assert_eq!(told.iter().map(|t| t.saved).sum::<usize>(), 18 - lost);
}
