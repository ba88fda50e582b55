//! Reads the file of an application's vector.

use std::path::Path;

use yamba_predict::Vector;

use super::Failure;

/// Reads and checks the document.
pub(super) fn read(path: &Path) -> Result<Vector, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| {
        Failure::new(format!("{place}: {e}")).help("name the file of an application's vector")
    })?;
    Vector::read(&text).map_err(|e| {
        Failure::new(format!("{place}: {e}"))
            .help("docs/prediction.md describes the document `yamba-vector/1`")
    })
}
