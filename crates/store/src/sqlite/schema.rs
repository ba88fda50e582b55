//! The schema of the file and its migrations.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::Fault;

/// `Ymba`: the application id of a store.
const APPLICATION: i32 = i32::from_be_bytes(*b"Ymba");

/// The SQL of each schema version, applied in order. Published ones never change.
const MIGRATIONS: [&str; 2] = [include_str!("1.sql"), include_str!("2.sql")];

/// Timeout for the lock of another writer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Timeout for the lock of another writer during command-line completion.
const MOMENT: Duration = Duration::from_millis(100);

/// The schema state of a file.
enum Form {
    /// Empty.
    None,
    /// A store with this schema version.
    Version(usize),
    /// Not a store.
    Foreign,
}

/// Migrates the file to the current schema. Leaves files of a newer version or of another program unchanged.
///
/// Committed data survives the end of a process in any case. `NORMAL` does not wait for the disk at each commit, so a power failure may lose the
/// last entries of a running measurement, but nothing else. Other data is committed with [`crate::connection::Purpose::Lasting`].
pub(crate) fn prepare(connection: &mut Connection) -> Result<(), Fault> {
    connection.busy_timeout(PATIENCE)?;
    let form = form(&*connection.transaction()?)?;
    if matches!(form, Form::Foreign) {
        return Err(Fault::Foreign);
    }
    keep_log(connection)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")?;
    match form {
        Form::Version(now) if now == MIGRATIONS.len() => Ok(()),
        _ => migrate(connection),
    }
}

/// Whether the file has the current schema. Changes nothing, and waits only briefly for a lock.
pub(super) fn is_ready(connection: &Connection) -> Result<bool, Fault> {
    connection.busy_timeout(MOMENT)?;
    Ok(matches!(form(connection)?, Form::Version(now) if now == MIGRATIONS.len()))
}

fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}

/// The schema state. Call it within a transaction, since another process may be creating the store.
fn form(connection: &Connection) -> Result<Form, Fault> {
    let application = number(connection, "PRAGMA application_id")?;
    let version = number(connection, "PRAGMA user_version")?;
    if application != i64::from(APPLICATION) {
        let is_empty = number(connection, "SELECT count(*) FROM sqlite_schema")? == 0;
        return Ok(if is_empty && application == 0 && version == 0 {
            Form::None
        } else {
            Form::Foreign
        });
    }
    match usize::try_from(version) {
        Ok(version) if version <= MIGRATIONS.len() => Ok(Form::Version(version)),
        _ => Err(Fault::Later(version, MIGRATIONS.len())),
    }
}

/// Enables the write-ahead log, so that readers and a writer do not block each other. Retries, because SQLite does not wait while another process does the same.
fn keep_log(connection: &Connection) -> Result<(), Fault> {
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

/// Applies the missing migrations. If two processes race, the second finds them applied.
fn migrate(connection: &mut Connection) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = match form(&transaction)? {
        Form::Version(version) => version,
        Form::None => 0,
        Form::Foreign => return Err(Fault::Foreign),
    };
    for step in &MIGRATIONS[done..] {
        transaction.execute_batch(step)?;
    }
    let version = MIGRATIONS.len();
    transaction.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {version};"
    ))?;
    Ok(transaction.commit()?)
}
