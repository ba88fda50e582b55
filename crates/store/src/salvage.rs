//! What can still be read of a damaged store goes, entry by entry, into another.
//!
//! Nothing is taken that differs from what was written, where a checksum tells. The damaged store is not touched.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::{Benchmark, Run};

use crate::connection::Purpose;
use crate::error::Fault;
use crate::location::Location;
use crate::{PackedEntry, Store, StoreError, postgresql, sqlite, statements};

/// What came of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// [`Run::id`].
    pub id: String,
    /// The entries that are in the other store now.
    pub saved: usize,
    /// Entries that were stored before there were checksums: whether they are what was written is not known.
    pub unchecked: usize,
    /// The names of entries that cannot be read, as far as they are known.
    pub lost: Vec<String>,
    /// Lost entries whose names are lost too.
    pub nameless: usize,
    /// Texts of which its benchmarks were made that cannot be read.
    pub lost_texts: usize,
    /// Why nothing of it was saved.
    pub refused: Option<String>,
}

impl Salvaged {
    /// Whether all of it is saved that is known to have been there.
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty() && self.nameless == 0 && self.lost_texts == 0 && self.refused.is_none()
    }

    fn lose(&mut self, name: Option<String>) {
        match name {
            Some(name) => self.lost.push(name),
            None => self.nameless += 1,
        }
    }
}

/// How much of a database's tables could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Pages, with all that stood on them.
    pub pages: u64,
    /// Rows of other pages: those that the server does not give, and those in which stands what is never written.
    pub rows: u64,
    /// Tables that are gone, or have lost a column.
    pub tables: Vec<String>,
    /// Why the first of all these could not be read.
    pub cause: Option<String>,
}

impl Unread {
    /// Whether there is any such.
    pub fn is_any(&self) -> bool {
        *self != Unread::default()
    }

    /// The first cause stays.
    pub(crate) fn caused_by(&mut self, cause: String) {
        self.cause.get_or_insert(cause);
    }
}

/// What can be read of a damaged store.
pub struct Remnants(Kind);

enum Kind {
    File(Box<sqlite::salvage::Remnants>),
    Server(Box<postgresql::salvage::Remnants>),
}

impl Remnants {
    /// Of a store that is only read. While this works, nobody else may write a file that is damaged.
    ///
    /// # Errors
    /// When nothing of a store can be recognised there, or the server fails.
    pub fn of(from: &Location) -> Result<Remnants, StoreError> {
        let kind = match from {
            Location::File(path) => Kind::File(Box::new(sqlite::salvage::Remnants::of(path)?)),
            Location::Server(address) => {
                Kind::Server(Box::new(postgresql::salvage::Remnants::of(address)?))
            }
        };
        Ok(Remnants(kind))
    }

    /// Saves them in another store, and tells `each` run, and how much of the tables could not be read, where that is known (not of a file). A run with lost entries is not marked as finished.
    ///
    /// # Errors
    /// When either store fails.
    pub fn save(
        self,
        to: &mut Store,
        mut each: impl FnMut(Salvaged),
    ) -> Result<Option<Unread>, StoreError> {
        match self.0 {
            Kind::File(remnants) => remnants.save(to, &mut each).map(|()| None),
            Kind::Server(remnants) => remnants.save(to, &mut each).map(Some),
        }
    }
}

/// What can be read of a run besides its entries.
pub(crate) struct Remains {
    /// With its tags, and the texts that can be read.
    pub run: Run<()>,
    /// Texts that are known to be its own and cannot be read.
    pub lost_texts: usize,
    /// Whether each text that its entries name must have been there: a document from elsewhere may never have had them.
    pub had_texts: bool,
    pub is_finished: bool,
    /// How many entries it had when it finished.
    pub entries: i64,
}

/// The texts that can be read, and which of them are known to be of which run.
pub(crate) struct Texts {
    /// Their hashes and themselves, by their ids.
    pub all: BTreeMap<i64, (String, String)>,
    /// The ids of each run's.
    pub of_runs: BTreeMap<String, BTreeSet<i64>>,
}

impl Texts {
    /// Gives a run its own, and says how many of them cannot be read.
    pub fn add_to(&self, run: &mut Run<()>) -> usize {
        let mut lost = 0;
        for id in self.of_runs.get(&run.id).into_iter().flatten() {
            match self.all.get(id) {
                Some((hash, text)) => drop(run.sources.insert(hash.clone(), text.clone())),
                None => lost += 1,
            }
        }
        lost
    }
}

/// What can be read of an entry.
pub(crate) struct Rest {
    pub name: Option<String>,
    /// Its place and itself, and whether a checksum says that it is what was written.
    pub whole: Option<(usize, Benchmark, bool)>,
}

/// All of a run that can be read, or nothing if either store fails: an entry that is a fault ends it.
pub(crate) fn save(
    id: &str,
    remains: Option<Remains>,
    entries: impl Iterator<Item = Result<Rest, Fault>>,
    to: &mut Store,
) -> Result<Salvaged, StoreError> {
    let mut salvaged = Salvaged {
        id: id.to_owned(),
        ..Salvaged::default()
    };
    let Some(remains) = remains else {
        salvaged.refused = Some("its document cannot be read".to_owned());
        entries.flatten().for_each(|rest| salvaged.lose(rest.name));
        return Ok(salvaged);
    };
    salvaged.lost_texts = remains.lost_texts;
    to.in_one(Purpose::Lasting, |c| {
        if statements::exists(c, id)? {
            salvaged.refused = Some("the other store has it already".to_owned());
            return Ok(());
        }
        statements::insert(c, &remains.run, None)?;
        let mut texts = BTreeSet::new();
        let study = remains.run.producer.study.iter();
        texts.extend(study.map(|file| file.hash.clone()));
        for rest in entries {
            let rest = rest?;
            match rest.whole {
                Some((place, entry, is_checked)) => {
                    statements::put(c, id, place, &PackedEntry::of(&entry))?;
                    texts.extend(entry.about.files.into_iter().map(|file| file.hash));
                    salvaged.saved += 1;
                    salvaged.unchecked += usize::from(!is_checked);
                }
                None => salvaged.lose(rest.name),
            }
        }
        if remains.had_texts {
            texts.retain(|hash| !remains.run.sources.contains_key(hash));
            // Both ways may tell of the same text.
            salvaged.lost_texts = salvaged.lost_texts.max(texts.len());
        }
        let told = salvaged.saved + salvaged.lost.len();
        let missing = usize::try_from(remains.entries).unwrap_or(0);
        salvaged.nameless = salvaged.nameless.max(missing.saturating_sub(told));
        match remains.is_finished && salvaged.is_whole() {
            true => statements::finish(c, &remains.run, salvaged.saved),
            false => Ok(()),
        }
    })?;
    Ok(salvaged)
}
