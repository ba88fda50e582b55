//! The schema of the file.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::StoreFault;

/// `Ymba`: the application id of a store.
const APPLICATION: i32 = i32::from_be_bytes(*b"Ymba");

/// The version of `schema.sql`.
const VERSION: i64 = 2;

/// Timeout for the lock of another writer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Timeout for the lock of another writer if the file is only read.
const MOMENT: Duration = Duration::from_millis(100);

/// Creates the tables in an empty file. Leaves files of another version or of another program unchanged.
///
/// Committed data survives the end of a process in any case. `NORMAL` does not wait for the disk at each commit, so a power failure may lose the
/// last entries of a running measurement, but nothing else. Other data is committed with [`crate::connection::Purpose::Lasting`].
pub(crate) fn prepare(connection: &mut Connection) -> Result<(), StoreFault> {
    connection.busy_timeout(PATIENCE)?;
    let has_tables = has_tables(&*connection.transaction()?)?;
    keep_log(connection)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")?;
    if has_tables {
        Ok(())
    } else {
        create(connection)
    }
}

/// Whether the file has the current schema. Changes nothing, and waits only briefly for a lock.
pub(super) fn is_ready(connection: &Connection) -> Result<bool, StoreFault> {
    connection.busy_timeout(MOMENT)?;
    has_tables(connection)
}

fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}

/// Whether the file has the tables of this version. False for an empty file; any other file is a fault.
/// Call it within a transaction, since another process may be creating the store.
fn has_tables(connection: &Connection) -> Result<bool, StoreFault> {
    let application = number(connection, "PRAGMA application_id")?;
    let version = number(connection, "PRAGMA user_version")?;
    if application == i64::from(APPLICATION) {
        return if version == VERSION {
            Ok(true)
        } else {
            Err(StoreFault::OtherVersion(version, VERSION))
        };
    }
    let is_empty = number(connection, "SELECT count(*) FROM sqlite_schema")? == 0;
    if is_empty && application == 0 && version == 0 {
        Ok(false)
    } else {
        Err(StoreFault::Foreign)
    }
}

/// Enables the write-ahead log, so that readers and a writer do not block each other. Retries, because SQLite does not wait while another process does the same.
fn keep_log(connection: &Connection) -> Result<(), StoreFault> {
    let begun = Instant::now();
    loop {
        let changed = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        match changed {
            Err(e)
                if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < PATIENCE =>
            {
                sleep(Duration::from_millis(5));
            }
            done => return Ok(done?),
        }
    }
}

/// Creates the tables. If two programs race, the second finds them created.
fn create(connection: &mut Connection) -> Result<(), StoreFault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !has_tables(&transaction)? {
        transaction.execute_batch(include_str!("schema.sql"))?;
        transaction.execute_batch(&format!(
            "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        ))?;
    }
    Ok(transaction.commit()?)
}
