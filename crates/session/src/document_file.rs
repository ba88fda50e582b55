//! Reads the file of a document.

use std::path::Path;

use super::Failure;

/// Reads a file and parses its text. `origin` helps if there is no such file, `form` if it is no
/// such document.
///
/// # Errors
/// If the file cannot be read or is no such document.
pub fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, String>,
    origin: &str,
    form: &str,
) -> Result<T, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::new(format!("{place}: {e}")).help(origin))?;
    parse(&text).map_err(|e| Failure::new(format!("{place}: {e}")).help(form))
}
