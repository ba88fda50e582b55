//! Why a store could not do its work.

use std::fmt;

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

impl From<rusqlite::Error> for StoreError {
    fn from(e: rusqlite::Error) -> StoreError {
        StoreError::new(e.to_string())
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(e: serde_json::Error) -> StoreError {
        StoreError::new(e.to_string())
    }
}
