//! Tables of which some pages or rows cannot be read: what stands before them and behind them is.
//!
//! PostgreSQL ends a statement at the first page that it cannot read. A row is found by its page and its number on it (`ctid`), without any index.

use super::Postgresql;
use crate::connection::{Connection, Row};
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

    pub(super) fn unread(&self) -> Unread {
        self.unread
    }

    /// The rows of a table, in no order; without those that `read` cannot make sense of.
    ///
    /// # Errors
    /// When the connection is lost, or the table may not be read.
    pub(super) fn rows<T>(
        &mut self,
        table: &str,
        columns: &str,
        read: impl Fn(&dyn Row) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let all = format!("SELECT {columns} FROM {table}");
        if let Some(rows) = self.asked(&all, &read)? {
            return Ok(rows);
        }
        let pages = self.number(&format!(
            "pg_relation_size('{table}') / current_setting('block_size')::bigint"
        ))?;
        // A table without its file has no page, and yet cannot be read.
        self.unread.pages += u64::from(pages == 0);
        let mut rows = Vec::new();
        for page in 0..pages {
            let items = self.items(page);
            let here = format!("WHERE ctid = ANY('{{{items}}}'::tid[])");
            match self.asked(&format!("{all} {here}"), &read)? {
                Some(found) => rows.extend(found),
                None => rows.extend(self.one_by_one(table, columns, &here, &read)?),
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
        let Some(places) = self.asked(&places, &|row| Ok(row.text(0)?.to_owned()))? else {
            self.unread.pages += 1;
            return Ok(Vec::new());
        };
        let mut rows = Vec::new();
        for place in places {
            match self.at(table, columns, &place, read)? {
                Some(found) => rows.extend(found),
                None => self.unread.rows += 1,
            }
        }
        Ok(rows)
    }

    /// The row at a place that [`rows`](Self::rows) told; none if it cannot be read.
    pub(super) fn row<T>(
        &mut self,
        table: &str,
        columns: &str,
        place: &str,
        read: impl Fn(&dyn Row) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let found = self.at(table, columns, place, &read)?;
        Ok(found.into_iter().flatten().next())
    }

    fn at<T>(
        &mut self,
        table: &str,
        columns: &str,
        place: &str,
        read: &impl Fn(&dyn Row) -> Result<T, Fault>,
    ) -> Result<Option<Vec<T>>, Fault> {
        let sql = format!("SELECT {columns} FROM {table} WHERE ctid = '{place}'::tid");
        self.asked(&sql, read)
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

    /// The rows of an answer; none if it breaks off.
    fn asked<T>(
        &mut self,
        sql: &str,
        read: &impl Fn(&dyn Row) -> Result<T, Fault>,
    ) -> Result<Option<Vec<T>>, Fault> {
        let mut all = Vec::new();
        let done = self.connection.query(sql, &[], &mut |row| {
            all.extend(read(row).ok());
            Ok(())
        });
        match done {
            Ok(()) => Ok(Some(all)),
            Err(fault) if fault.is_of_lost_connection() || is_refused(&fault) => Err(fault),
            Err(_) => Ok(None),
        }
    }
}

/// Whether the statement itself was refused, for lack of a right for one: class 42. That is no damage.
fn is_refused(fault: &Fault) -> bool {
    let Fault::Postgresql(error) = fault else {
        return false;
    };
    error.code().is_some_and(|c| c.code().starts_with("42"))
}
