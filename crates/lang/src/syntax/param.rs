//! Parser of `param`, values and sweeps.

use super::cursor::{Parsed, Parser, Range, Reported};
use super::token::TokenKind;
use crate::ast::{Cpp, MemberKind, Param, Sweep, Values};
use crate::diagnostic::error;

impl Parser<'_> {
    /// `param TYPE NAME [= VALUE] [over SWEEP] [quick {VALUES}];`
    pub(super) fn param(&mut self) -> Parsed<MemberKind> {
        self.pos += 1;
        let over = self.find(self.pos, |p, at| {
            matches!(p.word_at(at), "over" | "quick") || p.is_mark(at, b'=') || p.is_mark(at, b';')
        });
        let head = self.within_end(over, |p| p.head("the parameter"))?;
        let name = self.ident(head.name);
        let what = format!("the parameter `{name}`");
        if matches!(self.kind(), TokenKind::Mark(b'[' | b'{' | b'(')) && self.pos < over {
            return Err(self.no_scalar(&what));
        }
        let values = self.parameter_values(&what)?;
        self.semicolon(&what);
        Ok(MemberKind::Param(Param { ty: self.cpp(head.ty), name, values }))
    }

    /// `[= VALUE] [over SWEEP] [quick {VALUES}]`
    pub(super) fn parameter_values(&mut self, what: &str) -> Parsed<Values> {
        let value = if self.eat(b'=') { Some(self.value(&["over", "quick"], what)?) } else { None };
        let errors = self.errors.count();
        let (over, quick) = self.sweeps(what);
        if self.errors.count() > errors {
            self.pos = self.value_end(&[]);
        } else if self.at(b'=') && value.is_none() {
            return self.fail(error!("sweep-order" at self.here(),
                "the value of {what} stands before its sweep";
                help "write `= VALUE over {VALUES} quick {VALUES}`"));
        }
        Ok(Values { value, over, quick })
    }

    /// `[over SWEEP] [quick {VALUES}]`
    fn sweeps(&mut self, what: &str) -> (Option<Sweep>, Option<Vec<Cpp>>) {
        let has_over = self.word() == "over";
        let over = if has_over { self.over() } else { None };
        let errors = self.errors.count();
        let has_quick = self.word() == "quick";
        let quick = if has_quick { self.quick() } else { None };
        let again = self.word();
        if self.errors.count() > errors || !matches!(again, "over" | "quick") {
            return (over, quick);
        }
        let is_twice = (again == "over" && has_over) || (again == "quick" && has_quick);
        let message = if is_twice {
            format!("{what} has two `{again}`")
        } else {
            format!("the `over` of {what} stands behind its `quick`")
        };
        let error = error!("sweep-order" at self.here(), "{message}");
        self.report(error.help("write `over {VALUES} quick {VALUES}`, each at most once"));
        (over, quick)
    }

    fn no_scalar(&mut self, what: &str) -> Reported {
        let (message, help) = match self.kind() {
            TokenKind::Mark(b'[') => (
                format!("{what} cannot be an array"),
                "make it state, or write a `param` for each value",
            ),
            TokenKind::Mark(b'{') => (
                format!("the value of {what} stands in braces"),
                "write `= VALUE`; the values of a sweep are written `over {A, B}`",
            ),
            _ => (format!("{what} cannot be a function"), "write `param TYPE NAME = VALUE;`"),
        };
        self.report(error!("param-shape" at self.here(), "{message}"; help help))
    }

    /// `over {VALUES}`, `over log(FIRST, LAST, POINTS)`, `over linear(FIRST, LAST, STEP)`. Faults
    /// are reported and skipped.
    fn over(&mut self) -> Option<Sweep> {
        let word = self.here();
        self.pos += 1;
        let form = self.word();
        let result = match form {
            "log" | "linear" if self.is_mark(self.pos + 1, b'(') => self.stepped(form),
            _ if self.at(b'{') => self.values("over").map(Sweep::List),
            _ => {
                let is_form = self.kind() == TokenKind::Word && self.is_mark(self.pos + 1, b'(');
                let error = if is_form {
                    error!("unknown-sweep" at self.here(), "`{form}` is no kind of sweep")
                } else {
                    error!("missing-values" at word, "`over` is not followed by values")
                };
                let error = error.help(
                    "write `over {A, B}`, `over log(FIRST, LAST, POINTS_PER_OCTAVE)` or `over linear(FIRST, LAST, STEP)`",
                );
                Err(self.report(error))
            }
        };
        if result.is_err() {
            self.pos = self.value_end(&["quick"]);
        }
        result.ok()
    }

    fn stepped(&mut self, form: &str) -> Parsed<Sweep> {
        let word = self.here();
        self.pos += 1;
        let inside = self.group(&format!("`{form}`"))?;
        let parts: Option<[Range; 3]> = self.split(inside, b',').try_into().ok();
        let last = match form {
            "log" => "POINTS_PER_OCTAVE",
            _ => "STEP",
        };
        let Some(parts) = parts.filter(|parts| !parts.iter().any(Range::is_empty)) else {
            return self.fail(error!("sweep-arguments" at word, "`{form}` takes three values";
                help format!("write `{form}(FIRST, LAST, {last})`")));
        };
        let [first, end, step] = parts.map(|p| self.balanced(p));
        Ok(match form {
            "log" => Sweep::Log(first, end, step),
            _ => Sweep::Linear(first, end, step),
        })
    }

    /// `quick {VALUES}`
    fn quick(&mut self) -> Option<Vec<Cpp>> {
        let word = self.here();
        self.pos += 1;
        if !self.at(b'{') {
            self.report(error!("missing-values" at word,
                "`quick` is not followed by values in braces";
                help "write `quick {A, B}`"));
            self.pos = self.value_end(&["over"]);
            return None;
        }
        self.values("quick").ok()
    }

    /// `{A, B, C}` with an optional comma after the last value.
    fn values(&mut self, word: &str) -> Parsed<Vec<Cpp>> {
        let open = self.pos;
        let inside = self.group(&format!("`{word}`"))?;
        let mut parts = self.split(inside.clone(), b',');
        if parts.len() > 1 && parts.last().is_some_and(|p: &Range| p.is_empty()) {
            parts.pop();
        }
        if let Some(empty) = parts.iter().find(|p| p.is_empty()) {
            let error = if inside.is_empty() {
                error!("empty-list" at self.span(open..self.pos), "`{word}` has no values";
                    help "write at least one value between the braces")
            } else {
                error!("missing-value" at self.after(empty.start), "a value is missing here")
            };
            return Err(self.report(error));
        }
        Ok(parts.into_iter().map(|p| self.balanced(p)).collect())
    }
}
