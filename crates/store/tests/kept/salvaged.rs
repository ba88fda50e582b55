//! Tests of the salvage of damaged files.

use std::fs;
use std::path::{Path, PathBuf};

use super::sample::{entry, run};
use rusqlite::Connection;
use yamba_record::Run;
use yamba_store::{Detail, Location, Salvaged, Store};

const PAGE: usize = 4096;

fn open(path: &Path) -> Store {
    Store::open(&Location::File(path.to_owned())).unwrap()
}

/// Several runs of several pages.
pub fn written() -> Vec<Run> {
    let ids = ["0a", "0b", "0c"];
    let runs = ids.into_iter().zip([1.0, 2.0, 3.0]).map(|(id, started)| {
        let mut run = run(id, started);
        run.tags = vec![format!("tag-{id}")];
        run.benchmarks = (0..6).map(|i| entry(&format!("lat_{i}"), 300)).collect();
        run
    });
    runs.collect()
}

fn filled(folder: &Path) -> PathBuf {
    let path = folder.join("results.sqlite");
    let mut store = open(&path);
    for run in written() {
        store.add(&run).unwrap();
    }
    path
}

/// Salvages the file into another store. `None` if the file is not recognised.
fn salvage(from: &Path, to: &mut Store) -> Option<Vec<Salvaged>> {
    let mut damaged = Store::damaged(&Location::File(from.to_owned())).ok()??;
    Some(damaged.salvage(to).unwrap())
}

/// Salvages into a new store, and returns its runs and the reports.
fn saved(path: &Path) -> Option<(Vec<Run>, Vec<Salvaged>)> {
    let folder = tempfile::tempdir().unwrap();
    let mut new = open(&folder.path().join("new.sqlite"));
    let before = fs::read(path).unwrap();
    let reports = salvage(path, &mut new);
    assert_eq!(fs::read(path).unwrap(), before);
    let reports = reports?;
    let all = new.runs().unwrap();
    for listed in &all {
        let whole = reports.iter().any(|t| t.id == listed.id && t.is_whole());
        assert_eq!(listed.complete, whole);
    }
    let read = all.iter().map(|r| new.run(&r.id, Detail::Batches).unwrap());
    Some((read.collect(), reports))
}

/// Checks that every salvaged part was once written, and that every missing part is reported.
fn check(read: &[Run], reports: &[Salvaged]) {
    for was in written() {
        let report = reports.iter().find(|t| t.id == was.id).unwrap();
        let Some(is) = read.iter().find(|r| r.id == was.id) else {
            assert!(!report.is_whole());
            continue;
        };
        for entry in &is.benchmarks {
            assert!(was.benchmarks.contains(entry), "{}", entry.name);
        }
        let lost = report.lost.len() + report.nameless;
        assert_eq!(is.benchmarks.len(), report.saved);
        assert_eq!(report.saved + lost, was.benchmarks.len(), "{report:?}");
        assert_eq!(is.machine, was.machine);
        assert_eq!(is.sources.len() + report.lost_texts, was.sources.len());
    }
}

#[test]
fn undamaged_file_is_salvaged_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let (mut read, reports) = saved(&path).unwrap();
    read.reverse();
    assert_eq!(read, written());
    assert!(reports.iter().all(Salvaged::is_whole));

    // Runs that are already in the other store stay unchanged.
    let mut other = open(&folder.path().join("other.sqlite"));
    other.add(&run("0b", 9.0)).unwrap();
    let reports = salvage(&path, &mut other).unwrap();
    assert!(reports[1].refused.is_some());
    assert_eq!(other.run("0b", Detail::Batches).unwrap(), run("0b", 9.0));
}

/// Whichever page is destroyed, the data of the other pages is salvaged.
#[test]
fn destroyed_page_loses_only_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let whole = fs::read(&path).unwrap();
    let mut kept = Vec::new();
    for page in 0..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0xA5);
        fs::write(&path, bytes).unwrap();
        // The first page identifies the file.
        let Some((read, reports)) = saved(&path) else {
            assert_eq!(page, 0);
            continue;
        };
        check(&read, &reports);
        kept.push(reports.iter().map(|t| t.saved).sum::<usize>());
    }
    // One page has the documents of these small runs, without which their entries have no machine.
    // One page locates all entries.
    assert!(kept.iter().filter(|n| **n < 15).count() <= 2, "{kept:?}");
    assert!(kept.iter().any(|n| *n < 18), "{kept:?}");
}

/// After a change of any byte, neither reading nor salvage returns wrong data.
#[test]
fn changed_byte_is_always_detected() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let whole = fs::read(&path).unwrap();
    for place in (50..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x11;
        fs::write(&path, bytes).unwrap();
        for was in written() {
            let read = Store::open(&Location::File(path.clone()))
                .and_then(|mut store| store.run(&was.id, Detail::Batches));
            if let Ok(read) = read {
                assert_eq!(read.benchmarks, was.benchmarks, "byte {place}");
                assert_eq!(read.machine, was.machine);
            }
        }
        if let Some((read, reports)) = saved(&path) {
            check(&read, &reports);
        }
    }
}

#[test]
fn truncated_file_is_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = filled(folder.path());
    let whole = fs::read(&path).unwrap();
    let mut before = 0;
    for eighths in 1..8 {
        fs::write(&path, &whole[..whole.len() * eighths / 8]).unwrap();
        let reports = saved(&path).map_or(Vec::new(), |(_, reports)| reports);
        let kept = reports.iter().map(|t| t.saved).sum();
        assert!(kept >= before, "{eighths} eighths: {reports:?}");
        before = kept;
    }
    assert!((6..18).contains(&before), "{before}");
}

#[test]
fn non_store_is_not_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fs::write(&page, "<html>".repeat(2000)).unwrap();
    assert!(saved(&page).is_none());
    let other = folder.path().join("other.sqlite");
    let raw = Connection::open(&other).unwrap();
    raw.execute_batch("CREATE TABLE run (id TEXT)").unwrap();
    drop(raw);
    assert!(saved(&other).is_none());
}
