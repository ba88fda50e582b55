//! What can still be read of a database. Each statement is by itself: in a transaction, the first page that cannot be read would end all.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::{Benchmark, Run};

use super::Postgresql;
use super::pages::Damaged;
use crate::connection::Row;
use crate::connection::Value::{Integer, Text};
use crate::error::{Fault, StoreError};
use crate::location::{Address, Location};
use crate::salvage::{Remains, Rest, Salvaged, Texts, Unread, save};
use crate::{Detail, Store, statements};

/// A database, and what of it was found.
pub(crate) struct Remnants {
    place: Location,
    damaged: Damaged,
    found: Found,
}

impl Remnants {
    /// # Errors
    /// When there is no store, no run can be found, or the server gives no answer.
    pub fn of(from: &Address) -> Result<Remnants, StoreError> {
        let place = Location::Server(from.clone());
        let mut damaged = opened(from).map_err(|e| e.of(&place))?;
        let found = Found::of(&mut damaged).map_err(|e| e.of(&place))?;
        if found.ids().is_empty() && damaged.unread().is_any() {
            let cause = damaged.unread().cause.iter().map(|c| format!(": {c}"));
            let cause: String = cause.collect();
            return Err(
                StoreError::new(format!("{place}: no run in it can be read{cause}"))
                    .help("restore the database from a backup"),
            );
        }
        Ok(Remnants {
            place,
            damaged,
            found,
        })
    }

    /// # Errors
    /// When the server gives no answer, or the other store fails.
    pub fn save(
        mut self,
        to: &mut Store,
        each: &mut dyn FnMut(Salvaged),
    ) -> Result<Unread, StoreError> {
        let is_doubtful = self.damaged.unread().is_any();
        for id in self.found.ids() {
            let mut lost = None;
            let entries = self.found.entries.get(id).into_iter().flatten();
            let rests = entries.map(|(place, (name, row))| {
                let whole = entry(&mut self.damaged, id, *place, row).map_err(|fault| {
                    let cause = Fault::Damaged(fault.cause());
                    lost = Some(fault);
                    cause
                })?;
                let name = Some(name.clone());
                Ok(Rest { name, whole })
            });
            let saved = save(id, self.found.remains(id, is_doubtful), rests, to);
            // It is the damaged store's fault, not the other's.
            if let Some(fault) = lost {
                return Err(fault.of(&self.place));
            }
            each(saved?);
        }
        Ok(self.damaged.unread().clone())
    }
}

fn opened(from: &Address) -> Result<Damaged, Fault> {
    let found = Postgresql::existing(from)?;
    let found = found.ok_or_else(|| {
        StoreError::new("no run is kept there yet").help("name the database that is damaged")
    })?;
    Damaged::new(found)
}

/// A run's document, whether it finished, and how many entries it had then.
type Head = (Run<()>, bool, i64);

/// What the database has, as far as it can be read.
struct Found {
    /// Its document, whether it finished, and how many entries it had then; none of one that cannot be read.
    runs: BTreeMap<String, Option<Head>>,
    /// Of each run's entries by their places: their names, and the rows of the table that they are.
    entries: BTreeMap<String, BTreeMap<i64, (String, String)>>,
    tags: BTreeMap<String, Vec<String>>,
    texts: Texts,
}

impl Found {
    fn of(damaged: &mut Damaged) -> Result<Found, Fault> {
        let mut runs = BTreeMap::new();
        // An id may be read where the document cannot.
        for (id, row) in damaged.rows("run", "id, ctid::text", |row| {
            Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
        })? {
            let head = head(damaged, &id, &row)?;
            runs.insert(id, head);
        }
        let mut entries: BTreeMap<String, BTreeMap<i64, _>> = BTreeMap::new();
        for (id, place, entry) in damaged.rows("entry", "run, place, name, ctid::text", |row| {
            let entry = (row.text(2)?.to_owned(), row.text(3)?.to_owned());
            Ok((row.text(0)?.to_owned(), row.integer(1)?, entry))
        })? {
            entries.entry(id).or_default().insert(place, entry);
        }
        let mut tags = damaged.rows("tag", "rowid, run, tag", |row| {
            Ok((
                row.integer(0)?,
                row.text(1)?.to_owned(),
                row.text(2)?.to_owned(),
            ))
        })?;
        tags.sort();
        let mut of_runs: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (_, id, tag) in tags {
            of_runs.entry(id).or_default().push(tag);
        }
        let texts = damaged.rows("source", "hash, text, checksum, id", |row| {
            Ok((row.integer(3)?, statements::text(row)?))
        })?;
        let mut made_of: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
        for (id, source) in damaged.rows("run_source", "run, source", |row| {
            Ok((row.text(0)?.to_owned(), row.integer(1)?))
        })? {
            made_of.entry(id).or_default().insert(source);
        }
        Ok(Found {
            runs,
            entries,
            tags: of_runs,
            texts: Texts {
                all: texts.into_iter().collect(),
                of_runs: made_of,
            },
        })
    }

    /// The runs that any table tells of.
    fn ids(&self) -> BTreeSet<&String> {
        let all = self.runs.keys().chain(self.entries.keys());
        all.chain(self.tags.keys()).collect()
    }

    /// The run with what it was made of; none if its document cannot be read. `is_doubtful` says that a text may have been lost with all that tells of it.
    fn remains(&self, id: &str, is_doubtful: bool) -> Option<Remains> {
        let (run, is_finished, entries) = self.runs.get(id)?.as_ref()?;
        let mut run = run.clone();
        run.tags = self.tags.get(id).cloned().unwrap_or_default();
        let lost_texts = self.texts.add_to(&mut run);
        Some(Remains {
            had_texts: is_doubtful || !run.producer.from_document,
            run,
            lost_texts,
            is_finished: *is_finished,
            entries: *entries,
        })
    }
}

/// The document in a row of that run; none if it cannot be read, or is another's.
///
/// # Errors
/// When the server gives no answer: without it nothing is known.
fn head(damaged: &mut Damaged, id: &str, row: &str) -> Result<Option<Head>, Fault> {
    let columns = format!("{}, id", statements::HEAD);
    let read = |row: &dyn Row| match row.text(4)? == id {
        true => statements::head::<()>(row).map(Some),
        false => Ok(None),
    };
    let found = damaged.row("run", &columns, row, ("id = $1", &[Text(id)]), read)?;
    Ok(found.filter(|(run, ..)| run.id == id))
}

/// The entry in a row of that run and place, its place before it, and whether a checksum says that it is what was written; none if it cannot be read.
///
/// # Errors
/// When the server gives no answer: without it nothing is known.
fn entry(
    damaged: &mut Damaged,
    id: &str,
    place: i64,
    row: &str,
) -> Result<Option<(usize, Benchmark, bool)>, Fault> {
    let columns = "run, place, checksum, figures, samples, intervals";
    let read = |row: &dyn Row| {
        if row.text(0)? != id || row.integer(1)? != place {
            return Ok(None);
        }
        let (place, entry) = statements::entry(row, Detail::Intervals)?;
        Ok(Some((place, entry, row.bytes_if_any(2)?.is_some())))
    };
    let key = ("run = $1 AND place = $2", &[Text(id), Integer(place)][..]);
    damaged.row("entry", columns, row, key, read)
}
