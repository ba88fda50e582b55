//! The parser's position in the tokens, and the primitives of the grammar functions.

use super::brackets::{Close, Pairs};
use super::lexer::Lexed;
use super::messages::Messages;
use super::token::{Doc, Token, TokenKind};
use super::words;
use crate::ast::{AsmBlock, Cpp, Ident, Member};
use crate::diagnostic::{Diagnostic, error};
use crate::source::{FileId, Span};

/// Marker: the fault was already reported.
pub(super) struct Reported;

pub(super) type Parsed<T> = Result<T, Reported>;

/// A range of tokens.
pub(super) type Range = std::ops::Range<usize>;

pub(super) struct Parser<'a> {
    text: &'a str,
    file: FileId,
    pub(super) tokens: &'a [Token],
    pairs: &'a Pairs,
    docs: &'a [Doc],
    pub(super) blocks: &'a [AsmBlock],
    /// The current token.
    pub(super) pos: usize,
    /// One past the last token that the current construct may use.
    pub(super) end: usize,
    /// Nesting depth of constructs.
    pub(super) depth: usize,
    /// Whether a faulty member was read to its end, so that there is nothing to skip.
    pub(super) is_past_fault: bool,
    /// Members that the present declaration declares after its first name.
    pub(super) further: Vec<Member>,
    pub(super) errors: Messages,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, file: FileId, lexed: &'a Lexed, pairs: &'a Pairs) -> Self {
        Parser {
            text,
            file,
            tokens: &lexed.tokens,
            pairs,
            docs: &lexed.docs,
            blocks: &lexed.blocks,
            pos: 0,
            end: lexed.tokens.len() - 1,
            depth: 0,
            is_past_fault: false,
            further: Vec::new(),
            errors: Messages::default(),
        }
    }

    // Inspection of tokens.

    pub(super) fn is_done(&self) -> bool {
        self.pos >= self.end
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.kind_at(self.pos)
    }

    pub(super) fn kind_at(&self, at: usize) -> TokenKind {
        if at < self.end { self.tokens[at].kind } else { TokenKind::End }
    }

    pub(super) fn at(&self, mark: u8) -> bool {
        self.is_mark(self.pos, mark)
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.kind_at(at) == TokenKind::Mark(mark)
    }

    /// Whether the two characters `marks` are at `at` without white space between them.
    pub(super) fn is_double(&self, at: usize, marks: [u8; 2]) -> bool {
        self.is_mark(at, marks[0])
            && self.is_mark(at + 1, marks[1])
            && self.tokens[at].end == self.tokens[at + 1].start
    }

    /// The text of the token at `at`; empty after the end.
    pub(super) fn text_at(&self, at: usize) -> &'a str {
        match self.kind_at(at) {
            TokenKind::End => "",
            _ => &self.text[self.tokens[at].start as usize..self.tokens[at].end as usize],
        }
    }

    /// The word at `at`; empty for another kind of token.
    pub(super) fn word_at(&self, at: usize) -> &'a str {
        match self.kind_at(at) {
            TokenKind::Word => self.text_at(at),
            _ => "",
        }
    }

    pub(super) fn word(&self) -> &'a str {
        self.word_at(self.pos)
    }

    pub(super) fn is_first(&self, at: usize) -> bool {
        at >= self.end || self.tokens[at].is_first
    }

    /// The token at `at` as a quotation for a message.
    pub(super) fn shown(&self, at: usize) -> String {
        let text = match self.tokens[at].kind {
            TokenKind::End => return "the end of the file".to_owned(),
            _ => &self.text[self.tokens[at].start as usize..self.tokens[at].end as usize],
        };
        let line = text.lines().next().unwrap_or("");
        match line.char_indices().nth(40) {
            Some((cut, _)) => format!("`{}...`", &line[..cut]),
            None => format!("`{line}`"),
        }
    }

    // Movement.

    pub(super) fn eat(&mut self, mark: u8) -> bool {
        let is_here = self.at(mark);
        self.pos += usize::from(is_here);
        is_here
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let is_here = self.word() == word;
        self.pos += usize::from(is_here);
        is_here
    }

    /// The end of the bracket at `open`. `None` also if it is outside the current construct.
    pub(super) fn close(&self, open: usize) -> Option<Close> {
        self.pairs.close[open].filter(|c| c.at < self.end || (!c.is_real && c.at <= self.end))
    }

    /// The position after the token at `at`, or after its closing bracket if it is an opening one.
    pub(super) fn past(&self, at: usize) -> usize {
        match self.kind_at(at) {
            TokenKind::Mark(b'(' | b'[' | b'{') => match self.close(at) {
                Some(close) => close.at + usize::from(close.is_real),
                None => at + 1,
            },
            _ => at + 1,
        }
    }

    pub(super) fn is_stray(&self, at: usize) -> bool {
        self.pairs.is_stray[at]
    }

    /// Runs `read` on the tokens of `range` only, then continues after it.
    pub(super) fn within<T>(&mut self, range: Range, read: impl FnOnce(&mut Self) -> T) -> T {
        let end = std::mem::replace(&mut self.end, range.end);
        self.pos = range.start;
        let result = read(self);
        self.end = end;
        self.pos = range.end;
        result
    }

    /// The first position from `at` on, outside brackets, where `is_wanted` holds, or the end of
    /// the construct.
    pub(super) fn find(&self, mut at: usize, is_wanted: impl Fn(&Self, usize) -> bool) -> usize {
        while at < self.end && !is_wanted(self, at) {
            at = self.past(at);
        }
        at.min(self.end)
    }

    /// Splits `range` at each `mark` outside brackets.
    pub(super) fn split(&self, range: Range, mark: u8) -> Vec<Range> {
        let mut parts = Vec::new();
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            if self.is_mark(at, mark) {
                parts.push(start..at);
                start = at + 1;
            }
            at = self.past(at);
        }
        parts.push(start..range.end);
        parts
    }

    // Source ranges.

    pub(super) fn span_at(&self, at: usize) -> Span {
        let token = self.tokens[at.min(self.tokens.len() - 1)];
        Span::new(self.file, token.start, token.end)
    }

    pub(super) fn here(&self) -> Span {
        self.span_at(self.pos)
    }

    /// The empty range right after the token before `at`.
    pub(super) fn after(&self, at: usize) -> Span {
        match at {
            0 => Span { end: self.span_at(0).start, ..self.span_at(0) },
            _ => self.span_at(at - 1).after(),
        }
    }

    /// The place of something missing: the current token, or the end of the construct.
    pub(super) fn here_or_end(&self) -> Span {
        if self.is_done() { self.after(self.pos) } else { self.here() }
    }

    /// `, found TOKEN`; empty at the end of the construct.
    pub(super) fn found(&self) -> String {
        if self.is_done() { String::new() } else { format!(", found {}", self.shown(self.pos)) }
    }

    pub(super) fn span(&self, range: Range) -> Span {
        if range.is_empty() {
            return self.after(range.start);
        }
        self.span_at(range.start).to(self.span_at(range.end - 1))
    }

    pub(super) fn cpp(&self, range: Range) -> Cpp {
        Cpp { span: self.span(range) }
    }

    /// The tokens between a pair of brackets.
    pub(super) fn inside(&self, open: usize, close: Close) -> Range {
        open + 1..close.at.max(open + 1)
    }

    // Steps that may fail.

    pub(super) fn report(&mut self, error: Diagnostic) -> Reported {
        self.errors.push(error);
        Reported
    }

    /// Reports an error, and returns it as the result of a grammar function.
    pub(super) fn fail<T>(&mut self, error: Diagnostic) -> Parsed<T> {
        Err(self.report(error))
    }

    /// Reads a bracketed group and returns its inside. The caller has checked the opening bracket.
    pub(super) fn group(&mut self, what: &str) -> Parsed<Range> {
        let open = self.pos;
        let Some(close) = self.close(open) else {
            let mark = self.text_at(open);
            let wanted = if mark == "[" { "]" } else { ")" };
            return self.fail(error!("unclosed-bracket" at self.here(),
                "the `{mark}` of {what} is never closed";
                help format!("write the `{wanted}` that closes it")));
        };
        self.pos = self.past(open);
        Ok(self.inside(open, close))
    }

    /// Reads the inside of a `{ ... }`, starting at the brace.
    pub(super) fn block<T>(&mut self, read: impl FnOnce(&mut Self) -> Vec<T>) -> Vec<T> {
        let open = self.pos;
        let after = self.past(open);
        let items = match self.close(open) {
            Some(close) => self.within(self.inside(open, close), read),
            None => Vec::new(),
        };
        self.pos = after;
        items
    }

    /// Reads a `{ ... }` of C++ and returns its exact inside.
    pub(super) fn body(&mut self) -> Cpp {
        let open = self.pos;
        let start = self.here().after();
        self.pos = self.past(open);
        let end = match self.close(open) {
            Some(close) if close.is_real => self.span_at(close.at).start,
            _ => self.after(self.pos).end,
        };
        Cpp { span: Span { end: end.max(start.start), ..start } }
    }

    /// Reports a character at `at` that is unknown in C, often one that looks like another.
    pub(super) fn strange(&mut self, at: usize) -> Option<Reported> {
        if self.kind_at(at) != TokenKind::Unknown {
            return None;
        }
        let c = self.text_at(at).chars().next()?;
        let meant = match c {
            '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{3000}' => "a space",
            '\u{201c}'..='\u{201f}' => "`\"`",
            '\u{2018}'..='\u{201b}' => "`'`",
            '\u{2010}'..='\u{2015}' | '\u{2212}' => "`-`",
            '\u{ff1b}' | '\u{37e}' => "`;`",
            _ => "",
        };
        let error = error!("strange-character" at self.span_at(at),
            "the character U+{:04X} has no meaning here", c as u32);
        Some(self.report(match meant {
            "" => error,
            _ => error.help(format!("write {meant}")),
        }))
    }

    /// Reads a name. `what` describes its owner: "the parameter".
    pub(super) fn name(&mut self, what: &str) -> Parsed<Ident> {
        let at = self.pos;
        if self.kind() != TokenKind::Word {
            let (place, found) = (self.here_or_end(), self.found());
            return self.fail(error!("missing-name" at place,
                "the name of {what} is missing{found}"));
        }
        self.pos += 1;
        self.check_name(at, what)?;
        Ok(self.ident(at))
    }

    pub(super) fn ident(&self, at: usize) -> Ident {
        Ident { text: self.text_at(at).to_owned(), span: self.span_at(at) }
    }

    /// Rejects header keywords, and characters that names cannot contain. C++ keywords pass,
    /// because name resolution rejects them with a better message.
    pub(super) fn check_name(&mut self, at: usize, what: &str) -> Parsed<()> {
        let name = self.text_at(at);
        let span = self.span_at(at);
        if words::HEADER.contains(&name) {
            return self.fail(error!("reserved-name" at span,
                "`{name}` is a word of Yamba and cannot be the name of {what}";
                help "choose another name"));
        }
        if !name.bytes().all(super::lexer::is_word_byte) {
            return self.fail(error!("bad-name" at span,
                "the name of {what} has a character that names cannot have";
                help "use the letters a to z, digits and `_`"));
        }
        Ok(())
    }

    /// Reads the `;` after `what`. If it is missing, reports this and continues where the next
    /// member seems to begin.
    pub(super) fn semicolon(&mut self, what: &str) {
        if self.eat(b';') || self.is_after_forgotten() {
            return;
        }
        let place = self.after(self.pos);
        let is_end = self.is_done() || self.is_first(self.pos) || self.at_member();
        let error = if is_end {
            error!("missing-semicolon" at place, "`;` is missing after {what}")
        } else {
            error!("unexpected-token" at self.here(),
                "{} is not expected after {what}", self.shown(self.pos);
                help "end it with `;`")
        };
        self.report(error);
        if !is_end {
            self.skip_member();
        }
    }

    /// Whether a bracket shortly before this position is missing: this was reported, and the `;`
    /// may be missing with it.
    fn is_after_forgotten(&self) -> bool {
        let near = self.pos.saturating_sub(64)..self.pos;
        let is_open = |at: usize| self.close(at).is_some_and(|c| !c.is_real && c.at == self.pos);
        near.into_iter().any(is_open)
    }

    /// Whether a member begins here with its keyword.
    pub(super) fn at_member(&self) -> bool {
        self.is_member(self.pos)
    }

    pub(super) fn is_member(&self, at: usize) -> bool {
        let next = self.kind_at(at + 1);
        match self.word_at(at) {
            "import" => next == TokenKind::Mark(b'('),
            "native" | "compile" => next == TokenKind::Mark(b'{'),
            "bitstring" => matches!(next, TokenKind::Word | TokenKind::Mark(b'<')),
            "at_least" | "at_most" => matches!(next, TokenKind::Word | TokenKind::Number),
            "requires" => {
                matches!(next, TokenKind::Word | TokenKind::Number | TokenKind::Mark(b'(' | b'!'))
            }
            "param" | "evidence" | "chart" | "stands_for" | "tags" => next == TokenKind::Word,
            _ => false,
        }
    }

    /// Skips the rest of a faulty member: to its `;`, its body, or the beginning of another member.
    pub(super) fn skip_member(&mut self) {
        let start = self.pos;
        while !self.is_done() {
            if self.pos > start && self.is_first(self.pos) && self.at_member() {
                return;
            }
            let kind = self.kind();
            self.pos = self.past(self.pos);
            match kind {
                TokenKind::Mark(b';') => return,
                TokenKind::Mark(b'{') if !self.at(b';') => return,
                _ => {}
            }
        }
    }

    /// Runs `read` one level deeper, and reports excessive nesting.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        const DEEPEST: usize = 100;
        if self.depth == DEEPEST {
            let error = error!("nested-too-deep" at self.here(),
                "this is nested too deep: at most 100 levels are read");
            self.pos = self.end;
            return Err(self.report(error));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    // Documentation.

    /// The `///` lines directly before the token at `at`.
    pub(super) fn docs_before(&self, at: usize) -> String {
        self.docs_at(at, true)
    }

    /// The `///` comment on the line of the token before `at`.
    pub(super) fn docs_after(&self, at: usize) -> String {
        self.docs_at(at, false)
    }

    fn docs_at(&self, at: usize, is_own_line: bool) -> String {
        let first = self.docs.partition_point(|d| (d.before as usize) < at);
        let lines: Vec<&str> = self.docs[first..]
            .iter()
            .take_while(|d| d.before as usize == at)
            .filter(|d| d.is_own_line == is_own_line)
            .map(|d| {
                let line = &self.text[d.start as usize..d.end as usize];
                line.strip_prefix(' ').unwrap_or(line).trim_end()
            })
            .collect();
        lines.join("\n")
    }

    /// Warns about `///` lines before the token at `at` if nothing follows that they could
    /// document.
    pub(super) fn warn_idle_docs(&mut self, at: usize) {
        let first = self.docs.partition_point(|d| (d.before as usize) < at);
        let idle = self.docs[first..].iter().find(|d| d.before as usize == at && d.is_own_line);
        if let Some(doc) = idle {
            let span = Span::new(self.file, doc.start - 3, doc.end);
            self.errors.push(error!("idle-documentation" at span,
                "nothing follows that this comment could document";
                help "write it before a member or class, or behind one on the same line; `//` is an ordinary comment").as_warning());
        }
    }
}

/// Joins two pieces of documentation.
pub(super) fn join_docs(first: String, second: String) -> String {
    match (first.is_empty(), second.is_empty()) {
        (_, true) => first,
        (true, _) => second,
        _ => format!("{first}\n{second}"),
    }
}
