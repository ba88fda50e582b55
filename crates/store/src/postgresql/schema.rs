//! The schema of the tables.

use postgres::Client;

use crate::error::{StoreError, StoreFault};
use crate::tables::{Tables, VERSION};

/// Locks out other writers until the end of the transaction. The number is `Ymba`.
pub(super) const ONE_WRITER: &str = "SELECT pg_advisory_xact_lock(1500340833)";

/// Settings of a transaction. A pool of connections such as PgBouncer may give the next transaction
/// to another connection of the server, so nothing is set for longer.
pub(super) const SETTINGS: &str = "SET LOCAL search_path = yamba; SET LOCAL lock_timeout = '20s'";

/// Creates the tables if the database has no tables of Yamba, and completes those of the version
/// before. Leaves those of another version unchanged.
pub(super) fn prepare(client: &mut Client) -> Result<(), StoreFault> {
    let encoding: String = client.query_typed_one("SHOW server_encoding", &[])?.try_get(0)?;
    if encoding != "UTF8" {
        return Err(StoreError::new(format!("its encoding is {encoding}"))
            .help(
                "a store's database needs UTF8: createdb --encoding=UTF8 --template=template0 NAME",
            )
            .into());
    }
    if tables(client)? == Tables::Current { Ok(()) } else { complete(client) }
}

/// Whether the database contains tables that can be read, or completed.
pub(super) fn has_tables(client: &mut Client) -> Result<bool, StoreFault> {
    Ok(tables(client)? != Tables::None)
}

fn tables(client: &mut Client) -> Result<Tables, StoreFault> {
    let sql = "SELECT to_regclass('yamba.form') IS NOT NULL,
        EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('yamba'))";
    let found = client.query_typed_one(sql, &[])?;
    match (found.try_get(0)?, found.try_get(1)?) {
        (false, false) => return Ok(Tables::None),
        (false, true) => return Err(StoreFault::Foreign),
        (true, _) => {}
    }
    let version: i64 = client.query_typed_one("SELECT version FROM yamba.form", &[])?.try_get(0)?;
    Tables::from_version(version)
}

/// Creates the tables, or adds the missing column. If two programs race, the second finds them
/// complete.
fn complete(client: &mut Client) -> Result<(), StoreFault> {
    client.batch_execute(&format!("BEGIN; {SETTINGS}; {ONE_WRITER}"))?;
    // A fault leaves the transaction open; it ends with the connection.
    match tables(client)? {
        Tables::None => create(client)?,
        Tables::WithoutFleet => client.batch_execute(&format!(
            "ALTER TABLE run ADD COLUMN fleet TEXT COLLATE \"C\"; CREATE INDEX run_fleet ON run (fleet); UPDATE form SET version = {VERSION}"
        ))?,
        Tables::Current => {}
    }
    Ok(client.batch_execute("COMMIT")?)
}

fn create(client: &mut Client) -> Result<(), StoreFault> {
    // A user without the right to create schemas may be given an empty one.
    let is_there = "SELECT to_regnamespace('yamba') IS NOT NULL";
    if !client.query_typed_one(is_there, &[])?.try_get::<_, bool>(0)? {
        client.batch_execute("CREATE SCHEMA yamba")?;
    }
    client.batch_execute(include_str!("schema.sql"))?;
    Ok(client.batch_execute(&format!("INSERT INTO form VALUES ({VERSION})"))?)
}
