//! The schema of the file.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::StoreFault;
use crate::tables::{Tables, VERSION};

/// `Ymba`: the application id of a store.
const APPLICATION: i32 = i32::from_be_bytes(*b"Ymba");

/// Timeout for the lock of another writer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Timeout for the lock of another writer if the file is only read.
const MOMENT: Duration = Duration::from_millis(100);

/// Creates the tables in an empty file, and completes those of the version before. Leaves other
/// files unchanged.
///
/// Committed data survives the end of a process in any case. `NORMAL` does not wait for the disk at
/// each commit, so a power failure may lose the last entries of a running measurement, but nothing
/// else. Other data is committed with [`crate::connection::Purpose::Lasting`].
pub(crate) fn prepare(connection: &mut Connection) -> Result<(), StoreFault> {
    connection.busy_timeout(PATIENCE)?;
    let found = tables(&*connection.transaction()?)?;
    keep_log(connection)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")?;
    if found == Tables::Current { Ok(()) } else { complete(connection) }
}

/// Whether the file has tables that can be read. Changes nothing, and waits only briefly for a
/// lock.
pub(super) fn is_ready(connection: &Connection) -> Result<bool, StoreFault> {
    connection.busy_timeout(MOMENT)?;
    Ok(tables(connection)? != Tables::None)
}

fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}

/// The tables of the file: none in an empty file. A file of another program or of a newer version
/// is a fault. Call it within a transaction, since another process may be creating the store.
fn tables(connection: &Connection) -> Result<Tables, StoreFault> {
    let application = number(connection, "PRAGMA application_id")?;
    let version = number(connection, "PRAGMA user_version")?;
    if application == i64::from(APPLICATION) {
        return Tables::from_version(version);
    }
    let is_empty = number(connection, "SELECT count(*) FROM sqlite_schema")? == 0;
    if is_empty && application == 0 && version == 0 {
        Ok(Tables::None)
    } else {
        Err(StoreFault::Foreign)
    }
}

/// Enables the write-ahead log, so that readers and a writer do not block each other. Retries,
/// because SQLite does not wait while another process does the same.
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

/// Creates the tables, or adds the missing column. If two programs race, the second finds them
/// complete.
fn complete(connection: &mut Connection) -> Result<(), StoreFault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let missing = match tables(&transaction)? {
        Tables::None => include_str!("schema.sql"),
        Tables::WithoutFleet => {
            "ALTER TABLE run ADD COLUMN fleet TEXT; CREATE INDEX run_fleet ON run (fleet);"
        }
        Tables::Current => "",
    };
    transaction.execute_batch(missing)?;
    transaction.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    ))?;
    Ok(transaction.commit()?)
}
