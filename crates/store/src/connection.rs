//! What both kinds of database can do, so that what is kept is written and read by the same statements.

use crate::error::Fault;

/// A value for a statement. The first mention of `$1`, `$2`, ... in a statement must be in this order: SQLite counts mentions, PostgreSQL reads the numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    TextIfAny(Option<&'a str>),
    Bytes(&'a [u8]),
    Integer(i64),
    Real(Option<f64>),
    Truth(bool),
}

/// A row of an answer. Columns are counted from 0.
pub(crate) trait Row {
    fn text(&self, column: usize) -> Result<&str, Fault>;
    fn bytes(&self, column: usize) -> Result<&[u8], Fault>;
    fn bytes_if_any(&self, column: usize) -> Result<Option<&[u8]>, Fault>;
    fn text_if_any(&self, column: usize) -> Result<Option<&str>, Fault>;
    fn integer(&self, column: usize) -> Result<i64, Fault>;
    fn truth(&self, column: usize) -> Result<bool, Fault>;
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// All that is read is of one moment.
    Reading,
    /// One writer after the other.
    Writing,
    /// The same; it is on the disk when it is committed, with all before it.
    Lasting,
}

/// A connection to a database that has this version's form.
pub(crate) trait Connection {
    /// How many rows were changed.
    fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Fault>;
    /// Gives each row of the answer to `each`.
    fn query(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<(), Fault>,
    ) -> Result<(), Fault>;
    fn begin(&mut self, purpose: Purpose) -> Result<(), Fault>;
    fn commit(&mut self) -> Result<(), Fault>;
    /// Ends the transaction, if there is one; nothing of it stays. Where the connection is gone, the database does that itself.
    fn rollback(&mut self);
}

/// All of `work`, or nothing.
pub(crate) fn transaction<T>(
    connection: &mut dyn Connection,
    purpose: Purpose,
    work: impl FnOnce(&mut dyn Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let begun = connection.begin(purpose);
    let worked = begun.and_then(|()| work(connection));
    let done = worked.and_then(|result| connection.commit().map(|()| result));
    if done.is_err() {
        connection.rollback();
    }
    done
}
