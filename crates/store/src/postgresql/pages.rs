//! Tables of which some pages or rows cannot be read: what stands before them and behind them is.
//!
//! PostgreSQL ends a statement at the first page that it cannot read. A row is found by its page and its number on it (`ctid`), without any index.

use postgres::error::SqlState;

use super::Postgresql;
use crate::connection::{Connection, Row, Value};
use crate::error::Fault;
use crate::salvage::Unread;

/// The bytes of a page that a row takes at least: its header and the pointer to it.
const SMALLEST_ROW: i64 = 28;

/// A database, and how much of it could not be read.
pub(super) struct Damaged {
    connection: Postgresql,
    /// In bytes.
    page_size: i64,
    unread: Unread,
}

/// What the server says to a question, if it is neither busy nor refuses.
enum Answer<T> {
    Rows(Found<T>),
    /// Something of what was asked for cannot be read: the server's words.
    Unreadable(String),
    /// There is no such table, or it lacks a column: the server's words.
    Gone(String),
}

/// The rows of an answer.
struct Found<T> {
    rows: Vec<T>,
    /// Those that nobody can make sense of.
    refused: u64,
    /// What is wrong with the first of these.
    cause: Option<String>,
}

impl Damaged {
    pub(super) fn new(mut connection: Postgresql) -> Result<Damaged, Fault> {
        // Indexes may be damaged too, and only what is in the tables is wanted. No way but the one by `ctid` goes past a page.
        for way in ["indexscan", "indexonlyscan", "bitmapscan", "seqscan"] {
            connection.execute(&format!("SET enable_{way} = off"), &[])?;
        }
        let mut damaged = Damaged {
            connection,
            page_size: 0,
            unread: Unread::default(),
        };
        damaged.page_size = damaged.number("current_setting('block_size')::bigint")?;
        Ok(damaged)
    }

    pub(super) fn unread(&self) -> &Unread {
        &self.unread
    }

    /// The rows of a table, in no order. Those that `read` cannot make sense of are counted as not readable.
    ///
    /// # Errors
    /// When the connection is lost, the table may not be read, or the server has no time or room for it now.
    pub(super) fn rows<T>(
        &mut self,
        table: &str,
        columns: &str,
        read: impl Fn(&dyn Row) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let all = format!("SELECT {columns} FROM {table}");
        let cause = match self.asked(&all, &[], &read)? {
            Answer::Rows(found) => return Ok(self.counted(found)),
            Answer::Gone(cause) => {
                self.unread.tables.push(table.to_owned());
                self.unread.caused_by(cause);
                return Ok(Vec::new());
            }
            Answer::Unreadable(cause) => cause,
        };
        let pages = self.number(&format!(
            "pg_relation_size('{table}') / current_setting('block_size')::bigint"
        ))?;
        // A table without its file has no page, and yet cannot be read.
        if pages == 0 {
            self.unread.pages += 1;
            self.unread.caused_by(cause);
        }
        let mut rows = Vec::new();
        for page in 0..pages {
            let items = self.items(page);
            let here = format!("WHERE ctid = ANY('{{{items}}}'::tid[])");
            match self.asked(&format!("{all} {here}"), &[], &read)? {
                Answer::Rows(found) => rows.extend(self.counted(found)),
                Answer::Unreadable(_) | Answer::Gone(_) => {
                    rows.extend(self.one_by_one(table, columns, &here, &read)?);
                }
            }
        }
        Ok(rows)
    }

    /// All places that a page can have for rows.
    fn items(&self, page: i64) -> String {
        let items = 1..=self.page_size / SMALLEST_ROW;
        let items: Vec<String> = items.map(|item| format!("\"({page},{item})\"")).collect();
        items.join(",")
    }

    /// The rows of a page on which something cannot be read.
    fn one_by_one<T>(
        &mut self,
        table: &str,
        columns: &str,
        here: &str,
        read: &impl Fn(&dyn Row) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let places = format!("SELECT ctid::text FROM {table} {here}");
        let places = match self.asked(&places, &[], &|row| Ok(row.text(0)?.to_owned()))? {
            Answer::Rows(found) => self.counted(found),
            Answer::Unreadable(cause) | Answer::Gone(cause) => {
                self.unread.pages += 1;
                self.unread.caused_by(cause);
                return Ok(Vec::new());
            }
        };
        let mut rows = Vec::new();
        for place in places {
            match self.asked(&at(table, columns, &place), &[], read)? {
                Answer::Rows(found) => rows.extend(self.counted(found)),
                Answer::Unreadable(cause) | Answer::Gone(cause) => {
                    self.unread.rows += 1;
                    self.unread.caused_by(cause);
                }
            }
        }
        Ok(rows)
    }

