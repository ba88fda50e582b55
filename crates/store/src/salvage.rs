//! Copies the readable runs of a damaged SQLite file into another store, entry by entry. Skips entries whose checksum does not match.
//!
//! `sqlite3 FILE .recover` is no substitute: Debian 12's sqlite3 3.40.1 recovers no row even of an undamaged file, because its library lacks the table `sqlite_dbpage`.

mod sqlite;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use yamba_record::{Benchmark, Run};

use crate::connection::Purpose;
use crate::{PackedEntry, Store, StoreError, statements};

/// The result for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// [`Run::id`].
    pub id: String,
    /// Number of entries copied to the other store.
    pub saved: usize,
    /// Number of copied entries without a checksum, which older versions did not store.
    pub unchecked: usize,
    /// The names of unreadable entries, if known.
    pub lost: Vec<String>,
    /// Number of unreadable entries with unknown names.
    pub nameless: usize,
    /// Number of unreadable source texts.
    pub lost_texts: usize,
    /// Why nothing was copied.
    pub refused: Option<String>,
}

impl Salvaged {
    /// Whether every known part of the run was copied.
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
    /// Reads a copy of the file and leaves the file itself unchanged.
    ///
    /// # Errors
    /// If the file contains no recognisable part of a store.
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

/// The readable part of a run besides its entries.
pub(crate) struct Remains {
    /// The run with its tags and its readable texts.
    pub run: Run<()>,
    /// Number of its texts that cannot be read.
    pub lost_texts: usize,
    /// Whether the store had all texts that the entries name. A run from a document may lack them.
    pub had_texts: bool,
    pub is_finished: bool,
    /// Number of entries when the run finished.
    pub entries: i64,
}

/// The readable texts, and the known texts of each run.
pub(crate) struct Texts {
    /// Hash and text by id.
    pub all: BTreeMap<i64, (String, String)>,
    /// Ids of texts by run.
    pub of_runs: BTreeMap<String, BTreeSet<i64>>,
}

impl Texts {
    /// Adds the readable texts of the run to it, and returns the number of unreadable ones.
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

/// The readable part of an entry.
pub(crate) struct Rest {
    pub name: Option<String>,
    /// Position, entry, and whether it has a checksum.
    pub whole: Option<(usize, Benchmark, bool)>,
}

/// Copies the readable part of a run, or nothing if the other store fails.
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
            // Both counts may include the same text.
            salvaged.lost_texts = salvaged.lost_texts.max(texts.len());
        }
        let known = salvaged.saved + salvaged.lost.len();
        let missing = usize::try_from(remains.entries).unwrap_or(0);
        salvaged.nameless = salvaged.nameless.max(missing.saturating_sub(known));
        if remains.is_finished && salvaged.is_whole() {
            statements::finish(c, &remains.run, salvaged.saved)
        } else {
            Ok(())
        }
    })?;
    Ok(salvaged)
}
