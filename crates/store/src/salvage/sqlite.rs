//! Reads a copy of a damaged SQLite file row by row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::types::FromSql;
use rusqlite::{Connection, params};
use yamba_record::{Benchmark, Run};

use super::{Remains, Rest, Salvaged, Texts, save};
use crate::connection::Row;
use crate::error::Fault;
use crate::location::Location;
use crate::sqlite::{Sqlite, is_empty, log, schema};
use crate::{Detail, Store, StoreError, statements};
use yamba_record::system_error::reason;

/// A copy of a damaged file, and the rows found in it.
pub(crate) struct Remnants {
    damaged: Connection,
    found: Found,
    _folder: tempfile::TempDir,
}

impl Remnants {
    /// # Errors
    /// When nothing of a store can be recognised in the file.
    pub fn of(from: &Path) -> Result<Remnants, StoreError> {
        let place = Location::File(from.to_owned());
        if is_empty(from) {
            return Err(StoreError::new(format!(
                "{place} is empty: there is nothing in it to save"
            ))
            .help("restore it from a backup; or remove it, and the next run makes a new store"));
        }
        let folder = copied(from).map_err(|e| {
            StoreError::new(format!("{place}: cannot be copied: {}", reason(&e)))
                .help("it must be readable, and the folder for temporary files (TMPDIR) must have room for it")
        })?;
        let (damaged, is_repaired) = opened(folder.path()).map_err(|e| e.of(&place))?;
        let found = Found::of(&damaged);
        if found.ids().is_empty() && is_repaired {
            return Err(Fault::Foreign.of(&place));
        }
        Ok(Remnants {
            damaged,
            found,
            _folder: folder,
        })
    }

    /// # Errors
    /// When the other store fails.
    pub fn save(self, to: &mut Store, each: &mut dyn FnMut(Salvaged)) -> Result<(), StoreError> {
        for id in self.found.ids() {
            let entries = self.found.entries.get(id).into_iter().flatten();
            let rests = entries.map(|(row, name)| Rest {
                name: name.clone(),
                whole: entry(&self.damaged, id, *row),
            });
            each(save(id, self.found.remains(id), rests, to)?);
        }
        Ok(())
    }
}

const COPY: &str = "copy.sqlite";

/// Copies the file and its log into a temporary folder.
fn copied(from: &Path) -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join(COPY);
    fs::copy(from, &copy)?;
    if log(from).exists() {
        fs::copy(log(from), log(&copy))?;
    }
    Ok(folder)
}

/// Reads every column that is used here. The statement fails if the file's own table definitions are damaged.
const COLUMNS: &str = "SELECT run.id, run.finished, run.head, run.checksum, run.entries, tag.run, tag.tag, entry.run, entry.place, entry.name, entry.figures,
    entry.samples, entry.intervals, entry.checksum, source.id, source.hash, source.text, source.checksum, run_source.run, run_source.source
    FROM run, tag, entry, source, run_source";

/// Opens the copy. If its first page, which locates the tables, is unusable, replaces it by that of an empty store and returns `true`.
fn opened(folder: &Path) -> Result<(Connection, bool), Fault> {
    let path = folder.join(COPY);
    match ready(&path) {
        Err(Fault::Sqlite(_) | Fault::Foreign) => {}
        done => return done.map(|connection| (connection, false)),
    }
    first_page(folder).map_err(|e| {
        StoreError::new(format!("its copy cannot be repaired: {e}"))
            .help("make room in the folder of TMPDIR, where the copy is")
    })?;
    ready(&path).map(|connection| (connection, true))
}

fn ready(path: &Path) -> Result<Connection, Fault> {
    let mut connection = Connection::open(path)?;
    schema::prepare(&mut connection)?;
    connection.prepare(COLUMNS)?;
    Ok(connection)
}

