//! Copies the readable runs of a damaged SQLite file into another store, entry by entry. Skips data
//! whose checksum does not match.
//!
//! Rows are read by their numbers, so that a destroyed page hides no other rows. The indexes tell
//! which rows there were.
//!
//! `sqlite3 FILE .recover` is no substitute: it does not know the checksums, and a run that lost an
//! entry cannot be read. Debian 12's sqlite3 3.40.1 recovers no row even of an undamaged file,
//! because its library lacks the table `sqlite_dbpage`.

use std::collections::{BTreeMap, BTreeSet};

use yamba_record::Run;

use crate::connection::Value::Integer;
use crate::connection::{Connection, Purpose, ResultRow, Value};
use crate::error::StoreFault;
use crate::{Detail, Store, StoreError, StoredEntry, statements};

/// The parts of a run that were copied, and the parts that are lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// [`yamba_record::Run::id`].
    pub id: String,
    /// Number of entries copied to the other store.
    pub saved: usize,
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
}

impl Store {
    /// Copies each run of this SQLite file to `to`, and changes nothing here. A run with lost
    /// entries is not marked as finished.
    ///
    /// # Errors
    /// When the other store fails. Then nothing is copied.
    pub fn salvage(&mut self, to: &mut Store) -> Result<Vec<Salvaged>, StoreError> {
        let damaged = self.connection.as_mut();
        let mut runs = runs(damaged);
        to.in_one(Purpose::Lasting, |to| {
            for remains in runs.values_mut() {
                remains.begin(to)?;
            }
            let sql = "SELECT run, place, checksum, figures, samples, batches FROM entry WHERE rowid = $1";
            let read = |row: &dyn ResultRow| Ok((text(row, 0)?, statements::entry(row, Detail::Batches)?));
            for number in row_numbers(damaged, "entry", "entry_names") {
                for (id, (place, entry)) in readable(damaged, sql, &[Integer(number)], read) {
                    if let Some(remains) = runs.get_mut(&id).filter(|r| r.head.is_some()) {
                        statements::put(to, &id, place, &StoredEntry::of(&entry))?;
                        remains.count(&entry.name);
                    }
                }
            }
            let all = runs.into_values();
            all.map(|remains| remains.finish(to)).collect()
        })
    }
}

/// The readable part of a run.
#[derive(Default)]
struct Remains {
    report: Salvaged,
    /// The run without its entries, whether it finished, and its number of entries then. `None` if
    /// the run is not copied.
    head: Option<(Run<()>, bool, i64)>,
}

impl Remains {
    /// Inserts the run, unless the other store has one with its id.
    fn begin(&mut self, to: &mut dyn Connection) -> Result<(), StoreFault> {
        let id = &self.report.id;
        let Some((run, ..)) = &self.head else {
            self.report.refused = Some("its document cannot be read".to_owned());
            return Ok(());
        };
        if statements::exists(to, id)? {
            self.report.refused = Some("the other store has it already".to_owned());
            self.report.lost.clear();
            self.head = None;
            return Ok(());
        }
        statements::insert(to, run, None)
    }

    /// Counts a copied entry.
    fn count(&mut self, name: &str) {
        self.report.saved += 1;
        if let Some(at) = self.report.lost.iter().position(|lost| lost == name) {
            self.report.lost.remove(at);
        }
    }

    fn finish(self, to: &mut dyn Connection) -> Result<Salvaged, StoreFault> {
        let mut report = self.report;
        if let Some((run, true, entries)) = &self.head {
            let missing = (*entries as usize).saturating_sub(report.saved);
            report.lost.truncate(missing);
            report.nameless = missing - report.lost.len();
            if report.is_whole() {
                statements::finish(to, run, report.saved)?;
            }
        }
        Ok(report)
    }
}

/// The runs by id. `lost` has the names of all entries.
fn runs(damaged: &mut dyn Connection) -> BTreeMap<String, Remains> {
    let mut runs: BTreeMap<String, Remains> = BTreeMap::new();
    let sql = format!("SELECT {}, id FROM run WHERE rowid = $1", statements::HEAD);
    let read = |row: &dyn ResultRow| Ok((text(row, 4)?, statements::head(row)?));
    for number in row_numbers(damaged, "run", "sqlite_autoindex_run_1") {
        for (id, head) in readable(damaged, &sql, &[Integer(number)], read) {
            runs.entry(id).or_default().head = Some(head);
        }
    }
    let pair = |row: &dyn ResultRow| Ok((text(row, 0)?, text(row, 1)?));
    let names = "SELECT run, name FROM entry INDEXED BY entry_names";
    for (id, name) in readable(damaged, names, &[], pair) {
        runs.entry(id).or_default().report.lost.push(name);
    }
    for (id, tag) in pairs(damaged, "tag", "tag", pair) {
        if let Some((run, ..)) = runs.get_mut(&id).and_then(|r| r.head.as_mut()) {
            run.tags.push(tag);
        }
    }
    let sql = "SELECT hash, text, checksum FROM source WHERE id = $1";
    let used = |row: &dyn ResultRow| Ok((text(row, 0)?, row.integer(1)?));
    for (id, source) in pairs(damaged, "run_source", "source", used) {
        let found = readable(damaged, sql, &[Integer(source)], statements::text).pop();
        let remains = runs.entry(id).or_default();
        match (found, &mut remains.head) {
            (Some((hash, text)), Some((run, ..))) => drop(run.sources.insert(hash, text)),
            _ => remains.report.lost_texts += 1,
        }
    }
    for (id, remains) in &mut runs {
        remains.report.id.clone_from(id);
    }
    runs
}

/// The pairs of a run and another column in a table or in its index.
fn pairs<T: Ord>(
    damaged: &mut dyn Connection,
    table: &str,
    column: &str,
    read: impl Fn(&dyn ResultRow) -> Result<T, StoreFault>,
) -> BTreeSet<T> {
    let orders = ["rowid", "run"];
    let sql = orders.map(|order| format!("SELECT run, {column} FROM {table} ORDER BY {order}"));
    let rows = sql.iter().flat_map(|sql| readable(damaged, sql, &[], &read));
    rows.collect()
}

/// Limit of row numbers, because a damaged one may be any number.
const MOST: i64 = 1 << 20;

/// All possible row numbers of a table, whose highest one is in the table or in its index.
fn row_numbers(
    damaged: &mut dyn Connection,
    table: &str,
    index: &str,
) -> std::ops::RangeInclusive<i64> {
    let highest = [
        format!("SELECT max(rowid) FROM {table} NOT INDEXED"),
        format!("SELECT max(rowid) FROM {table} INDEXED BY {index}"),
    ];
    let highest = highest.map(|sql| readable(damaged, &sql, &[], |row| row.integer(0)).pop());
    1..=highest.into_iter().flatten().max().unwrap_or(0).min(MOST)
}

/// The readable rows, up to the first destroyed page.
fn readable<T>(
    damaged: &mut dyn Connection,
    sql: &str,
    values: &[Value<'_>],
    read: impl Fn(&dyn ResultRow) -> Result<T, StoreFault>,
) -> Vec<T> {
    let mut rows = Vec::new();
    let _ = damaged.query(sql, values, &mut |row| {
        rows.extend(read(row).ok());
        Ok(())
    });
    rows
}

fn text(row: &dyn ResultRow, column: usize) -> Result<String, StoreFault> {
    Ok(row.text(column)?.to_owned())
}
