//! Storage of runs in a SQLite file or in a database of a PostgreSQL server.
//!
//! A run is stored while it is measured: [`Store::begin`], then [`Store::put`] after every launch,
//! then [`Store::finish`]. If the process ends early, all entries that were put are still stored.

mod checksum;
mod connection;
mod error;
mod explain;
pub mod export;
mod find;
pub mod import;
pub mod inputs;
mod location;
mod postgresql;
mod sqlite;
mod statements;
mod tables;
mod writer;

use yamba_record::{Benchmark, Run, RunHead};

use connection::{Connection, Purpose, transaction};
pub use error::StoreError;
use error::StoreFault;
pub use location::{Address, Location, without_password};
use postgresql::Postgresql;
use sqlite::Sqlite;

/// The part of a run to read. Raw batches are nearly all of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Figures, evidence and launches, but neither `samples`, `batches`, `sizing` nor `curves`.
    Figures,
    /// Figures and `samples`.
    Samples,
    /// The whole run.
    Batches,
}

/// A line in the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// [`Run::id`].
    pub id: String,
    /// Start of the run, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// The run without its benchmarks and sources; for a damaged run only the id and the tags.
    pub head: RunHead,
    /// Why the document cannot be read. `benchmarks` is then empty.
    pub damage: Option<String>,
    /// The names of the benchmarks, each once.
    pub benchmarks: Vec<String>,
    /// Number of entries, and number of entries with a valid figure.
    pub entries: [u64; 2],
    /// Whether the run finished, and was neither stopped nor killed.
    pub complete: bool,
    /// Whether the run is still measured. `None` if that cannot be determined here.
    pub is_running: Option<bool>,
}

/// An open store.
pub struct Store {
    connection: Box<dyn Connection>,
    location: Location,
    /// Whether to reconnect to a server after a lost connection. False after a failed attempt, so
    /// that not every entry waits for a timeout.
    calls_again: bool,
}

impl Store {
    /// Opens the store. Creates it first if necessary.
    pub fn open(location: &Location) -> Result<Store, StoreError> {
        let opened: Result<Box<dyn Connection>, StoreFault> = match location {
            Location::File(path) => Sqlite::open(path).map(|c| Box::new(c) as _),
            Location::Server(address) => Postgresql::open(address).map(|c| Box::new(c) as _),
        };
        Ok(Store::new(opened.map_err(|e| e.at(location))?, location))
    }

    /// Opens the store if it exists.
    pub fn existing(location: &Location) -> Result<Option<Store>, StoreError> {
        let opened: Result<Option<Box<dyn Connection>>, StoreFault> = match location {
            Location::File(path) => Sqlite::existing(path).map(|c| c.map(|c| Box::new(c) as _)),
            Location::Server(address) => {
                Postgresql::existing(address).map(|c| c.map(|c| Box::new(c) as _))
            }
        };
        let opened = opened.map_err(|e| e.at(location))?;
        Ok(opened.map(|connection| Store::new(connection, location)))
    }

    /// Opens a file for a quick read during command-line completion: never creates it, and waits
    /// only briefly for a lock. `None` if there is no file of the current schema, or if the
    /// location is a server.
    pub fn glance(location: &Location) -> Result<Option<Store>, StoreError> {
        let Location::File(path) = location else {
            return Ok(None);
        };
        let opened = Sqlite::if_ready(path).map_err(|e| e.at(location))?;
        Ok(opened.map(|connection| Store::new(Box::new(connection), location)))
    }

    fn new(connection: Box<dyn Connection>, location: &Location) -> Store {
        Store { connection, location: location.clone(), calls_again: true }
    }

    fn in_one<T>(
        &mut self,
        purpose: Purpose,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, StoreFault>,
    ) -> Result<T, StoreError> {
        transaction(self.connection.as_mut(), purpose, work).map_err(|e| e.at(&self.location))
    }

    /// Inserts a new run, whose id must not exist yet. Its benchmarks are put one by one.
    ///
    /// # Errors
    /// If that fails, or a stored run has one of its tags.
    pub fn begin(&mut self, head: &RunHead) -> Result<(), StoreError> {
        let writer = writer::own();
        self.in_one(Purpose::Writing, |c| {
            for tag in &head.tags {
                statements::must_be_free(c, tag)?;
            }
            statements::insert(c, head, writer.as_deref())
        })
    }

    /// The id of a run that has this tag.
    pub fn holder(&mut self, tag: &str) -> Result<Option<String>, StoreError> {
        self.in_one(Purpose::Reading, |c| statements::holder(c, tag))
    }

    /// Inserts or replaces the entry at `place`, counted from 0.
    pub fn put(&mut self, id: &str, place: usize, benchmark: &Benchmark) -> Result<(), StoreError> {
        self.repeatable(|c| {
            transaction(c, Purpose::OneStatement, |c| statements::put(c, id, place, benchmark))
        })
    }

    /// Marks the run as finished, and replaces its document. All its benchmarks must have been put.
    ///
    /// # Errors
    /// If that fails, or the run went to a file that was removed or replaced meanwhile.
    pub fn finish(&mut self, run: &Run) -> Result<(), StoreError> {
        let entries = run.benchmarks.len();
        self.repeatable(|c| {
            transaction(c, Purpose::Lasting, |c| statements::finish(c, &run.head, entries))?;
            if c.is_in_place() { Ok(()) } else { Err(moved()) }
        })
    }

    /// Whether the store has the run, or a part of it. True if that cannot be found out.
    pub fn may_hold(&mut self, id: &str) -> bool {
        self.connection.is_in_place()
            && self.in_one(Purpose::Reading, |c| statements::exists(c, id)).unwrap_or(true)
    }

