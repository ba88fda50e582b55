//! The store in a database of a PostgreSQL server. All tables are in a schema named `yamba`.

mod schema;

use std::error::Error;

use bytes::BytesMut;
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{IsNull, ToSql, Type};

use crate::connection::{Connection, Purpose, ResultRow, Value};
use crate::error::{StoreError, StoreFault};
use crate::location::Address;

pub(crate) struct Postgresql {
    client: postgres::Client,
}

impl Postgresql {
    pub fn open(address: &Address) -> Result<Postgresql, StoreFault> {
        let mut client = address.connect()?;
        schema::prepare(&mut client)?;
        Ok(Postgresql { client })
    }

    /// Opens the store if its tables exist.
    pub fn existing(address: &Address) -> Result<Option<Postgresql>, StoreFault> {
        let mut client = address.connect()?;
        if schema::has_tables(&mut client)? {
            schema::prepare(&mut client)?;
            Ok(Some(Postgresql { client }))
        } else {
            Ok(None)
        }
    }
}

impl Connection for Postgresql {
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreFault> {
        let mut rows = self.client.query_typed_raw(sql, typed(values))?;
        while rows.next()?.is_some() {}
        Ok(rows.rows_affected().unwrap_or(0))
    }

    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn ResultRow) -> Result<(), StoreFault>,
    ) -> Result<(), StoreFault> {
        let mut rows = self.client.query_typed_raw(sql, typed(values))?;
        while let Some(row) = rows.next()? {
            each(&row)?;
        }
        Ok(())
    }

    /// A commit is on the server's disk, unless the server's settings say otherwise.
    fn begin(&mut self, purpose: Purpose) -> Result<(), StoreFault> {
        let (mode, lock) = match purpose {
            Purpose::Reading => ("ISOLATION LEVEL REPEATABLE READ READ ONLY", ""),
            Purpose::OneStatement => ("", ""),
            Purpose::Writing | Purpose::Lasting => ("", schema::ONE_WRITER),
        };
        let sql = format!("BEGIN {mode}; {}; {lock}", schema::SETTINGS);
        Ok(self.client.batch_execute(&sql)?)
    }

    fn commit(&mut self) -> Result<(), StoreFault> {
        Ok(self.client.batch_execute("COMMIT")?)
    }

    fn rollback(&mut self) {
        let _ = self.client.batch_execute("ROLLBACK");
    }
}

/// The values with their types. A statement with types is not prepared under a name: behind a pool
/// of connections such as PgBouncer, the name may be taken, or belong to another connection of the
/// server.
fn typed<'a>(values: &'a [Value<'a>]) -> impl Iterator<Item = (&'a dyn ToSql, Type)> {
    values.iter().map(|value| {
        let kind = match value {
            Value::Text(_) | Value::TextIfAny(_) => Type::TEXT,
            Value::Bytes(_) => Type::BYTEA,
            Value::Integer(_) => Type::INT8,
            Value::Real(_) => Type::FLOAT8,
            Value::Truth(_) => Type::BOOL,
        };
        (value as &dyn ToSql, kind)
    })
}

impl ResultRow for postgres::Row {
    fn text(&self, column: usize) -> Result<&str, StoreFault> {
        Ok(self.try_get(column)?)
    }

    fn bytes(&self, column: usize) -> Result<&[u8], StoreFault> {
        Ok(self.try_get(column)?)
    }

    fn text_if_any(&self, column: usize) -> Result<Option<&str>, StoreFault> {
        Ok(self.try_get(column)?)
    }

    fn integer(&self, column: usize) -> Result<i64, StoreFault> {
        Ok(self.try_get(column)?)
    }

    fn truth(&self, column: usize) -> Result<bool, StoreFault> {
        Ok(self.try_get(column)?)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Text(text) => text.to_sql_checked(kind, out),
            Value::TextIfAny(text) => text.to_sql_checked(kind, out),
            Value::Bytes(bytes) => bytes.to_sql_checked(kind, out),
            Value::Integer(number) => number.to_sql_checked(kind, out),
            Value::Real(number) => number.to_sql_checked(kind, out),
            Value::Truth(truth) => truth.to_sql_checked(kind, out),
        }
    }

    /// `to_sql` checks the type of each value.
    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.to_sql(kind, out)
    }
}

