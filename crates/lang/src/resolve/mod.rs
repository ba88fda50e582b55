//! Name resolution: from syntax trees to resolved classes.
//!
//! `load` finds the classes in use, `index` derives tables from them, `compose` composes a class
//! for a platform, `check` finds faults, also in classes that are never composed.

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
    analysis.diagnostics.retain(|d| seen.insert((d.primary.span, d.code, d.message.clone())));
    analysis.diagnostics.sort_by_key(|d| (d.primary.span.file, d.primary.span.start));
    analysis
}

impl Analysis {
    /// All pairs of an instruction set and an operating system of the library.
    pub fn targets(&self) -> Vec<Target> {
        self.index.targets()
    }

    /// The classes of the requested files, in order.
    pub fn requested(&self) -> Vec<ClassId> {
        self.classes.iter().filter(|c| c.is_requested).map(|c| c.id).collect()
    }

    /// Whether a class is a benchmark that the user can run on some platform: neither a port nor
    /// abstract.
    pub fn is_listed(&self, class: ClassId) -> bool {
        let c = self.class(class);
        c.role == Role::Benchmark
            && !c.is_port
            && (!c.ast.is_abstract || !self.ports(class).is_empty())
    }

    /// The class of this name, from a requested file first, or from any other file.
    pub fn find_class(&self, name: &str) -> Option<ClassId> {
        let named = || self.classes.iter().filter(|c| c.name() == name);
        named().find(|c| c.is_requested).or_else(|| named().next()).map(|c| c.id)
    }

    /// The ports of a class, direct or through another port, in order of name.
    pub fn ports(&self, class: ClassId) -> &[ClassId] {
        &self.index.ports[class.0]
    }

    /// The program of a class for a target. Requires an analysis without errors.
    pub fn program(&self, class: ClassId, target: &Target) -> Program {
        compose::Composer { analysis: self }.program(class, target)
    }

    /// A property of the instruction set `isa`.
    pub fn isa_property(&self, isa: &str, name: &str) -> Option<String> {
        let class =
            self.classes.iter().find(|c| c.role == Role::InstructionSet && c.name() == isa)?;
        self.property(class.id, name)
    }

    /// A property of a class: the string that initialises its state `name`. `None` without such
    /// state, or if its value is no string.
    pub fn property(&self, class: ClassId, name: &str) -> Option<String> {
        let mut members = self.ancestry(class).flat_map(|id| &self.class(id).ast.members);
        members.find_map(|m| match &m.kind {
            MemberKind::State { name: n, init: Some(init), .. } if n.text == name => {
                string_literal(self.cpp(*init))
            }
            _ => None,
        })
    }

    /// The tags of a class and its bases.
    pub fn tags(&self, class: ClassId) -> Vec<String> {
        let mut chain: Vec<ClassId> = self.ancestry(class).collect();
        chain.reverse();
        compose::tags(self, &chain)
    }

    /// Whether a class or one of its bases has this tag.
    pub fn has_tag(&self, class: ClassId, tag: &str) -> bool {
        self.ancestry(class).any(|c| self.class(c).ast.tags().any(|own| own == tag))
    }
}

/// The value of a C++ string literal without escapes.
fn string_literal(text: &str) -> Option<String> {
    let tokens = cpp::tokens(text);
    let [token] = tokens.as_slice() else {
        return None;
    };
    let inside = text[token.range.clone()].strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::new();
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        out.push(match c {
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            },
            c => c,
        });
    }
    Some(out)
}
