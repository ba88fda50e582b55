//! Reads a capture from a document: a JSON object with one item on each line. A document that was
//! cut short keeps its complete lines.

/// The beginning of each document, up to its first item.
const BEGIN: &str = "{\"schema\":\"yamba-capture/";

/// Whether this is a document of a capture, of any version.
pub(crate) fn is_it(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(BEGIN.as_bytes())
}

/// The lines with items, and whether the document is complete.
pub(crate) fn items(text: &str) -> (Vec<&str>, bool) {
    let mut lines = text.trim().lines();
    lines.next();
    let mut items: Vec<&str> = Vec::new();
    let mut is_complete = false;
    for line in lines {
        is_complete = line == "]}";
        // The last line of a cut document has no end.
        items.extend(Some(line).filter(|_| !is_complete));
    }
    (items.into_iter().map(|line| line.trim_end_matches(',')).collect(), is_complete)
}
