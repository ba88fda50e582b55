//! Source texts and positions in them. This module reads no files: the caller supplies the texts.

/// Identifies a source text of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in one source text. `start <= end <= text.len()`, both on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The source text.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of a source text.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// The range from the start of `self` to the end of `other` (both of one file).
    pub fn to(self, other: Span) -> Span {
        Span::new(self.file, self.start, other.end.max(self.start))
    }

    /// The empty range at the end of `self`.
    pub fn after(self) -> Span {
        Span::new(self.file, self.end, self.end)
    }
}

/// One source text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as shown to the user, also in generated `#line` directives.
    pub path: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<u32>,
}

/// A line and column, counted from 1. The column counts characters rather than bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// All source texts of an analysis.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a text and returns its id.
    ///
    /// # Panics
    /// After `u32::MAX` texts. Texts of 4 GiB and more are truncated; the loader rejects them.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        let text: String = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(
            text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1),
        );
        self.files.push(SourceFile { path: path.into(), text, line_starts });
        FileId(u32::try_from(self.files.len() - 1).expect("fewer than 2^32 files"))
    }

    /// The source text with this id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All texts, in order of addition.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The text of a range.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    /// Line and column of the start of a range.
    pub fn line_column(&self, span: Span) -> LineColumn {
        let file = self.file(span.file);
        let line = file.line_starts.partition_point(|s| *s <= span.start);
        let start = file.line_starts[line - 1];
        let column = file.text[start as usize..span.start as usize].chars().count() as u32 + 1;
        LineColumn { line: line as u32, column }
    }

    /// The range of `line` (from 1) of a file without its line end. `None` after the last line.
    pub fn line_span(&self, file: FileId, line: u32) -> Option<Span> {
        let source = self.file(file);
        let start = *source.line_starts.get(line.checked_sub(1)? as usize)?;
        let end =
            source.line_starts.get(line as usize).map_or(source.text.len() as u32, |next| next - 1);
        Some(Span { file, start, end })
    }
}
