//! Parser of parameter lists of functions, bitstrings and signatures.

use super::cursor::{Parsed, Parser, Range};
use super::token::TokenKind;
use super::words;
use crate::ast::Parameter;
use crate::diagnostic::error;

impl Parser<'_> {
    /// `(PARAMETERS)`, starting at the parenthesis.
    pub(super) fn parameters(&mut self, what: &str) -> Parsed<Vec<Parameter>> {
        let inside = self.group(what)?;
        let after = self.pos;
        let is_void = inside.end == inside.start + 1 && self.word_at(inside.start) == "void";
        if inside.is_empty() || is_void {
            return Ok(Vec::new());
        }
        let parts = self.split_parameters(inside)?;
        let mut parameters = Vec::new();
        for part in parts {
            // A faulty parameter gives one message, and parsing continues with the next.
            match self.parameter(part) {
                Ok(parameter) => parameters.push(parameter),
                Err(_) => break,
            }
        }
        self.pos = after;
        Ok(parameters)
    }

    /// Splits `range` at the commas outside brackets and angle brackets.
    fn split_parameters(&mut self, range: Range) -> Parsed<Vec<Range>> {
        let mut parts = Vec::new();
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            match self.kind_at(at) {
                TokenKind::Mark(b'<') => {
                    at = self.within_end(range.end, |p| p.past_angles(at))?;
                    continue;
                }
                TokenKind::Mark(b',') => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
            at = self.past(at);
        }
        parts.push(start..range.end);
        Ok(parts)
    }

    /// Runs `read` with the end of the construct at `end`, without moving.
    pub(super) fn within_end<T>(&mut self, end: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let old = std::mem::replace(&mut self.end, end);
        let result = read(self);
        self.end = old;
        result
    }

    fn parameter(&mut self, range: Range) -> Parsed<Parameter> {
        if range.is_empty() {
            return self.fail(error!("empty-parameter" at self.after(range.start),
                "a parameter is missing here"));
        }
        if let Some(at) = (range.start..range.end).find(|at| self.is_mark(*at, b'=')) {
            return self.fail(error!("default-argument" at self.span_at(at),
                "a parameter cannot have a default value";
                help "declare a second function with fewer parameters"));
        }
        self.refuse_no_type(range.clone())?;
        Ok(self.pointer_parameter(range.clone()).unwrap_or_else(|| self.plain_parameter(range)))
    }

    fn refuse_no_type(&mut self, range: Range) -> Parsed<()> {
        let is_type = |p: &Self, at: usize| {
            matches!(p.kind_at(at), TokenKind::Word) || p.is_double(at, [b':', b':'])
        };
        if is_type(self, range.start) || self.is_double(range.start, [b'[', b'[']) {
            return Ok(());
        }
        self.fail(error!("bad-parameter" at self.span(range),
            "this is no parameter: it does not begin with a type";
            help "write `TYPE NAME`; state is initialised with `=` or `{ }`"))
    }

    /// `RET (*NAME)(ARGS)`, `ELEMENT (&NAME)[N]`
    fn pointer_parameter(&self, range: Range) -> Option<Parameter> {
        let open = (range.start..range.end).find(|at| {
            self.is_mark(*at, b'(') && matches!(self.kind_at(at + 1), TokenKind::Mark(b'*' | b'&'))
        })?;
        let close = self.close(open)?.at;
        let name = close - 1;
        if self.kind_at(name) != TokenKind::Word || words::is_cpp(self.text_at(name)) {
            return Some(Parameter { ty: self.cpp(range), name: None, suffix: None });
        }
        Some(Parameter {
            ty: self.cpp(range.start..name),
            name: Some(self.ident(name)),
            suffix: Some(self.cpp(close..range.end)),
        })
    }

    /// `TYPE`, `TYPE NAME`, `TYPE NAME[N]`
    fn plain_parameter(&self, range: Range) -> Parameter {
        let mut end = range.end;
        let array = range
            .clone()
            .find(|at| self.is_mark(*at, b'[') && *at > range.start)
            .unwrap_or(range.end);
        end = end.min(array);
        let suffix = (array < range.end).then(|| self.cpp(array..range.end));
        let name = end - 1;
        if !self.is_parameter_name(range.start, name) {
            return Parameter { ty: self.cpp(range.start..end), name: None, suffix };
        }
        Parameter { ty: self.cpp(range.start..name), name: Some(self.ident(name)), suffix }
    }

    /// Whether the last word of a parameter is its name, that is, whether a type precedes it.
    fn is_parameter_name(&self, start: usize, name: usize) -> bool {
        if name <= start
            || self.kind_at(name) != TokenKind::Word
            || words::is_cpp(self.text_at(name))
        {
            return false;
        }
        (start..name).any(|at| match self.kind_at(at) {
            TokenKind::Word => !words::is_specifier(self.text_at(at)),
            _ => false,
        }) && !self.is_mark(name - 1, b':')
    }
}
