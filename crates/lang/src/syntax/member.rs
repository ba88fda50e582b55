//! Parser of class members, with the parsers of the short ones.

use super::cursor::{Parsed, Parser, Range, Reported, join_docs};
use super::token::TokenKind;
use super::words;
use crate::ast::{Chart, Cpp, Ident, Member, MemberKind};
use crate::diagnostic::error;
use crate::units;

impl Parser<'_> {
    /// All members up to the end of the class.
    pub(super) fn members(&mut self) -> Vec<Member> {
        let mut members = Vec::new();
        while !self.is_done() {
            if self.at(b';') || self.is_stray(self.pos) {
                self.pos += 1;
                continue;
            }
            self.member(&mut members);
        }
        self.warn_idle_docs(self.end);
        members
    }

    /// Reads a member, or all of a declaration with several names.
    fn member(&mut self, members: &mut Vec<Member>) {
        let start = self.pos;
        let doc = self.docs_before(start);
        let Ok(kind) = self.member_kind() else {
            let is_past = std::mem::take(&mut self.is_past_fault) && self.pos > start;
            if !is_past {
                self.skip_member();
            }
            self.further.clear();
            return;
        };
        let span = self.span(start..self.pos);
        // An extra `;` after `}` is common. A comment after it on its line still documents the
        // member.
        self.eat(b';');
        let doc = join_docs(doc, self.docs_after(self.pos));
        let further = std::mem::take(&mut self.further).into_iter();
        let further = further.map(|member| Member { doc: doc.clone(), ..member });
        let further: Vec<Member> = further.collect();
        members.push(Member { doc, span, kind });
        members.extend(further);
    }

    fn member_kind(&mut self) -> Parsed<MemberKind> {
        match self.word() {
            "import" => self.import(),
            "param" => self.param(),
            "bitstring" => self.bitstring(),
            "evidence" => self.evidence(),
            "at_least" | "at_most" => self.bound(),
            "requires" => self.requires(),
            "chart" => self.chart(),
            "stands_for" => self.stands_for(),
            "tags" => self.tags(),
            "compile" if self.is_mark(self.pos + 1, b'{') => self.compile(),
            "native" if self.is_mark(self.pos + 1, b'{') => Ok(MemberKind::Native(self.native())),
            "native" => self.fail(error!("missing-block" at self.here(),
                    "`{{` is missing after `native`";
                    help "write `native { ... }`; a function with a C++ body needs no `native`")),
            "yamba" => self.fail(error!("nested-class" at self.here(),
                    "a class cannot stand inside a class";
                    help "close the class before it with `}`")),
            _ => self.declaration(),
        }
    }

    /// `import(NAME);`
    fn import(&mut self) -> Parsed<MemberKind> {
        let word = self.here();
        self.pos += 1;
        let help = "write `import(NAME);`, once for each class";
        if !self.at(b'(') {
            let error = error!("bad-import" at word,
                "`import` is not followed by a class in parentheses");
            return Err(self.report(error.help(help)));
        }
        let inside = self.group("`import`")?;
        let is_name =
            inside.end == inside.start + 1 && self.kind_at(inside.start) == TokenKind::Word;
        if !is_name {
            let place = if inside.is_empty() { word } else { self.span(inside) };
            let error = error!("bad-import" at place, "`import` takes the name of one class");
            return Err(self.report(error.help(help)));
        }
        self.check_name(inside.start, "a class")?;
        // The paper's listings have the `;`, other sources do not: both forms are accepted.
        self.eat(b';');
        Ok(MemberKind::Import(self.ident(inside.start)))
    }

    /// `evidence TYPE NAME() [expects [LOW, HIGH]] { ... }`
    fn evidence(&mut self) -> Parsed<MemberKind> {
        self.pos += 1;
        let head = self.head("the evidence")?;
        let name = self.ident(head.name);
        if !self.at(b'(') {
            return self.fail(error!("evidence-without-parentheses" at self.after(self.pos),
                "`()` is missing after the name of the evidence `{name}`";
                help "write `evidence TYPE NAME() { ... }`"));
        }
        let inside = self.group("the evidence")?;
        let is_void = inside.end == inside.start + 1 && self.word_at(inside.start) == "void";
        if !inside.is_empty() && !is_void {
            self.report(error!("evidence-with-parameters" at self.span(inside),
                "evidence has no parameters: the harness calls it";
                help "what it needs to know can be a `param` or state of the class"));
        }
        let expects = match self.word() {
            "expects" => self.expects(),
            _ => None,
        };
        let body = self.optional_body(&format!("the evidence `{name}`"), "expects")?;
        Ok(MemberKind::Evidence { ty: self.cpp(head.ty), name, expects, body })
    }

    /// `expects [LOW, HIGH]`. Faults are reported and skipped.
    fn expects(&mut self) -> Option<(Cpp, Cpp)> {
        let word = self.here();
        self.pos += 1;
        let help = "write `expects [LOW, HIGH]`, two C++ expressions";
        let bounds = if self.at(b'[') {
            self.group("`expects`")
        } else {
            self.fail(error!("bad-bounds" at word, "`expects` is not followed by `[LOW, HIGH]`";
                help help))
        };
        let Ok(inside) = bounds else {
            self.pos = self.find(self.pos, |p, at| {
                matches!(p.kind_at(at), TokenKind::Mark(b'{' | b';')) || p.is_member(at)
            });
            return None;
        };
        let parts = self.split(inside.clone(), b',');
        if parts.len() != 2 || parts.iter().any(|p| p.is_empty()) {
            let place = if inside.is_empty() { word } else { self.span(inside) };
            self.report(error!("bad-bounds" at place,
                "`expects` needs two bounds, the lowest and the highest value";
                help help));
            return None;
        }
        let [low, high] = <[Range; 2]>::try_from(parts).ok()?.map(|p| self.balanced(p));
        Some((low, high))
    }

    /// `{ ... }` or `;`
    pub(super) fn optional_body(&mut self, what: &str, allowed: &str) -> Parsed<Option<Cpp>> {
        if self.at(b'{') {
            return Ok(Some(self.body()));
        }
        if self.eat(b';') {
            return Ok(None);
        }
        let is_next = self.is_done() || self.is_first(self.pos);
        let error = if is_next {
            error!("missing-body" at self.after(self.pos), "{what} has neither a body nor `;`")
        } else {
            error!("unexpected-token" at self.here(),
                "{} is not expected before the body of {what}", self.shown(self.pos))
        };
        let error = error.help(if allowed.is_empty() {
            "end it with `;` if a port defines it, else with `{ ... }`".to_owned()
        } else {
            format!(
                "only `{allowed} ...` stands here; end it with `;` if a port defines it, else with `{{ ... }}`"
            )
        });
        let reported = self.report(error);
        if is_next { Ok(None) } else { Err(reported) }
    }

    /// `at_least VALUE UNIT;`. The default unit is that of the figure.
    fn bound(&mut self) -> Parsed<MemberKind> {
        let at_least = self.word() == "at_least";
        let word = self.pos;
        self.pos += 1;
        let start = self.pos;
        let end = self.value_end(&[]);
        if start == end {
            return self.fail(error!("missing-value" at self.after(start),
                "`{}` is not followed by a quantity", self.text_at(word);
                help "write for example `at_least 1 cycle;`"));
        }
        let (unit_start, unit) = self.unit(word, start, end)?;
        if at_least && unit.text == units::SPREAD {
            self.report(error!("wrong-bound" at unit.span, "a spread has no least";
                help "write for example `at_most 2 spread;`"));
        }
        let value = start..unit_start;
        if value.is_empty() {
            self.pos = end;
            self.report(error!("missing-value" at unit.span,
                "there is no number before the unit `{unit}`";
                help "write for example `at_least 1 cycle;`"));
            self.semicolon("the bound");
            self.is_past_fault = true;
            return Err(Reported);
        }
        self.pos = end;
        self.semicolon("the bound");
        Ok(MemberKind::Bound { at_least, value: self.cpp(value), unit })
    }

    /// `requires CONDITION;`
    fn requires(&mut self) -> Parsed<MemberKind> {
        self.pos += 1;
        let start = self.pos;
        let end = self.value_end(&[]);
        if start == end {
            return self.fail(error!("missing-value" at self.after(start),
                "`requires` is not followed by a condition";
                help "write for example `requires stride <= size;`"));
        }
        self.pos = end;
        self.semicolon("the condition");
        Ok(MemberKind::Requires(self.cpp(start..end)))
    }

    /// The unit at the end of `start..end` and its start. Without a unit the start is `end`.
    fn unit(&mut self, word: usize, start: usize, end: usize) -> Parsed<(usize, Ident)> {
        for length in [3, 1] {
            let Some(first) = end.checked_sub(length).filter(|first| *first >= start) else {
                continue;
            };
            let text: String = (first..end).map(|at| self.text_at(at)).collect();
            if units::is_unit(&text) {
                let span = self.span(first..end);
                return Ok((first, Ident { text, span }));
            }
        }
        let last = end - 1;
        let is_word = self.kind_at(last) == TokenKind::Word;
        let is_glued =
            self.kind_at(last) == TokenKind::Number && glued_unit(self.text_at(last)).is_some();
        if !is_word && !is_glued {
            let text = String::new();
            let span = self.after(end);
            return Ok((end, Ident { text, span }));
        }
        self.pos = end;
        let error = if is_word {
            error!("unknown-unit" at self.span_at(last), "`{}` is no unit", self.text_at(last))
        } else {
            error!("missing-unit" at self.after(end),
                "`{}` does not say in which unit", self.text_at(word))
        };
        self.report(error.help(if is_glued {
            "write a space before the unit"
        } else {
            "units are `cycles`, `ps` to `s`, `min`, `Hz` to `GHz`, `bytes`, `kB` to `TB`, `KiB` to `TiB`, `bit` to `Tbit`, amounts in a second, such as `MB/s`, and `spread`"
        }));
        self.semicolon("the bound");
        self.is_past_fault = true;
        Err(Reported)
    }

    /// `chart FIGURE against X [log] [by PARAMETER] [fit linear];`
    fn chart(&mut self) -> Parsed<MemberKind> {
        self.pos += 1;
        if self.word() == "against" {
            return self.fail(error!("missing-name" at self.after(self.pos),
                "the name of what the chart shows is missing";
                help "write `chart FIGURE against PARAMETER;`"));
        }
        let figure = self.name("what the chart shows")?;
        if !self.eat_word("against") {
            return self.fail(error!("chart-without-against" at self.after(self.pos),
                "the chart does not say against what it shows `{figure}`";
                help "write `chart FIGURE against PARAMETER;`"));
        }
        let mut chart = Chart {
            figure,
            against: self.name("the chart's horizontal axis")?,
            log: false,
            by: None,
            fit_linear: false,
        };
        loop {
            let word = self.pos;
            match self.word() {
                "log" if !chart.log => {
                    self.pos += 1;
                    chart.log = true;
                }
                "by" if chart.by.is_none() => {
                    self.pos += 1;
                    chart.by = Some(self.name("the parameter after `by`")?);
                }
                "fit" if !chart.fit_linear => {
                    self.pos += 1;
                    if !self.eat_word("linear") {
                        return self.fail(error!("bad-fit" at self.span_at(word),
                            "a chart is fitted with a straight line only";
                            help "write `fit linear`"));
                    }
                    chart.fit_linear = true;
                }
                _ => break,
            }
        }
        self.semicolon("the chart");
        Ok(MemberKind::Chart(chart))
    }

    /// `tags NAME, ...;`
    fn tags(&mut self) -> Parsed<MemberKind> {
        self.pos += 1;
        let mut tags = Vec::new();
        loop {
            if !matches!(self.kind(), TokenKind::Word) || self.at_member() {
                let is_here = !matches!(
                    self.kind(),
                    TokenKind::Mark(b';') | TokenKind::End | TokenKind::Word
                );
                let error = if is_here && !self.is_first(self.pos) {
                    error!("bad-tags" at self.here(), "{} is no tag", self.shown(self.pos))
                } else {
                    error!("bad-tags" at self.after(self.pos), "a tag is missing here")
                };
                let error = error.help(
                    "tags are names with commas between them, as in `tags net, demonstration;`",
                );
                return Err(self.report(error));
            }
            tags.push(self.ident(self.pos));
            self.pos += 1;
            if !self.eat(b',') {
                break;
            }
        }
        if self.kind() == TokenKind::Word && !self.is_first(self.pos) {
            return self.fail(error!("bad-tags" at self.after(self.pos),
                "a comma is missing between two tags"));
        }
        self.semicolon("the tags");
        Ok(MemberKind::Tags(tags))
    }

    /// The end of a C++ expression that begins here: `;`, one of the words `stops`, or, if `;` is
    /// missing, the line on which something else begins.
    pub(super) fn value_end(&self, stops: &[&str]) -> usize {
        let start = self.pos;
        self.find(start, |p, at| {
            p.is_mark(at, b';')
                || stops.contains(&p.word_at(at))
                || (at > start && p.is_first(at) && (p.is_member(at) || p.is_new_start(at)))
        })
    }

    /// Whether the word at `at` cannot continue the expression, because no operator precedes it.
    pub(super) fn is_new_start(&self, at: usize) -> bool {
        let ends_operand = match self.kind_at(at - 1) {
            TokenKind::Word => !words::is_cpp(self.text_at(at - 1)),
            TokenKind::Number | TokenKind::Text | TokenKind::Character => true,
            TokenKind::Mark(b) => matches!(b, b')' | b']' | b'}'),
            _ => false,
        };
        let word = self.word_at(at);
        ends_operand && !matches!(word, "" | "and" | "or" | "xor" | "bitand" | "bitor" | "not_eq")
    }

    /// A C++ expression up to [`Parser::value_end`]. Reports an empty one.
    pub(super) fn value(&mut self, stops: &[&str], what: &str) -> Parsed<Cpp> {
        let range = self.pos..self.value_end(stops);
        if range.is_empty() {
            return self.fail(error!("missing-value" at self.after(self.pos),
                "there is no value for {what} after `=`"));
        }
        self.refuse_second_name(range.clone())?;
        self.pos = range.end;
        Ok(self.balanced(range))
    }

    /// A C++ expression. Reports unbalanced brackets in it, which the C++ compiler would report far
    /// from the fault.
    pub(super) fn balanced(&mut self, range: Range) -> Cpp {
        let expression = self.cpp(range.clone());
        let mut open = Vec::new();
        let mut stray = None;
        for at in range {
            match self.kind_at(at) {
                TokenKind::Mark(b @ (b'(' | b'[')) => open.push((at, b)),
                TokenKind::Mark(b @ (b')' | b']')) => {
                    let wanted = if b == b')' { b'(' } else { b'[' };
                    if open.pop().is_none_or(|(_, mark)| mark != wanted) {
                        stray = Some(at);
                        break;
                    }
                }
                _ => {}
            }
        }
        let error = match (stray, open.last()) {
            (Some(at), _) => {
                error!("stray-bracket" at self.span_at(at), "{} closes nothing", self.shown(at);
                    help "delete it, or write what it should close")
            }
            (None, Some((at, _))) => {
                error!("unclosed-bracket" at self.span_at(*at),
                    "{} is never closed in this expression", self.shown(*at))
            }
            (None, None) => return expression,
        };
        self.report(error);
        expression
    }

    /// Rejects `1, b = 2`, which declares another name in C++.
    fn refuse_second_name(&mut self, range: Range) -> Parsed<()> {
        let second = self.find(range.start, |p, at| {
            at >= range.end || matches!(p.kind_at(at), TokenKind::Mark(b',' | b'<'))
        });
        let is_second = second < range.end
            && self.is_mark(second, b',')
            && self.kind_at(second + 1) == TokenKind::Word
            && (second + 2 == range.end || self.is_mark(second + 2, b'='));
        if is_second { Err(self.second_name(second)) } else { Ok(()) }
    }

    /// Reports the comma at `at` before a second name.
    pub(super) fn second_name(&mut self, at: usize) -> Reported {
        self.report(error!("several-names" at self.span_at(at), "a member declares only one name";
            help "write a member for each"))
    }
}

/// The unit at the end of `3ns`.
fn glued_unit(number: &str) -> Option<&str> {
    let starts = number.char_indices().map(|(at, _)| &number[at..]);
    starts.skip(1).find(|end| units::is_unit(end))
}
