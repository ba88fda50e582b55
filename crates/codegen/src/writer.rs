//! Writes text with line numbers: the author's C++ under `#line` at its columns, generated lines
//! under the generated file's name.

use yamba_lang::source::{SourceMap, Span};

use crate::text;

/// Writes one C++ file.
pub(crate) struct Writer<'a> {
    sources: &'a SourceMap,
    name: String,
    out: String,
    line: usize,
    depth: usize,
    /// Whether the last lines were the author's, so that the next generated line needs a `#line`.
    is_foreign: bool,
}

impl<'a> Writer<'a> {
    /// `name` is the file name of generated lines.
    pub(crate) fn new(sources: &'a SourceMap, name: String) -> Writer<'a> {
        Writer { sources, name, out: String::new(), line: 1, depth: 0, is_foreign: false }
    }

    /// Writes one generated line, indented.
    pub(crate) fn line(&mut self, text: &str) {
        if std::mem::take(&mut self.is_foreign) {
            let own = text::quote(&self.name);
            self.raw(&format!("#line {} {own}\n", self.line + 1));
        }
        if !text.is_empty() && !text.starts_with('#') {
            self.out.extend(std::iter::repeat_n("    ", self.depth));
        }
        self.raw(text);
        self.raw("\n");
    }

    /// A line that opens a block.
    pub(crate) fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    /// A line that closes a block.
    pub(crate) fn close(&mut self, text: &str) {
        self.depth -= 1;
        self.line(text);
    }

    /// A line that closes one block and opens another.
    pub(crate) fn reopen(&mut self, text: &str) {
        self.close(text);
        self.depth += 1;
    }

    /// The author's documentation, as a comment.
    pub(crate) fn doc(&mut self, doc: &str) {
        for line in doc.lines() {
            // A backslash at the end would continue the comment on the next line.
            let line = format!("// {}", line.trim());
            self.line(line.trim_end_matches(['\\', ' ']));
        }
    }

    /// Writes the author's text from `span` on, possibly changed to `text`, at its own line and
    /// column.
    pub(crate) fn user(&mut self, span: Span, text: &str) {
        let place = self.sources.line_column(span);
        let path = text::quote(&self.sources.file(span.file).path);
        self.raw(&format!("#line {} {path}\n", place.line));
        let line = self.sources.line_span(span.file, place.line).unwrap_or(span);
        let before = &self.sources.file(span.file).text[line.start as usize..span.start as usize];
        // Tabs are kept, so that columns are the same in both files.
        let padding: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        self.raw(&padding);
        self.raw(text);
        self.raw("\n");
        self.is_foreign = true;
    }

    /// The author's text, unchanged.
    pub(crate) fn verbatim(&mut self, span: Span) {
        self.user(span, self.sources.text(span));
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    fn raw(&mut self, text: &str) {
        self.line += text.bytes().filter(|b| *b == b'\n').count();
        self.out.push_str(text);
    }
}

/// Writes a generated line: `line!(WRITER; FORMAT, ARGUMENTS...)`.
macro_rules! line {
    ($out:expr; $($text:tt)+) => { $out.line(&format!($($text)+)) };
}

/// Writes a line that opens a block: `open!(WRITER; FORMAT, ARGUMENTS...)`.
macro_rules! open {
    ($out:expr; $($text:tt)+) => { $out.open(&format!($($text)+)) };
}

pub(crate) use {line, open};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_lines_are_kept() {
        let mut sources = SourceMap::default();
        let file = sources.add("dir/a\\b.yamba", "x\n\tfoo bar\n");
        let mut writer = Writer::new(&sources, "a.cc".to_owned());
        writer.line("// ours");
        writer.verbatim(Span { file, start: 7, end: 10 });
        writer.line("int y;");
        let expected =
            "// ours\n#line 2 \"dir/a\\\\b.yamba\"\n\t    bar\n#line 5 \"a.cc\"\nint y;\n";
        assert_eq!(writer.finish(), expected);
    }
}
