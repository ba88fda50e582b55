//! Text to syntax tree. Never stops at the first fault.
//!
//! Three steps, each over the whole text: [`lexer`] cuts it into C's tokens (an `asm` body is one token),
//! [`brackets`] pairs them, so that every later step knows where a block ends however broken its inside is,
//! and the parser proper walks the tokens. Grammar functions are named after what they read; one that returns
//! [`Parsed`] has reported the fault when it returns an error, and its caller only finds the place to go on.

mod asm;
mod bitstring;
mod brackets;
mod class;
mod condition;
mod cursor;
mod declaration;
mod lexer;
mod literal;
mod member;
mod messages;
mod param;
mod parameters;
mod term;
mod token;
pub(crate) mod words;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};
use cursor::Parser;

/// Longer texts are refused: no person writes them, and memory grows with the text.
const LONGEST_TEXT: usize = 4 << 20;

/// Reads one text. Always returns a tree: what could not be read is left out of it and reported.
pub fn parse(sources: &SourceMap, file: FileId) -> (ast::File, Vec<Diagnostic>) {
    let text = sources.file(file).text.as_str();
    if let Some(refusal) = refuse(text, file) {
        return (empty(file), vec![refusal]);
    }
    let mut lexed = lexer::lex(text, file);
    let mut pairs = brackets::pair(&lexed.tokens, &lexed.unterminated, file);
    let mut steps = vec![
        std::mem::take(&mut lexed.errors),
        std::mem::take(&mut pairs.errors),
    ];
    let mut parser = Parser::new(text, file, &lexed, &pairs);
    let tree = parser.file();
    let end = parser.span_at(lexed.tokens.len() - 1);
    steps.push(parser.errors);
    (tree, messages::in_order(steps, end))
}

fn empty(file: FileId) -> ast::File {
    ast::File {
        id: file,
        natives: Vec::new(),
        classes: Vec::new(),
    }
}

/// Why a text is not even cut into tokens.
fn refuse(text: &str, file: FileId) -> Option<Diagnostic> {
    let start = Span {
        file,
        start: 0,
        end: 0,
    };
    if text.len() > LONGEST_TEXT {
        return Some(Diagnostic::error(
            "file-too-long",
            start,
            "this file is longer than 4 MiB",
        ));
    }
    let controls = text.bytes().filter(|b| lexer::is_control(*b)).count();
    (controls > 20 && controls * 100 > text.len()).then(|| {
        Diagnostic::error(
            "binary-file",
            start,
            "this is a binary file, not a Yamba program",
        )
    })
}
