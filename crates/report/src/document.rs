//! A document of text and tables, which `markdown` writes.

/// A title and what follows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Plain text.
    pub title: String,
    /// In order.
    pub blocks: Vec<Block>,
}

/// One part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A section begins.
    Section(String),
    /// Text that its author wrote as Markdown: it goes into Markdown as it is.
    Written(String),
    /// A paragraph.
    Paragraph(Line),
    /// A list.
    List(Vec<Line>),
    /// A table.
    Table(Table),
}

/// Columns with their titles, and rows of as many cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the table shows.
    pub caption: String,
    /// The title of each column.
    pub head: Vec<String>,
    /// A cell for each column.
    pub rows: Vec<Vec<Line>>,
}

/// Text of several kinds, one after the other.
pub type Line = Vec<Span>;

/// Text of one kind. It may hold anything; each writer makes it harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// As it is.
    Plain(String),
    /// A name or a command.
    Code(String),
    /// What must not be overlooked.
    Strong(String),
}

/// A line of plain text.
pub fn plain(text: impl Into<String>) -> Line {
    vec![Span::Plain(text.into())]
}

/// A line that is a name or a command.
pub fn code(text: impl Into<String>) -> Line {
    vec![Span::Code(text.into())]
}
