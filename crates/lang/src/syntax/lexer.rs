//! Lexer: text to tokens.

use super::messages::Messages;
use super::token::{Doc, Token, TokenKind};
use crate::ast::AsmBlock;
use crate::diagnostic::error;
use crate::source::{FileId, Span};

/// Maximum number of raw strings without an end for which the lexer searches an end. Each search
/// may scan the whole text.
const MOST_RAW_SEARCHES: u32 = 8;

/// The result of the lexer.
pub(super) struct Lexed {
    /// All tokens; the last is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    pub docs: Vec<Doc>,
    pub blocks: Vec<AsmBlock>,
    /// Starts of unterminated constructs that extend up to the next class; braces after them are
    /// unreliable.
    pub unterminated: Vec<u32>,
    pub errors: Messages,
}

pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) file: FileId,
    pub(super) pos: usize,
    pub(super) line_starts: Vec<usize>,
    pub(super) out: Lexed,
    indent: u32,
    is_first: bool,
    /// Whether the current line begins with `#`, where C++ allows unclosed quotes.
    is_directive: bool,
    no_comment_end: bool,
    raw_failures: u32,
}

/// Whether `b` is a control character that does not occur in source text.
pub(super) fn is_control(b: u8) -> bool {
    (b < 0x20 && !b"\t\n\r\x0b\x0c".contains(&b)) || b == 0x7f
}

/// Whether a character changes the displayed order of a line (bidirectional control).
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub(super) fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

pub(super) fn lex(text: &str, file: FileId) -> Lexed {
    let mut line_starts = vec![0];
    line_starts.extend(text.match_indices('\n').map(|(i, _)| i + 1));
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        file,
        pos: 0,
        line_starts,
        out: Lexed {
            tokens: Vec::new(),
            docs: Vec::new(),
            blocks: Vec::new(),
            unterminated: Vec::new(),
            errors: Messages::default(),
        },
        indent: 0,
        is_first: true,
        is_directive: false,
        no_comment_end: false,
        raw_failures: 0,
    };
    lexer.forbidden();
    lexer.all();
    lexer.out.unterminated.sort_unstable();
    lexer.out
}

impl<'a> Lexer<'a> {
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    pub(super) fn starts(&self, what: &str) -> bool {
        self.bytes[self.pos..].starts_with(what.as_bytes())
    }

