//! Declarations of C++ that are no members of their own in Yamba: types, aliases, templates,
//! operators. They are passed on like `native { ... }`.

use super::cursor::{Parsed, Parser};
use super::token::TokenKind;
use crate::ast::MemberKind;
use crate::diagnostic::error;

/// Words that may stand before a definition of a type.
const BEFORE_TYPE: [&str; 7] =
    ["static", "inline", "constexpr", "const", "volatile", "mutable", "thread_local"];

impl Parser<'_> {
    /// Reads a declaration of C++ that is no member of its own. `None` if none begins here.
    pub(super) fn cpp_declaration(&mut self) -> Option<Parsed<MemberKind>> {
        if let Some(open) = self.type_body(self.pos) {
            return Some(self.type_definition(open));
        }
        match self.word() {
            "using" | "typedef" | "static_assert" => Some(Ok(self.verbatim(false))),
            "friend" => Some(Ok(self.verbatim(true))),
            "template" => {
                let is_function = !self.declares_type_template();
                Some(Ok(self.verbatim(is_function)))
            }
            _ if self.declares_operator() => Some(Ok(self.verbatim(true))),
            _ => None,
        }
    }

    /// The `{` of a type that is defined at `start`, as in `struct NAME {` or `enum class NAME :
    /// int {`, rather than only used.
    fn type_body(&self, start: usize) -> Option<usize> {
        let mut at = start;
        while BEFORE_TYPE.contains(&self.word_at(at)) {
            at += 1;
        }
        match self.word_at(at) {
            "enum" => at += 1 + usize::from(matches!(self.word_at(at + 1), "class" | "struct")),
            "struct" | "class" | "union" => at += 1,
            _ => return None,
        }
        at = self.past_attributes(at);
        at += usize::from(self.kind_at(at) == TokenKind::Word);
        at += usize::from(self.word_at(at) == "final");
        if self.is_mark(at, b':') && !self.is_mark(at + 1, b':') {
            at =
                self.find(at, |p, at| matches!(p.kind_at(at), TokenKind::Mark(b'{' | b';' | b'=')));
        }
        self.is_mark(at, b'{').then_some(at)
    }

    /// The position after `[[...]]`, `alignas(...)` and `__attribute__((...))` at `at`.
    fn past_attributes(&self, mut at: usize) -> usize {
        loop {
            if self.is_double(at, [b'[', b'[']) {
                at = self.past(at);
            } else if matches!(self.word_at(at), "alignas" | "__attribute__") {
                at = self.past(at + 1);
            } else {
                return at;
            }
        }
    }

    /// `struct NAME { ... };`, or state of this type if a name follows.
    fn type_definition(&mut self, open: usize) -> Parsed<MemberKind> {
        let start = self.pos;
        self.pos = self.past(open);
        let is_named = !(self.at(b';') || self.is_done() || self.is_first(self.pos));
        if !is_named {
            let end = self.pos + usize::from(self.at(b';'));
            self.semicolon("the type");
            return Ok(MemberKind::Native(self.cpp(start..end)));
        }
        let ty = start..self.pos;
        let name = self.name("the member")?;
        self.state(ty, name)
    }

    /// Passes on a declaration up to its `;`, or, if it `may_be_function`, up to its body.
    fn verbatim(&mut self, may_be_function: bool) -> MemberKind {
        let start = self.pos;
        let is_short = matches!(self.word(), "using" | "static_assert");
        let begins = |p: &Self, at: usize| {
            p.is_member(at) || p.is_mark(at, b'#') || (is_short && p.is_new_start(at))
        };
        let end = self.find(start, |p, at| {
            p.is_mark(at, b';')
                || (may_be_function && p.is_mark(at, b'{'))
                || (at > start && p.is_first(at) && begins(p, at))
        });
        self.pos = end;
        if self.at(b'{') {
            self.pos = self.past(end);
            self.eat(b';');
        } else if !self.eat(b';') {
            let error = error!("missing-semicolon" at self.after(end),
                "`;` is missing after this declaration");
            self.report(error);
        }
        MemberKind::Native(self.cpp(start..self.pos))
    }

    /// Whether the template that begins here is one of a type, which ends with `;`.
    fn declares_type_template(&self) -> bool {
        let mut at = self.pos;
        while self.word_at(at) == "template" {
            let mut depth = 0usize;
            at += 1;
            while at < self.end {
                match self.kind_at(at) {
                    TokenKind::Mark(b'<') => depth += 1,
                    TokenKind::Mark(b'>') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                at = self.past(at);
                if depth == 0 {
                    break;
                }
            }
        }
        matches!(self.word_at(at), "struct" | "class" | "union" | "using" | "concept")
    }

    /// Whether an operator is declared here: `bool operator==(...)`.
    fn declares_operator(&self) -> bool {
        let stop = self.find(self.pos, |p, at| {
            let may_precede = match p.kind_at(at) {
                TokenKind::Word => p.text_at(at) != "operator",
                TokenKind::Mark(b) => matches!(b, b'*' | b'&' | b':' | b'<' | b'>' | b','),
                _ => false,
            };
            !may_precede || (at > p.pos && p.is_first(at) && p.is_member(at))
        });
        self.word_at(stop) == "operator"
    }
}
