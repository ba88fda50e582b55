//! The form of the file, and how one of an older form is brought to this one.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::error::Fault;

/// `Ymba`: marks the file as one of Yamba's.
const APPLICATION: i32 = i32::from_be_bytes(*b"Ymba");

/// What turns each version of the form, from none, into the next. Those that were ever published never change.
const MIGRATIONS: [&str; 2] = [include_str!("1.sql"), include_str!("2.sql")];

/// How long another program's writing is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a completion of a command line waits for a writer.
const MOMENT: Duration = Duration::from_millis(100);

/// The form that a file has.
enum Form {
    /// It is empty.
    None,
    /// One of Yamba's, this or an older one.
    Version(usize),
    /// Not Yamba's.
    Foreign,
}

/// Brings the file to this version's form. One of a newer version, or of another program, is not touched.
///
/// What was committed survives the death of a process in any case. `NORMAL` leaves out waiting for the disk at each commit: where the power fails, the
/// last entries of a running measurement may be lost, never more. What is to last is committed with [`crate::connection::Purpose::Lasting`].
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

/// Whether the file has this version's form; it stays as it is, and is waited for only a moment.
pub(super) fn is_ready(connection: &Connection) -> Result<bool, Fault> {
    connection.busy_timeout(MOMENT)?;
    Ok(matches!(form(connection)?, Form::Version(now) if now == MIGRATIONS.len()))
}

fn number(connection: &Connection, sql: &str) -> rusqlite::Result<i64> {
    connection.query_row(sql, [], |row| row.get(0))
}

/// To be asked within one transaction: another process may be making the file a store meanwhile.
fn form(connection: &Connection) -> Result<Form, Fault> {
    let application = number(connection, "PRAGMA application_id")?;
    let version = number(connection, "PRAGMA user_version")?;
    if application != i64::from(APPLICATION) {
        let is_empty = number(connection, "SELECT count(*) FROM sqlite_schema")? == 0;
        return Ok(match is_empty && application == 0 && version == 0 {
            true => Form::None,
            false => Form::Foreign,
        });
    }
    match usize::try_from(version) {
        Ok(version) if version <= MIGRATIONS.len() => Ok(Form::Version(version)),
        _ => Err(Fault::Later(version, MIGRATIONS.len())),
    }
}

/// A log beside the file: readers and a writer do not wait for one another. SQLite does not wait by itself while another process does the same.
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

/// Where two processes come to it at once, the second finds it done.
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
