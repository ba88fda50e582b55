//! The parser: text to syntax tree. It continues after faults.
//!
//! Three steps process the whole text: [`lexer`] divides it into tokens of C (an `asm` body is one
//! token), [`brackets`] pairs brackets, so that the end of each block is known even if its inside
//! is faulty, and the parser proper reads the tokens. A grammar function is named after the
//! construct that it reads. A function that returns [`Parsed`] has already reported the fault if it
//! returns an error; its caller only finds the position to continue.

mod asm;
mod bitstring;
mod brackets;
mod class;
mod compile;
mod condition;
mod cpp_declaration;
mod cursor;
mod declaration;
mod lexer;
mod literal;
mod member;
mod messages;
mod param;
mod parameters;
mod stands_for;
mod term;
mod token;
pub(crate) mod words;

use crate::ast;
use crate::diagnostic::{Diagnostic, error};
use crate::source::{FileId, SourceMap, Span};
use cursor::Parser;

/// Maximum length of a text, which bounds memory.
const LONGEST_TEXT: usize = 4 << 20;

/// Parses a text. Always returns a tree; faulty parts are reported and omitted.
pub fn parse(sources: &SourceMap, file: FileId) -> (ast::File, Vec<Diagnostic>) {
    let text = sources.file(file).text.as_str();
    if let Some(refusal) = refuse(text, file) {
        return (empty(file), vec![refusal]);
    }
    let mut lexed = lexer::lex(text, file);
    let mut pairs = brackets::pair(&lexed.tokens, &lexed.unterminated, file);
    let mut steps = vec![std::mem::take(&mut lexed.errors), std::mem::take(&mut pairs.errors)];
    let mut parser = Parser::new(text, file, &lexed, &pairs);
    let tree = parser.file();
    let end = parser.span_at(lexed.tokens.len() - 1);
    steps.push(parser.errors);
    (tree, messages::in_order(steps, end))
}

fn empty(file: FileId) -> ast::File {
    ast::File { id: file, natives: Vec::new(), classes: Vec::new() }
}

/// Rejects a text before lexing, for example because of its length.
fn refuse(text: &str, file: FileId) -> Option<Diagnostic> {
    let start = Span::new(file, 0, 0);
    if text.len() > LONGEST_TEXT {
        return Some(error!("file-too-long" at start, "this file is longer than 4 MiB"));
    }
    let controls = text.bytes().filter(|b| lexer::is_control(*b)).count();
    (controls > 20 && controls * 100 > text.len())
        .then(|| error!("binary-file" at start, "this is a binary file, not a Yamba program"))
}
