//! Parser of class members, with the parsers of the short ones.

use super::cursor::{Parsed, Parser, Range, Reported, join_docs};
use super::token::Kind;
use super::words;
use crate::ast::{Chart, Cpp, Ident, Member, MemberKind};
use crate::diagnostic::Diagnostic;
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
            members.extend(self.member());
        }
        self.warn_idle_docs(self.end);
        members
    }

    fn member(&mut self) -> Option<Member> {
        let start = self.pos;
        let doc = self.docs_before(start);
        let Ok(kind) = self.member_kind() else {
            let is_past = std::mem::take(&mut self.is_past_fault) && self.pos > start;
            if !is_past {
                self.skip_member();
            }
            return None;
        };
        let span = self.span(start..self.pos);
        // An extra `;` after `}` is common. A comment after it on its line still documents the member.
        self.eat(b';');
        Some(Member {
            doc: join_docs(doc, self.docs_after(self.pos)),
            span,
            kind,
        })
    }

    fn member_kind(&mut self) -> Parsed<MemberKind> {
        match self.word() {
            "import" => self.import(),
            "param" => self.param(),
            "bitstring" => self.bitstring(),
            "evidence" => self.evidence(),
            "at_least" | "at_most" => self.bound(),
            "chart" => self.chart(),
            "tags" => self.tags(),
            "native" if self.is_mark(self.pos + 1, b'{') => Ok(MemberKind::Native(self.native())),
            "native" => {
                let error = Diagnostic::error(
                    "missing-block",
                    self.here(),
                    "`{` is missing after `native`",
                )
                .help("write `native { ... }`; a function with a C++ body needs no `native`");
                Err(self.report(error))
            }
            "yamba" => {
                let error = Diagnostic::error(
                    "nested-class",
                    self.here(),
                    "a class cannot stand inside a class",
                )
                .help("close the class before it with `}`");
                Err(self.report(error))
            }
            _ => self.declaration(),
        }
    }

    /// `import(NAME);`
    fn import(&mut self) -> Parsed<MemberKind> {
        let word = self.here();
        self.pos += 1;
        let help = "write `import(NAME);`, once for each class";
        if !self.at(b'(') {
            let error = Diagnostic::error(
                "bad-import",
                word,
                "`import` is not followed by a class in parentheses",
            );
            return Err(self.report(error.help(help)));
        }
        let inside = self.group("`import`")?;
        let is_name = inside.end == inside.start + 1 && self.kind_at(inside.start) == Kind::Word;
        if !is_name {
            let place = if inside.is_empty() {
                word
            } else {
                self.span(inside)
            };
            let error =
                Diagnostic::error("bad-import", place, "`import` takes the name of one class");
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
            let error = Diagnostic::error(
                "evidence-without-parentheses",
                self.after(self.pos),
                format!(
                    "`()` is missing after the name of the evidence `{}`",
                    name.text
                ),
            )
            .help("write `evidence TYPE NAME() { ... }`");
            return Err(self.report(error));
        }
        let inside = self.group("the evidence")?;
        let is_void = inside.end == inside.start + 1 && self.word_at(inside.start) == "void";
        if !inside.is_empty() && !is_void {
            let error = Diagnostic::error(
                "evidence-with-parameters",
                self.span(inside),
                "evidence has no parameters: the harness calls it",
            )
            .help("what it needs to know can be a `param` or state of the class");
            self.report(error);
        }
        let expects = match self.word() {
            "expects" => self.expects(),
            _ => None,
        };
        let body = self.optional_body(&format!("the evidence `{}`", name.text), "expects")?;
        Ok(MemberKind::Evidence {
            ty: self.cpp(head.ty),
            name,
            expects,
            body,
        })
    }

    /// `expects [LOW, HIGH]`. Faults are reported and skipped.
    fn expects(&mut self) -> Option<(Cpp, Cpp)> {
        let word = self.here();
        self.pos += 1;
        let help = "write `expects [LOW, HIGH]`, two C++ expressions";
        let bounds = if self.at(b'[') {
            self.group("`expects`")
        } else {
            let message = "`expects` is not followed by `[LOW, HIGH]`";
            let error = Diagnostic::error("bad-bounds", word, message).help(help);
            Err(self.report(error))
        };
        let Ok(inside) = bounds else {
            self.pos = self.find(self.pos, |p, at| {
                matches!(p.kind_at(at), Kind::Mark(b'{' | b';')) || p.is_member(at)
            });
            return None;
        };
        let parts = self.split(inside.clone(), b',');
        if parts.len() != 2 || parts.iter().any(|p| p.is_empty()) {
            let place = if inside.is_empty() {
                word
            } else {
                self.span(inside)
            };
            let error = Diagnostic::error(
                "bad-bounds",
                place,
                "`expects` needs two bounds, the lowest and the highest value",
            )
            .help(help);
            self.report(error);
            return None;
        }
        let [low, high] = <[Range; 2]>::try_from(parts)
            .ok()?
            .map(|p| self.balanced(p));
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
            Diagnostic::error(
                "missing-body",
                self.after(self.pos),
                format!("{what} has neither a body nor `;`"),
            )
        } else {
            Diagnostic::error(
                "unexpected-token",
                self.here(),
                format!(
                    "{} is not expected before the body of {what}",
                    self.shown(self.pos)
                ),
            )
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
            let error = Diagnostic::error(
                "missing-value",
                self.after(start),
                format!("`{}` is not followed by a quantity", self.text_at(word)),
            )
            .help("write for example `at_least 1 cycle;`");
            return Err(self.report(error));
        }
        let (unit_start, unit) = self.unit(word, start, end)?;
        if at_least && unit.text == units::SPREAD {
            let error = Diagnostic::error("wrong-bound", unit.span, "a spread has no least")
                .help("write for example `at_most 2 spread;`");
            self.report(error);
        }
        let value = start..unit_start;
        if value.is_empty() {
            self.pos = end;
            let error = Diagnostic::error(
                "missing-value",
                unit.span,
                format!("there is no number before the unit `{}`", unit.text),
            )
            .help("write for example `at_least 1 cycle;`");
            self.report(error);
            self.semicolon("the bound");
            self.is_past_fault = true;
            return Err(Reported);
        }
        self.pos = end;
        self.semicolon("the bound");
        Ok(MemberKind::Bound {
            at_least,
            value: self.cpp(value),
            unit,
        })
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
        let is_word = self.kind_at(last) == Kind::Word;
        let is_glued =
            self.kind_at(last) == Kind::Number && glued_unit(self.text_at(last)).is_some();
        if !is_word && !is_glued {
            let text = String::new();
            let span = self.after(end);
            return Ok((end, Ident { text, span }));
        }
        self.pos = end;
        let error = if is_word {
            Diagnostic::error(
                "unknown-unit",
                self.span_at(last),
                format!("`{}` is no unit", self.text_at(last)),
            )
        } else {
            Diagnostic::error(
                "missing-unit",
                self.after(end),
                format!("`{}` does not say in which unit", self.text_at(word)),
            )
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
            let error = Diagnostic::error(
                "missing-name",
                self.after(self.pos),
                "the name of what the chart shows is missing",
            )
            .help("write `chart FIGURE against PARAMETER;`");
            return Err(self.report(error));
        }
        let figure = self.name("what the chart shows")?;
        if !self.eat_word("against") {
            let error = Diagnostic::error(
                "chart-without-against",
                self.after(self.pos),
                format!(
                    "the chart does not say against what it shows `{}`",
                    figure.text
                ),
            )
            .help("write `chart FIGURE against PARAMETER;`");
            return Err(self.report(error));
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
                        let error = Diagnostic::error(
                            "bad-fit",
                            self.span_at(word),
                            "a chart is fitted with a straight line only",
                        )
                        .help("write `fit linear`");
                        return Err(self.report(error));
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
            if !matches!(self.kind(), Kind::Word) || self.at_member() {
                let is_here = !matches!(self.kind(), Kind::Mark(b';') | Kind::End | Kind::Word);
                let error = if is_here && !self.is_first(self.pos) {
                    Diagnostic::error(
                        "bad-tags",
                        self.here(),
                        format!("{} is no tag", self.shown(self.pos)),
                    )
                } else {
                    Diagnostic::error("bad-tags", self.after(self.pos), "a tag is missing here")
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
        if self.kind() == Kind::Word && !self.is_first(self.pos) {
            let error = Diagnostic::error(
                "bad-tags",
                self.after(self.pos),
                "a comma is missing between two tags",
            );
            return Err(self.report(error));
        }
        self.semicolon("the tags");
        Ok(MemberKind::Tags(tags))
    }

    /// The end of a C++ expression that begins here: `;`, one of the words `stops`, or, if `;` is missing,
    /// the line on which something else begins.
    pub(super) fn value_end(&self, stops: &[&str]) -> usize {
        let start = self.pos;
        self.find(start, |p, at| {
            p.is_mark(at, b';')
                || stops.contains(&p.word_at(at))
                || (at > start && p.is_first(at) && (p.is_member(at) || p.is_new_start(at)))
        })
    }

    /// Whether the word at `at` cannot continue the expression, because no operator precedes it.
    fn is_new_start(&self, at: usize) -> bool {
        let ends_operand = match self.kind_at(at - 1) {
            Kind::Word => !words::is_cpp(self.text_at(at - 1)),
            Kind::Number | Kind::Text | Kind::Character => true,
            Kind::Mark(b) => matches!(b, b')' | b']' | b'}'),
            _ => false,
        };
        let word = self.word_at(at);
        ends_operand
            && !matches!(
                word,
                "" | "and" | "or" | "xor" | "bitand" | "bitor" | "not_eq"
            )
    }

    /// A C++ expression up to [`Parser::value_end`]. Reports an empty one.
    pub(super) fn value(&mut self, stops: &[&str], what: &str) -> Parsed<Cpp> {
        let range = self.pos..self.value_end(stops);
        if range.is_empty() {
            let error = Diagnostic::error(
                "missing-value",
                self.after(self.pos),
                format!("there is no value for {what} after `=`"),
            );
            return Err(self.report(error));
        }
        self.refuse_second_name(range.clone())?;
        self.pos = range.end;
        Ok(self.balanced(range))
    }

    /// A C++ expression. Reports unbalanced brackets in it, which the C++ compiler would report far from the fault.
    pub(super) fn balanced(&mut self, range: Range) -> Cpp {
        let expression = self.cpp(range.clone());
        let mut open = Vec::new();
        let mut stray = None;
        for at in range {
            match self.kind_at(at) {
                Kind::Mark(b @ (b'(' | b'[')) => open.push((at, b)),
                Kind::Mark(b @ (b')' | b']')) => {
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
                let message = format!("{} closes nothing", self.shown(at));
                Diagnostic::error("stray-bracket", self.span_at(at), message)
                    .help("delete it, or write what it should close")
            }
            (None, Some((at, _))) => {
                let message = format!("{} is never closed in this expression", self.shown(*at));
                Diagnostic::error("unclosed-bracket", self.span_at(*at), message)
            }
            (None, None) => return expression,
        };
        self.report(error);
        expression
    }

    /// Rejects `1, b = 2`, which declares another name in C++.
    fn refuse_second_name(&mut self, range: Range) -> Parsed<()> {
        let second = self.find(range.start, |p, at| {
            at >= range.end || matches!(p.kind_at(at), Kind::Mark(b',' | b'<'))
        });
        let is_second = second < range.end
            && self.is_mark(second, b',')
            && self.kind_at(second + 1) == Kind::Word
            && (second + 2 == range.end || self.is_mark(second + 2, b'='));
        if is_second {
            Err(self.second_name(second))
        } else {
            Ok(())
        }
    }

    /// Reports the comma at `at` before a second name.
    pub(super) fn second_name(&mut self, at: usize) -> Reported {
        let error = Diagnostic::error(
            "several-names",
            self.span_at(at),
            "a member declares only one name",
        )
        .help("write a member for each");
        self.report(error)
    }
}

/// The unit at the end of `3ns`.
fn glued_unit(number: &str) -> Option<&str> {
    let starts = number.char_indices().map(|(at, _)| &number[at..]);
    starts.skip(1).find(|end| units::is_unit(end))
}
