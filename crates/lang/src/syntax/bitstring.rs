//! Parser of `bitstring` members.

use super::cursor::{Parsed, Parser};
use super::token::TokenKind;
use super::words;
use crate::ast::{Bitstring, MemberKind, Signature, Term};
use crate::diagnostic::error;

impl Parser<'_> {
    /// `bitstring[<RET c_function(ARGS)>] NAME[(PARAMS)]` and `;`, `{ TERMS }` or `= LITERAL;`
    pub(super) fn bitstring(&mut self) -> Parsed<MemberKind> {
        self.pos += 1;
        let signature = if self.at(b'<') { self.signature()? } else { None };
        let at = self.pos;
        let name = self.name("the bitstring")?;
        self.refuse_member_word(at)?;
        let what = format!("the bitstring `{name}`");
        let params = if self.at(b'(') { self.parameters(&what)? } else { Vec::new() };
        let body = self.bitstring_body(&what)?;
        Ok(MemberKind::Bitstring(Bitstring { signature, name, params, body }))
    }

    /// Rejects names of member keywords: among terms they would look like a member after a missing
    /// `}`.
    fn refuse_member_word(&mut self, at: usize) -> Parsed<()> {
        let name = self.text_at(at);
        if !words::MEMBERS.contains(&name) {
            return Ok(());
        }
        self.fail(error!("reserved-name" at self.span_at(at),
            "`{name}` is a word of Yamba and cannot be the name of a bitstring";
            help "choose another name"))
    }

    /// `<RET c_function(ARGS)>`. Faults inside are reported and skipped.
    fn signature(&mut self) -> Parsed<Option<Signature>> {
        let open = self.pos;
        let after = self.past_angles(open)?;
        let inside = open + 1..after - 1;
        let signature = self.within(inside, |p| p.c_function(open));
        self.pos = after;
        Ok(signature.ok())
    }

    fn c_function(&mut self, open: usize) -> Parsed<Signature> {
        let start = self.pos;
        let help = "write `bitstring<RET c_function(ARGS)> NAME(PARAMS)`";
        let word = self.find(start, |p, at| p.word_at(at) == "c_function");
        self.pos = word;
        if !self.is_mark(word + 1, b'(') {
            let place = match self.span(start..self.end) {
                span if start < self.end => span,
                _ => self.span_at(open),
            };
            return self.fail(error!("missing-c-function" at place,
                "the signature between `<` and `>` has no `c_function(ARGS)`";
                help help));
        }
        if word == start {
            return self.fail(error!("missing-type" at self.here(),
                "`c_function` has no type that it returns";
                help help));
        }
        self.pos = word + 1;
        let args = self.parameters("`c_function`")?;
        if !self.is_done() {
            return self.fail(error!("unexpected-token" at self.here(),
                "{} is not expected after the signature", self.shown(self.pos);
                help help));
        }
        let ret = self.cpp(start..word);
        Ok(Signature { ret, args })
    }

    fn bitstring_body(&mut self, what: &str) -> Parsed<Option<Vec<Term>>> {
        match self.kind() {
            TokenKind::Mark(b'{') => Ok(Some(self.block(Self::terms))),
            TokenKind::Mark(b'=') => self.literal_body(what).map(Some),
            TokenKind::Mark(b';') => {
                self.pos += 1;
                Ok(None)
            }
            _ if self.is_done() || self.is_first(self.pos) => {
                self.report(error!("missing-body" at self.after(self.pos),
                    "{what} has neither terms nor `;`";
                    help "end it with `;` if a port defines it, else with `{ TERMS }`"));
                Ok(None)
            }
            _ => self.fail(error!("unexpected-token" at self.here(),
                    "{} is not expected after {what}", self.shown(self.pos);
                    help "end it with `;`, `{ TERMS }` or `= LITERAL;`")),
        }
    }

    /// `= LITERAL;`
    fn literal_body(&mut self, what: &str) -> Parsed<Vec<Term>> {
        self.pos += 1;
        if self.kind() != TokenKind::Number {
            let place =
                if self.is_done() || self.at(b';') { self.after(self.pos) } else { self.here() };
            return self.fail(error!("literal-expected" at place,
                "only a literal such as `0x90` stands after `=`";
                help "write other terms in braces: `bitstring NAME { TERMS }`"));
        }
        let term = self.term()?;
        if !self.at(b';') && !self.is_first(self.pos) {
            return self.fail(error!("literal-expected" at self.here(),
                "only one literal stands after `=`";
                help "write several terms in braces: `bitstring NAME { TERMS }`"));
        }
        self.semicolon(what);
        Ok(vec![term])
    }
}
