//! Predicts how many of an application's file accesses hit page caches of other sizes.

use std::path::{Path, PathBuf};

use yamba_page_cache::FileAccesses;
use yamba_page_cache::forecast::{self, Forecast};

use super::{Failure, document_file};

/// The accesses of an application, and the page caches to simulate.
#[derive(Clone, Debug)]
pub struct Request {
    /// The file of a document `yamba-files/1`.
    pub files: PathBuf,
    /// Sizes of the page cache in bytes; if empty, eighths of the reused data.
    pub memory: Vec<u64>,
    /// Largest read-ahead in bytes; by default that of the traced machine.
    pub read_ahead: Option<u64>,
}

/// Simulates the page caches.
///
/// # Errors
/// If the document cannot be read.
pub fn forecast(request: &Request) -> Result<Forecast, Failure> {
    let files = read(&request.files)?;
    Ok(forecast::forecast(&files, &request.memory, request.read_ahead))
}

/// Reads a document of file accesses.
///
/// # Errors
/// If the file cannot be read or is no such document.
pub fn read(path: &Path) -> Result<FileAccesses, Failure> {
    let origin = "name the file that `yamba trace --files` wrote";
    let form = "docs/page-cache.md describes the document `yamba-files/1`";
    document_file::read(path, FileAccesses::read, origin, form)
}
