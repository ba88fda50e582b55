//! One layer of a chain as a struct.

use std::collections::HashSet;

use yamba_lang::ast::{Cpp, MemberKind};
use yamba_lang::cpp::{self, Kind};
use yamba_lang::{Analysis, ClassId};

use crate::plan::{Node, Plan};
use crate::text;
use crate::used::Used;
use crate::virtuals::Virtuals;
use crate::writer::Writer;
use crate::{Context, members};

/// The tag of what a benchmark imports and never times: it is compiled without optimisation, which takes half as long.
const COLD: &str = "cold";

/// What is written of one class, and where.
pub(crate) struct ClassWriter<'a, 'o, 'w> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) node: &'a Node<'a>,
    /// Every word of the program's own C++: a bitstring that none of them names needs no wrapper for C++.
    pub(crate) words: &'a HashSet<&'a str>,
    /// Bitstrings that something may compose.
    pub(crate) used: &'a Used<'a>,
    /// Members that are virtual.
    pub(crate) virtuals: &'a Virtuals<'a>,
    pub(crate) out: &'w mut Writer<'o>,
}

impl ClassWriter<'_, '_, '_> {
    pub(crate) fn write(&mut self) {
        let class = self.context.analysis.class(self.node.class);
        let base = self.node.base.map(|b| self.plan.nodes[b].name.clone());
        self.out.line("");
        self.out.doc(&class.ast.doc);
        let inherits = base.as_ref().map_or(String::new(), |b| format!(" : {b}"));
        let is_cold = self.is_cold();
        if is_cold {
            self.out.line("YAMBA_COLD_BEGIN");
        }
        self.out
            .open(&format!("struct {}{inherits} {{", self.node.name));
        match base {
            Some(base) => self.out.line(&format!("using super = {base};")),
            None => self
                .out
                .line(&format!("virtual ~{}() = default;", self.node.name)),
        }
        for (name, part) in &self.node.layer().imports {
            let part = &self.plan.nodes[self.plan.parts[*part]].name;
            self.out.line(&format!("{part} {name};"));
        }
        for member in &class.ast.members {
            members::write(self, member);
        }
        self.out.close("};");
        if is_cold {
            self.out.line("YAMBA_COLD_END");
        }
    }

    /// Whether a benchmark only imports this, and it says that nothing of it is ever timed.
    fn is_cold(&self) -> bool {
        let is_imported = self.node.composition.class != self.context.program.class;
        is_imported && says_cold(self.context.analysis, self.node.class)
    }

    /// What stands before a member of this name.
    pub(crate) fn if_virtual(&self, name: &str) -> &'static str {
        let own = self.node.chain.last().copied().unwrap_or(0);
        if self.virtuals.holds(own, name) {
            "virtual "
        } else {
            ""
        }
    }

    /// The characters of a piece of C++.
    pub(crate) fn cpp(&self, cpp: Cpp) -> &str {
        self.context.analysis.cpp(cpp)
    }

    /// C++ with each `super::x` pointing to the layer that is meant.
    pub(crate) fn with_super(&self, source: &str) -> String {
        text::replace_super(source, |name| self.super_layer(name))
    }

    /// The struct for `super::NAME`, unless `super`, the struct's base, finds the same definition.
    fn super_layer(&self, name: &str) -> Option<String> {
        let target = *self.node.layer().supers.get(name)?;
        let declares = |layer: &usize| {
            let class = self
                .context
                .analysis
                .class(self.node.composition.layers[*layer].class);
            class
                .ast
                .members
                .iter()
                .any(|m| member_name(&m.kind) == Some(name))
        };
        let nearest = (0..self.node.layer).rev().find(declares);
        (nearest != Some(target)).then(|| self.plan.in_chain(self.node, target).name.clone())
    }

    /// The struct whose `compose_NAME` a `super::NAME` term means.
    pub(crate) fn super_of_term(&self, name: &str) -> String {
        self.super_layer(name).unwrap_or_else(|| "super".to_owned())
    }
}

/// Itself, or what it ports: whoever extends a cold class may time what he adds.
fn says_cold(analysis: &Analysis, class: ClassId) -> bool {
    let class = analysis.class(class);
    let ported = class.parent.filter(|_| class.is_port);
    class.ast.tags().any(|tag| tag == COLD) || ported.is_some_and(|base| says_cold(analysis, base))
}

pub(crate) fn member_name(kind: &MemberKind) -> Option<&str> {
    match kind {
        MemberKind::Function { name, .. } | MemberKind::Evidence { name, .. } => Some(&name.text),
        MemberKind::Bitstring(b) => Some(&b.name.text),
        _ => None,
    }
}

/// The words of a text that are neither strings nor comments.
pub(crate) fn add_words<'t>(text: &'t str, words: &mut HashSet<&'t str>) {
    let tokens = cpp::tokens(text).into_iter();
    words.extend(
        tokens
            .filter(|t| t.kind == Kind::Word)
            .map(|t| &text[t.range]),
    );
}
