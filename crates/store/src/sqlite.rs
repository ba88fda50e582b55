//! The store in a SQLite file.

mod schema;

use std::path::{Path, PathBuf};
use std::{fs, io};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, ToSql, params_from_iter};

use crate::connection::{Connection, Purpose, ResultRow, Value};
use crate::error::{StoreError, StoreFault};
use crate::inputs::{FileIdentity, identity};
use yamba_record::system_error::reason;

/// The fix for an unusable file.
const ANOTHER: &str = "name another file with --store FILE or YAMBA_STORE";

/// The fix for a missing write permission. SQLite writes to the file and its folder even for
/// reading.
const COPY: &str =
    "copy it to a folder that you may write, and name the copy with --store FILE or YAMBA_STORE";

pub(crate) struct Sqlite {
    connection: rusqlite::Connection,
    path: PathBuf,
    /// The file at `path` when it was opened.
    file: Option<FileIdentity>,
    /// Whether the current transaction is synchronised to disk at its commit.
    is_lasting: bool,
}

impl Sqlite {
    fn new(connection: rusqlite::Connection, path: &Path) -> Sqlite {
        Sqlite { connection, path: path.to_owned(), file: identity(path), is_lasting: false }
    }

    pub fn open(path: &Path) -> Result<Sqlite, StoreFault> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|e| {
                StoreError::new(format!("its folder cannot be made: {}", reason(&e))).help(ANOTHER)
            })?;
        }
        let sqlite = Sqlite::prepared(rusqlite::Connection::open(plain(path)), path)?;
        sqlite.check_lists()?;
        Ok(sqlite)
    }

    /// Opens the file if there is one that is not empty.
    pub fn existing(path: &Path) -> Result<Option<Sqlite>, StoreFault> {
        let is_absent = fs::metadata(path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        if is_absent || is_empty(path) {
            return Ok(None);
        }
        Sqlite::prepared(open_existing(path), path).map(Some)
    }

    /// Opens the file if it has this version's form, and waits only a moment for a writer.
    pub fn if_ready(path: &Path) -> Result<Option<Sqlite>, StoreFault> {
        if is_empty(path) || !path.is_file() {
            return Ok(None);
        }
        let connection = open_existing(path)?;
        let is_ready = schema::is_ready(&connection)?;
        Ok(is_ready.then(|| Sqlite::new(connection, path)))
    }

    fn prepared(
        opened: rusqlite::Result<rusqlite::Connection>,
        path: &Path,
    ) -> Result<Sqlite, StoreFault> {
        if path.is_dir() {
            return Err(StoreError::new("this is a folder")
                .help("name a file in it with --store FILE or YAMBA_STORE")
                .into());
        }
        let mut connection = opened?;
        schema::prepare(&mut connection)?;
        Ok(Sqlite::new(connection, path))
    }

    /// Reads what a list of runs reads: all pages of two tables and an index. If they are damaged,
    /// no command finds what is written to the file. Documents of entries are not read: they are
    /// most of a file.
    fn check_lists(&self) -> Result<(), StoreFault> {
        for sql in [
            "SELECT sum(length(head)) FROM run",
            "SELECT sum(length(tag)) FROM tag NOT INDEXED",
            "SELECT sum(valid) FROM entry",
        ] {
            self.connection.query_row(sql, [], |_| Ok(()))?;
        }
        Ok(())
    }

    fn wait_for_disk(&mut self, on: bool) -> Result<(), StoreFault> {
        let how = if on { "FULL" } else { "NORMAL" };
        self.connection.execute_batch(&format!("PRAGMA synchronous = {how}"))?;
        self.is_lasting = on;
        Ok(())
    }
}

/// Whether the file is empty and has no write-ahead log.
fn is_empty(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let about = fs::metadata(path);
    about.is_ok_and(|a| a.is_file() && a.len() == 0 && !Path::new(&log).exists())
}

fn open_existing(path: &Path) -> rusqlite::Result<rusqlite::Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    rusqlite::Connection::open_with_flags(plain(path), flags)
}

/// The path as SQLite takes it for that of a file. It would make no file of `:memory:`, and another
/// one of `file:x?mode=memory`.
fn plain(path: &Path) -> PathBuf {
    Path::new(".").join(path)
}

