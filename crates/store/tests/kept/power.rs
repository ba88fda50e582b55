//! The power fails: of the log of a SQLite file the disk has a beginning, or has not got all that lies before its end.
//!
//! At each commit the length of the log is noted, with what the store held. Whatever became of the log behind a length, the store opens with the commit of that length and all
//! before it, and with nothing of those after it. What is asked of SQLite where a commit is to last, a test beside `src/sqlite.rs` says.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use yamba_record::Run;
use yamba_store::{Detail, Location, Store, StoreError};

use super::sample::{entry, run};

/// "The SQLite Database File Format", section 4: what the log begins with, and what stands before each page in it.
const HEADER: usize = 32;
const BEFORE_PAGE: usize = 24;

/// All runs, and whether each is said to be complete.
type Held = Vec<(Run, bool)>;

fn held(store: &mut Store) -> Held {
    let listed = store.runs().unwrap();
    let each = listed.iter().map(|line| {
        assert_eq!(line.damage, None);
        (
            store.run(&line.id, Detail::Intervals).unwrap(),
            line.complete,
        )
    });
    each.collect()
}

/// The bytes of a frame of this log.
fn frame(log: &[u8]) -> usize {
    let page = u32::from_be_bytes(log[8..12].try_into().unwrap());
    BEFORE_PAGE + page as usize
}

/// How far it was written since it was begun: frames have the numbers of its header, those behind them have older ones.
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
    /// What the file of the log has of a log before.
    older: Vec<u8>,
    /// How far the log was written at each commit, and what the store held then.
    commits: Vec<(usize, Held)>,
}

/// In memory where that can be had: hundreds of stores are opened here, and each that is closed waits for its disk.
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

    /// As a run is measured: an entry is stored again after another launch.
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

    /// All of the log goes into the file: the next commit begins it anew.
    fn begins_its_log_anew(&mut self) {
        let raw = Connection::open(self.path()).unwrap();
        let is_busy = raw.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0));
        assert_eq!(is_busy, Ok(0));
        self.older = self.log();
        self.commits = vec![(0, held(&mut self.store))];
    }

    /// The power fails.
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

/// What is there when the power is back.
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

    /// The beginnings of frames, and the end of the last.
    fn boundaries(&self) -> Vec<usize> {
        let all = (HEADER..=written(&self.log)).step_by(frame(&self.log));
        all.collect()
    }

    fn store(&self) -> Store {
        let file = self.folder.path().join("results.sqlite");
        Store::open(&Location::File(file)).unwrap()
    }

    /// With this log, of which so many bytes are as they were written, the store has what was committed up to there.
    fn holds(&self, what: &str, intact: usize, log: &[u8]) -> Store {
        let file = self.folder.path().join("results.sqlite");
        fs::write(&file, &self.file).unwrap();
        fs::write(file.with_extension("sqlite-wal"), log).unwrap();
        let mut store = self.store();
        let (now, expected) = (held(&mut store), self.expected(intact));
        assert!(now == *expected, "{what} at {intact}: {now:?}");
        store
    }

    fn ends_anywhere(&self) {
        let within = |start: &usize| [0, 7, BEFORE_PAGE, 2000].map(|n| start + n);
        let all = self.boundaries();
        let in_header = [0, 3, 17, 30];
        for end in all.iter().flat_map(within).chain(in_header) {
            let end = end.min(written(&self.log));
            let behind = self.older.get(end..).unwrap_or_default();
            self.holds("it ends", end, &[&self.log[..end], behind].concat());
        }
    }

    fn has_a_damaged_byte(&self) {
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

    /// A disk need not write in order what it has not been told to write out. The store goes on: what lies behind does not come back.
    fn lacks_a_frame(&self) {
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

    fn is_as_it_was_at_each_commit(&self) {
        self.ends_anywhere();
        self.has_a_damaged_byte();
        self.lacks_a_frame();
    }
}

/// All that it ever held is in the log, its tables too.
#[test]
fn of_a_new_store_what_was_committed_is_there() {
    let mut life = Life::new();
    life.does(|s| s.add(&run("0a", 1.0)));
    life.measures("0b", 2.0);
    life.does(|s| s.tag("0a", "base", true));
    life.ends("0b", 2.0);
    life.does(|s| s.remove("0a"));
    life.cut().is_as_it_was_at_each_commit();
}

/// The log was begun anew over an older one, which is longer.
#[test]
fn of_an_older_store_what_was_committed_is_there() {
    let mut life = Life::new();
    life.does(|s| s.add(&run("0a", 1.0)));
    life.measures("0b", 2.0);
    life.begins_its_log_anew();
    life.ends("0b", 2.0);
    life.does(|s| s.add(&run("0c", 3.0)));
    life.measures("0d", 4.0);
    assert!(written(&life.log()) < life.older.len());
    life.cut().is_as_it_was_at_each_commit();
}
