//! Changes the output of other programs for tests of its readers.
//!
//! A reader passes if each mutant gives the figures of the original, is refused, or leaves out a
//! figure and names the omission. A mutant may never give another number in silence. Only the test
//! of a reader can decide that, so this crate only makes mutants and says what each one changed.

mod json;
mod number;
mod text;

pub use json::json;
pub use text::{Form, text};

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A field, or a member of a JSON object, was inserted.
    FieldAdded,
    /// A field, or a member of a JSON object, was removed.
    FieldRemoved,
    /// Two fields of a line were exchanged. Not in JSON, whose members have no order.
    FieldsReordered,
    /// The point of a number became a comma, as in `1,5`.
    DecimalComma,
    /// A number got separators between its thousands, as in `1,500`.
    Grouped,
    /// A number was written with an exponent. Its value is the same.
    Exponent,
    /// A number became `NaN`, `-nan` or the like.
    NotANumber,
    /// A number became an infinity.
    Infinite,
    /// A number became its negative.
    Negative,
    /// A line, or an element of a JSON array, was removed.
    LineRemoved,
    /// A line, or an element of a JSON array, stands twice.
    LineRepeated,
    /// The text ends early, at any byte.
    Truncated,
    /// Lines end with a carriage return and a line feed.
    Crlf,
    /// The text begins with a byte order mark.
    ByteOrderMark,
    /// JSON only: a value became one of another type.
    TypeChanged,
}

impl Change {
    /// Whether a correct reader gives the figures of the original: the change alters neither fields
    /// nor values.
    pub fn keeps_figures(self) -> bool {
        matches!(self, Change::Crlf | Change::ByteOrderMark)
    }
}

/// A changed text.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The whole changed text.
    pub text: String,
    /// The kind of the change.
    pub change: Change,
    /// Index of the changed line in the original, from 0; of the last line of a truncated text.
    /// `None` for changes of the whole text and in JSON.
    pub line: Option<usize>,
    /// The changed part before and after, for the message of a failed test.
    pub detail: String,
}