impl Connection for Sqlite {
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreFault> {
        let mut statement = self.connection.prepare(sql)?;
        Ok(statement.execute(params_from_iter(values))? as u64)
    }

    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn ResultRow) -> Result<(), StoreFault>,
    ) -> Result<(), StoreFault> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            each(row)?;
        }
        Ok(())
    }

    fn begin(&mut self, purpose: Purpose) -> Result<(), StoreFault> {
        if purpose == Purpose::Lasting {
            self.wait_for_disk(true)?;
        }
        let sql = match purpose {
            Purpose::Reading | Purpose::OneStatement => "BEGIN",
            Purpose::Writing | Purpose::Lasting => "BEGIN IMMEDIATE",
        };
        Ok(self.connection.execute_batch(sql)?)
    }

    fn commit(&mut self) -> Result<(), StoreFault> {
        self.connection.execute_batch("COMMIT")?;
        if self.is_lasting { self.wait_for_disk(false) } else { Ok(()) }
    }

    fn is_in_place(&self) -> bool {
        identity(&self.path) == self.file
    }

    fn rollback(&mut self) {
        // Some faults, such as a full disk, have already ended the transaction. A failure here
        // recurs at the next statement, which reports it.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if self.is_lasting {
            let _ = self.wait_for_disk(false);
        }
    }
}

impl ResultRow for rusqlite::Row<'_> {
    fn text(&self, column: usize) -> Result<&str, StoreFault> {
        self.get_ref(column)?.as_str().map_err(strange)
    }

    fn bytes(&self, column: usize) -> Result<&[u8], StoreFault> {
        self.get_ref(column)?.as_blob().map_err(strange)
    }

    fn text_if_any(&self, column: usize) -> Result<Option<&str>, StoreFault> {
        self.get_ref(column)?.as_str_or_null().map_err(strange)
    }

    fn integer(&self, column: usize) -> Result<i64, StoreFault> {
        self.get_ref(column)?.as_i64().map_err(strange)
    }

    fn truth(&self, column: usize) -> Result<bool, StoreFault> {
        Ok(self.integer(column)? != 0)
    }
}

/// The fault for a column of an unexpected type.
fn strange(e: impl std::fmt::Display) -> StoreFault {
    StoreFault::Damaged(e.to_string())
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::TextIfAny(text) => text.map_or(ValueRef::Null, ValueRef::from),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::Integer(number) => ValueRef::Integer(number),
            Value::Real(number) => number.map_or(ValueRef::Null, ValueRef::Real),
            Value::Truth(truth) => ValueRef::Integer(i64::from(truth)),
        }))
    }
}

/// Whether the statement named a run that does not exist.
pub(crate) fn is_of_no_run(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// The error message for a fault of this file.
pub(crate) fn explain(error: &rusqlite::Error, place: &str) -> StoreError {
    let new = StoreError::new;
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => foreign(place),
        Some(ErrorCode::DatabaseCorrupt) => damaged(place, &error.to_string()),
        _ if error.sqlite_error().is_some_and(|e| e.extended_code == NO_INDEX) => full(place),
        Some(ErrorCode::DiskFull) => full(place),
        Some(ErrorCode::ReadOnly) => new(format!("{place} may not be written")).help(COPY),
        Some(ErrorCode::CannotOpen) => new(format!("{place} cannot be opened")).help(COPY),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            new(format!("{place} is held by another program")).help("try again when that has ended")
        }
        _ => new(format!("{place}: {error}")).help(format!("try again, or {ANOTHER}")),
    }
}

/// There is no room for the index of the write-ahead log, which readers need as well.
const NO_INDEX: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

fn full(place: &str) -> StoreError {
    StoreError::new(format!("{place}: the disk is full"))
        .help(format!("make room on it, or {ANOTHER}"))
}

/// The file is not Yamba's.
pub(crate) fn foreign(place: &str) -> StoreError {
    StoreError::new(format!("{place} is no store of Yamba's")).help(format!(
        "{ANOTHER}, or move this one away; if it was a store, `.recover` of sqlite3 may rebuild it"
    ))
}