/// Replaces the first page of the copy. Tables are created in the same order in every file and so begin at the same pages. See "The Database Header" in SQLite's file format.
fn first_page(folder: &Path) -> io::Result<()> {
    const PAGE_SIZE: usize = 16;
    const PAGES: usize = 28;
    const FREE_PAGES: usize = 32;
    let path = folder.join("empty.sqlite");
    Sqlite::open(&path).map_err(|e| io::Error::other(e.of(&Location::File(path.clone()))))?;
    let mut page = fs::read(&path)?;
    let size = usize::from(u16::from_be_bytes([page[PAGE_SIZE], page[PAGE_SIZE + 1]]));
    page.truncate(size);
    let mut copy = File::options()
        .read(true)
        .write(true)
        .open(folder.join(COPY))?;
    let pages = copy.metadata()?.len().div_ceil(size as u64) as u32;
    page[PAGES..PAGES + 4].copy_from_slice(&pages.to_be_bytes());
    page[FREE_PAGES..FREE_PAGES + 8].fill(0);
    copy.seek(SeekFrom::Start(0))?;
    copy.write_all(&page)
}

/// The readable rows of a file. Tables and indexes are scanned from both ends and row by row, so that a damaged page hides few other rows.
struct Found {
    /// For each run: its document, whether it finished, and its number of entries at that time.
    runs: BTreeMap<String, (Run<()>, bool, i64)>,
    /// For each run: the row numbers of entries that the table or an index contains, with their names.
    entries: BTreeMap<String, BTreeMap<i64, Option<String>>>,
    tags: BTreeMap<String, BTreeSet<String>>,
    texts: Texts,
}

impl Found {
    fn of(damaged: &Connection) -> Found {
        let read = format!("SELECT {}, id FROM run WHERE rowid = ?1", statements::HEAD);
        let runs = rows(damaged, "run", &[("sqlite_autoindex_run_1", "id")]);
        let runs = runs.into_iter().filter_map(|row| {
            one(damaged, &read, row, |row| {
                let id = row.text(4)?.to_owned();
                let head = statements::head::<()>(row)?;
                Ok((head.0.id == id).then_some((id, head)))
            })
        });
        let read = "SELECT hash, text, checksum, id FROM source WHERE rowid = ?1";
        let texts = rows(damaged, "source", &[("source_hash", "hash")]);
        let texts = texts.into_iter().filter_map(|row| {
            one(damaged, read, row, |row| {
                Ok((row.integer(3)?, statements::text(row)?))
            })
        });
        Found {
            runs: runs.flatten().collect(),
            entries: entries(damaged),
            tags: pairs(damaged, "SELECT run, tag FROM tag", "run"),
            texts: Texts {
                all: texts.collect(),
                of_runs: pairs(damaged, "SELECT run, source FROM run_source", "run"),
            },
        }
    }

    /// The ids of all runs in any table or index.
    fn ids(&self) -> BTreeSet<&String> {
        self.runs.keys().chain(self.entries.keys()).collect()
    }

    /// The run without its entries. `None` if its document cannot be read.
    fn remains(&self, id: &str) -> Option<Remains> {
        let (run, is_finished, entries) = self.runs.get(id)?;
        let mut run = run.clone();
        let tags = self.tags.get(id).into_iter().flatten();
        run.tags = tags.cloned().collect();
        let lost_texts = self.texts.add_to(&mut run);
        Some(Remains {
            had_texts: !run.producer.from_document,
            run,
            lost_texts,
            is_finished: *is_finished,
            entries: *entries,
        })
    }
}

/// Row numbers start at 1. Row numbers above this limit are only tried if an index contains them.
const MOST: i64 = 1 << 20;

/// Number of rows to try after the last known one.
const BEYOND: i64 = 1000;

