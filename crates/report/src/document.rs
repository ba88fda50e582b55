//! A document of text and tables, which `markdown` formats.

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The title, as plain text.
    pub title: String,
    /// The parts in order.
    pub blocks: Vec<Block>,
}

/// One part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// The heading of a section.
    Section(String),
    /// Markdown of the author, which is inserted unchanged.
    Written(String),
    /// A paragraph.
    Paragraph(Line),
    /// A list.
    List(Vec<Line>),
    /// A table.
    Table(Table),
}

/// A table with a title for each column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// The titles of the columns.
    pub head: Vec<String>,
    /// The rows, each with one cell per column.
    pub rows: Vec<Vec<Line>>,
}

/// A sequence of spans.
pub type Line = Vec<Span>;

/// Text of one kind. It may contain any characters; the formatter escapes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Plain text.
    Plain(String),
    /// A name or a command.
    Code(String),
    /// Emphasised text.
    Strong(String),
}

/// A line of one plain span.
pub fn plain(text: impl Into<String>) -> Line {
    vec![Span::Plain(text.into())]
}

/// A line of one code span.
pub fn code(text: impl Into<String>) -> Line {
    vec![Span::Code(text.into())]
}
