//! Parser of conditions on the platform: `x86_64 && (linux >= 6.1 || root)`.

use super::cursor::{Parsed, Parser, Range, Reported};
use super::token::TokenKind;
use crate::ast::{Atom, Condition};
use crate::diagnostic::error;
use crate::source::Span;

/// Maximum number of atoms and operators in a condition, which bounds the depth of recursion.
const MOST_QUESTIONS: usize = 64;

impl Parser<'_> {
    /// A whole condition, up to the next clause of the header.
    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        let start = self.pos;
        let end = self.find(start, |p, at| matches!(p.word_at(at), "extends" | "ports" | "on"));
        let words = (start..end)
            .filter(|at| matches!(self.kind_at(*at), TokenKind::Word | TokenKind::Mark(b'!')))
            .count();
        if words > MOST_QUESTIONS {
            self.pos = end;
            return self.fail(error!("long-condition" at self.span(start..end),
                "this condition asks more than {MOST_QUESTIONS} questions"));
        }
        let condition = self.any_of()?;
        if self.pos < end {
            return Err(self.not_a_connective());
        }
        Ok(condition)
    }

    fn not_a_connective(&mut self) -> Reported {
        let found = self.shown(self.pos);
        let (message, help) = match self.kind() {
            TokenKind::Mark(b'&' | b'|') => (
                format!("{found} does not join conditions"),
                "write `&&` for both, `||` for either",
            ),
            TokenKind::Mark(b',') => (
                format!("{found} does not join conditions"),
                "write `||` if one of them is enough, `&&` if both must hold",
            ),
            TokenKind::Mark(b'<' | b'>' | b'=' | b'!') => (
                "only a system's name is compared with a version".to_owned(),
                "write for example `linux >= 6.1`",
            ),
            TokenKind::Word | TokenKind::Mark(b'(') => (
                format!("nothing joins {found} to the condition before it"),
                "write `&&` for both, `||` for either",
            ),
            _ => (
                format!("{found} is not expected in a condition"),
                "a condition is made of names, versions, `cpu(...)`, `root`, `file(\"...\")`, `&&`, `||`, `!`",
            ),
        };
        self.report(error!("bad-condition" at self.here(), "{message}"; help help))
    }

    fn any_of(&mut self) -> Parsed<Condition> {
        let mut left = self.all_of()?;
        while self.is_double(self.pos, [b'|', b'|']) {
            self.pos += 2;
            left = Condition::Or(Box::new(left), Box::new(self.all_of()?));
        }
        Ok(left)
    }

    fn all_of(&mut self) -> Parsed<Condition> {
        let mut left = self.not()?;
        while self.is_double(self.pos, [b'&', b'&']) {
            self.pos += 2;
            left = Condition::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Condition> {
        if self.at(b'!') && !self.is_double(self.pos, [b'!', b'=']) {
            self.pos += 1;
            return Ok(Condition::Not(Box::new(self.deeper(Self::not)?)));
        }
        if !self.at(b'(') {
            return self.question();
        }
        let inside = self.group("the condition")?;
        let after = self.pos;
        let condition = self.within(inside, |p| {
            let condition = p.deeper(Self::any_of)?;
            if p.is_done() { Ok(condition) } else { Err(p.not_a_connective()) }
        });
        self.pos = after;
        condition
    }

    fn question(&mut self) -> Parsed<Condition> {
        let at = self.pos;
        let atom = match self.word() {
            "" => return Err(self.no_question()),
            "cpu" => self.cpu()?,
            "file" => self.readable_file()?,
            "root" => {
                self.pos += 1;
                Atom::Root
            }
            _ => return self.named(),
        };
        Ok(Condition::Atom(atom, self.span_since(at)))
    }

    fn no_question(&mut self) -> Reported {
        let (place, found) = (self.here_or_end(), self.found());
        self.report(error!("missing-condition" at place, "a platform is missing here{found}";
            help "name one, as in `x86_64 && linux >= 6.1`"))
    }

    fn span_since(&self, start: usize) -> Span {
        self.span(start..self.pos)
    }

    /// `NAME`, `NAME >= VERSION`, `NAME < VERSION`
    fn named(&mut self) -> Parsed<Condition> {
        let start = self.pos;
        self.check_name(start, "a platform")?;
        self.pos += 1;
        let name = self.text_at(start).to_owned();
        let plain = Condition::Atom(Atom::Name(name.clone()), self.span_at(start));
        let is_at_least = self.is_double(self.pos, [b'>', b'=']);
        let is_below = self.at(b'<') && !self.is_double(self.pos, [b'<', b'=']);
        if !is_at_least && !is_below {
            return match self.kind() {
                TokenKind::Mark(b'>' | b'<' | b'=') => Err(self.bad_comparison()),
                TokenKind::Mark(b'!') if self.is_mark(self.pos + 1, b'=') => {
                    Err(self.bad_comparison())
                }
                _ => Ok(plain),
            };
        }
        self.pos += 1 + usize::from(is_at_least);
        let version = self.version()?;
        let since = Condition::Atom(Atom::AtLeast(name, version), self.span_since(start));
        Ok(if is_at_least {
            since
        } else {
            Condition::And(Box::new(plain), Box::new(Condition::Not(Box::new(since))))
        })
    }

    fn bad_comparison(&mut self) -> Reported {
        let is_double = self.is_mark(self.pos + 1, b'=');
        let end = self.pos + 1 + usize::from(is_double);
        let span = self.span(self.pos..end);
        self.pos = end;
        self.report(
            error!("bad-comparison" at span, "a version is compared only with `>=` and `<`";
            help "write for example `linux >= 6.1 && linux < 6.2`"),
        )
    }

    fn version(&mut self) -> Parsed<Vec<u32>> {
        let at = self.pos;
        let place = self.here_or_end();
        let text = self.text_at(at);
        self.pos = (at + 1).min(self.end);
        let parts: Option<Vec<u32>> = text
            .split('.')
            .map(|part| {
                let is_digits = part.bytes().all(|b| b.is_ascii_digit());
                part.parse().ok().filter(|_| is_digits)
            })
            .collect();
        parts.filter(|p| p.len() <= 8).ok_or_else(|| {
            self.report(error!("bad-version" at place,
                "a version is numbers with points between them";
                help "write for example `linux >= 6.1`"))
        })
    }

    /// `cpu(FEATURE)`
    fn cpu(&mut self) -> Parsed<Atom> {
        let inside = self.question_argument("cpu", "`cpu(avx512f)`")?;
        let is_word =
            inside.end == inside.start + 1 && self.kind_at(inside.start) == TokenKind::Word;
        if !is_word {
            return Err(self.bad_argument(
                inside,
                "`cpu` asks for one feature by its name",
                "write for example `cpu(avx512f)`",
            ));
        }
        Ok(Atom::Cpu(self.text_at(inside.start).to_owned()))
    }

    /// `file("PATH")`
    fn readable_file(&mut self) -> Parsed<Atom> {
        let inside = self.question_argument("file", "`file(\"/dev/kvm\")`")?;
        let text = self.text_at(inside.start);
        let path = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        let path = path.filter(|p| inside.end == inside.start + 1 && !p.is_empty());
        match path {
            Some(path) if !path.contains('\\') => Ok(Atom::File(path.to_owned())),
            _ => Err(self.bad_argument(
                inside,
                "`file` asks for one path, a string without `\\`",
                "write for example `file(\"/dev/kvm\")`",
            )),
        }
    }

    fn bad_argument(&mut self, inside: Range, message: &str, help: &str) -> Reported {
        self.report(error!("bad-question" at self.span(inside), "{message}"; help help))
    }

    fn question_argument(&mut self, word: &str, example: &str) -> Parsed<Range> {
        self.pos += 1;
        if !self.at(b'(') {
            return self.fail(error!("bad-question" at self.span_at(self.pos - 1),
                "`{word}` is not followed by what it asks for";
                help format!("write for example {example}")));
        }
        self.group(&format!("`{word}`"))
    }
}
