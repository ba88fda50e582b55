//! Folders for temporary files.

use tempfile::TempDir;
use yamba_record::system_error::reason;

use super::error::BuildError;

/// A new folder for temporary files, which is removed when the value is dropped.
///
/// # Errors
/// With the place, if none can be made there.
pub(super) fn temporary_folder() -> Result<TempDir, BuildError> {
    TempDir::new().map_err(|e| BuildError::Setting {
        fault: format!("no temporary files can be made: {}", reason(&e)),
        help: "let TMPDIR name a folder that exists and has room".to_owned(),
    })
}
