//! Prints a syntax tree: one line per member and term, with C++ as in the source.

use yamba_lang::ast::*;
use yamba_lang::source::SourceMap;

/// Prints trees of the texts in `sources`.
pub struct Printer<'a> {
    pub sources: &'a SourceMap,
    out: String,
}

/// Prints a whole file.
pub fn print(sources: &SourceMap, file: &File) -> String {
    let mut printer = Printer { sources, out: String::new() };
    for native in &file.natives {
        printer.line(0, &format!("native {}", printer.cpp(*native)));
    }
    for class in &file.classes {
        printer.class(class);
    }
    printer.out
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.out += &format!("{}{text}\n", "  ".repeat(depth));
    }

    fn doc(&mut self, depth: usize, doc: &str) {
        for line in doc.lines() {
            self.line(depth, &format!("/// {line}"));
        }
    }

    fn cpp(&self, cpp: Cpp) -> String {
        format!("{:?}", self.sources.text(cpp.span))
    }

    fn cpps(&self, all: &[Cpp]) -> String {
        let all: Vec<String> = all.iter().map(|c| self.cpp(*c)).collect();
        all.join(", ")
    }

    fn optional(&self, before: &str, cpp: Option<Cpp>) -> String {
        cpp.map_or(String::new(), |c| format!(" {before}{}", self.cpp(c)))
    }

    fn class(&mut self, class: &Class) {
        self.doc(0, &class.doc);
        let parent = match &class.parent {
            Parent::Default => String::new(),
            Parent::Nothing => " extends nothing".to_owned(),
            Parent::Extends(base) => format!(" extends {}", base.text),
            Parent::Ports(base) => format!(" ports {}", base.text),
        };
        let kind = if class.is_abstract { "abstract class" } else { "class" };
        let on = class.on.as_ref();
        let on = on.map_or(String::new(), |on| format!(" on {}", condition(on)));
        self.line(0, &format!("{kind} {}{parent}{on}", class.name.text));
        for member in &class.members {
            self.doc(1, &member.doc);
            self.member(&member.kind);
        }
    }

    fn member(&mut self, kind: &MemberKind) {
        let line = match kind {
            MemberKind::Import(name) => format!("import {}", name.text),
            MemberKind::Param(param) => self.param(param),
            MemberKind::Assign { name, values } => {
                format!("assign {}{}", name.text, self.values(values))
            }
            MemberKind::State { ty, name, array, init } => {
                let array = self.optional("array ", *array);
                let init = self.optional("init ", *init);
                format!("state {} {}{array}{init}", self.cpp(*ty), name.text)
            }
            MemberKind::Function { ret, name, params, qualifiers, body } => {
                let params = self.parameters(params);
                let qualifiers = self.optional("", *qualifiers);
                let body = self.optional("body ", *body);
                format!("function {} {}({params}){qualifiers}{body}", self.cpp(*ret), name.text)
            }
            MemberKind::Bitstring(bitstring) => return self.bitstring(bitstring),
            MemberKind::Evidence { ty, name, expects, body } => {
                let expects = expects.map_or(String::new(), |(low, high)| {
                    format!(" expects {}", self.cpps(&[low, high]))
                });
                let body = self.optional("body ", *body);
                format!("evidence {} {}{expects}{body}", self.cpp(*ty), name.text)
            }
            MemberKind::Bound { at_least, value, unit } => {
                let word = if *at_least { "at least" } else { "at most" };
                let text = format!("{word} {} {}", self.cpp(*value), unit.text);
                text.trim_end().to_owned()
            }
            MemberKind::Requires(condition) => format!("requires {}", self.cpp(*condition)),
            MemberKind::Chart(chart) => self.chart(chart),
            MemberKind::StandsFor(clause) => {
                let by = clause.by.as_ref();
                let by = by.map_or(String::new(), |by| format!(" by {}", by.text));
                let each = clause.contains.iter();
                let each = each.map(|part| {
                    let count = match &part.count {
                        ContainedCount::Number(count) => count.to_string(),
                        ContainedCount::Evidence(name) => name.text.clone(),
                    };
                    format!(" contains {} * {count}", part.primitive.text)
                });
                let contains: String = each.collect();
                format!("stands for {}{by}{contains}", clause.primitive.text)
            }
            MemberKind::Tags(tags) => {
                let tags: Vec<&str> = tags.iter().map(|t| t.text.as_str()).collect();
                format!("tags {}", tags.join(" "))
            }
            MemberKind::Compile(settings) => {
                let each = settings.iter().map(|s| format!(" {}={}", s.key.word(), s.value));
                format!("compile{}", each.collect::<String>())
            }
            MemberKind::Native(cpp) => format!("native {}", self.cpp(*cpp)),
        };
        self.line(1, &line);
    }

    fn param(&self, param: &Param) -> String {
        format!("param {} {}{}", self.cpp(param.ty), param.name.text, self.values(&param.values))
    }

    fn values(&self, values: &Values) -> String {
        let sweep = match &values.over {
            None => String::new(),
            Some(Sweep::List(values)) => format!(" over {{{}}}", self.cpps(values)),
            Some(Sweep::Log(a, b, c)) => format!(" over log({})", self.cpps(&[*a, *b, *c])),
            Some(Sweep::Linear(a, b, c)) => format!(" over linear({})", self.cpps(&[*a, *b, *c])),
        };
        let quick = values.quick.as_ref();
        let quick =
            quick.map_or(String::new(), |values| format!(" quick {{{}}}", self.cpps(values)));
        let value = self.optional("= ", values.value);
        format!("{value}{sweep}{quick}")
    }

    fn chart(&self, chart: &Chart) -> String {
        let log = if chart.log { " log" } else { "" };
        let fit = if chart.fit_linear { " fit" } else { "" };
        let by = chart.by.as_ref().map_or(String::new(), |by| format!(" by {}", by.text));
        format!("chart {} against {}{log}{by}{fit}", chart.figure.text, chart.against.text)
    }

    fn parameters(&self, parameters: &[Parameter]) -> String {
        let all: Vec<String> = parameters
            .iter()
            .map(|p| {
                let name = p.name.as_ref().map_or("_", |n| &n.text);
                format!("{} {name}{}", self.cpp(p.ty), self.optional("", p.suffix))
            })
            .collect();
        all.join(", ")
    }

    fn bitstring(&mut self, bitstring: &Bitstring) {
        let signature = bitstring.signature.as_ref().map_or(String::new(), |s| {
            format!("<{} ({})>", self.cpp(s.ret), self.parameters(&s.args))
        });
        let params = self.parameters(&bitstring.params);
        let end = if bitstring.body.is_none() { " abstract" } else { "" };
        self.line(1, &format!("bitstring{signature} {}({params}){end}", bitstring.name.text));
        self.terms(2, bitstring.body.as_deref().unwrap_or_default());
    }

    fn terms(&mut self, depth: usize, terms: &[Term]) {
        for term in terms {
            self.term(depth, &term.kind);
        }
    }

    fn term(&mut self, depth: usize, kind: &TermKind) {
        let line = match kind {
            TermKind::Literal(bits) => {
                let digits: String = bits.iter().map(|b| if *b { '1' } else { '0' }).collect();
                format!("bits {digits}")
            }
            TermKind::Reference(reference) => self.reference(reference),
            TermKind::Le(a, b) => format!("le {}", self.cpps(&[*a, *b])),
            TermKind::Be(a, b) => format!("be {}", self.cpps(&[*a, *b])),
            TermKind::Slice(a, b, c) => format!("slice {}", self.cpps(&[*a, *b, *c])),
            TermKind::Abs(a, b) => format!("abs {}", self.cpps(&[*a, *b])),
            TermKind::Align(a) => format!("align {}", self.cpp(*a)),
            TermKind::Label(name) => format!("label {}", name.text),
            TermKind::Rel(name, bits) => format!("rel {} {}", name.text, self.cpp(*bits)),
            TermKind::Asm(block) => return self.asm(depth, block),
            TermKind::Word(bits, terms) => {
                self.line(depth, &format!("word {}", self.cpp(*bits)));
                return self.terms(depth + 1, terms);
            }
            TermKind::Unroll { init, condition, step, body } => {
                self.line(depth, &format!("unroll {}", self.cpps(&[*init, *condition, *step])));
                return self.terms(depth + 1, body);
            }
            TermKind::If { condition, then, otherwise } => {
                self.line(depth, &format!("if {}", self.cpp(*condition)));
                self.terms(depth + 1, then);
                if !otherwise.is_empty() {
                    self.line(depth, "else");
                    self.terms(depth + 1, otherwise);
                }
                return;
            }
        };
        self.line(depth, &line);
    }

    fn reference(&self, reference: &Reference) -> String {
        let before = if reference.is_super { "super::" } else { "" };
        let class = reference.class.as_ref().map_or(String::new(), |c| format!("{}.", c.text));
        let args = reference.args.as_ref().map_or(String::new(), |a| format!("({})", self.cpps(a)));
        format!("use {before}{class}{}{args}", reference.name.text)
    }

    fn asm(&mut self, depth: usize, block: &AsmBlock) {
        self.line(depth, "asm");
        for piece in &block.pieces {
            let line = match piece {
                AsmPiece::Text { text, line } => format!("line {line} {text:?}"),
                AsmPiece::Hole(value) => format!("hole {}", self.cpp(*value)),
            };
            self.line(depth + 1, &line);
        }
    }
}

fn condition(on: &Condition) -> String {
    match on {
        Condition::Atom(atom, _) => match atom {
            Atom::Name(name) => name.clone(),
            Atom::AtLeast(name, version) => format!("{name}>={version:?}"),
            Atom::Cpu(feature) => format!("cpu:{feature}"),
            Atom::Root => "root".to_owned(),
            Atom::File(path) => format!("file:{path}"),
        },
        Condition::Not(inner) => format!("!{}", condition(inner)),
        Condition::And(a, b) => format!("({} && {})", condition(a), condition(b)),
        Condition::Or(a, b) => format!("({} || {})", condition(a), condition(b)),
    }
}
