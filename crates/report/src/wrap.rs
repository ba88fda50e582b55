//! Wraps text for a terminal.

use std::borrow::Cow;

/// Wraps to at most `width` columns, at spaces only, so that commands and paths stay unbroken.
/// Continuation lines begin with `indent`.
pub fn wrap<'a>(text: &'a str, width: usize, indent: &'a str) -> Vec<Cow<'a, str>> {
    let options = textwrap::Options::new(width)
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options)
}

/// Wraps each line of a text. `None`: there is no terminal, and lines stay whole.
pub fn wrapped(text: &str, width: Option<usize>, indent: &str) -> String {
    let lines = text.lines();
    let parts = lines.flat_map(|line| wrap(line, width.unwrap_or(usize::MAX), indent));
    parts.map(|part| format!("{part}\n")).collect()
}