/// Whether the statement named a run that does not exist.
pub(crate) fn is_of_no_run(error: &postgres::Error) -> bool {
    error.code() == Some(&SqlState::FOREIGN_KEY_VIOLATION)
}

/// Whether the server or the connection to it is gone. A server that shuts down reports an error of
/// class 57P, and PgBouncer one of class 08.
pub(crate) fn is_of_lost_connection(error: &postgres::Error) -> bool {
    let is_ending =
        error.code().is_some_and(|c| ["57P", "08"].iter().any(|class| c.code().starts_with(class)));
    let is_broken = error.source().is_some_and(|e| e.is::<std::io::Error>());
    error.is_closed() || is_ending || is_broken
}

/// Help for pools of connections.
const POOL: &str = "a pool of connections (PgBouncer) must give Yamba whole transactions: pool_mode = transaction or session; it takes no `options` in the URL unless its ignore_startup_parameters names them";

/// The error message for a fault of this database.
pub(crate) fn explain(error: &postgres::Error, place: &str) -> StoreError {
    let Some(said) = error.as_db_error() else {
        return unreached(error, place);
    };
    let new = StoreError::new(format!("{place}: {}", said.message()));
    match said.code() {
        code if code.code().starts_with("28") => new.help(
            "a password may stand in the URL (write it into YAMBA_STORE: other users see a command line) or in PGPASSWORD",
        ),
        &SqlState::INVALID_CATALOG_NAME => new.help("`createdb NAME` on the server makes a database"),
        &SqlState::INSUFFICIENT_PRIVILEGE => new.help(
            "the owner of the database may GRANT what is missing: CREATE on the database to who opens the store first, USAGE on its schema yamba and rights on the tables in it to the others",
        ),
        &SqlState::DISK_FULL => new.help("make room on the server's disk"),
        &SqlState::CHARACTER_NOT_IN_REPERTOIRE => {
            new.help("a text in the run holds a character that PostgreSQL cannot keep; a SQLite file can")
        }
        &SqlState::LOCK_NOT_AVAILABLE => {
            StoreError::new(format!("{place} is held by another program"))
                .help("try again when that has ended")
        }
        &SqlState::QUERY_CANCELED => new.help(
            "a time limit of the server (statement_timeout) or a person ended it: ALTER ROLE ... SET statement_timeout = 0 lifts the limit",
        ),
        &SqlState::PROTOCOL_VIOLATION => new.help(POOL),
        code if code.code().starts_with("53") => new.help("try again when the server has room for it"),
        &SqlState::UNIQUE_VIOLATION => {
            StoreError::new(format!("{place}: another program is storing the same run"))
                .help("`yamba runs` shows it when that has ended")
        }
        _ => new.help("try again, or name another store with --store or YAMBA_STORE"),
    }
}

/// The server's message, or the reason why there was none.
pub(crate) fn cause(error: &postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}

/// The error message where the server did not answer.
fn unreached(error: &postgres::Error, place: &str) -> StoreError {
    let new = StoreError::new(format!("{place}: {}", cause(error)));
    // A pool sends its reason and closes the connection at once, so the reason may be lost.
    if error.is_closed() {
        return new.help(POOL);
    }
    new.help("the server must run and be reached from here: `psql` with the same URL tells")
}

/// The error for a schema whose tables are not Yamba's.
pub(crate) fn foreign(place: &str) -> StoreError {
    StoreError::new(format!(
        "{place} is no store of Yamba's: its schema yamba holds something else"
    ))
    .help("name another database with --store or YAMBA_STORE")
}

/// The error for tables with content that Yamba never writes.
pub(crate) fn damaged(place: &str, how: &str) -> StoreError {
    StoreError::new(format!("{place} is damaged: {how}"))
        .help(format!(
            "restore the database from a backup; `pg_dump --schema=yamba '{place}'` writes what the server can still read"
        ))
}
