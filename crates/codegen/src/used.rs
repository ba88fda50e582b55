//! Finds the bitstrings of imported classes that a program may compose. The others are left out: an
//! instruction set's class has dozens, and each costs the C++ compiler some milliseconds.

use std::collections::{BTreeSet, HashSet};

use yamba_lang::ast::{self, MemberKind, Term, TermKind};
use yamba_lang::model::{Analysis, ClassId, Composition};

/// The used bitstrings by name: if two have the same name, both are kept.
pub(crate) struct Used<'a> {
    own: BTreeSet<ClassId>,
    names: HashSet<&'a str>,
}

impl<'a> Used<'a> {
    /// Finds the bitstrings that the program may compose. `words` are the words of its C++: each
    /// may name a bitstring.
    pub(crate) fn new(
        analysis: &'a Analysis,
        composition: &Composition,
        words: &HashSet<&'a str>,
    ) -> Used<'a> {
        let own: BTreeSet<ClassId> = composition.layers.iter().map(|l| l.class).collect();
        let mut bodies: Vec<(ClassId, &str, &[Term])> = Vec::new();
        for layer in composition.parts.iter().chain([composition]).flat_map(|c| &c.layers) {
            for member in &analysis.class(layer.class).ast.members {
                if let MemberKind::Bitstring(b) = &member.kind {
                    bodies.push((layer.class, &b.name.text, b.body.as_deref().unwrap_or_default()));
                }
            }
        }
        let mut names: HashSet<&str> = words.clone();
        names.insert("no_operation");
        loop {
            let before = names.len();
            for (class, name, terms) in &bodies {
                if own.contains(class) || names.contains(name) {
                    ast::walk(terms, &mut |term| {
                        if let TermKind::Reference(reference) = &term.kind {
                            names.insert(&reference.name.text);
                        }
                    });
                }
            }
            if names.len() == before {
                return Used { own, names };
            }
        }
    }

    pub(crate) fn holds(&self, class: ClassId, name: &str) -> bool {
        self.own.contains(&class) || self.names.contains(name)
    }
}
