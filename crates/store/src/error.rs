//! Why a store could not do its work.

use std::fmt;

/// One sentence that names the place and the fault.
#[derive(Debug)]
pub struct StoreError(String);

impl StoreError {
    /// From a sentence.
    pub fn new(text: impl Into<String>) -> StoreError {
        StoreError(text.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(e: rusqlite::Error) -> StoreError {
        StoreError(e.to_string())
    }
}

impl From<serde_json::Error> for StoreError {
    fn from(e: serde_json::Error) -> StoreError {
        StoreError(e.to_string())
    }
}
