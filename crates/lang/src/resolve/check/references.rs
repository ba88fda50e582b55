//! Checks references in bitstring bodies: other bitstrings, labels, the enclosing word.

use super::super::members::noun;
use super::super::suggest;
use super::lookup::{imported, visible, visible_names};
use crate::ast::{Bitstring, Cpp, Ident, MemberKind, Reference, Term, TermKind};
use crate::cpp::{self, CppTokenKind};
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class, ClassId};
use crate::source::Span;

pub(super) fn check(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    for member in &class.ast.members {
        if let MemberKind::Bitstring(Bitstring { body: Some(terms), .. }) = &member.kind {
            let mut walk =
                Walk { analysis, class: class.id, scopes: Vec::new(), in_word: false, found };
            walk.scope(terms);
        }
    }
}

struct Walk<'a, 'b> {
    analysis: &'a Analysis,
    class: ClassId,
    /// The labels of each enclosing body and `unroll` iteration.
    scopes: Vec<Vec<&'a Ident>>,
    in_word: bool,
    found: &'b mut Vec<Diagnostic>,
}

impl<'a> Walk<'a, '_> {
    /// A scope for labels: the body of a bitstring, or one iteration of an `unroll`.
    fn scope(&mut self, terms: &'a [Term]) {
        let mut labels = Vec::new();
        self.collect_labels(terms, &mut labels);
        self.scopes.push(labels);
        self.terms(terms);
        self.scopes.pop();
    }

    fn collect_labels(&mut self, terms: &'a [Term], labels: &mut Vec<&'a Ident>) {
        for term in terms {
            match &term.kind {
                TermKind::Label(name) => {
                    if let Some(first) = labels.iter().find(|l| l.text == name.text) {
                        let fault = error!("duplicate-label" at name.span,
                            "the label `{name}` stands twice in this body");
                        self.found.push(
                            fault
                                .also(first.span, "first here")
                                .help("give one of them another name"),
                        );
                    }
                    labels.push(name);
                }
                TermKind::Word(_, inner) => self.collect_labels(inner, labels),
                TermKind::If { then, otherwise, .. } => {
                    let mut other = Vec::new();
                    let before = labels.len();
                    self.collect_labels(then, labels);
                    self.collect_labels(otherwise, &mut other);
                    // Only one branch is composed, so both may set the same label.
                    other.retain(|l: &&Ident| labels[before..].iter().all(|k| k.text != l.text));
                    labels.extend(other);
                }
                _ => {}
            }
        }
    }

    fn terms(&mut self, terms: &'a [Term]) {
        for term in terms {
            self.term(term);
        }
    }

    fn term(&mut self, term: &'a Term) {
        let outer = self.in_word;
        self.in_word |= matches!(term.kind, TermKind::Asm(_));
        self.expressions(&term.expressions());
        self.in_word |= matches!(term.kind, TermKind::Word(..));
        match &term.kind {
            TermKind::Reference(reference) => self.reference(reference, term.span),
            TermKind::Rel(label, _) => self.label(&label.text, label.span),
            TermKind::Unroll { body, .. } => self.scope(body),
            _ => term.blocks().into_iter().for_each(|b| self.terms(b)),
        }
        self.in_word = outer;
    }

    fn label(&mut self, name: &str, span: Span) {
        let known = || self.scopes.iter().flatten().map(|l| l.text.as_str());
        if known().any(|l| l == name) {
            return;
        }
        let otherwise = format!("mark the place in this body: `label {name}:`");
        let help = suggest::help(name, known(), otherwise);
        self.found.push(error!("unknown-label" at span, "there is no label `{name}` in this body";
            help help));
    }

    /// Checks each `offset(NAME)` in C++ expressions.
    fn expressions(&mut self, expressions: &[Cpp]) {
        for expression in expressions {
            let text = self.analysis.cpp(*expression);
            let tokens = cpp::tokens(text);
            let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.range.clone()]);
            for i in 0..tokens.len() {
                let is_member = i > 0 && matches!(word(i - 1), "." | "::" | ">");
                let is_offset = word(i) == "offset"
                    && word(i + 1) == "("
                    && word(i + 3) == ")"
                    && tokens[i + 2].kind == CppTokenKind::Word;
                if is_offset && !is_member {
                    let at = |o: usize| expression.span.start + o as u32;
                    let span = |from: usize, to: usize| {
                        Span::new(
                            expression.span.file,
                            at(tokens[from].range.start),
                            at(tokens[to].range.end),
                        )
                    };
                    self.label(word(i + 2), span(i + 2, i + 2));
                    self.offset_place(span(i, i + 3));
                }
            }
        }
    }

    fn offset_place(&mut self, span: Span) {
        if !self.in_word {
            self.found.push(error!("offset-outside-word" at span,
                "`offset` counts from the start of a `word` or `asm`; this term is in neither";
                help "put the term into `word(BITS) { ... }`, or use `rel(NAME, BITS)`, which counts from the end of its field"));
        }
    }

    fn reference(&mut self, reference: &'a Reference, span: Span) {
        let home = match &reference.class {
            None => self.class,
            Some(class) => match imported(self.analysis, self.class, &class.text) {
                Some(home) => home,
                None => return self.not_imported(class),
            },
        };
        let from =
            if reference.is_super { self.analysis.class(self.class).parent } else { Some(home) };
        let Some(member) = from.and_then(|from| visible(self.analysis, from, &reference.name.text))
        else {
            if !reference.is_super {
                self.unknown(reference, home); // an unknown `super::` is reported where it is resolved
            }
            return;
        };
        match &self.analysis.member(member).kind {
            MemberKind::Bitstring(bitstring) => self.arguments(reference, bitstring, span),
            other => {
                let fault = error!("not-a-bitstring" at reference.name.span,
                    "`{}` is {}, not a bitstring", reference.name.text, noun(other));
                self.found.push(fault.help("a value becomes bits by a cast: `le(VALUE, BITS)`, `be(VALUE, BITS)` or `bits(VALUE, HIGH, LOW)`"));
            }
        }
    }

    fn not_imported(&mut self, class: &Ident) {
        let known = self
            .analysis
            .ancestry(self.class)
            .flat_map(|id| &self.analysis.class(id).imports)
            .map(|(n, _)| n.text.as_str());
        let otherwise = format!("write `import({class});` among the members of this class");
        let help = suggest::help(&class.text, known, otherwise);
        self.found
            .push(error!("not-imported" at class.span, "no class `{class}` is imported here";
            help help));
    }

    fn unknown(&mut self, reference: &Reference, home: ClassId) {
        let name = &reference.name;
        let known = visible_names(self.analysis, home, |k| matches!(k, MemberKind::Bitstring(_)));
        let otherwise = format!("declare it: `bitstring {name};`");
        let help = suggest::help(&name.text, known, otherwise);
        let class = self.analysis.class(home).name();
        let message = format!("`{class}` has no bitstring `{name}`");
        self.found.push(error!("unknown-bitstring" at name.span, "{message}"; help help));
    }

    fn arguments(&mut self, reference: &Reference, bitstring: &Bitstring, span: Span) {
        let (given, wanted) = (reference.args.as_ref().map_or(0, Vec::len), bitstring.params.len());
        if given != wanted {
            let plural = |n: usize| {
                if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") }
            };
            let message = format!(
                "`{}` takes {}, but {} given",
                reference.name.text,
                plural(wanted),
                if given == 1 { "1 is".to_owned() } else { format!("{given} are") }
            );
            let params: Vec<String> = bitstring
                .params
                .iter()
                .map(|p| {
                    let name = p.name.as_ref().map_or("", |n| &n.text);
                    format!("{} {name}", self.analysis.cpp(p.ty)).trim().to_owned()
                })
                .collect();
            let shown = if params.is_empty() {
                bitstring.name.text.clone()
            } else {
                format!("{}({})", bitstring.name.text, params.join(", "))
            };
            self.found.push(
                error!("wrong-arguments" at span, "{message}"; help format!("it is `{shown}`"))
                    .also(bitstring.name.span, "declared here"),
            );
        }
    }
}
