//! Tokens of C, and documentation comments.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Word,
    /// A number by C's preprocessing rules: `0x8B`, `1'000u`, `6.1.3`.
    Number,
    /// A string, raw or not.
    Text,
    /// A character literal.
    Character,
    /// One character of punctuation.
    Mark(u8),
    /// An `asm` body with its braces: an index into [`super::lexer::Lexed::blocks`].
    Asm(u32),
    /// A character without meaning in C.
    Unknown,
    /// The end of the text.
    End,
}

/// A token with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
    /// Indentation of its line, in characters.
    pub indent: u32,
    /// Whether it is the first token of its line.
    pub is_first: bool,
    /// Whether it is the word `yamba`.
    pub is_yamba: bool,
}

/// A `///` comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doc {
    /// Start of the text after `///`.
    pub start: u32,
    pub end: u32,
    /// Number of tokens before it.
    pub before: u32,
    /// Whether its line has only white space before it.
    pub is_own_line: bool,
}
