//! A SQLite file.

mod schema;

use std::fs;
use std::path::Path;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, ToSql, params_from_iter};

use crate::connection::{Connection, Purpose, Row, Value};
use crate::error::{Fault, StoreError};

/// What to do where a file is of no use.
const ANOTHER: &str = "name another file with --store FILE or YAMBA_STORE";

pub(crate) struct Sqlite {
    connection: rusqlite::Connection,
    /// Whether the transaction is to be on the disk.
    is_lasting: bool,
}

impl Sqlite {
    pub fn open(path: &Path) -> Result<Sqlite, Fault> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(|e| {
                StoreError::new(format!("its folder cannot be made: {e}")).help(ANOTHER)
            })?;
        }
        if path.is_dir() {
            return Err(StoreError::new("this is a folder")
                .help("name a file in it with --store FILE or YAMBA_STORE")
                .into());
        }
        let mut connection = rusqlite::Connection::open(path)?;
        schema::prepare(&mut connection)?;
        Ok(Sqlite {
            connection,
            is_lasting: false,
        })
    }

    fn wait_for_disk(&mut self, on: bool) -> Result<(), Fault> {
        let how = if on { "FULL" } else { "NORMAL" };
        self.connection
            .execute_batch(&format!("PRAGMA synchronous = {how}"))?;
        self.is_lasting = on;
        Ok(())
    }
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
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            each(row)?;
        }
        Ok(())
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
        _ => new(format!("{place}: {error}")),
    }
}

/// The file is not Yamba's.
pub(crate) fn foreign(place: &str) -> StoreError {
    StoreError::new(format!("{place} is no store of Yamba's"))
        .help(format!("{ANOTHER}, or move this one away"))
}

/// What the file holds is never written.
pub(crate) fn damaged(place: &str, how: &str) -> StoreError {
    StoreError::new(format!("{place} is damaged: {how}")).help(format!(
        "`sqlite3 '{place}' .recover | sqlite3 saved.sqlite` saves what can still be read; move the damaged file away, and a new one is made"
    ))
}