/// Candidate row numbers: those in the table or its indexes (name and first column), and those between.
fn rows(damaged: &Connection, table: &str, indexes: &[(&str, &str)]) -> BTreeSet<i64> {
    let mut all = BTreeSet::new();
    let mut ways = vec![("NOT INDEXED".to_owned(), "rowid")];
    ways.extend(
        indexes
            .iter()
            .map(|(name, first)| (format!("INDEXED BY {name}"), *first)),
    );
    for (way, first) in ways {
        let sql = format!("SELECT rowid FROM {table} {way}");
        scan(damaged, &sql, first, |row| {
            all.insert(row.get(0)?);
            Ok(())
        });
    }
    let last = all.last().copied().unwrap_or(0).clamp(0, MOST);
    all.extend(1..=last + BEYOND);
    all
}

/// Visits the rows in ascending and then in descending order, each time up to the first unreadable page.
fn scan(
    damaged: &Connection,
    sql: &str,
    first: &str,
    mut each: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) {
    for order in ["ASC", "DESC"] {
        let Ok(mut statement) = damaged.prepare(&format!("{sql} ORDER BY {first} {order}")) else {
            return;
        };
        let Ok(mut rows) = statement.query([]) else {
            return;
        };
        while let Ok(Some(row)) = rows.next() {
            // An unreadable row is lost, but the next one may be readable.
            let _ = each(row);
        }
    }
}

/// Reads the row with this number, if possible.
fn one<T>(
    damaged: &Connection,
    sql: &str,
    row: i64,
    read: impl FnOnce(&dyn Row) -> Result<T, Fault>,
) -> Option<T> {
    let mut statement = damaged.prepare(sql).ok()?;
    let mut rows = statement.query(params![row]).ok()?;
    let row = rows.next().ok()??;
    read(row).ok()
}

/// Groups the second column by the first, for all readable rows.
fn pairs<T: Ord + FromSql>(
    damaged: &Connection,
    sql: &str,
    first: &str,
) -> BTreeMap<String, BTreeSet<T>> {
    let mut all: BTreeMap<String, BTreeSet<T>> = BTreeMap::new();
    for order in [first, "rowid"] {
        scan(damaged, sql, order, |row| {
            let value = row.get(1)?;
            all.entry(row.get(0)?).or_default().insert(value);
            Ok(())
        });
    }
    all
}

fn entries(damaged: &Connection) -> BTreeMap<String, BTreeMap<i64, Option<String>>> {
    let mut all: BTreeMap<String, BTreeMap<i64, Option<String>>> = BTreeMap::new();
    let mut keep = |run: String, row: i64, name: Option<String>| {
        let of = all.entry(run).or_default().entry(row).or_default();
        *of = of.take().or(name);
    };
    let named = "SELECT run, rowid, name FROM entry INDEXED BY entry_names";
    scan(damaged, named, "run", |row| {
        keep(row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(())
    });
    let placed = "SELECT run, rowid FROM entry INDEXED BY sqlite_autoindex_entry_1";
    scan(damaged, placed, "run", |row| {
        keep(row.get(0)?, row.get(1)?, None);
        Ok(())
    });
    let read = "SELECT run, name FROM entry WHERE rowid = ?1";
    for row in rows(damaged, "entry", &[]) {
        let found = one(damaged, read, row, |row| {
            Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
        });
        if let Some((run, name)) = found {
            keep(run, row, Some(name));
        }
    }
    let is_id = |id: &String| !id.is_empty() && id.bytes().all(|b| b.is_ascii_hexdigit());
    all.retain(|id, _| is_id(id));
    all
}

/// The entry of a row: its position, the entry, and whether it has a checksum.
fn entry(damaged: &Connection, id: &str, row: i64) -> Option<(usize, Benchmark, bool)> {
    let sql =
        "SELECT run, place, checksum, figures, samples, intervals FROM entry WHERE rowid = ?1";
    one(damaged, sql, row, |row| {
        let (place, entry) = statements::entry(row, Detail::Intervals)?;
        let is_its = row.text(0)? == id;
        Ok(is_its.then_some((place, entry, row.bytes_if_any(2)?.is_some())))
    })?
}
