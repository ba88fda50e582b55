//! Reads the file of a document.

use std::path::Path;

use yamba_store::inputs;

use super::Failure;

/// The mark that some editors write before a text in UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a file and parses its text, without a byte order mark. `origin` helps if there is no such
/// file, `form` if it is no such document.
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
    inputs::add(path);
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::new(format!("{place}: {e}")).help(origin))?;
    parse(without_mark(&text)).map_err(|e| Failure::new(format!("{place}: {e}")).help(form))
}

/// The text without a byte order mark.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}
