//! Reads the file of an application's vector.

use std::path::Path;

use yamba_predict::Vector;

use super::{Failure, document_file};

/// Reads and checks the document.
pub(super) fn read(path: &Path) -> Result<Vector, Failure> {
    let origin = "name the file of an application's vector";
    let form = "docs/prediction.md describes the document `yamba-vector/1`";
    document_file::read(path, Vector::read, origin, form)
}