/// The file holds something that Yamba never writes.
pub(crate) fn damaged(place: &str, how: &str) -> StoreError {
    let word = place.replace('\'', r"'\''");
    StoreError::new(format!("{place} is damaged: {how}")).help(format!(
        "`sqlite3 '{word}' .recover | sqlite3 NEW` copies what can still be read to a new store (with a sqlite3 of sqlite.org: Debian 12's copies nothing)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::transaction;

    fn runs(store: &mut Sqlite) -> Result<i64, StoreFault> {
        let mut count = 0;
        store.query("SELECT count(*) FROM run", &[], &mut |row| {
            count = row.integer(0)?;
            Ok(())
        })?;
        Ok(count)
    }

    /// By SQLite's documentation of `synchronous`: with a log, 2 (FULL) waits at each commit until
    /// the log is on disk, 1 (NORMAL) does not. It cannot be changed within a transaction.
    fn level(connection: &mut dyn Connection) -> Result<i64, StoreFault> {
        let mut level = -1;
        connection.query("PRAGMA synchronous", &[], &mut |row| {
            level = row.integer(0)?;
            Ok(())
        })?;
        Ok(level)
    }

    fn has_log(store: &mut Sqlite) -> bool {
        let mut is_log = false;
        let seen = store.query("PRAGMA journal_mode", &[], &mut |row| {
            is_log = row.text(0)? == "wal";
            Ok(())
        });
        seen.is_ok() && is_log
    }

    #[test]
    fn lasting_commit_waits_for_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        for made in [Sqlite::open(&path), Sqlite::open(&path)] {
            let mut store = made.unwrap();
            assert!(has_log(&mut store));
            for (purpose, expected) in [(Purpose::Lasting, 2), (Purpose::Writing, 1)] {
                assert_eq!(transaction(&mut store, purpose, level).unwrap(), expected);
            }
            // A failed transaction leaves later ones at NORMAL.
            let failed: Result<(), StoreFault> = transaction(&mut store, Purpose::Lasting, |c| {
                assert_eq!(level(c)?, 2);
                Err(StoreFault::Foreign)
            });
            assert!(failed.is_err());
            assert_eq!(level(&mut store).unwrap(), 1);
        }
    }

    #[test]
    fn names_of_files_have_no_other_meaning() {
        for name in [":memory:", "file:x?mode=memory", "a/b", "/a"] {
            let plain = plain(Path::new(name));
            assert!(plain.starts_with(".") != name.starts_with('/'), "{name}");
            assert!(plain.ends_with(name.trim_start_matches('/')), "{name}");
        }
    }

    #[test]
    fn removed_or_replaced_file_is_not_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        let store = Sqlite::open(&path).unwrap();
        assert!(store.is_in_place());
        fs::rename(&path, folder.path().join("moved.sqlite")).unwrap();
        assert!(!store.is_in_place());
        let other = Sqlite::open(&path).unwrap();
        assert!(other.is_in_place() && !store.is_in_place());
    }

    #[test]
    fn file_whose_runs_cannot_be_listed_is_not_opened_for_writing() {
        let folder = tempfile::tempdir().unwrap();
        for table in ["run", "tag", "entry_names"] {
            let path = folder.path().join(table);
            let store = Sqlite::open(&path).unwrap();
            let place = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
            let page: i64 = store.connection.query_row(place, [table], |row| row.get(0)).unwrap();
            drop(store);
            assert!(Sqlite::open(&path).is_ok());
            let mut bytes = fs::read(&path).unwrap();
            bytes[(page as usize - 1) * 4096..][..4096].fill(0xff);
            fs::write(&path, bytes).unwrap();
            let Err(StoreFault::Sqlite(fault)) = Sqlite::open(&path) else {
                panic!("{table}");
            };
            assert!(explain(&fault, "x").to_string().starts_with("x is damaged"), "{fault}");
        }
    }

    /// A reader of a store on a full disk has another error than a writer.
    #[test]
    fn full_disk_is_named() {
        for code in [rusqlite::ffi::SQLITE_FULL, NO_INDEX] {
            let fault = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            assert_eq!(explain(&fault, "x").to_string(), "x: the disk is full");
        }
    }

    #[test]
    fn glance_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        let open = || Sqlite::if_ready(&path);
        let glance = || open().map(|s| s.map(|mut s| runs(&mut s).unwrap()));
        assert_eq!(glance().unwrap(), None);
        assert!(!path.exists());
        fs::write(&path, "").unwrap();
        assert_eq!(glance().unwrap(), None);
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);

        // The new run is still in the log of a program that has the file open.
        let new = "INSERT INTO run (id, finished, head, checksum) VALUES ('0a', 0, '', x'')";
        let writer = Sqlite::open(&path).unwrap();
        writer.connection.execute_batch(new).unwrap();
        assert_eq!(glance().unwrap(), Some(1));
        drop(writer);
        assert_eq!(glance().unwrap(), Some(1));

        fs::write(&path, "no store").unwrap();
        assert!(glance().is_err());
    }

    #[test]
    fn recover_command_quotes_the_path_for_a_shell() {
        let error = damaged("it's.sqlite", "somehow");
        let said = r"`sqlite3 'it'\''s.sqlite' .recover | sqlite3 NEW`";
        assert!(error.help_text().unwrap().starts_with(said), "{error:?}");
    }
}
