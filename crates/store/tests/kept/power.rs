//! Tests of power failures: the disk has only a part of a SQLite file's log.
//!
//! At each commit the test records the length of the log and the content of the store. Whatever
//! follows that length in the log, the store opens with this commit and all before it, and with
//! nothing of those after it. A test beside `src/sqlite.rs` checks the mode of synchronisation for
//! lasting commits.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use yamba_record::Run;
use yamba_store::{Detail, Location, Store, StoreError};

use super::sample::{entry, run};

/// "The SQLite Database File Format", section 4: sizes of the header of the log and of the header
/// of each frame.
const HEADER: usize = 32;
const BEFORE_PAGE: usize = 24;

/// All runs, and whether each is complete.
type Held = Vec<(Run, bool)>;

fn held(store: &mut Store) -> Held {
    let listed = store.runs().unwrap();
    listed
        .iter()
        .map(|line| {
            assert_eq!(line.damage, None);
            (store.run(&line.id, Detail::Batches).unwrap(), line.complete)
        })
        .collect()
}

/// The size of a frame in this log.
fn frame(log: &[u8]) -> usize {
    let page = u32::from_be_bytes(log[8..12].try_into().unwrap());
    BEFORE_PAGE + page as usize
}

/// Length of the valid log: frames whose salt is that of the header. Later frames have older salts.
fn written(log: &[u8]) -> usize {
    if log.is_empty() {
        return 0;
    }
    let frames = log[HEADER..].chunks_exact(frame(log));
    let own = frames.take_while(|f| f[8..16] == log[16..24]);
    HEADER + own.count() * frame(log)
}

/// A store in use.
struct Life {
    store: Store,
    folder: tempfile::TempDir,
    /// Content of the log file from before the log was restarted.
    older: Vec<u8>,
    /// At each commit: length of the log, and content of the store.
    commits: Vec<(usize, Held)>,
}

/// In memory if possible, because hundreds of stores are opened and each close waits for the disk.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

impl Life {
    fn new() -> Life {
        let folder = folder();
        let path = folder.path().join("results.sqlite");
        Life {
            store: Store::open(&Location::File(path)).unwrap(),
            folder,
            older: Vec::new(),
            commits: vec![(0, Vec::new())],
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("results.sqlite")
    }

    fn log(&self) -> Vec<u8> {
        fs::read(self.path().with_extension("sqlite-wal")).unwrap()
    }

    fn does(&mut self, one: impl FnOnce(&mut Store) -> Result<(), StoreError>) {
        one(&mut self.store).unwrap();
        let now = (written(&self.log()), held(&mut self.store));
        assert!(now.0 > self.commits.last().unwrap().0);
        self.commits.push(now);
    }

    /// Stores an entry and replaces it, like a measurement after another launch.
    fn measures(&mut self, id: &str, started: f64) {
        let run = run(id, started);
        self.does(|s| s.begin(&run));
        for (place, benchmark) in run.benchmarks.iter().enumerate() {
            self.does(|s| s.put(id, place, &entry(&benchmark.name, 1)));
            self.does(|s| s.put(id, place, benchmark));
        }
    }

    fn ends(&mut self, id: &str, started: f64) {
        self.does(|s| s.finish(&run(id, started)));
    }

    /// Checkpoints the whole log: the next commit restarts it.
    fn restart_log(&mut self) {
        let raw = Connection::open(self.path()).unwrap();
        let is_busy = raw.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0));
        assert_eq!(is_busy, Ok(0));
        self.older = self.log();
        self.commits = vec![(0, held(&mut self.store))];
    }

    /// Simulates the power failure.
    fn cut(self) -> Disk {
        let log = self.log();
        assert_eq!(self.commits.last().unwrap().0, written(&log));
        for (run, is_complete) in self.commits.iter().flat_map(|c| &c.1) {
            let whole = super::sample::run(&run.id, 0.0);
            let is_whole = run.benchmarks == whole.benchmarks && run.sources == whole.sources;
            assert!(is_whole || !is_complete, "{}", run.id);
        }
        Disk {
            file: fs::read(self.path()).unwrap(),
            folder: folder(),
            log,
            older: self.older,
            commits: self.commits,
        }
    }
}