    /// The row at a place that [`rows`](Self::rows) told; none if it cannot be read. Where `read` finds another row there (and says none), a program has moved it meanwhile: then it is asked for by `key`, a condition and its values.
    pub(super) fn row<T>(
        &mut self,
        table: &str,
        columns: &str,
        place: &str,
        key: (&str, &[Value<'_>]),
        read: impl Fn(&dyn Row) -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>, Fault> {
        let here = at(table, columns, place);
        let moved = format!("SELECT {columns} FROM {table} WHERE {}", key.0);
        for (sql, values) in [(here.as_str(), &[][..]), (&moved, key.1)] {
            let Answer::Rows(found) = self.asked(sql, values, &read)? else {
                return Ok(None);
            };
            let row = found.rows.into_iter().flatten().next();
            if row.is_some() || found.refused > 0 {
                return Ok(row);
            }
        }
        Ok(None)
    }

    fn number(&mut self, what: &str) -> Result<i64, Fault> {
        let mut number = 0;
        self.connection
            .query(&format!("SELECT {what}"), &[], &mut |row| {
                number = row.integer(0)?;
                Ok(())
            })?;
        Ok(number)
    }

    fn counted<T>(&mut self, found: Found<T>) -> Vec<T> {
        self.unread.rows += found.refused;
        if let Some(cause) = found.cause {
            self.unread.caused_by(cause);
        }
        found.rows
    }

    fn asked<T>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        read: &impl Fn(&dyn Row) -> Result<T, Fault>,
    ) -> Result<Answer<T>, Fault> {
        let mut found = Found {
            rows: Vec::new(),
            refused: 0,
            cause: None,
        };
        let done = self.connection.query(sql, values, &mut |row| {
            match read(row) {
                Ok(row) => found.rows.push(row),
                Err(fault) => {
                    found.refused += 1;
                    found.cause.get_or_insert_with(|| fault.cause());
                }
            }
            Ok(())
        });
        let Err(fault) = done else {
            return Ok(Answer::Rows(found));
        };
        match code(&fault).map_or(Kind::OfTheMoment, kind) {
            Kind::Damage => Ok(Answer::Unreadable(fault.cause())),
            Kind::Gone => Ok(Answer::Gone(fault.cause())),
            Kind::OfTheMoment => Err(fault),
        }
    }
}

/// The statement that asks for the row at a place.
fn at(table: &str, columns: &str, place: &str) -> String {
    format!("SELECT {columns} FROM {table} WHERE ctid = '{place}'::tid")
}

/// What a fault tells of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// What stands there cannot be read, now or ever.
    Damage,
    /// The table or a column of it is gone.
    Gone,
    /// Nothing: the server is busy, ends, lacks room, or refuses.
    OfTheMoment,
}

/// None of a fault that is not the server's answer, such as a lost connection.
fn code(fault: &Fault) -> Option<&SqlState> {
    match fault {
        Fault::Postgresql(error) => error.code(),
        _ => None,
    }
}

/// See "PostgreSQL Error Codes" in its documentation: class 22 is of data, 58 of the system's files, XX of what should never be.
fn kind(code: &SqlState) -> Kind {
    if [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN].contains(code) {
        return Kind::Gone;
    }
    let is_damage = ["22", "58", "XX"]
        .iter()
        .any(|c| code.code().starts_with(c));
    match is_damage {
        true => Kind::Damage,
        false => Kind::OfTheMoment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_faults_of_data_are_damage() {
        for (codes, is) in [
            (
                &["XX000", "XX001", "XX002", "58030", "58P01", "22021"][..],
                Kind::Damage,
            ),
            (&["42P01", "42703"], Kind::Gone),
            // A lock that is held, a time limit, no room, no memory, too many connections, the end of the server, no permission, a conflict.
            (
                &[
                    "55P03", "57014", "53100", "53200", "53300", "57P01", "57P03", "42501",
                    "40001", "08006",
                ],
                Kind::OfTheMoment,
            ),
        ] {
            for code in codes {
                assert_eq!(kind(&SqlState::from_code(code)), is, "{code}");
            }
        }
    }
}
