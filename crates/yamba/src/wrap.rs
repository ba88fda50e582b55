//! Text for a terminal, broken into lines.

use std::borrow::Cow;

/// Lines of at most `width` columns, broken at spaces only, so that commands and paths stay in one piece. Lines after the first begin with `indent`.
pub(crate) fn wrap<'a>(text: &'a str, width: usize, indent: &'a str) -> Vec<Cow<'a, str>> {
    let options = textwrap::Options::new(width)
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options)
}
