//! A SQLite file.

pub(crate) mod salvage;
mod schema;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, ToSql, params_from_iter};

use crate::connection::{Connection, Purpose, Row, Value};
use crate::error::{Fault, StoreError, plain};

/// What to do where a file is of no use.
const ANOTHER: &str = "name another file with --store FILE or YAMBA_STORE";

pub(crate) struct Sqlite {
    connection: rusqlite::Connection,
    /// Whether the transaction is to be on the disk.
    is_lasting: bool,
    /// Of a file that is read without locks: what it was like when it was opened.
    unlocked: Option<Unlocked>,
}

/// A file, and what changes with it.
struct Unlocked {
    path: PathBuf,
    stamp: Option<[i64; 5]>,
}

impl Unlocked {
    fn new(path: &Path) -> Unlocked {
        Unlocked {
            path: path.to_owned(),
            stamp: stamp(path),
        }
    }

    /// SQLite's documentation of `immutable`: of a file that does change, answers may be wrong.
    fn check(&self) -> Result<(), Fault> {
        match stamp(&self.path) == self.stamp {
            true => Ok(()),
            false => Err(StoreError::new("another program wrote it meanwhile")
                .help("try again when that has ended; in a folder that may not be written, nobody can be made to wait")
                .into()),
        }
    }
}

/// Which file it is, its length, when it was written.
fn stamp(path: &Path) -> Option<[i64; 5]> {
    let about = fs::metadata(path).ok()?;
    let [inode, length] = [about.ino(), about.len()].map(|n| n as i64);
    Some([
        inode,
        length,
        about.mtime(),
        about.mtime_nsec(),
        about.ctime_nsec(),
    ])
}

impl Sqlite {
    pub fn open(path: &Path) -> Result<Sqlite, Fault> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|e| {
                StoreError::new(format!("its folder cannot be made: {}", plain(&e))).help(ANOTHER)
            })?;
        }
        Sqlite::prepared(rusqlite::Connection::open(path), path, None)
    }

    /// None if there is none: no file, or an empty one. A file in a folder that may not be written is read as it is, as long as nobody writes it.
    pub fn existing(path: &Path) -> Result<Option<Sqlite>, Fault> {
        let is_absent = fs::metadata(path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        if is_absent || is_empty(path) {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = rusqlite::Connection::open_with_flags(path, flags);
        match Sqlite::prepared(opened, path, None) {
            Err(Fault::Sqlite(e)) if may_not_write(&e) => Sqlite::unlocked(path, e),
            done => done,
        }
        .map(Some)
    }

    /// Only to be looked at: neither it nor its folder changes, and hardly anybody is waited for. None if there is none of this version's form.
    pub fn unchanged(path: &Path) -> Result<Option<Sqlite>, Fault> {
        if is_empty(path) || !path.is_file() {
            return Ok(None);
        }
        let unlocked = (!log(path).exists()).then(|| Unlocked::new(path));
        let connection = match unlocked {
            Some(_) => schema::unchanging(path)?,
            None => schema::with_log(path)?,
        };
        let sqlite = schema::is_ready(&connection)?.then_some(Sqlite {
            connection,
            is_lasting: false,
            unlocked,
        });
        Ok(sqlite)
    }

    /// Without what SQLite keeps beside a file. Where there is a log, which would be left out, the fault stays.
    fn unlocked(path: &Path, fault: rusqlite::Error) -> Result<Sqlite, Fault> {
        let unlocked = Unlocked::new(path);
        match log(path).exists() {
            true => Err(fault.into()),
            false => Sqlite::prepared(schema::unchanging(path), path, Some(unlocked)),
        }
    }

    fn prepared(
        opened: rusqlite::Result<rusqlite::Connection>,
        path: &Path,
        unlocked: Option<Unlocked>,
    ) -> Result<Sqlite, Fault> {
        if path.is_dir() {
            return Err(StoreError::new("this is a folder")
                .help("name a file in it with --store FILE or YAMBA_STORE")
                .into());
        }
        let mut connection = opened?;
        schema::prepare(&mut connection)?;
        Ok(Sqlite {
            connection,
            is_lasting: false,
            unlocked,
        })
    }

    fn answer(
        &self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            each(row)?;
        }
        Ok(())
    }

    fn wait_for_disk(&mut self, on: bool) -> Result<(), Fault> {
        let how = if on { "FULL" } else { "NORMAL" };
        self.connection
            .execute_batch(&format!("PRAGMA synchronous = {how}"))?;
        self.is_lasting = on;
        Ok(())
    }
}

