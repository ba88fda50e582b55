//! Why a store could not do its work.

use std::{fmt, io};

use crate::location::Location;
use crate::{postgresql, sqlite};

/// One sentence that names the place and the fault, and another that says what to do.
#[derive(Debug)]
pub struct StoreError {
    fault: String,
    mend: Option<String>,
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

/// The system's reason without `(os error 2)`, which says nothing more; any other as it is.
pub fn plain(e: &io::Error) -> String {
    let text = e.to_string();
    if e.raw_os_error().is_none() {
        return text;
    }
    let short = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = short.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => text,
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

impl Fault {
    /// Whether a statement named a run that is not there.
    pub fn is_of_no_run(&self) -> bool {
        match self {
            Fault::Sqlite(e) => sqlite::is_of_no_run(e),
            Fault::Postgresql(e) => postgresql::is_of_no_run(e),
            _ => false,
        }
    }

    /// Whether a new connection to the server may help.
    pub fn is_of_lost_connection(&self) -> bool {
        matches!(self, Fault::Postgresql(e) if postgresql::is_of_lost_connection(e))
    }

    /// In words, of this store.
    pub fn of(self, location: &Location) -> StoreError {
        let place = &location.to_string();
        let is_file = matches!(location, Location::File(_));
        match self {
            Fault::Sqlite(e) => sqlite::told(&e, place),
            Fault::Postgresql(e) => postgresql::told(&e, place),
            Fault::Foreign if is_file => sqlite::foreign(place),
            Fault::Foreign => postgresql::foreign(place),
            Fault::Damaged(text) if is_file => sqlite::damaged(place, &text),
            Fault::Damaged(text) => postgresql::damaged(place, &text),
            Fault::Later(form, known) => StoreError::new(format!(
                "{place}: a later version of Yamba wrote it (its form is {form}, this program knows {known})"
            ))
            .help("use that version, or name another store with --store or YAMBA_STORE"),
            Fault::Refused(e) => StoreError {
                fault: format!("{place}: {}", e.fault),
                ..e
            },
        }
    }
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
