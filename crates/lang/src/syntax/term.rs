//! Parser of bitstring terms.

use super::cursor::{Parsed, Parser, Range, Reported};
use super::literal::{self, LiteralFault};
use super::token::TokenKind;
use super::words;
use crate::ast::{Cpp, Ident, Reference, Term, TermKind};
use crate::diagnostic::error;

impl Parser<'_> {
    /// Terms up to the end of the block.
    pub(super) fn terms(&mut self) -> Vec<Term> {
        let mut terms = Vec::new();
        let mut has_separator = false;
        while !self.is_done() {
            let start = self.pos;
            if matches!(self.kind(), TokenKind::Mark(b';' | b',' | b'+')) {
                // One message per body, since separators usually occur throughout.
                if !has_separator {
                    self.separator();
                }
                has_separator = true;
                self.pos += 1;
                continue;
            }
            if self.is_stray(start) {
                self.pos += 1;
                continue;
            }
            match self.term() {
                Ok(term) => terms.push(term),
                Err(_) => self.pass_fault(start),
            }
        }
        terms
    }

    /// Skips a faulty term that began at `start`, or its whole line if one of its brackets is not
    /// closed.
    fn pass_fault(&mut self, start: usize) {
        let is_open =
            matches!(self.kind(), TokenKind::Mark(b'(' | b'[')) && self.close(self.pos).is_none();
        if is_open {
            self.pos = self.find(self.pos + 1, |p, at| p.is_first(at));
        }
        self.pos = self.pos.max(start + 1).min(self.end);
    }

    fn separator(&mut self) -> Reported {
        let found = self.shown(self.pos);
        self.report(error!("separated-terms" at self.here(), "{found} cannot stand between terms";
            help "terms are written one after the other with nothing between them"))
    }

    pub(super) fn term(&mut self) -> Parsed<Term> {
        let start = self.pos;
        let kind = match self.kind() {
            TokenKind::Number => self.literal(),
            TokenKind::Word => self.word_term(),
            _ => Err(self.no_term()),
        }?;
        let span = self.span(start..self.pos);
        Ok(Term { span, kind })
    }

    fn no_term(&mut self) -> Reported {
        let at = self.pos;
        if let Some(reported) = self.strange(at) {
            return reported;
        }
        let found = self.shown(at);
        let help = match self.kind() {
            TokenKind::Text | TokenKind::Character => "bits are written as `0x...` or `0b...`",
            TokenKind::Mark(b'{') => "only `unroll`, `if`, `word` and `asm` have a block",
            TokenKind::Mark(b'(') => "terms are not grouped: write them one after the other",
            _ => {
                "terms are literals, members, calls, casts, `word`, `asm`, `unroll`, `if`, `label`, `rel`, `align` and `abs`"
            }
        };
        let error = self.report(error!("unknown-term" at self.here(),
            "{found} is no term of a bitstring";
            help help));
        // A run of such characters is one fault.
        self.pos = self.past(at);
        while !self.is_done()
            && !self.is_first(self.pos)
            && !matches!(
                self.kind(),
                TokenKind::Word | TokenKind::Number | TokenKind::Mark(b';' | b',' | b'+')
            )
        {
            self.pos = self.past(self.pos);
        }
        let is_operator =
            matches!(self.kind_at(at), TokenKind::Mark(b) if !matches!(b, b'{' | b'('));
        if is_operator && self.kind() == TokenKind::Number && !self.is_first(self.pos) {
            self.pos += 1;
        }
        error
    }

    fn literal(&mut self) -> Parsed<TermKind> {
        let at = self.pos;
        let text = self.text_at(at);
        self.pos += 1;
        let fault = match literal::bits(text) {
            Ok(bits) => return Ok(TermKind::Literal(bits)),
            Err(fault) => fault,
        };
        let whole = self.span_at(at);
        let shown = self.shown(at);
        Err(match fault {
            LiteralFault::NoBase => self.report(error!("literal-without-base" at whole,
                "{shown} does not say how many bits it has";
                help "write bits as `0x...` (four for each digit) or `0b...`, or cast a number: `le(VALUE, BITS)`")),
            LiteralFault::NoDigits => self.report(error!("literal-without-digits" at whole,
                "{shown} has no digits")),
            LiteralFault::BadDigit(offset) => {
                let digit = text[offset..].chars().next().unwrap_or(' ');
                let start = whole.start + offset as u32;
                let span = crate::source::Span::new(whole.file, start, start + digit.len_utf8() as u32);
                let base = match &text[..2] {
                    "0b" | "0B" => "binary",
                    _ => "hexadecimal",
                };
                self.report(error!("bad-digit" at span, "`{digit}` is no {base} digit"))
            }
        })
    }

    fn word_term(&mut self) -> Parsed<TermKind> {
        match self.word() {
            "le" => self.arguments(["VALUE", "BITS"]).map(|[a, b]| TermKind::Le(a, b)),
            "be" => self.arguments(["VALUE", "BITS"]).map(|[a, b]| TermKind::Be(a, b)),
            "bits" => {
                self.arguments(["VALUE", "HIGH", "LOW"]).map(|[a, b, c]| TermKind::Slice(a, b, c))
            }
            "abs" => self.arguments(["FUNCTION", "BITS"]).map(|[a, b]| TermKind::Abs(a, b)),
            "align" => self.arguments(["BYTES"]).map(|[a]| TermKind::Align(a)),
            "rel" => self.rel(),
            "word" => self.word_of_terms(),
            "asm" => self.asm(),
            "unroll" => self.unroll(),
            "if" => self.if_term(),
            "label" => self.label(),
            "else" => Err(self.lone_else()),
            "offset" if self.is_mark(self.pos + 1, b'(') => Err(self.lone_offset()),
            "super" => self.reference(),
            _ if self.at_member() || self.word() == "yamba" => Err(self.swallowed_member()),
            word if words::is_cpp(word) => Err(self.cpp_in_terms()),
            _ => self.reference(),
        }
    }

    /// Reports a declaration of a member among terms.
    fn swallowed_member(&mut self) -> Reported {
        let error = self.report(error!("member-in-terms" at self.here(),
            "{} stands inside a bitstring", self.shown(self.pos);
            help "close the bitstring before it with `}`"));
        self.pos = self.end;
        error
    }

    fn cpp_in_terms(&mut self) -> Reported {
        let help = match self.word() {
            "for" | "while" | "do" => {
                "a loop in a bitstring is written `unroll (INIT; CONDITION; STEP) { TERMS }`"
            }
            _ => "C++ statements stand in functions; a bitstring consists of terms",
        };
        let error = self.report(error!("cpp-in-terms" at self.here(),
            "{} is C++ and no term of a bitstring", self.shown(self.pos);
            help help));
        // Skips to the end of the statement, so that the rest is not parsed as terms.
        loop {
            let kind = self.kind();
            self.pos = self.past(self.pos);
            if self.is_done()
                || matches!(kind, TokenKind::Mark(b';' | b'{'))
                || self.is_first(self.pos)
            {
                if self.at(b'{') {
                    self.pos = self.past(self.pos);
                }
                return error;
            }
        }
    }

    fn lone_else(&mut self) -> Reported {
        let error = self.report(error!("else-without-if" at self.here(),
            "`else` does not follow the block of an `if`";
            help "write `if (CONDITION) { TERMS } else { TERMS }`"));
        self.pos += 1;
        if self.at(b'{') {
            self.pos = self.past(self.pos);
        }
        error
    }

    fn lone_offset(&mut self) -> Reported {
        let error = self.report(error!("offset-outside-cast" at self.here(),
            "`offset` is a number, not bits";
            help "put it into a cast, as in `bits(offset(NAME), 12, 1)`"));
        self.pos = self.past(self.pos + 1);
        error
    }

    /// `(A, B)` after a keyword, with its exact number of arguments.
    fn arguments<const N: usize>(&mut self, names: [&str; N]) -> Parsed<[Cpp; N]> {
        self.argument_ranges(names).map(|ranges| ranges.map(|r| self.cpp(r)))
    }

    fn argument_ranges<const N: usize>(&mut self, names: [&str; N]) -> Parsed<[Range; N]> {
        let at = self.pos;
        let word = self.text_at(at);
        let form = format!("write `{word}({})`", names.join(", "));
        self.pos += 1;
        if !self.at(b'(') {
            return self.fail(error!("missing-arguments" at self.span_at(at),
                "`{word}` is not followed by its arguments";
                help form));
        }
        let inside = self.group(&format!("`{word}`"))?;
        let parts = self.split(inside.clone(), b',');
        let count = if inside.is_empty() { 0 } else { parts.len() };
        let parts: Option<[Range; N]> = parts.try_into().ok();
        match parts {
            Some(parts) if count == N => match parts.iter().find(|p| p.is_empty()) {
                None => Ok(parts),
                Some(empty) => Err(self.empty_argument(empty.start, word)),
            },
            _ => {
                let span = self.span(at..self.pos);
                let plural = if N == 1 { "" } else { "s" };
                let message = format!(
                    "`{word}` takes {} argument{plural}, but has {}",
                    counted(N),
                    counted(count)
                );
                self.fail(error!("argument-count" at span, "{message}"; help form))
            }
        }
    }

    fn empty_argument(&mut self, empty: usize, word: &str) -> Reported {
        self.report(error!("missing-argument" at self.after(empty),
            "an argument of `{word}` is missing here"))
    }

    /// `rel(NAME, BITS)`
    fn rel(&mut self) -> Parsed<TermKind> {
        let [label, bits] = self.argument_ranges(["LABEL", "BITS"])?;
        let is_name = label.end == label.start + 1 && self.kind_at(label.start) == TokenKind::Word;
        if !is_name {
            return self.fail(error!("bad-label" at self.span(label),
                "the first argument of `rel` is the name of a label";
                help "mark a place with `label NAME:` and write `rel(NAME, BITS)`"));
        }
        Ok(TermKind::Rel(self.ident(label.start), self.cpp(bits)))
    }

    /// `word(BITS) { TERMS }`
    fn word_of_terms(&mut self) -> Parsed<TermKind> {
        let bits = self.arguments(["BITS"]);
        if bits.is_err() && !self.at(b'{') {
            return Err(Reported);
        }
        let terms = self.nested_block("`word`")?;
        let [bits] = bits?;
        Ok(TermKind::Word(bits, terms))
    }

    /// The block after `unroll`, `if`, `else` or `word`.
    fn nested_block(&mut self, what: &str) -> Parsed<Vec<Term>> {
        if !self.at(b'{') {
            return self.fail(error!("missing-block" at self.after(self.pos),
                "`{{` is missing after {what}";
                help "its terms stand in braces, even if there is only one"));
        }
        let open = self.pos;
        let terms = self.deeper(|p| Ok(p.block(Self::terms)));
        self.pos = self.past(open);
        terms
    }

    fn asm(&mut self) -> Parsed<TermKind> {
        self.pos += 1;
        let TokenKind::Asm(index) = self.kind() else {
            return self.fail(error!("missing-block" at self.after(self.pos),
                "`{{` is missing after `asm`";
                help "write `asm { INSTRUCTIONS }`"));
        };
        self.pos += 1;
        Ok(TermKind::Asm(self.blocks[index as usize].clone()))
    }

    /// `unroll (INIT; CONDITION; STEP) { TERMS }`
    fn unroll(&mut self) -> Parsed<TermKind> {
        let word = self.here();
        self.pos += 1;
        let help = "write `unroll (INIT; CONDITION; STEP) { TERMS }`, as in `unroll (int i = 0; i < n; i++) { step }`";
        if !self.at(b'(') {
            let error = self.report(error!("unroll-header" at word,
                "`unroll` is not followed by its header in parentheses";
                help help));
            return Err(self.skip_block(error));
        }
        let open = self.pos;
        let inside = self.group("`unroll`")?;
        let parts = self.split(inside, b';');
        let header = self.span(open..self.pos);
        let parts: Option<[Range; 3]> = parts.try_into().ok();
        let header = match parts {
            None => self.fail(error!("unroll-header" at header,
                "the header of `unroll` does not have exactly two `;`";
                help help)),
            Some([_, condition, _]) if condition.is_empty() => {
                self.fail(error!("unroll-header" at header,
                "the header of `unroll` has no condition, so it would never end";
                help help))
            }
            Some(parts) => Ok(parts.map(|p| self.cpp(p))),
        };
        // The body is parsed even after a faulty header, since it may have faults of its own.
        let body = self.nested_block("the header of `unroll`")?;
        let [init, condition, step] = header?;
        Ok(TermKind::Unroll { init, condition, step, body })
    }

    /// Skips a faulty header and the block after it.
    fn skip_block(&mut self, error: Reported) -> Reported {
        while !self.at(b'{') && !self.is_first(self.pos) {
            self.pos = self.past(self.pos);
        }
        if self.at(b'{') {
            self.pos = self.past(self.pos);
        }
        error
    }

    /// `if (CONDITION) { TERMS } [else { TERMS } | else if ...]`
    fn if_term(&mut self) -> Parsed<TermKind> {
        let word = self.here();
        self.pos += 1;
        let help = "write `if (CONDITION) { TERMS }`";
        if !self.at(b'(') {
            let message = "`if` is not followed by a condition in parentheses";
            let error = self.report(error!("if-header" at word, "{message}"; help help));
            return Err(self.skip_block(error));
        }
        let condition = self.group("`if`")?;
        let header = if condition.is_empty() {
            self.fail(error!("if-header" at word, "the condition of `if` is empty"; help help))
        } else {
            Ok(self.cpp(condition))
        };
        let then = self.nested_block("the condition of `if`")?;
        let otherwise = if self.eat_word("else") { self.else_terms()? } else { Vec::new() };
        Ok(TermKind::If { condition: header?, then, otherwise })
    }

    fn else_terms(&mut self) -> Parsed<Vec<Term>> {
        match self.word() {
            "if" => self.deeper(|p| p.term()).map(|term| vec![term]),
            _ => self.nested_block("`else`"),
        }
    }

    /// `label NAME:`
    fn label(&mut self) -> Parsed<TermKind> {
        self.pos += 1;
        let at = self.pos;
        if words::is_cpp(self.word()) {
            let message =
                format!("`{}` is a word of C++ and cannot be the name of a label", self.word());
            self.report(error!("reserved-name" at self.span_at(at), "{message}";
                help "choose another name"));
            self.pos += 1;
            self.eat(b':');
            return Err(Reported);
        }
        let name = match self.name("the label") {
            Ok(name) => name,
            Err(reported) => {
                let is_instead = !self.is_first(self.pos) && self.is_mark(self.pos + 1, b':');
                self.pos += usize::from(is_instead);
                self.eat(b':');
                return Err(reported);
            }
        };
        if !self.eat(b':') {
            return self.fail(error!("label-without-colon" at self.after(self.pos),
                "`:` is missing after the label `{name}`";
                help "write `label NAME:`"));
        }
        Ok(TermKind::Label(name))
    }

    /// `name`, `name(args)`, `Class.name(args)`, `super::name(args)`
    fn reference(&mut self) -> Parsed<TermKind> {
        let is_super = self.word() == "super";
        if is_super {
            self.pos += 1;
            if !self.is_double(self.pos, [b':', b':']) {
                let place = self.span_at(self.pos - 1);
                while matches!(self.kind(), TokenKind::Mark(b':' | b'.')) {
                    self.pos += 1;
                }
                let message = "`super` is not followed by `::` and a member";
                return self.fail(error!("bad-super" at place, "{message}";
                    help "write `super::NAME`"));
            }
            self.pos += 2;
        }
        let mut name = self.reference_name(is_super)?;
        let mut class = None;
        if self.at(b'.') && !is_super {
            self.pos += 1;
            class = Some(name);
            name = self.reference_name(true)?;
        }
        self.refuse_after_reference()?;
        let args = if self.at(b'(') { Some(self.call(&name)?) } else { None };
        Ok(TermKind::Reference(Reference { is_super, class, name, args }))
    }

    /// A name that begins a reference, or (`is_second`) the member after `.` or `::` on the same
    /// line.
    fn reference_name(&mut self, is_second: bool) -> Parsed<Ident> {
        let at = self.pos;
        let is_new_line = is_second && self.is_first(at);
        if self.kind() == TokenKind::Word && !is_new_line && !self.is_member(at) {
            self.pos += 1;
            self.check_name(at, "a member")?;
            return Ok(self.ident(at));
        }
        self.fail(error!("missing-name" at self.after(at), "the name of a member is missing here"))
    }

    fn refuse_after_reference(&mut self) -> Parsed<()> {
        let at = self.pos;
        let (message, help) = if self.is_double(at, [b':', b':']) {
            (
                "a member of another class is written with a point",
                "write `Class.member`; `::` follows only `super`",
            )
        } else if self.at(b':') {
            ("`label` is missing before a label", "write `label NAME:`")
        } else if self.at(b'.') {
            (
                "only one class can stand before a member",
                "write `Class.member`, and `import(Class);` in this class",
            )
        } else {
            return Ok(());
        };
        let error = self.report(error!("bad-reference" at self.here(), "{message}"; help help));
        // Skips the rest of the qualified name.
        while matches!(self.kind(), TokenKind::Mark(b':' | b'.')) {
            self.pos += 1;
            let is_joined =
                !self.is_done() && self.tokens[self.pos - 1].end == self.tokens[self.pos].start;
            if self.kind() == TokenKind::Word && is_joined {
                self.pos += 1;
            }
        }
        if self.at(b'(') {
            self.pos = self.past(self.pos);
        }
        Err(error)
    }

    fn call(&mut self, name: &Ident) -> Parsed<Vec<Cpp>> {
        let inside = self.group(&format!("the call of `{name}`"))?;
        if inside.is_empty() {
            return Ok(Vec::new());
        }
        let parts = self.split(inside, b',');
        if let Some(empty) = parts.iter().find(|p| p.is_empty()) {
            return Err(self.empty_argument(empty.start, &name.text));
        }
        Ok(parts.into_iter().map(|p| self.cpp(p)).collect())
    }
}

fn counted(count: usize) -> String {
    match ["none", "one", "two", "three", "four"].get(count) {
        Some(word) => (*word).to_owned(),
        None => count.to_string(),
    }
}