    /// Allows one more attempt to reconnect to a server.
    pub fn call_again(&mut self) {
        self.calls_again = true;
    }

    /// Runs idempotent work, and repeats it on a new connection if the connection was lost.
    fn repeatable(
        &mut self,
        work: impl Fn(&mut dyn Connection) -> Result<(), StoreFault>,
    ) -> Result<(), StoreError> {
        let done = match work(self.connection.as_mut()) {
            Err(fault) if fault.is_of_lost_connection() && self.reconnects() => {
                work(self.connection.as_mut())
            }
            done => done,
        };
        done.map_err(|e| e.at(&self.location))
    }

    fn reconnects(&mut self) -> bool {
        let Location::Server(address) = &self.location else {
            return false;
        };
        let made = self.calls_again.then(|| Postgresql::existing(address));
        match made {
            Some(Ok(Some(connection))) => self.connection = Box::new(connection),
            _ => self.calls_again = false,
        }
        self.calls_again
    }

    /// Stores a whole run, or nothing. A run with the same id is an error.
    pub fn add(&mut self, run: &Run) -> Result<(), StoreError> {
        self.add_all(&[run])
    }

    /// Stores several whole runs, or nothing. After a lost connection, reconnects and stores those
    /// that the server did not commit before.
    pub fn add_all(&mut self, runs: &[&Run]) -> Result<(), StoreError> {
        let insert = |c: &mut dyn Connection| runs.iter().try_for_each(|run| insert_whole(c, run));
        let done = match transaction(self.connection.as_mut(), Purpose::Lasting, insert) {
            Err(fault) if fault.is_of_lost_connection() && self.reconnects() => {
                transaction(self.connection.as_mut(), Purpose::Lasting, |c| {
                    let first = runs.first().map_or("", |run| &run.id);
                    if statements::exists(c, first)? { Ok(()) } else { insert(c) }
                })
            }
            done => done,
        };
        done.map_err(|e| e.at(&self.location))
    }

    /// All runs, latest first.
    pub fn runs(&mut self) -> Result<Vec<Listed>, StoreError> {
        self.in_one(Purpose::Reading, |c| statements::listed(c, None))
    }

    /// The documents of the runs of a fleet, without entries, tags and sources, latest first.
    pub fn fleet(&mut self, name: &str) -> Result<Vec<RunHead>, StoreError> {
        self.in_one(Purpose::Reading, |c| statements::fleet(c, name))
    }

    /// The names of all fleets, in order.
    pub fn fleets(&mut self) -> Result<Vec<String>, StoreError> {
        self.in_one(Purpose::Reading, statements::fleets)
    }

    /// The line of one run, by its full id.
    pub fn listed(&mut self, id: &str) -> Result<Option<Listed>, StoreError> {
        let mut found = self.in_one(Purpose::Reading, |c| statements::listed(c, Some(id)))?;
        Ok(found.pop())
    }

    /// Resolves a reference to the id of a run that holds an application's vector. A reference is
    /// an id or the beginning of one, a tag or the name of the application (for its latest run),
    /// `latest-vector`, or `latest-vector~N`, the N-th before it.
    pub fn find_vector(&mut self, reference: &str) -> Result<String, StoreError> {
        let vectors = self.in_one(Purpose::Reading, statements::vectors)?;
        let found = find::vector(&vectors, reference);
        found.map_err(|e| StoreFault::from(e).at(&self.location))
    }

    /// Resolves a reference to an id. A reference is an id or the beginning of one, a tag (for its
    /// latest run), `latest`, or `latest~N`, the N-th before it. `latest` skips runs that [another
    /// command](yamba_record::run::Producer::for_another_command) measured, and vectors:
    /// `latest-vector` and `latest-vector~N` are those.
    pub fn find(&mut self, reference: &str) -> Result<String, StoreError> {
        if find::back_of_vector(reference).is_some() {
            return self.find_vector(reference);
        }
        let found = match find::back(reference) {
            Some(back) => {
                let least = back.saturating_add(1);
                let ids = self.in_one(Purpose::Reading, |c| statements::asked_for(c, least))?;
                find::nth(&ids, reference, back)
            }
            None => {
                let names = self.in_one(Purpose::Reading, statements::names)?;
                find::named(&names, reference)
            }
        };
        found.map_err(|e| StoreFault::from(e).at(&self.location))
    }

    /// Reads a run by its full id.
    pub fn run(&mut self, id: &str, detail: Detail) -> Result<Run, StoreError> {
        self.in_one(Purpose::Reading, |c| statements::read(c, id, detail))
    }

    /// Adds a tag to a run, or removes it if `on` is false.
    pub fn tag(&mut self, id: &str, tag: &str, on: bool) -> Result<(), StoreError> {
        self.in_one(Purpose::Lasting, |c| statements::tag(c, id, tag, on))
    }

    /// Removes a run permanently.
    pub fn remove(&mut self, id: &str) -> Result<(), StoreError> {
        self.remove_all(&[id])
    }

    /// Removes several runs, or none.
    pub fn remove_all(&mut self, ids: &[&str]) -> Result<(), StoreError> {
        self.in_one(Purpose::Lasting, |c| ids.iter().try_for_each(|id| statements::remove(c, id)))
    }
}

/// The fault of a file that is no longer where it was opened.
fn moved() -> StoreFault {
    StoreError::new("the file was removed or replaced while the run was measured")
        .help("leave it in its place until a run ends")
        .into()
}

fn insert_whole(connection: &mut dyn Connection, run: &Run) -> Result<(), StoreFault> {
    statements::insert(connection, &run.head, None)?;
    for (place, entry) in run.benchmarks.iter().enumerate() {
        statements::put(connection, &run.id, place, entry)?;
    }
    statements::finish(connection, &run.head, run.benchmarks.len())
}
