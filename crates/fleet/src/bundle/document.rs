//! Reads a capture from a document: a JSON object with one item on each line. A document that was
//! cut short keeps its complete lines. A login shell may print text before and after it.

/// The beginning of each document, up to its first item.
const BEGIN: &str = "{\"schema\":\"yamba-capture/";

/// The last line of a complete document.
const END: &str = "]}";

/// Whether the text has a document of a capture, of any version.
pub(crate) fn is_it(bytes: &[u8]) -> bool {
    bytes.windows(BEGIN.len()).any(|window| window == BEGIN.as_bytes())
}

/// The document and the text after it. `None` without a document.
pub(crate) fn text(all: &str) -> Option<&str> {
    all.find(BEGIN).map(|at| &all[at..])
}

/// The lines with items, and whether the document is complete.
pub(crate) fn items(text: &str) -> (Vec<&str>, bool) {
    let mut items: Vec<&str> = Vec::new();
    for line in text.lines().skip(1) {
        if line == END {
            return (items, true);
        }
        items.push(line.trim_end_matches(','));
    }
    // The last line of a cut document has no end.
    (items, false)
}