/// The files after the power failure.
struct Disk {
    file: Vec<u8>,
    log: Vec<u8>,
    older: Vec<u8>,
    commits: Vec<(usize, Held)>,
    folder: tempfile::TempDir,
}

impl Disk {
    fn expected(&self, intact: usize) -> &Held {
        let mut latest_first = self.commits.iter().rev();
        let found = latest_first.find(|(length, _)| *length <= intact);
        &found.unwrap().1
    }

    /// Starts of frames, and the end of the last.
    fn boundaries(&self) -> Vec<usize> {
        let all = (HEADER..=written(&self.log)).step_by(frame(&self.log));
        all.collect()
    }

    fn store(&self) -> Store {
        let file = self.folder.path().join("results.sqlite");
        Store::open(&Location::File(file)).unwrap()
    }

    /// Checks that a log with `intact` valid bytes gives the content committed up to there.
    fn holds(&self, what: &str, intact: usize, log: &[u8]) -> Store {
        let file = self.folder.path().join("results.sqlite");
        fs::write(&file, &self.file).unwrap();
        fs::write(file.with_extension("sqlite-wal"), log).unwrap();
        let mut store = self.store();
        let (now, expected) = (held(&mut store), self.expected(intact));
        assert!(now == *expected, "{what} at {intact}: {now:?}");
        store
    }

    fn check_truncation(&self) {
        let within = |start: &usize| [0, 7, BEFORE_PAGE, 2000].map(|n| start + n);
        let all = self.boundaries();
        let in_header = [0, 3, 17, 30];
        for end in all.iter().flat_map(within).chain(in_header) {
            let end = end.min(written(&self.log));
            let behind = self.older.get(end..).unwrap_or_default();
            self.holds("it ends", end, &[&self.log[..end], behind].concat());
        }
    }

    fn check_damaged_byte(&self) {
        let within = |start: &usize| [start + start / 7 % BEFORE_PAGE, start + 3000];
        let mut all = self.boundaries();
        all.pop();
        let in_header = 0..HEADER;
        for place in all.iter().flat_map(within).chain(in_header) {
            let mut log = self.log.clone();
            log[place] ^= 1 << (place % 8);
            self.holds("damaged", place, &log);
        }
    }

    /// A disk may write blocks in any order before a flush. After recovery the store is used again,
    /// and later frames do not reappear.
    fn check_missing_frame(&self) {
        let another = run("ff", 9.0);
        for ends in self.boundaries().windows(2) {
            let range = ends[0]..ends[1];
            let mut log = self.log.clone();
            match self.older.get(range.clone()) {
                Some(older) => log[range].copy_from_slice(older),
                None => log[range].fill(0),
            }
            let mut store = self.holds("lacking", ends[0], &log);
            store.add(&another).unwrap();
            drop(store);
            let mut now = held(&mut self.store());
            assert_eq!(now.remove(0), (another.clone(), true));
            assert!(now == *self.expected(ends[0]), "{}: {now:?}", ends[0]);
        }
    }

    fn check_all(&self) {
        self.check_truncation();
        self.check_damaged_byte();
        self.check_missing_frame();
    }
}

/// The log contains everything, the tables too.
#[test]
fn new_store_keeps_commits_after_power_failure() {
    let mut life = Life::new();
    life.does(|s| s.add(&run("0a", 1.0)));
    life.measures("0b", 2.0);
    life.does(|s| s.tag("0a", "base", true));
    life.ends("0b", 2.0);
    life.does(|s| s.remove("0a"));
    life.cut().check_all();
}

/// The log was restarted over a longer, older one.
#[test]
fn reused_log_keeps_commits_after_power_failure() {
    let mut life = Life::new();
    life.does(|s| s.add(&run("0a", 1.0)));
    life.measures("0b", 2.0);
    life.restart_log();
    life.ends("0b", 2.0);
    life.does(|s| s.add(&run("0c", 3.0)));
    life.measures("0d", 4.0);
    assert!(written(&life.log()) < life.older.len());
    life.cut().check_all();
}
