//! Why a store could not do its work.

use std::fmt;

/// One sentence that names the place and the fault, and another that says what to do.
#[derive(Debug)]
pub struct StoreError {
    pub(crate) fault: String,
    pub(crate) mend: Option<String>,
}

impl StoreError {
    /// From a sentence.
    pub fn new(text: impl Into<String>) -> StoreError {
        StoreError {
            fault: text.into(),
            mend: None,
        }
    }

    /// With what to do about it.
    pub fn help(mut self, mend: impl Into<String>) -> StoreError {
        self.mend = Some(mend.into());
        self
    }

    /// What to do about it.
    pub fn mend(&self) -> Option<&str> {
        self.mend.as_deref()
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

/// What went wrong, before it is known in which store.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite says so.
    Sqlite(rusqlite::Error),
    /// The PostgreSQL server says so, or cannot be reached.
    Postgresql(postgres::Error),
    /// What is stored is not what is ever written.
    Damaged(String),
    /// The tables that are there are not Yamba's.
    Foreign,
    /// Its form has the first number; those that this program knows end with the second.
    Later(i64, usize),
    /// The store is whole, but what was asked of it cannot be.
    Refused(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(e: rusqlite::Error) -> Fault {
        Fault::Sqlite(e)
    }
}

impl From<postgres::Error> for Fault {
    fn from(e: postgres::Error) -> Fault {
        Fault::Postgresql(e)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(e: serde_json::Error) -> Fault {
        Fault::Damaged(e.to_string())
    }
}

impl From<StoreError> for Fault {
    fn from(e: StoreError) -> Fault {
        Fault::Refused(e)
    }
}
