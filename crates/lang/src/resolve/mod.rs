//! From syntax trees to resolved classes.
//!
//! `load` finds the classes in use, `index` what is asked of them often, `compose` what a class is on a platform,
//! `check` what is wrong whether or not it is ever composed.

mod chain;
mod check;
mod compose;
mod explain;
mod index;
mod load;
mod members;
mod parameters;
mod suggest;

use std::collections::BTreeSet;

use crate::ast::MemberKind;
use crate::cpp;
use crate::input::{Files, Input};
use crate::model::{Analysis, ClassId, Index, Program, Role, Target};

/// See [`crate::analyse`].
pub(crate) fn analyse(roots: Vec<Input>, files: &dyn Files) -> Analysis {
    let mut analysis = load::load(roots, files);
    analysis.index = Index::new(&analysis);
    let found = check::all(&analysis);
    analysis.diagnostics.extend(found);
    let mut seen = BTreeSet::new();
    analysis
        .diagnostics
        .retain(|d| seen.insert((d.primary.span, d.code, d.message.clone())));
    analysis
        .diagnostics
        .sort_by_key(|d| (d.primary.span.file, d.primary.span.start));
    analysis
}

impl Analysis {
    /// Every pair of an instruction set and an operating system of the library.
    pub fn targets(&self) -> Vec<Target> {
        self.index.targets()
    }

    /// The classes of the files that were named, in order.
    pub fn requested(&self) -> Vec<ClassId> {
        self.classes
            .iter()
            .filter(|c| c.is_requested)
            .map(|c| c.id)
            .collect()
    }

    /// Whether a class is a benchmark that a person can run somewhere: no port, no mere shape.
    pub fn is_listed(&self, class: ClassId) -> bool {
        let c = self.class(class);
        c.role == Role::Benchmark
            && !c.is_port
            && (!c.ast.is_abstract || !self.ports(class).is_empty())
    }

    /// The class of this name: of a requested file first, else any that was read.
    pub fn find_class(&self, name: &str) -> Option<ClassId> {
        let named = || self.classes.iter().filter(|c| c.name() == name);
        named()
            .find(|c| c.is_requested)
            .or_else(|| named().next())
            .map(|c| c.id)
    }

    /// The ports of a class, direct or through another port, in order of name.
    pub fn ports(&self, class: ClassId) -> &[ClassId] {
        &self.index.ports[class.0]
    }

    /// What a class is on a target. Call only on an analysis without errors.
    pub fn program(&self, class: ClassId, target: &Target) -> Program {
        compose::Composer {
            analysis: self,
            index: &self.index,
        }
        .program(class, target)
    }

    /// The string that initialises the state `name` of the instruction set `isa`, if it has it.
    pub fn isa_property(&self, isa: &str, name: &str) -> Option<String> {
        let class = self
            .classes
            .iter()
            .find(|c| c.role == Role::InstructionSet && c.name() == isa)?;
        self.ancestry(class.id).find_map(|id| {
            self.class(id)
                .ast
                .members
                .iter()
                .find_map(|m| match &m.kind {
                    MemberKind::State {
                        name: n,
                        init: Some(init),
                        ..
                    } if n.text == name => string_literal(self.cpp(*init)),
                    _ => None,
                })
        })
    }

    /// The tags of a class and its bases.
    pub fn tags(&self, class: ClassId) -> Vec<String> {
        let mut chain: Vec<ClassId> = self.ancestry(class).collect();
        chain.reverse();
        compose::tags(self, &chain)
    }
}

/// The value of one plain C++ string literal.
fn string_literal(text: &str) -> Option<String> {
    let tokens = cpp::tokens(text);
    let [token] = tokens.as_slice() else {
        return None;
    };
    let inside = text[token.range.clone()]
        .strip_prefix('"')?
        .strip_suffix('"')?;
    let mut out = String::new();
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        out.push(match (c, c == '\\') {
            (_, true) => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            },
            (c, false) => c,
        });
    }
    Some(out)
}
