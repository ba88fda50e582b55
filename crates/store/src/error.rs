//! Errors of a store.

use std::fmt;

/// An error message: place and fault in one sentence, and the fix in another.
#[derive(Debug)]
pub struct StoreError {
    pub(crate) fault: String,
    pub(crate) fix: Option<String>,
}

impl StoreError {
    /// An error without a fix.
    pub fn new(text: impl Into<String>) -> StoreError {
        StoreError { fault: text.into(), fix: None }
    }

    /// Adds the fix.
    pub fn help(mut self, fix: impl Into<String>) -> StoreError {
        self.fix = Some(fix.into());
        self
    }

    /// The fix.
    pub fn help_text(&self) -> Option<&str> {
        self.fix.as_deref()
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault)
    }
}

impl std::error::Error for StoreError {}

impl From<serde_json::Error> for StoreError {
    fn from(e: serde_json::Error) -> StoreError {
        StoreError::new(e.to_string())
            .help("nothing that was measured makes this: please report it with the command line")
    }
}

/// A fault, before the location of the store is added.
#[derive(Debug)]
pub(crate) enum StoreFault {
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
    /// An error of the PostgreSQL server, or of the connection to it.
    Postgresql(postgres::Error),
    /// Stored data that Yamba never writes.
    Damaged(String),
    /// The existing tables are not Yamba's.
    Foreign,
    /// The schema version is another one: its number, and the one of this program.
    OtherVersion(i64, i64),
    /// The store is intact, but the request cannot be fulfilled.
    Refused(StoreError),
}

impl From<rusqlite::Error> for StoreFault {
    fn from(e: rusqlite::Error) -> StoreFault {
        StoreFault::Sqlite(e)
    }
}

impl From<postgres::Error> for StoreFault {
    fn from(e: postgres::Error) -> StoreFault {
        StoreFault::Postgresql(e)
    }
}

impl From<serde_json::Error> for StoreFault {
    fn from(e: serde_json::Error) -> StoreFault {
        StoreFault::Damaged(e.to_string())
    }
}

impl From<StoreError> for StoreFault {
    fn from(e: StoreError) -> StoreFault {
        StoreFault::Refused(e)
    }
}
