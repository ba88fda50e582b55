//! The schema of the tables and its migrations.

use postgres::Client;
use postgres::error::SqlState;

use crate::error::{Fault, StoreError};

/// The SQL of each schema version, applied in order. Published ones never change.
const MIGRATIONS: [&str; 2] = [include_str!("1.sql"), include_str!("2.sql")];

/// Locks out other writers until the end of the transaction. The number is `Ymba`.
pub(super) const ONE_WRITER: &str = "SELECT pg_advisory_xact_lock(1500340833)";

/// Migrates the database to the current schema. Leaves a newer one unchanged.
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

/// Whether the database contains a store.
pub(super) fn is_there(client: &mut Client) -> Result<bool, Fault> {
    Ok(form(client)?.is_some())
}

/// The schema version. `None` if there are no tables.
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

/// Applies the missing migrations. If two programs race, the second finds them applied.
fn migrate(client: &mut Client) -> Result<(), Fault> {
    client.batch_execute(&format!("BEGIN; {ONE_WRITER}"))?;
    // A fault leaves the transaction open; it ends with the connection.
    let done = form(client)?;
    // A user without the right to create schemas may be given an empty one.
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

/// Converts a missing privilege: tables can only be changed by their owner, whatever rights are granted.
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
