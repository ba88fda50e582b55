//! Runs that are kept in a SQLite file or in a database of a PostgreSQL server.
//!
//! A run is stored while it is measured: [`Store::begin`], then [`Store::put`] after every launch, then [`Store::finish`]. Whatever ends it in between, what was put
//! stays.

mod checksum;
mod columns;
mod connection;
mod entry;
mod error;
mod explain;
pub mod export;
mod figures;
mod find;
pub mod import;
mod location;
mod postgresql;
mod salvage;
mod sqlite;
mod statements;
mod writer;

use yamba_record::{Benchmark, Run};

use connection::{Connection, Purpose, transaction};
pub use entry::{Entry, PackedEntry};
use error::Fault;
pub use error::StoreError;
pub use location::{Address, Location, without_password};
use postgresql::Postgresql;
pub use salvage::{Remnants, Salvaged};
use sqlite::Sqlite;
pub use yamba_record::system_error::reason as plain;

/// How much of a run is read. Raw intervals are nearly all of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Figures, evidence, launches: neither `samples` nor `intervals` nor `sizing`.
    Figures,
    /// With `samples`.
    Samples,
    /// Everything.
    Intervals,
}

/// A line of the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// [`Run::id`].
    pub id: String,
    /// When it began, in seconds since 1970 (UTC).
    pub started_unix_s: Option<f64>,
    /// The run without its benchmarks and sources; of a damaged one only the id and the tags.
    pub head: Run<()>,
    /// Why its document cannot be read; of such a run no benchmark is named.
    pub damage: Option<String>,
    /// The names of its benchmarks, each once.
    pub benchmarks: Vec<String>,
    /// Its entries, and those of them with a valid figure.
    pub entries: [u64; 2],
    /// Whether it came to its end: neither stopped nor killed.
    pub complete: bool,
    /// Whether it is still measured; none if that cannot be known here.
    pub is_running: Option<bool>,
}

/// Runs in one place.
pub struct Store {
    connection: Box<dyn Connection>,
    location: Location,
    /// Whether a lost connection is to be made anew: a server that was called in vain once is not called before each entry.
    calls_again: bool,
}

impl Store {
    /// Opens it, making it or bringing it to this version's form first.
    pub fn open(location: &Location) -> Result<Store, StoreError> {
        let opened: Result<Box<dyn Connection>, Fault> = match location {
            Location::File(path) => Sqlite::open(path).map(|c| Box::new(c) as _),
            Location::Server(address) => Postgresql::open(address).map(|c| Box::new(c) as _),
        };
        Ok(Store {
            connection: opened.map_err(|e| e.of(location))?,
            location: location.clone(),
            calls_again: true,
        })
    }

    /// Opens it if there is one, and makes none. One of an older version is brought to this version's form.
    pub fn existing(location: &Location) -> Result<Option<Store>, StoreError> {
        let opened: Result<Option<Box<dyn Connection>>, Fault> = match location {
            Location::File(path) => Sqlite::existing(path).map(|c| c.map(|c| Box::new(c) as _)),
            Location::Server(address) => {
                Postgresql::existing(address).map(|c| c.map(|c| Box::new(c) as _))
            }
        };
        let opened = opened.map_err(|e| e.of(location))?;
        Ok(opened.map(|connection| Store {
            connection,
            location: location.clone(),
            calls_again: true,
        }))
    }

    /// Opens a file for a quick look, as the completion of a command line needs: never creates or migrates it, and waits only a moment for a writer. `None`: there is no
    /// file of this version's form, or the location is a server.
    pub fn glance(location: &Location) -> Result<Option<Store>, StoreError> {
        let Location::File(path) = location else {
            return Ok(None);
        };
        let opened = Sqlite::glance(path).map_err(|e| e.of(location))?;
        Ok(opened.map(|connection| Store {
            connection: Box::new(connection),
            location: location.clone(),
            calls_again: false,
        }))
    }

    fn in_one<T>(
        &mut self,
        purpose: Purpose,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        transaction(self.connection.as_mut(), purpose, work).map_err(|e| e.of(&self.location))
    }

    /// A new run. Its benchmarks are put one by one; its id must be new.
    pub fn begin<B>(&mut self, run: &Run<B>) -> Result<(), StoreError> {
        let head = bare(run);
        let writer = writer::own();
        self.in_one(Purpose::Writing, |c| {
            statements::insert(c, &head, writer.as_deref())
        })
    }

