//! Tests with files that are damaged or not a store.

use std::fs;
use std::path::{Path, PathBuf};

use super::sample::{run, several_runs};
use rusqlite::Connection;
use yamba_record::run::FleetMember;
use yamba_store::{Detail, Location, Store, StoreError};

fn filled(folder: &Path) -> PathBuf {
    let path = folder.join("results.sqlite");
    let mut store = Store::open(&Location::File(path.clone())).unwrap();
    store.add(&run("0a", 1.0)).unwrap();
    path
}

fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).ok();
    let error = match Store::open(&Location::File(path.to_owned())) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    };
    assert_eq!(fs::read(path).ok(), before, "{error}");
    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    assert!(error.help_text().is_some(), "{error}");
    error
}

#[test]
fn store_of_another_version_is_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(raw);
    let error = refused(&path);
    assert!(error.to_string().contains("another version"), "{error}");
}

/// The file of the version before has every table, without the column of the fleet.
#[test]
fn store_of_the_version_before_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(
        "DROP INDEX run_fleet; ALTER TABLE run DROP COLUMN fleet; PRAGMA user_version = 2",
    )
    .unwrap();
    drop(raw);
    let location = Location::File(path);
    let before = Store::glance(&location).unwrap().unwrap().runs().unwrap();
    let mut store = Store::open(&location).unwrap();
    assert_eq!(store.runs().unwrap(), before);
    assert_eq!(store.fleets().unwrap(), [""; 0]);
    let mut added = run("0f", 9.0);
    added.fleet = Some(FleetMember::default());
    store.add(&added).unwrap();
    assert_eq!(Store::open(&location).unwrap().fleet("").unwrap().len(), 1);
}

#[test]
fn non_store_is_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fs::write(&page, "<html>".repeat(1000)).unwrap();
    assert!(refused(&page).to_string().contains("no store of Yamba's"));

    let other = folder.path().join("other.sqlite");
    let raw = Connection::open(&other).unwrap();
    raw.execute_batch("CREATE TABLE run (id TEXT)").unwrap();
    drop(raw);
    assert!(refused(&other).to_string().contains("no store of Yamba's"));

    assert!(refused(folder.path()).to_string().contains("is a folder"));
    let below = page.join("results.sqlite");
    assert!(refused(&below).to_string().contains("its folder cannot be made"));
}

#[test]
fn empty_file_becomes_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut store = Store::open(&Location::File(file.path().to_owned())).unwrap();
    assert!(store.runs().unwrap().is_empty());
}

/// Whichever page is destroyed, reading gives the written data or an error, and never a crash.
#[test]
fn damaged_page_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let whole = fs::read(&path).unwrap();
    let written = run("0a", 1.0);
    let mut found = 0;
    for start in (0..whole.len()).step_by(2048) {
        let mut bytes = whole.clone();
        let end = (start + 300).min(bytes.len());
        bytes[start..end].fill(0xA5);
        fs::write(&path, bytes).unwrap();
        let read = Store::open(&Location::File(path.clone()))
            .and_then(|mut store| store.run("0a", Detail::Batches));
        match read {
            Ok(run) => assert_eq!(run, written),
            Err(error) => {
                assert!(error.to_string().starts_with(&path.display().to_string()));
                found += 1;
            }
        }
    }
    assert!(found > 0);
}

#[test]
fn truncated_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let read = Store::open(&Location::File(path.clone()))
        .and_then(|mut store| store.run("0a", Detail::Batches));
    let error = read.unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
    assert!(error.help_text().unwrap().contains(".recover | sqlite3 NEW`"), "{error:?}");
}

/// After a change of any byte, no wrong data is read.
#[test]
fn changed_byte_is_always_detected() {
    let folder = tempfile::tempdir().unwrap();
    let path = several(folder.path());
    let whole = fs::read(&path).unwrap();
    for place in (50..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x11;
        fs::write(&path, bytes).unwrap();
        for was in several_runs() {
            let read = Store::open(&Location::File(path.clone()))
                .and_then(|mut store| store.run(&was.id, Detail::Batches));
            if let Ok(read) = read {
                assert_eq!(read.benchmarks, was.benchmarks, "byte {place}");
                assert_eq!(read.machine, was.machine);
            }
        }
    }
}

/// A store with several runs.
fn several(folder: &Path) -> PathBuf {
    let path = folder.join("it's several.sqlite");
    let mut store = Store::open(&Location::File(path.clone())).unwrap();
    for run in several_runs() {
        store.add(&run).unwrap();
    }
    path
}

/// Damage of one run's batches leaves the other runs readable. The message names a command, which
/// the tests of facilities follow.
#[test]
fn damaged_batches_lose_only_their_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = several(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    // The last pages have batches of the last run.
    let end = bytes.len();
    bytes[end - 3000..].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    let mut store = Store::open(&Location::File(path)).unwrap();
    let mut errors = several_runs().into_iter().filter_map(|run| {
        let read = store.run(&run.id, Detail::Batches);
        read.err().map(|error| (run.head.id, error))
    });
    let (lost, error) = errors.next().unwrap();
    let others: Vec<String> = errors.map(|(id, _)| id).collect();
    assert!(others.is_empty(), "{lost}, {others:?}");
    let help = error.help_text().unwrap();
    assert!(help.starts_with("`sqlite3 '"), "{help}");
}

#[test]
fn damaged_run_does_not_hide_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let mut store = Store::open(&Location::File(path.clone())).unwrap();
    store.add(&run("0b", 2.0)).unwrap();
    let raw = Connection::open(&path).unwrap();
    let flipped =
        "UPDATE run SET head = replace(head, 'yamba-run/1', 'yamba-run/7') WHERE id = '0b'";
    assert_eq!(raw.execute(flipped, []).unwrap(), 1);
    let listed = store.runs().unwrap();
    let [bad, good] = &listed[..] else {
        panic!("{listed:?}");
    };
    assert_eq!((bad.id.as_str(), good.id.as_str()), ("0b", "0a"));
    assert!(bad.damage.is_some() && !bad.complete && bad.benchmarks.is_empty());
    assert!(good.damage.is_none() && good.complete && !good.benchmarks.is_empty());
    assert_eq!(store.run("0a", Detail::Batches).unwrap(), run("0a", 1.0));
    let error = store.run("0b", Detail::Figures).unwrap_err().to_string();
    assert!(error.contains("run 0b"), "{error}");
    store.remove("0b").unwrap();
    assert_eq!(store.runs().unwrap().len(), 1);
}
