//! Parser of a file and of class headers.

use super::cursor::{Parsed, Parser, Reported, join_docs};
use super::token::TokenKind;
use crate::ast::{Class, Condition, Cpp, File, Ident, Parent};
use crate::diagnostic::error;
use crate::source::Span;

/// The clauses of a header so far.
struct Header {
    parent: Option<(Parent, Span)>,
    on: Option<(Condition, Span)>,
    /// Whether there was an `on`, even a faulty one.
    has_on: bool,
}

impl Parser<'_> {
    /// The whole file.
    pub(super) fn file(&mut self) -> File {
        let mut file = File { id: self.here().file, natives: Vec::new(), classes: Vec::new() };
        // Documentation above `native` blocks belongs to the class after them.
        let mut doc = String::new();
        while !self.is_done() {
            doc = join_docs(doc, self.docs_before(self.pos));
            if self.at_class(self.pos) {
                let class = self.class(std::mem::take(&mut doc));
                file.classes.extend(class);
            } else if self.word() == "native" && self.is_mark(self.pos + 1, b'{') {
                file.natives.push(self.native());
            } else if !self.eat(b';') {
                self.stray_text();
            }
        }
        self.warn_idle_docs(self.end);
        file
    }

    /// `native { ... }`
    pub(super) fn native(&mut self) -> Cpp {
        self.pos += 1;
        self.body()
    }

    fn at_class(&self, at: usize) -> bool {
        self.word_at(at) == "yamba" && !self.is_double(at + 1, [b':', b':'])
    }

    /// Reports text between classes, with one message for each piece.
    fn stray_text(&mut self) {
        let start = self.pos;
        let end = self.find(start, |p, at| at > start && p.at_file_item(at));
        let is_reported = (start..end).any(|at| self.is_stray(at));
        while self.pos < end && !is_reported {
            if !self.eat(b';') {
                self.stray_piece(end);
            }
        }
        // Otherwise an extra `}` closed the class before it too early, which was reported.
        self.pos = end;
    }

    fn stray_piece(&mut self, end: usize) {
        let start = self.pos;
        self.pos = self.stray_end(start, end);
        if self.strange(start).is_some() {
            return;
        }
        let (message, help) = match self.text_at(start) {
            "class" | "struct" => (
                "a class begins with `yamba`".to_owned(),
                "write `yamba NAME { ... }`; C++ types stand in `native { ... }`",
            ),
            "abstract" => (
                "`abstract` stands after `yamba`".to_owned(),
                "write `yamba abstract NAME { ... }`",
            ),
            "#" => (
                "C++ cannot stand between classes".to_owned(),
                "write it in `native { ... }` before the class",
            ),
            "native" => ("`{` is missing after `native`".to_owned(), "write `native { ... }`"),
            "bitstring" | "chart" | "compile" | "evidence" | "import" | "param" | "requires" => (
                format!("{} stands outside all classes", self.shown(start)),
                "move it into the braces of a class: `yamba NAME { ... }`",
            ),
            _ => (
                format!("{} stands outside all classes", self.shown(start)),
                "a file consists of `yamba NAME { ... }` and `native { ... }`",
            ),
        };
        self.report(error!("stray-text" at self.span_at(start), "{message}"; help help));
    }

    /// The end of a piece of stray text: after `;` or a block, or before a line that begins another
    /// piece.
    fn stray_end(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let next = self.past(at);
            if matches!(self.kind_at(at), TokenKind::Mark(b';' | b'{')) {
                return next;
            }
            at = next;
            let begins = matches!(
                self.text_at(at),
                "class" | "struct" | "abstract" | "#" | "native" | "import"
            );
            if at < end && self.is_first(at) && begins && self.text_at(start) != "#" {
                return at;
            }
        }
        end
    }

    fn at_file_item(&self, at: usize) -> bool {
        self.at_class(at) || (self.word_at(at) == "native" && self.is_mark(at + 1, b'{'))
    }

    /// `yamba [abstract] NAME [extends BASE | ports BASE] [on CONDITION] { ... }`
    fn class(&mut self, doc: String) -> Option<Class> {
        let start = self.pos;
        self.pos += 1;
        let brace = self.header_end();
        let errors = self.errors.count();
        let range = self.pos..brace;
        let header = self.within(range, |p| p.header(start));
        let header_span = self.span(start..brace);
        let mut doc = join_docs(doc, self.docs_after(brace));
        let members = if self.at(b'{') {
            doc = join_docs(doc, self.docs_after(brace + 1));
            self.block(Self::members)
        } else {
            if self.errors.count() == errors {
                self.missing_class_body(self.after(brace));
            }
            Vec::new()
        };
        self.eat(b';');
        let (is_abstract, name, header) = header?;
        Some(Class {
            header: header_span,
            doc: join_docs(doc, self.docs_after(self.pos)),
            is_abstract,
            name,
            parent: header.parent.map_or(Parent::Default, |p| p.0),
            on: header.on.map(|o| o.0),
            members,
        })
    }

    fn missing_class_body(&mut self, place: Span) -> Reported {
        self.report(error!("missing-class-body" at place,
            "`{{` is missing after the header of the class";
            help "the members stand between `{` and `}`"))
    }

    /// The first `{` of the class, or the end of a header without one.
    fn header_end(&self) -> usize {
        let is_end = |p: &Self, at: usize| {
            matches!(p.kind_at(at), TokenKind::Mark(b'{' | b'}' | b';'))
                || (at > p.pos && p.is_first(at) && (p.at_class(at) || p.is_member(at)))
        };
        self.find(self.pos, is_end)
    }

    fn header(&mut self, start: usize) -> Option<(bool, Ident, Header)> {
        let is_abstract = self.eat_word("abstract");
        let name = self.class_name("the class");
        let mut header = Header { parent: None, on: None, has_on: false };
        if name.is_err() {
            // A lone `extends` may be the intended name, so the missing base is not reported as a
            // second fault.
            let clause = self.find(self.pos, |p, at| is_clause(p.word_at(at)));
            self.pos = if clause + 1 == self.end { self.end } else { clause };
        }
        while !self.is_done() {
            if self.clause(&mut header).is_err() {
                self.pos = self.find(self.pos, |p, at| is_clause(p.word_at(at)));
            }
        }
        self.check_port(start, is_abstract, &header);
        Some((is_abstract, name.ok()?, header))
    }

    fn clause(&mut self, header: &mut Header) -> Parsed<()> {
        match self.word() {
            "extends" | "ports" => self.parent(header),
            "on" => self.on(header),
            _ => Err(self.unexpected_in_header()),
        }
    }

    fn unexpected_in_header(&mut self) -> Reported {
        if let Some(reported) = self.strange(self.pos) {
            self.pos += 1;
            return reported;
        }
        if self.is_first(self.pos) {
            let place = self.after(self.pos);
            self.pos = self.end;
            return self.missing_class_body(place);
        }
        let found = self.shown(self.pos);
        let error = error!("bad-header" at self.here(),
            "{found} is not expected in the header of a class");
        let help = match self.text_at(self.pos) {
            "abstract" => "write `yamba abstract NAME`",
            ":" => "a base is written `extends BASE`",
            "(" => "a class has no arguments: give it a `param`",
            _ => "a header is `yamba [abstract] NAME [extends BASE | ports BASE] [on PLATFORM]`",
        };
        self.pos += 1;
        self.report(error.help(help))
    }

    /// `extends BASE`, `extends nothing`, `ports BASE`
    fn parent(&mut self, header: &mut Header) -> Parsed<()> {
        let word = self.pos;
        let is_port = self.text_at(word) == "ports";
        self.pos += 1;
        if let Some((first, span)) = &header.parent {
            let message = if matches!(first, Parent::Ports(_)) == is_port {
                "a class has only one base"
            } else {
                "a class either extends a base or ports one"
            };
            return self.fail(
                error!("two-bases" at self.span_at(word), "{message}";
                help "what several classes share can be had with `import(NAME);`")
                .also(*span, "the first one is here"),
            );
        }
        if !is_port && self.eat_word("nothing") {
            header.parent = Some((Parent::Nothing, self.span_at(word)));
            return Ok(());
        }
        let base = self.class_name("the base")?;
        let parent = if is_port { Parent::Ports(base) } else { Parent::Extends(base) };
        header.parent = Some((parent, self.span_at(word)));
        if self.at(b',') {
            return self.fail(error!("two-bases" at self.here(), "a class has only one base";
                help "what several classes share can be had with `import(NAME);`"));
        }
        Ok(())
    }

    /// `on CONDITION`
    fn on(&mut self, header: &mut Header) -> Parsed<()> {
        let word = self.span_at(self.pos);
        self.pos += 1;
        header.has_on = true;
        if let Some((_, first)) = &header.on {
            return self.fail(
                error!("two-conditions" at word, "`on` stands twice";
                help "join the conditions with `&&`")
                .also(*first, "the first one is here"),
            );
        }
        if self.is_done() || is_clause(self.word()) {
            return self.fail(error!("missing-condition" at word,
                "`on` is not followed by a platform";
                help "name one, as in `on x86_64 && linux >= 6.1`"));
        }
        let condition = self.condition()?;
        header.on = Some((condition, word));
        Ok(())
    }

    fn check_port(&mut self, start: usize, is_abstract: bool, header: &Header) {
        let Some((Parent::Ports(base), span)) = &header.parent else {
            return;
        };
        let span = *span;
        let base = base.text.clone();
        if is_abstract {
            self.report(
                error!("abstract-port" at self.span_at(start + 1), "a port cannot be abstract";
                help "a port may leave members to other ports anyway: delete `abstract`")
                .also(span, "this makes it a port"),
            );
        }
        if !header.has_on {
            self.report(error!("port-without-platform" at span,
                "a port does not say where it applies";
                help format!("write `ports {base} on PLATFORM`")));
        }
    }

    /// A class name. A `-` in it is reported and read as `_`.
    fn class_name(&mut self, what: &str) -> Parsed<Ident> {
        let start = self.pos;
        if is_clause(self.word()) {
            return self.fail(error!("missing-name" at self.after(start),
                "the name of {what} is missing"));
        }
        let mut name = self.name(what)?;
        while self.at(b'-') && self.is_joined(self.pos) && self.is_joined(self.pos + 1) {
            self.pos += 2;
            name.text = format!("{name}_{}", self.text_at(self.pos - 1));
        }
        if self.pos > start + 1 {
            name.span = self.span(start..self.pos);
            self.report(error!("bad-name" at name.span,
                "the name of {what} has a `-`, which names cannot have";
                help format!("write `{name}`")));
        }
        Ok(name)
    }

    /// Whether the token at `at` follows the previous one without white space.
    fn is_joined(&self, at: usize) -> bool {
        let is_part =
            matches!(self.kind_at(at), TokenKind::Word | TokenKind::Number | TokenKind::Mark(b'-'));
        is_part && self.tokens[at - 1].end == self.tokens[at].start
    }
}

fn is_clause(word: &str) -> bool {
    matches!(word, "extends" | "ports" | "on")
}
