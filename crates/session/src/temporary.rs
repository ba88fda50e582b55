//! Folders for temporary files.

use std::env::temp_dir;
use std::fs::File;
use std::path::Path;

use yamba_machine::stale_dirs;

use super::{ErrorMessage, Failure};

/// A folder for temporary files, which is removed when the value is dropped.
pub(super) struct TemporaryFolder {
    folder: tempfile::TempDir,
    /// Keeps other processes from removing it.
    _lock: Option<File>,
}

impl TemporaryFolder {
    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A new folder for temporary files. Those of processes that were killed are removed first: they
/// may hold whole builds.
///
/// # Errors
/// If none can be made.
pub(super) fn temporary_folder(prefix: &str) -> Result<TemporaryFolder, Failure> {
    stale_dirs::sweep(&temp_dir(), prefix);
    let folder = tempfile::Builder::new().prefix(prefix).tempdir().map_err(|e| {
        ErrorMessage::from(e).help("TMPDIR names another folder for temporary files")
    })?;
    Ok(TemporaryFolder { _lock: stale_dirs::lock(folder.path()), folder })
}