    /// The entry at `place`, counted from 0: anew, or instead of what was there.
    pub fn put(&mut self, id: &str, place: usize, benchmark: &Benchmark) -> Result<(), StoreError> {
        let entry = PackedEntry::of(benchmark);
        self.repeatable(|c| statements::put(c, id, place, &entry))
    }

    /// The run has ended, and each of its benchmarks was put; what its document says besides them is stored anew.
    pub fn finish<B>(&mut self, run: &Run<B>) -> Result<(), StoreError> {
        let head = bare(run);
        let entries = run.benchmarks.len();
        self.repeatable(|c| {
            transaction(c, Purpose::Lasting, |c| {
                statements::finish(c, &head, entries)
            })
        })
    }

    /// A server that stayed away may be called once more.
    pub fn call_again(&mut self) {
        self.calls_again = true;
    }

    /// Work that changes nothing when it is done twice: once more on a new connection, where the one before was lost.
    fn repeatable(
        &mut self,
        work: impl Fn(&mut dyn Connection) -> Result<(), Fault>,
    ) -> Result<(), StoreError> {
        let done = match work(self.connection.as_mut()) {
            Err(fault) if fault.is_of_lost_connection() && self.reconnects() => {
                work(self.connection.as_mut())
            }
            done => done,
        };
        done.map_err(|e| e.of(&self.location))
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

    /// A whole run, measured elsewhere or before: all of it, or nothing. One with the same id is an error.
    pub fn add<E: Entry>(&mut self, run: &Run<E>) -> Result<(), StoreError> {
        self.add_all(&[run])
    }

    /// Several such runs: all of them, or nothing.
    pub fn add_all<E: Entry>(&mut self, runs: &[&Run<E>]) -> Result<(), StoreError> {
        self.in_one(Purpose::Lasting, |c| {
            for run in runs {
                let head = bare(run);
                statements::insert(c, &head, None)?;
                for (place, entry) in run.benchmarks.iter().enumerate() {
                    statements::put(c, &head.id, place, &entry.packed())?;
                }
                statements::finish(c, &head, run.benchmarks.len())?;
            }
            Ok(())
        })
    }

    /// All runs, the latest first.
    pub fn runs(&mut self) -> Result<Vec<Listed>, StoreError> {
        self.in_one(Purpose::Reading, |c| statements::listed(c, None))
    }

    /// The line of one run, by its whole id.
    pub fn listed(&mut self, id: &str) -> Result<Option<Listed>, StoreError> {
        let mut found = self.in_one(Purpose::Reading, |c| statements::listed(c, Some(id)))?;
        Ok(found.pop())
    }

    /// The id that a person means: an id or the beginning of one, a tag (its latest run), `latest`, or `latest~N`, the N-th before it. `latest` passes over runs that
    /// [another command](yamba_record::run::Producer::for_another_command) measured.
    pub fn find(&mut self, reference: &str) -> Result<String, StoreError> {
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
        found.map_err(|e| Fault::from(e).of(&self.location))
    }

    /// A run by its whole id.
    pub fn run(&mut self, id: &str, detail: Detail) -> Result<Run, StoreError> {
        self.in_one(Purpose::Reading, |c| statements::read(c, id, detail))
    }

    /// Gives a run a name, or (`on` false) takes it away.
    pub fn tag(&mut self, id: &str, tag: &str, on: bool) -> Result<(), StoreError> {
        self.in_one(Purpose::Lasting, |c| statements::tag(c, id, tag, on))
    }

    /// Takes a run out of the store for good.
    pub fn remove(&mut self, id: &str) -> Result<(), StoreError> {
        self.remove_all(&[id])
    }

    /// Takes several out: all of them, or none.
    pub fn remove_all(&mut self, ids: &[&str]) -> Result<(), StoreError> {
        self.in_one(Purpose::Lasting, |c| {
            ids.iter().try_for_each(|id| statements::remove(c, id))
        })
    }
}

/// The run without its benchmarks.
fn bare<B>(run: &Run<B>) -> Run<()> {
    Run {
        schema: run.schema.clone(),
        machine: run.machine.clone(),
        benchmarks: Vec::new(),
        started_unix_s: run.started_unix_s,
        interrupted: run.interrupted,
        plan: run.plan.clone(),
        id: run.id.clone(),
        tags: run.tags.clone(),
        finished_unix_s: run.finished_unix_s,
        producer: run.producer.clone(),
        sources: run.sources.clone(),
    }
}
