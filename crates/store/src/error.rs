//! Why a store could not do its work.

use std::fmt;
use std::path::Path;

use rusqlite::ErrorCode;

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

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault)
    }
}

impl std::error::Error for StoreError {}

impl From<serde_json::Error> for StoreError {
    fn from(e: serde_json::Error) -> StoreError {
        StoreError::new(e.to_string())
    }
}

/// What went wrong, before it is known in which file.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite says so.
    Sql(rusqlite::Error),
    /// What is stored is not what is ever written.
    Damaged(String),
    /// The file is not Yamba's.
    Foreign,
    /// The store is whole, but what was asked of it cannot be.
    Refused(StoreError),
}

impl Fault {
    /// In words, of this file.
    pub fn of(self, path: &Path) -> StoreError {
        match self {
            Fault::Sql(e) => sql(&e, path),
            Fault::Foreign => not_a_store(path),
            Fault::Damaged(text) => damaged(path, &text),
            Fault::Refused(e) => StoreError {
                fault: format!("{}: {}", path.display(), e.fault),
                ..e
            },
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(e: rusqlite::Error) -> Fault {
        Fault::Sql(e)
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

fn sql(error: &rusqlite::Error, path: &Path) -> StoreError {
    let place = path.display();
    let another = "name another file with --store FILE or YAMBA_STORE";
    let new = StoreError::new;
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => not_a_store(path),
        Some(ErrorCode::DatabaseCorrupt) => damaged(path, &error.to_string()),
        Some(ErrorCode::DiskFull) => {
            new(format!("{place}: the disk is full")).help(format!("make room on it, or {another}"))
        }
        Some(ErrorCode::ReadOnly) => new(format!("{place} may not be written")).help(another),
        Some(ErrorCode::CannotOpen) => new(format!("{place} cannot be opened")).help(format!(
            "its folder must be there and writable; or {another}"
        )),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            new(format!("{place} is held by another program")).help("try again when that has ended")
        }
        _ => new(format!("{place}: {error}")),
    }
}

fn not_a_store(path: &Path) -> StoreError {
    StoreError::new(format!("{} is no store of Yamba's", path.display()))
        .help("name another file with --store FILE or YAMBA_STORE, or move this one away")
}

fn damaged(path: &Path, how: &str) -> StoreError {
    let place = path.display();
    StoreError::new(format!("{place} is damaged: {how}")).help(format!(
        "`sqlite3 '{place}' .recover | sqlite3 saved.sqlite` saves what can still be read; move the damaged file away, and a new one is made"
    ))
}