/// Whether the file has nothing in it, nor a log beside it.
fn is_empty(path: &Path) -> bool {
    let about = fs::metadata(path);
    about.is_ok_and(|a| a.is_file() && a.len() == 0 && !log(path).exists())
}

/// What was written last, while a program has the file open.
fn log(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

fn may_not_write(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    )
}

impl Connection for Sqlite {
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault> {
        let mut statement = self.connection.prepare(sql)?;
        Ok(statement.execute(params_from_iter(values))? as u64)
    }

    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let done = self.answer(sql, values, each);
        // A file that changed may seem damaged.
        self.unlocked.as_ref().map_or(Ok(()), Unlocked::check)?;
        done
    }

    fn begin(&mut self, purpose: Purpose) -> Result<(), Fault> {
        if purpose == Purpose::Lasting {
            self.wait_for_disk(true)?;
        }
        let sql = match purpose {
            Purpose::Reading => "BEGIN",
            Purpose::Writing | Purpose::Lasting => "BEGIN IMMEDIATE",
        };
        Ok(self.connection.execute_batch(sql)?)
    }

    fn commit(&mut self) -> Result<(), Fault> {
        self.connection.execute_batch("COMMIT")?;
        match self.is_lasting {
            true => self.wait_for_disk(false),
            false => Ok(()),
        }
    }

    fn rollback(&mut self) {
        // Some faults, a full disk for one, have ended the transaction already. What fails here fails again, and is told, at the next statement.
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        if self.is_lasting {
            let _ = self.wait_for_disk(false);
        }
    }
}

impl Row for rusqlite::Row<'_> {
    fn text(&self, column: usize) -> Result<&str, Fault> {
        self.get_ref(column)?.as_str().map_err(strange)
    }

    fn bytes(&self, column: usize) -> Result<&[u8], Fault> {
        self.get_ref(column)?.as_blob().map_err(strange)
    }

    fn bytes_if_any(&self, column: usize) -> Result<Option<&[u8]>, Fault> {
        self.get_ref(column)?.as_blob_or_null().map_err(strange)
    }

    fn text_if_any(&self, column: usize) -> Result<Option<&str>, Fault> {
        self.get_ref(column)?.as_str_or_null().map_err(strange)
    }

    fn integer(&self, column: usize) -> Result<i64, Fault> {
        self.get_ref(column)?.as_i64().map_err(strange)
    }

    fn truth(&self, column: usize) -> Result<bool, Fault> {
        Ok(self.integer(column)? != 0)
    }
}

/// A column holds what is never written there.
fn strange(e: impl std::fmt::Display) -> Fault {
    Fault::Damaged(e.to_string())
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

/// Whether the statement named a run that is not there.
pub(crate) fn is_of_no_run(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// In words, of this file.
pub(crate) fn told(error: &rusqlite::Error, place: &str) -> StoreError {
    let new = StoreError::new;
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => foreign(place),
        Some(ErrorCode::DatabaseCorrupt) => damaged(place, &error.to_string()),
        Some(ErrorCode::DiskFull) => {
            new(format!("{place}: the disk is full")).help(format!("make room on it, or {ANOTHER}"))
        }
        Some(ErrorCode::ReadOnly) => new(format!("{place} may not be written")).help(ANOTHER),
        Some(ErrorCode::CannotOpen) => new(format!("{place} cannot be opened")).help(format!(
            "its folder must be there and writable; or {ANOTHER}"
        )),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            new(format!("{place} is held by another program")).help("try again when that has ended")
        }
        _ => new(format!("{place}: {error}")).help(format!("try again, or {ANOTHER}")),
    }
}

/// The command that saves what can still be read.
fn salvage(place: &str) -> String {
    let word = place.replace('\'', r"'\''");
    format!("`yamba salvage '{word}' --store NEW` saves what can still be read")
}

/// The file is not Yamba's.
pub(crate) fn foreign(place: &str) -> StoreError {
    let salvage = salvage(place);
    StoreError::new(format!("{place} is no store of Yamba's")).help(format!(
        "{ANOTHER}, or move this one away; if it was a store, {salvage}"
    ))
}

