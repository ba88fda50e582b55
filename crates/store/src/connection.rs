//! The interface that both kinds of database implement, so that they share all statements.

use crate::error::StoreFault;

/// A parameter of a statement. `$1`, `$2`, ... must first occur in this order: SQLite numbers by
/// occurrence, PostgreSQL by the number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    TextIfAny(Option<&'a str>),
    Bytes(&'a [u8]),
    Integer(i64),
    Real(Option<f64>),
    Truth(bool),
}

/// A row of a result. Columns are counted from 0.
pub(crate) trait ResultRow {
    fn text(&self, column: usize) -> Result<&str, StoreFault>;
    fn bytes(&self, column: usize) -> Result<&[u8], StoreFault>;
    fn text_if_any(&self, column: usize) -> Result<Option<&str>, StoreFault>;
    fn integer(&self, column: usize) -> Result<i64, StoreFault>;
    fn truth(&self, column: usize) -> Result<bool, StoreFault>;
}

/// The purpose of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Consistent reads: all data is from one moment.
    Reading,
    /// A single statement, which needs no lock.
    OneStatement,
    /// Exclusive writing.
    Writing,
    /// Exclusive writing; the commit waits until the data is on disk.
    Lasting,
}

/// A connection to a database with the current schema.
pub(crate) trait Connection {
    /// Executes a statement and returns the number of changed rows.
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreFault>;
    /// Calls `each` for every row of the result.
    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn ResultRow) -> Result<(), StoreFault>,
    ) -> Result<(), StoreFault>;
    fn begin(&mut self, purpose: Purpose) -> Result<(), StoreFault>;
    fn commit(&mut self) -> Result<(), StoreFault>;
    /// Whether the database is still where it was opened. A server knows its own.
    fn is_in_place(&self) -> bool {
        true
    }
    /// Rolls back the transaction, if there is one. If the connection is gone, the database does so
    /// itself.
    fn rollback(&mut self);
}

/// Runs `work` in a transaction, and rolls back if it fails.
pub(crate) fn transaction<T>(
    connection: &mut dyn Connection,
    purpose: Purpose,
    work: impl FnOnce(&mut dyn Connection) -> Result<T, StoreFault>,
) -> Result<T, StoreFault> {
    let begun = connection.begin(purpose);
    let worked = begun.and_then(|()| work(connection));
    let done = worked.and_then(|result| connection.commit().map(|()| result));
    if done.is_err() {
        connection.rollback();
    }
    done
}
