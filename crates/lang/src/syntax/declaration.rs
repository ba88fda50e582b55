//! Parser of members in C++ syntax: state, functions, and values and sweeps of inherited
//! parameters.
//!
//! Other declarations, such as types and templates, are passed on like the content of `native`: see
//! [`super::cpp_declaration`].

use super::cursor::{Parsed, Parser, Range, Reported};
use super::token::TokenKind;
use super::words;
use crate::ast::{Cpp, Ident, Member, MemberKind};
use crate::diagnostic::error;

/// `TYPE NAME` of a member.
pub(super) struct Head {
    pub ty: Range,
    /// Index of the token of the name.
    pub name: usize,
}

/// The help for a C++ declaration that the parser does not know.
pub(super) const IN_NATIVE: &str =
    "write a declaration of another kind in `native { ... }` inside the class";

impl Parser<'_> {
    /// State, a function, or values of an inherited parameter.
    pub(super) fn declaration(&mut self) -> Parsed<MemberKind> {
        self.refuse_cpp()?;
        let is_assignment = self.is_mark(self.pos + 1, b'=') || self.is_sweep(self.pos + 1);
        if is_assignment && self.kind() == TokenKind::Word && !words::is_cpp(self.word()) {
            return self.assignment();
        }
        if let Some(read) = self.cpp_declaration() {
            return read;
        }
        let start = self.pos;
        let stop = self.head_end("the member")?;
        if self.is_mark(stop, b'(') && self.is_mark(stop + 1, b'*') && stop > start {
            return self.pointer_state(start, stop);
        }
        let head = self.head("the member")?;
        let name = self.ident(head.name);
        match self.kind() {
            TokenKind::Mark(b'(') => self.function(head.ty, name),
            TokenKind::Mark(b'{') => self.braced_state(head.ty, name),
            _ => self.state(head.ty, name),
        }
    }

    /// Rejects C++ constructs that are allowed in classes of C++ but not in those of Yamba.
    fn refuse_cpp(&mut self) -> Parsed<()> {
        let word = self.text_at(self.pos);
        let is_access =
            matches!(word, "public" | "private" | "protected") && self.is_mark(self.pos + 1, b':');
        let is_lone = matches!(word, "#" | "~" | "namespace");
        if !(is_access || is_lone) {
            return Ok(());
        }
        let found = self.shown(self.pos);
        let place = self.here();
        if word == "#" {
            self.skip_directives();
        } else if is_access {
            self.pos += 2;
        }
        let message = if is_access {
            format!("{found} has no meaning here: all members are visible")
        } else {
            format!("{found} makes no member of a Yamba class")
        };
        let help = match word {
            _ if is_access => "delete it",
            "~" => "write `void cleanup() { ... }` for what happens at the end",
            _ => "write it in `native { ... }` before the class",
        };
        let error = error!("cpp-declaration" at place, "{message}"; help help);
        self.is_past_fault = is_access || word == "#";
        Err(self.report(error))
    }

    /// Skips preprocessor lines, with one message for consecutive ones.
    fn skip_directives(&mut self) {
        loop {
            self.pos += 1;
            while !self.is_first(self.pos) {
                self.pos += 1;
            }
            if !self.at(b'#') {
                return;
            }
        }
    }

    /// Whether `over` or `quick` at `at` begins a sweep, rather than being the name of a member.
    fn is_sweep(&self, at: usize) -> bool {
        let is_name = matches!(self.kind_at(at + 1), TokenKind::Mark(b';' | b'=' | b'[' | b'('));
        matches!(self.word_at(at), "over" | "quick") && !is_name
    }

    /// `NAME [= VALUE] [over SWEEP] [quick {VALUES}];`
    fn assignment(&mut self) -> Parsed<MemberKind> {
        let name = self.ident(self.pos);
        self.check_name(self.pos, "a parameter")?;
        self.pos += 1;
        let what = format!("`{name}`");
        let values = self.parameter_values(&what)?;
        self.semicolon(&format!("the value of {what}"));
        Ok(MemberKind::Assign { name, values })
    }

    /// Reads `TYPE NAME` up to the `;`, `(`, `=`, `[` or `{` after the name.
    pub(super) fn head(&mut self, what: &str) -> Parsed<Head> {
        let start = self.pos;
        let stop = self.head_end(what)?;
        self.pos = stop;
        if stop == start {
            if let Some(reported) = self.strange(start) {
                return Err(reported);
            }
            if what != "the member" {
                return self.fail(error!("missing-name" at self.after(start),
                    "the type and name of {what} are missing"));
            }
            return self.fail(error!("bad-member" at self.here(),
                "{} begins no member of a class", self.shown(start);
                help "a member begins with its type or with a word such as `param`, `bitstring`, `evidence`, `import`, `native`"));
        }
        let name = stop - 1;
        let is_name = self.kind_at(name) == TokenKind::Word
            && !words::is_type(self.text_at(name))
            && (name > start || !words::is_specifier(self.text_at(name)));
        if !is_name {
            return self.fail(error!("missing-name" at self.after(stop),
                "the name of {what} is missing"));
        }
        self.check_name(name, what)?;
        if !(start..name).any(|at| self.kind_at(at) == TokenKind::Word) {
            return self.fail(error!("missing-type" at self.span_at(name),
                "`{}` has no type", self.text_at(name);
                help match (self.at(b'('), what) {
                (true, "the evidence") => "write the type of its value before its name",
                (true, _) => "write the type that it returns before its name, `void` if none",
                (false, "the parameter") => "write `param TYPE NAME = VALUE;`",
                (false, _) => "write `TYPE NAME;`",
            }));
        }
        let ty = start..name;
        Ok(Head { ty, name })
    }

    /// The end of the name of a declaration.
    fn head_end(&mut self, what: &str) -> Parsed<usize> {
        let start = self.pos;
        let mut at = start;
        while at < self.end {
            if at > start
                && self.is_first(at)
                && (self.is_member(at) || self.is_next_head(start, at))
            {
                return Ok(at);
            }
            match self.kind_at(at) {
                TokenKind::Mark(b'(') if self.takes_parentheses(at) => at = self.past(at),
                TokenKind::Mark(b'[') if self.is_mark(at + 1, b'[') => at = self.past(at),
                TokenKind::Mark(b';' | b'(' | b'=' | b'[' | b'{') => return Ok(at),
                TokenKind::Mark(b',') if what == "the member" && at > start => return Ok(at),
                TokenKind::Mark(b'<') => at = self.past_angles(at)?,
                TokenKind::Word | TokenKind::Mark(b'*' | b'&') => at += 1,
                TokenKind::Mark(b':') if self.is_double(at, [b':', b':']) => at += 2,
                _ if at == start => return Ok(at),
                _ => return Err(self.unexpected_in_head(at, what)),
            }
        }
        Ok(at)
    }

    fn unexpected_in_head(&mut self, at: usize, what: &str) -> Reported {
        self.pos = at;
        if self.at(b',') {
            return self.second_name(at);
        }
        if let Some(reported) = self.strange(at) {
            return reported;
        }
        let error = error!("unexpected-token" at self.span_at(at),
            "{} is not expected in the type or name of {what}", self.shown(at));
        self.report(if what == "the member" { error.help(IN_NATIVE) } else { error })
    }

    /// Whether the parenthesis belongs to the word before it rather than to a function.
    fn takes_parentheses(&self, at: usize) -> bool {
        at > 0
            && matches!(
                self.word_at(at - 1),
                "decltype" | "alignas" | "__attribute__" | "typeof" | "__typeof__"
            )
    }

    /// Whether the declaration `start..at` only lacks its `;`, and another one begins on this line.
    fn is_next_head(&self, start: usize, at: usize) -> bool {
        let is_plain = |at: usize| {
            let word = self.word_at(at);
            !word.is_empty() && !words::is_cpp(word)
        };
        if at < start + 2 || self.kind_at(at) != TokenKind::Word || !is_plain(at - 1) {
            return false;
        }
        let before = self.word_at(at - 2);
        match self.kind_at(at - 2) {
            TokenKind::Word => !words::is_specifier(before),
            TokenKind::Mark(b) => matches!(b, b'*' | b'&' | b'>'),
            _ => false,
        }
    }

    /// The token after the `>` that closes the `<` at `open`.
    pub(super) fn past_angles(&mut self, open: usize) -> Parsed<usize> {
        let mut depth = 0usize;
        let mut at = open;
        while at < self.end {
            match self.kind_at(at) {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') if !self.is_double(at - 1, [b'-', b'>']) => depth -= 1,
                TokenKind::Mark(b';' | b'{' | b'}') => break,
                _ => {}
            }
            at = self.past(at);
            if depth == 0 {
                return Ok(at);
            }
        }
        self.fail(error!("unclosed-bracket" at self.span_at(open), "this `<` is never closed";
            help "write the `>` that closes it"))
    }

    /// A function, starting at its parameters.
    fn function(&mut self, ret: Range, name: Ident) -> Parsed<MemberKind> {
        let what = format!("the function `{name}`");
        let errors = self.errors.count();
        let params = self.parameters(&what)?;
        let is_faulty = self.errors.count() > errors;
        let start = self.pos;
        let end = self.qualifiers_end();
        self.pos = end;
        if self.at(b'=') {
            return self.fail(error!("pure-function" at self.here(),
                "`=` is not expected after {what}";
                help "a function that a port defines ends in `;` without more"));
        }
        let qualifiers = start..end;
        let body = self.optional_body(&what, "")?;
        if is_faulty && body.is_none() {
            // The intended kind of member is unclear, so its missing body is not another fault.
            self.is_past_fault = true;
            return Err(Reported);
        }
        Ok(MemberKind::Function {
            ret: self.cpp(ret),
            name,
            params,
            qualifiers: (!qualifiers.is_empty()).then(|| self.cpp(qualifiers)),
            body,
        })
    }

    /// The end of the qualifiers between the parameters and the body.
    fn qualifiers_end(&self) -> usize {
        // Everything before `->` and `->` itself; the type after it is read with fewer checks.
        let end =
            self.find(self.pos, |p, at| (p.is_first(at) && p.is_member(at)) || !p.is_qualifier(at));
        if !self.is_double(end, [b'-', b'>']) {
            return end;
        }
        self.find(end + 2, |p, at| {
            let is_type = matches!(
                p.kind_at(at),
                TokenKind::Word | TokenKind::Mark(b'<' | b'>' | b':' | b'*' | b'&' | b',' | b'[')
            );
            !is_type || (p.is_first(at) && p.is_member(at))
        })
    }

    fn is_qualifier(&self, at: usize) -> bool {
        match self.kind_at(at) {
            TokenKind::Word => matches!(
                self.text_at(at),
                "const" | "volatile" | "noexcept" | "override" | "final" | "__attribute__"
            ),
            TokenKind::Mark(b'(') => matches!(self.word_at(at - 1), "noexcept" | "__attribute__"),
            TokenKind::Mark(b'&' | b'[') => true,
            _ => false,
        }
    }

    /// `TYPE NAME{INIT};`, unless it is a function without its `()`.
    fn braced_state(&mut self, ty: Range, name: Ident) -> Parsed<MemberKind> {
        let open = self.pos;
        let after = self.past(open);
        let semicolon = self.find(open + 1, |p, at| at >= after || p.is_mark(at, b';'));
        let is_body = semicolon < after || (after == open + 2 && self.text_at(ty.start) == "void");
        if is_body {
            self.pos = after;
            let error = error!("missing-parameters" at self.after(open),
                "`()` is missing after the name of the function `{name}`");
            self.is_past_fault = true;
            return Err(self.report(error));
        }
        self.pos = after;
        let init = Some(self.cpp(open..after));
        self.finish_state(ty, name, None, init)
    }

    /// `TYPE NAME[ARRAY] [= INIT | {INIT}];`
    pub(super) fn state(&mut self, ty: Range, name: Ident) -> Parsed<MemberKind> {
        let start = self.pos;
        while self.at(b'[') {
            self.group("the array")?;
        }
        let array = start..self.pos;
        let init = if self.eat(b'=') {
            Some(self.initialiser(&name)?)
        } else if self.at(b'{') {
            let start = self.pos;
            self.pos = self.past(start);
            let end = self.pos;
            Some(self.cpp(start..end))
        } else {
            None
        };
        let array = (!array.is_empty()).then(|| self.cpp(array));
        self.finish_state(ty, name, array, init)
    }

    pub(super) fn finish_state(
        &mut self,
        ty: Range,
        name: Ident,
        array: Option<Cpp>,
        init: Option<Cpp>,
    ) -> Parsed<MemberKind> {
        let comma = self.pos;
        let base = self.without_declarator(ty.clone());
        while self.eat(b',') {
            let further = self.further_state(base.clone())?;
            self.further.push(further);
        }
        if self.pos > comma && self.is_mark(ty.end - 1, b'}') {
            let error = error!("several-names" at self.span_at(comma),
                "only one member is declared together with its type";
                help "end the type with `;`, and declare the members after it by its name");
            self.semicolon("the last name");
            self.is_past_fault = true;
            return Err(self.report(error));
        }
        self.semicolon(&format!("`{name}`"));
        Ok(MemberKind::State { ty: self.cpp(ty), name, array, init })
    }

    /// The part of a type that all names of a declaration share: `int` in `int *a, b;`.
    fn without_declarator(&self, ty: Range) -> Range {
        let mut depth = 0usize;
        let mut at = ty.start;
        while at < ty.end {
            match self.kind_at(at) {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') => depth = depth.saturating_sub(1),
                TokenKind::Mark(b'*' | b'&') if depth == 0 && at > ty.start => break,
                TokenKind::Mark(b'(') if !self.takes_parentheses(at) => break,
                _ => {}
            }
            at = self.past(at);
        }
        ty.start..at.min(ty.end)
    }

    /// `[*] NAME[ARRAY] [= INIT | {INIT}]` after a comma. Its member begins there, after its type.
    fn further_state(&mut self, base: Range) -> Parsed<Member> {
        let start = self.pos;
        self.pos = self.declarator_name(start);
        let name = self.name("the member")?;
        let array = self.pos;
        while self.at(b'[') {
            self.group("the array")?;
        }
        let array = array..self.pos;
        let init = if self.eat(b'=') {
            Some(self.initialiser(&name)?)
        } else if self.at(b'{') {
            let start = self.pos;
            self.pos = self.past(start);
            Some(self.cpp(start..self.pos))
        } else {
            None
        };
        Ok(Member {
            doc: String::new(),
            span: self.span(start..self.pos),
            kind: MemberKind::State {
                ty: self.cpp(base),
                name,
                array: (!array.is_empty()).then(|| self.cpp(array)),
                init,
            },
        })
    }

    /// Where the name of a declarator stands that begins at `at`, after its `*` and `&`.
    fn declarator_name(&self, mut at: usize) -> usize {
        while self.is_mark(at, b'*')
            || self.is_mark(at, b'&')
            || matches!(self.word_at(at), "const" | "volatile")
        {
            at += 1;
        }
        at
    }

    /// The C++ expression after `=`, up to `;`, to the comma before another name, or, if `;` is
    /// missing, to the line on which something else begins.
    fn initialiser(&mut self, name: &Ident) -> Parsed<Cpp> {
        let range = self.pos..self.initialiser_end();
        if range.is_empty() {
            return self.fail(error!("missing-value" at self.after(self.pos),
                "there is no value for `{name}` after `=`"));
        }
        self.pos = range.end;
        Ok(self.balanced(range))
    }

    fn initialiser_end(&self) -> usize {
        let last = self.value_end(&[]);
        let mut at = self.pos;
        while at < last {
            if self.is_mark(at, b',') && self.begins_declarator(at + 1) {
                return at;
            }
            at = self.template_arguments_end(at).unwrap_or_else(|| self.past(at));
        }
        last
    }

    /// Whether a name with its initialiser may begin at `at`, after a comma.
    fn begins_declarator(&self, at: usize) -> bool {
        let name = self.declarator_name(at);
        let ends = matches!(
            self.kind_at(name + 1),
            TokenKind::Mark(b',' | b';' | b'=' | b'[' | b'{') | TokenKind::End
        );
        let word = self.word_at(name);
        !word.is_empty() && !words::is_cpp(word) && (ends || self.is_first(name + 1))
    }

    /// The token after the `>` that closes a `<` at `at`, if template arguments seem to begin
    /// there. They have no `=` outside brackets.
    fn template_arguments_end(&self, at: usize) -> Option<usize> {
        if !self.is_mark(at, b'<') || self.word_at(at.checked_sub(1)?).is_empty() {
            return None;
        }
        let mut depth = 0usize;
        let mut next = at;
        while next < self.end {
            match self.kind_at(next) {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') if !self.is_double(next - 1, [b'-', b'>']) => depth -= 1,
                TokenKind::Mark(b';' | b'=') => return None,
                _ => {}
            }
            next = self.past(next);
            if depth == 0 {
                return Some(next);
            }
        }
        None
    }

    /// `RET (*NAME)(ARGS);`: the type ends before the name, and the rest is the array suffix.
    fn pointer_state(&mut self, start: usize, open: usize) -> Parsed<MemberKind> {
        self.pos = open;
        let inside = self.group("the pointer")?;
        let name = inside.end.max(inside.start + 1) - 1;
        if self.kind_at(name) != TokenKind::Word || !(self.at(b'(') || self.at(b'[')) {
            return self.fail(error!("missing-name" at self.span(inside),
                "the name of the pointer is missing"; help IN_NATIVE));
        }
        self.check_name(name, "the member")?;
        while self.at(b'(') || self.at(b'[') {
            self.group("the type that it points to")?;
        }
        let array = name + 1..self.pos;
        let init = if self.eat(b'=') { Some(self.initialiser(&self.ident(name))?) } else { None };
        let array = Some(self.cpp(array));
        self.finish_state(start..name, self.ident(name), array, init)
    }
}
