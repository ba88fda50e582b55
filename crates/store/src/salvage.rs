//! Copies the readable runs of a damaged SQLite file into another store, entry by entry. An entry whose checksum does not match is left behind.
//!
//! `sqlite3 FILE .recover` is no substitute: Debian 12's sqlite3 3.40.1 recovers no row even of an undamaged file, because its library lacks the table `sqlite_dbpage`.

mod sqlite;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use yamba_record::{Benchmark, Run};

use crate::connection::Purpose;
use crate::{PackedEntry, Store, StoreError, statements};

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

/// The readable rest of a damaged SQLite file.
pub struct Remnants(sqlite::Remnants);

impl Remnants {
    /// Reads a copy of the file; the file itself is not touched.
    ///
    /// # Errors
    /// When nothing of a store can be recognised in the file.
    pub fn of(from: &Path) -> Result<Remnants, StoreError> {
        sqlite::Remnants::of(from).map(Remnants)
    }

    /// Stores each run in `to` and reports it to `each`. A run with lost entries is not marked as finished.
    ///
    /// # Errors
    /// When the other store fails.
    pub fn save(self, to: &mut Store, mut each: impl FnMut(Salvaged)) -> Result<(), StoreError> {
        self.0.save(to, &mut each)
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

/// Stores all of a run that can be read, or nothing if the other store fails.
pub(crate) fn save(
    id: &str,
    remains: Option<Remains>,
    entries: impl Iterator<Item = Rest>,
    to: &mut Store,
) -> Result<Salvaged, StoreError> {
    let mut salvaged = Salvaged {
        id: id.to_owned(),
        ..Salvaged::default()
    };
    let Some(remains) = remains else {
        salvaged.refused = Some("its document cannot be read".to_owned());
        entries.for_each(|rest| salvaged.lose(rest.name));
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
            match rest.whole {
                Some((place, entry, is_checked)) => {
                    statements::put(c, id, place, &PackedEntry::of(&entry))?;
                    let includes = entry.about.inputs.into_iter().flat_map(|i| i.includes);
                    let files = entry.about.files.into_iter().chain(includes);
                    texts.extend(files.map(|file| file.hash));
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