/// What the file holds is never written.
pub(crate) fn damaged(place: &str, how: &str) -> StoreError {
    let salvage = salvage(place);
    StoreError::new(format!("{place} is damaged: {how}"))
        .help(format!("{salvage} in another store"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::connection::transaction;

    fn runs(store: &mut Sqlite) -> Result<i64, Fault> {
        let mut count = 0;
        store.query("SELECT count(*) FROM run", &[], &mut |row| {
            count = row.integer(0)?;
            Ok(())
        })?;
        Ok(count)
    }

    #[test]
    fn a_file_that_is_read_without_locks_must_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        let fault = || rusqlite::Error::InvalidQuery;
        drop(Sqlite::open(&path).unwrap());
        // So that it differs, however short a moment later it is written again.
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        let mut reader = Sqlite::unlocked(&path, fault()).unwrap();
        assert_eq!(runs(&mut reader).unwrap(), 0);

        let writer = Sqlite::open(&path).unwrap();
        let new = "INSERT INTO run (id, finished, head) VALUES ('0a', 0, '')";
        writer.connection.execute_batch(new).unwrap();
        // It is in the log, and the file is as it was.
        assert_eq!(runs(&mut reader).unwrap(), 0);
        assert!(Sqlite::unlocked(&path, fault()).is_err());
        drop(writer);
        let Err(Fault::Refused(error)) = runs(&mut reader) else {
            panic!("a changed file was read");
        };
        assert!(error.to_string().contains("another program wrote it"));
        assert_eq!(
            runs(&mut Sqlite::unlocked(&path, fault()).unwrap()).unwrap(),
            1
        );
    }

    /// SQLite's documentation of `synchronous`: with a log, 2 (FULL) waits at each commit until the disk has the log, 1 (NORMAL) does not. Within a transaction it cannot be changed.
    fn level(connection: &mut dyn Connection) -> Result<i64, Fault> {
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
    fn what_is_to_last_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        for made in [Sqlite::open(&path), Sqlite::open(&path)] {
            let mut store = made.unwrap();
            assert!(has_log(&mut store));
            for (purpose, expected) in [(Purpose::Lasting, 2), (Purpose::Writing, 1)] {
                assert_eq!(transaction(&mut store, purpose, level).unwrap(), expected);
            }
            // One that fails makes no other slower.
            let failed: Result<(), Fault> = transaction(&mut store, Purpose::Lasting, |c| {
                assert_eq!(level(c)?, 2);
                Err(Fault::Foreign)
            });
            assert!(failed.is_err());
            assert_eq!(level(&mut store).unwrap(), 1);
        }
    }

    /// The files of a folder with what is in them; of shared memory, which connections of one process have together, only that it is there.
    fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let paths = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
        let is_shared = |p: &Path| p.to_string_lossy().ends_with("-shm");
        let each = paths.map(|p| match is_shared(&p) {
            true => (p, Vec::new()),
            false => (p.clone(), fs::read(p).unwrap()),
        });
        each.collect()
    }

    #[test]
    fn looking_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.sqlite");
        let look = || {
            let before = contents(folder.path());
            let seen = Sqlite::unchanged(&path).map(|s| s.map(|mut s| runs(&mut s).unwrap()));
            assert!(contents(folder.path()) == before);
            seen
        };
        assert_eq!(look().unwrap(), None);
        fs::write(&path, "").unwrap();
        assert_eq!(look().unwrap(), None);

        let new = "INSERT INTO run (id, finished, head) VALUES ('0a', 0, '')";
        let writer = Sqlite::open(&path).unwrap();
        writer.connection.execute_batch(new).unwrap();
        // It is in the log, which another program has open.
        assert_eq!(look().unwrap(), Some(1));
        let with_log = contents(folder.path());
        drop(writer);
        assert_eq!(look().unwrap(), Some(1));

        // As a program that was killed leaves them; then as a copy of the file and its log.
        for (path, bytes) in with_log {
            fs::write(path, bytes).unwrap();
        }
        assert_eq!(look().unwrap(), Some(1));
        let shared = folder.path().join("results.sqlite-shm");
        fs::remove_file(shared).unwrap();
        assert!(look().is_err());

        drop(Sqlite::existing(&path).unwrap());
        let older = rusqlite::Connection::open(&path).unwrap();
        older
            .execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 1")
            .unwrap();
        drop(older);
        assert_eq!(look().unwrap(), None);
        fs::write(&path, "no store").unwrap();
        assert!(look().is_err());
    }

    #[test]
    fn a_command_is_one_in_a_shell_too() {
        let error = damaged("it's.sqlite", "somehow");
        let said = r"`yamba salvage 'it'\''s.sqlite' --store NEW`";
        assert!(error.mend().unwrap().starts_with(said), "{error:?}");
    }
}