    /// The line of offset `at`, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        self.line_starts.partition_point(|s| *s <= at) as u32
    }

    /// Reports forbidden characters, with one message for each run of them.
    fn forbidden(&mut self) {
        let mut last_end = usize::MAX;
        let is_bad = |c: char| (c.is_ascii() && is_control(c as u8)) || is_direction(c);
        for (at, c) in self.text.char_indices().filter(|(_, c)| is_bad(*c)) {
            let span = self.span(at, at + c.len_utf8());
            match self.out.errors.last_mut() {
                Some(error) if at == last_end => error.primary.span.end = span.end,
                _ => self.out.errors.push(error!("control-character" at span,
                    "the text holds the invisible character U+{:04X}", c as u32;
                    help "delete it; inside a string write it as an escape")),
            }
            last_end = at + c.len_utf8();
        }
    }

    fn all(&mut self) {
        if self.starts("\u{feff}") {
            self.pos = '\u{feff}'.len_utf8();
        }
        while self.pos < self.bytes.len() {
            self.one();
        }
        self.push(TokenKind::End, self.pos);
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        if self.is_first {
            let line = self.line_starts[self.line(start) as usize - 1];
            self.indent = (start - line) as u32;
        }
        self.out.tokens.push(Token {
            kind,
            start: start as u32,
            end: self.pos as u32,
            indent: self.indent,
            is_first: self.is_first,
            is_yamba: &self.text[start..self.pos] == "yamba",
        });
        self.is_first = false;
    }

    fn one(&mut self) {
        let start = self.pos;
        let b = self.bytes[start];
        let next = self.byte(start + 1);
        match b {
            b'\n' => {
                self.pos += 1;
                self.is_first = true;
                self.is_directive = false;
            }
            _ if b.is_ascii_whitespace() || b == 0x0b || is_control(b) => self.pos += 1,
            b'/' if next == b'/' => self.line_comment(),
            b'/' if next == b'*' => self.block_comment(),
            b'\\' if next == b'\n' => self.pos += 2,
            b'"' | b'\'' => self.quoted(b),
            b'0'..=b'9' => self.number(),
            b'.' if next.is_ascii_digit() => self.number(),
            b'{' if self.is_after_asm() => {
                let block = self.asm_block();
                self.out.blocks.push(block);
                self.push(TokenKind::Asm(self.out.blocks.len() as u32 - 1), start);
            }
            _ if is_word_byte(b) || b == b'$' || !b.is_ascii() => self.word(),
            _ => {
                self.is_directive |= b == b'#' && self.is_first;
                self.pos += 1;
                self.push(TokenKind::Mark(b), start);
            }
        }
    }

    fn is_after_asm(&self) -> bool {
        self.out.tokens.last().is_some_and(|t| {
            t.kind == TokenKind::Word && &self.text[t.start as usize..t.end as usize] == "asm"
        })
    }

    /// Skips to the end of the line. A backslash at its end continues the comment on the next line,
    /// as in C.
    pub(super) fn skip_line_comment(&mut self) {
        loop {
            let rest = &self.bytes[self.pos..];
            self.pos += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            let end = self.text[..self.pos].strip_suffix('\r').unwrap_or(&self.text[..self.pos]);
            if self.pos == self.bytes.len() || !end.ends_with('\\') {
                return;
            }
            self.pos += 1;
        }
    }

    fn line_comment(&mut self) {
        let start = self.pos;
        self.skip_line_comment();
        let is_doc = self.bytes[start..].starts_with(b"///") && self.byte(start + 3) != b'/';
        if is_doc {
            self.out.docs.push(Doc {
                start: start as u32 + 3,
                end: self.pos as u32,
                before: self.out.tokens.len() as u32,
                is_own_line: self.is_first,
            });
        }
    }

    /// Skips `/* ... */`.
    pub(super) fn block_comment(&mut self) {
        let start = self.pos;
        let end = if self.no_comment_end { None } else { self.text[start + 2..].find("*/") };
        match end {
            Some(end) => self.pos = start + 2 + end + 2,
            None => {
                self.no_comment_end = true;
                self.pos = self.next_class(start + 2);
                self.unterminated(start, start + 2, "unterminated-comment", "this comment", "`*/`");
            }
        }
        if self.text[start..self.pos].contains('\n') {
            self.is_first = true;
        }
    }

    pub(super) fn unterminated(
        &mut self,
        start: usize,
        end: usize,
        code: &'static str,
        what: &str,
        closing: &str,
    ) {
        self.out.unterminated.push(start as u32);
        self.out.errors.push(
            error!(code at self.span(start, end), "{what} is never closed";
            help format!("close it with {closing}"))
            .here("begins here"),
        );
    }

    /// The next line from `at` on that begins with `yamba NAME`, or the end of the text.
    pub(super) fn next_class(&self, at: usize) -> usize {
        let first = self.line_starts.partition_point(|s| *s <= at);
        self.line_starts[first..]
            .iter()
            .copied()
            .find(|line| self.is_class_line(*line))
            .unwrap_or(self.bytes.len())
    }

    /// Whether the line that starts at `line` begins with `yamba` and a name.
    pub(super) fn is_class_line(&self, line: usize) -> bool {
        // A class is not indented further than this; the limit keeps the search linear.
        let rest = &self.bytes[line..self.bytes.len().min(line + 64)];
        let rest = rest.trim_ascii_start();
        let Some(rest) = rest.strip_prefix(b"yamba") else {
            return false;
        };
        let name = rest.trim_ascii_start();
        name.len() < rest.len() && name.first().is_some_and(|b| is_word_byte(*b))
    }

    /// Skips a string or character literal.
    pub(super) fn quoted(&mut self, quote: u8) {
        let start = self.pos;
        let is_closed = self.skip_quoted(quote);
        if !is_closed && !self.is_directive {
            let (code, what) = match quote {
                b'"' => ("unterminated-string", "this string"),
                _ => ("unterminated-character", "this character literal"),
            };
            let shown = self.span(start, self.pos);
            self.out.unterminated.push(start as u32);
            self.out.errors.push(error!(code at shown, "{what} is not closed on its line";
                help format!("close it with `{}`", quote as char)));
        }
        let kind = match quote {
            b'"' => TokenKind::Text,
            _ => TokenKind::Character,
        };
        self.push(kind, start);
    }

    /// Skips to after the closing quote, or to the end of the line. Returns whether the quote was
    /// closed.
    pub(super) fn skip_quoted(&mut self, quote: u8) -> bool {
        self.pos += 1;
        while let Some(b) = self.bytes.get(self.pos) {
            match b {
                b'\n' => return false,
                b'\\' if self.bytes[self.pos + 1..].starts_with(b"\r\n") => self.pos += 3,
                b'\\' => self.pos += 1 + self.char_len(self.pos + 1),
                b if *b == quote => {
                    self.pos += 1;
                    return true;
                }
                _ => self.pos += 1,
            }
        }
        false
    }

    /// Length in bytes of the character at `at`; 0 at the end of the text.
    pub(super) fn char_len(&self, at: usize) -> usize {
        self.text[at..].chars().next().map_or(0, char::len_utf8)
    }

    fn number(&mut self) {
        let start = self.pos;
        while let Some(&b) = self.bytes.get(self.pos) {
            let next = self.byte(self.pos + 1);
            let is_exponent = matches!(b, b'e' | b'E' | b'p' | b'P')
                && matches!(next, b'+' | b'-')
                && !self.bytes[start..].starts_with(b"0x");
            match b {
                _ if is_exponent => self.pos += 2,
                b'\'' if is_word_byte(next) => self.pos += 2,
                _ if is_word_byte(b) || b == b'.' => self.pos += 1,
                _ => break,
            }
        }
        self.push(TokenKind::Number, start);
    }

    fn word(&mut self) {
        let start = self.pos;
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let rest = &self.text[start..];
        self.pos += rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if self.pos == start {
            let c = rest.chars().next().unwrap_or_default();
            self.pos += self.char_len(start);
            if !is_direction(c) {
                self.push(TokenKind::Unknown, start);
            }
            return;
        }
        let is_raw = matches!(&self.text[start..self.pos], "R" | "u8R" | "uR" | "UR" | "LR");
        if is_raw && self.byte(self.pos) == b'"' {
            self.raw_string(start);
        } else {
            self.push(TokenKind::Word, start);
        }
    }

    /// Skips `"DELIMITER( ... )DELIMITER"`; `self.pos` is at the quote.
    pub(super) fn raw_string(&mut self, start: usize) {
        let delimiter_start = self.pos + 1;
        let rest = &self.bytes[delimiter_start..];
        let length = rest.iter().take(17).position(|b| b"()\\\" \t\n\r".contains(b));
        let Some(length) = length.filter(|n| rest[*n] == b'(') else {
            self.out.errors.push(error!("bad-raw-string" at self.span(start, delimiter_start),
                "this raw string does not begin as `R\"DELIMITER(`";
                help "write `R\"(text)\"`; a delimiter has at most 16 characters"));
            self.skip_quoted(b'"');
            self.push(TokenKind::Text, start);
            return;
        };
        let delimiter = &self.text[delimiter_start..delimiter_start + length];
        let end = format!("){delimiter}\"");
        let inside = delimiter_start + length + 1;
        let found = (self.raw_failures < MOST_RAW_SEARCHES)
            .then(|| self.text[inside..].find(&end))
            .flatten();
        match found {
            Some(at) => self.pos = inside + at + end.len(),
            None => {
                self.raw_failures += 1;
                self.pos = self.next_class(inside);
                let closing = format!("`{end}`");
                self.unterminated(
                    start,
                    inside,
                    "unterminated-raw-string",
                    "this raw string",
                    &closing,
                );
            }
        }
        self.push(TokenKind::Text, start);
        self.is_first = found.is_none();
    }
}
