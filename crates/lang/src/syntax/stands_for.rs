//! Parser of `stands_for ...`.

use super::cursor::{Parsed, Parser};
use super::token::TokenKind;
use crate::ast::{Contained, ContainedCount, Ident, MemberKind, StandsFor};
use crate::diagnostic::error;

impl Parser<'_> {
    /// `stands_for PRIMITIVE [by PARAMETER] [contains PRIMITIVE [* N | * EVIDENCE], ...];`
    pub(super) fn stands_for(&mut self) -> Parsed<MemberKind> {
        self.pos += 1;
        let primitive = self.primitive()?;
        let by = if self.eat_word("by") {
            Some(self.name("the parameter that is the size")?)
        } else {
            None
        };
        let mut contains = Vec::new();
        if self.eat_word("contains") {
            contains.push(self.contained()?);
            while self.eat(b',') {
                contains.push(self.contained()?);
            }
        }
        self.semicolon("the primitive");
        Ok(MemberKind::StandsFor(StandsFor { primitive, by, contains }))
    }

    /// `PRIMITIVE [* N | * EVIDENCE]`
    fn contained(&mut self) -> Parsed<Contained> {
        let primitive = self.primitive()?;
        let count = if self.eat(b'*') {
            self.contained_count(&primitive)?
        } else {
            ContainedCount::Number(1)
        };
        Ok(Contained { primitive, count })
    }

    fn contained_count(&mut self, primitive: &Ident) -> Parsed<ContainedCount> {
        if self.kind() == TokenKind::Word {
            return Ok(ContainedCount::Evidence(self.name("the evidence")?));
        }
        let number = self.number_here().parse().ok().filter(|n| *n > 0);
        let Some(number) = number else {
            return self.fail(error!("bad-count" at self.here_or_end(),
                "the number of `{}` is neither a whole number above 0 nor an evidence", primitive.text;
                help "write for example `contains mmap(file) * 4`"));
        };
        self.pos += 1;
        Ok(ContainedCount::Number(number))
    }

    fn number_here(&self) -> &str {
        match self.kind() {
            TokenKind::Number => self.text_at(self.pos),
            _ => "",
        }
    }

    /// `CALL` or `CALL(KIND, ...)`. Spaces do not matter.
    fn primitive(&mut self) -> Parsed<Ident> {
        let start = self.pos;
        let mut text = self.name("the primitive")?.text;
        if self.eat(b'(') {
            let mut kinds = vec![self.name("the primitive's kind")?.text];
            while self.eat(b',') {
                kinds.push(self.name("the primitive's kind")?.text);
            }
            if !self.eat(b')') {
                return self.fail(error!("primitive-without-end" at self.after(self.pos),
                    "`)` is missing after the primitive's kind";
                    help "write for example `stands_for read(file) by size;`"));
            }
            text = format!("{text}({})", kinds.join(", "));
        }
        let span = self.span(start..self.pos);
        Ok(Ident { text, span })
    }
}
