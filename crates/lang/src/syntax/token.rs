//! The tokens of C, and the documentation comments between them.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a word of the language.
    Word,
    /// A number in C's generous sense: `0x8B`, `1'000u`, `6.1.3`.
    Number,
    /// A string, raw or not.
    Text,
    /// A character literal.
    Character,
    /// One character of punctuation.
    Mark(u8),
    /// The braces of an `asm` body and all between them: an index into [`super::lexer::Lexed::blocks`].
    Asm(u32),
    /// A character that has no meaning in C.
    Unknown,
    /// The end of the text.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
    /// Characters of white space before the first token of its line.
    pub indent: u32,
    /// Whether it is the first token of its line.
    pub is_first: bool,
    /// Whether it is the word `yamba`.
    pub is_yamba: bool,
}

/// One `///` comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doc {
    /// The text after `///`.
    pub start: u32,
    pub end: u32,
    /// The number of tokens before it.
    pub before: u32,
    /// Whether only white space stands before it on its line.
    pub is_own_line: bool,
}
