//! The form of the tables, and how those of an older form are brought to this one.

use postgres::Client;
use postgres::error::SqlState;

use crate::error::{Fault, StoreError};

/// What turns each version of the form, from none, into the next. Those that were ever published never change.
const MIGRATIONS: [&str; 2] = [include_str!("1.sql"), include_str!("2.sql")];

/// In a transaction: waits until no other program writes, for the number that is `Ymba`.
pub(super) const ONE_WRITER: &str = "SELECT pg_advisory_xact_lock(1500340833)";

/// Brings the database to this version's form. One of a newer version is not touched.
pub(super) fn prepare(client: &mut Client) -> Result<(), Fault> {
    client.batch_execute(
        "SET client_min_messages = warning; SET search_path = yamba; SET lock_timeout = '20s'",
    )?;
    let encoding: String = client.query_one("SHOW server_encoding", &[])?.try_get(0)?;
    if encoding != "UTF8" {
        return Err(StoreError::new(format!("its encoding is {encoding}"))
            .help(
                "a store's database needs UTF8: createdb --encoding=UTF8 --template=template0 NAME",
            )
            .into());
    }
    if form(client)? == Some(MIGRATIONS.len()) {
        return Ok(());
    }
    migrate(client)
}

/// Whether a store was made in the database.
pub(super) fn is_there(client: &mut Client) -> Result<bool, Fault> {
    Ok(form(client)?.is_some())
}

/// The version of its form; none before the first.
fn form(client: &mut Client) -> Result<Option<usize>, Fault> {
    let sql = "SELECT to_regclass('yamba.form') IS NOT NULL,
        EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('yamba'))";
    let found = client.query_one(sql, &[])?;
    match (found.try_get(0)?, found.try_get(1)?) {
        (false, false) => return Ok(None),
        (false, true) => return Err(Fault::Foreign),
        (true, _) => {}
    }
    let version: i64 = client
        .query_one("SELECT version FROM yamba.form", &[])?
        .try_get(0)?;
    match usize::try_from(version) {
        Ok(version) if version <= MIGRATIONS.len() => Ok(Some(version)),
        _ => Err(Fault::Later(version, MIGRATIONS.len())),
    }
}

/// Where two programs come to it at once, the second finds it done.
fn migrate(client: &mut Client) -> Result<(), Fault> {
    client.batch_execute(&format!("BEGIN; {ONE_WRITER}"))?;
    // A fault leaves the transaction open; the connection, and so the transaction, ends with it.
    let done = form(client)?;
    // Who may not make schemas may be given an empty one.
    let is_there = "SELECT to_regnamespace('yamba') IS NOT NULL";
    if !client.query_one(is_there, &[])?.try_get::<_, bool>(0)? {
        client.batch_execute("CREATE SCHEMA yamba")?;
    }
    for step in &MIGRATIONS[done.unwrap_or(0)..] {
        client.batch_execute(step).map_err(|e| match done {
            Some(_) => only_its_owner(e),
            None => e.into(),
        })?;
    }
    let version = MIGRATIONS.len();
    client.batch_execute(&format!("UPDATE form SET version = {version}; COMMIT"))?;
    Ok(())
}

/// No right that could be granted is enough to change tables.
fn only_its_owner(error: postgres::Error) -> Fault {
    match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => StoreError::new(
            "its tables have the form of an earlier version, which only their owner may change",
        )
        .help("their owner must be the first to open it with this version of Yamba: `yamba runs` is enough")
        .into(),
        _ => error.into(),
    }
}
