//! Reads captures from a file with documents. Each is a JSON object with one item on each line. A
//! document that was cut short keeps its complete lines. A login shell may print text before and
//! after each, in any encoding.

/// The beginning of each document, up to its first item.
const BEGIN: &[u8] = b"{\"schema\":\"yamba-capture/";

/// The last line of a complete document.
const END: &[u8] = b"]}";

/// Whether the text has a document of a capture, of any version.
pub(crate) fn is_it(bytes: &[u8]) -> bool {
    begins(bytes).next().is_some()
}

/// The documents in a file, each with the text after it.
pub(crate) fn documents(file: &[u8]) -> Vec<&[u8]> {
    let places: Vec<usize> = begins(file).collect();
    let ends = places.iter().skip(1).copied().chain([file.len()]);
    places.iter().zip(ends).map(|(begin, end)| &file[*begin..end]).collect()
}

fn begins(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let windows = bytes.windows(BEGIN.len()).enumerate();
    windows.filter(|(_, window)| *window == BEGIN).map(|(place, _)| place)
}

/// The lines with items, and whether the document is complete.
pub(crate) fn items(document: &[u8]) -> (Vec<&[u8]>, bool) {
    let mut items: Vec<&[u8]> = Vec::new();
    for line in document.trim_ascii_end().split(|byte| *byte == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line == END {
            return (items, true);
        }
        items.push(line.strip_suffix(b",").unwrap_or(line));
    }
    // The last line of a cut document has no end.
    (items, false)
}
