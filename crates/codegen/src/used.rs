//! Finds the bitstrings of imported classes that a program may compose. The others are left out: an instruction set's class
//! has dozens, and each costs the C++ compiler some milliseconds.

use std::collections::{BTreeSet, HashSet};

use yamba_lang::ast::{AsmPiece, Cpp, MemberKind, Term, TermKind};
use yamba_lang::model::{Analysis, ClassId, Composition};

/// The used bitstrings by name: if two have the same name, both are kept.
pub(crate) struct Used<'a> {
    own: BTreeSet<ClassId>,
    names: HashSet<&'a str>,
}

impl<'a> Used<'a> {
    /// `words` are those of the program's C++, which may compose any bitstring that it names.
    pub(crate) fn new(
        analysis: &'a Analysis,
        composition: &Composition,
        words: &HashSet<&'a str>,
    ) -> Used<'a> {
        let own: BTreeSet<ClassId> = composition.layers.iter().map(|l| l.class).collect();
        let mut bodies: Vec<(ClassId, &str, &[Term])> = Vec::new();
        for layer in composition
            .parts
            .iter()
            .chain([composition])
            .flat_map(|c| &c.layers)
        {
            for member in &analysis.class(layer.class).ast.members {
                if let MemberKind::Bitstring(b) = &member.kind {
                    bodies.push((
                        layer.class,
                        &b.name.text,
                        b.body.as_deref().unwrap_or_default(),
                    ));
                }
            }
        }
        let mut names: HashSet<&str> = words.clone();
        names.insert("no_operation");
        loop {
            let before = names.len();
            for (class, name, terms) in &bodies {
                if own.contains(class) || names.contains(name) {
                    references(terms, &mut names);
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

fn references<'a>(terms: &'a [Term], names: &mut HashSet<&'a str>) {
    for term in terms {
        match &term.kind {
            TermKind::Reference(reference) => {
                names.insert(&reference.name.text);
            }
            TermKind::Word(_, terms) | TermKind::Unroll { body: terms, .. } => {
                references(terms, names)
            }
            TermKind::If {
                then, otherwise, ..
            } => {
                references(then, names);
                references(otherwise, names);
            }
            _ => {}
        }
    }
}

/// Every C++ expression of some terms.
pub(crate) fn expressions(terms: &[Term], visit: &mut impl FnMut(Cpp)) {
    for term in terms {
        match &term.kind {
            TermKind::Literal(_) | TermKind::Label(_) => {}
            TermKind::Reference(reference) => {
                reference.args.iter().flatten().for_each(|a| visit(*a))
            }
            TermKind::Le(a, b) | TermKind::Be(a, b) | TermKind::Abs(a, b) => {
                [*a, *b].into_iter().for_each(&mut *visit)
            }
            TermKind::Slice(a, b, c) => [*a, *b, *c].into_iter().for_each(&mut *visit),
            TermKind::Rel(_, a) | TermKind::Align(a) => visit(*a),
            TermKind::Word(a, terms) => {
                visit(*a);
                expressions(terms, visit);
            }
            TermKind::Asm(block) => {
                for piece in &block.pieces {
                    if let AsmPiece::Hole(hole) = piece {
                        visit(*hole);
                    }
                }
            }
            TermKind::Unroll {
                init,
                condition,
                step,
                body,
            } => {
                [*init, *condition, *step].into_iter().for_each(&mut *visit);
                expressions(body, visit);
            }
            TermKind::If {
                condition,
                then,
                otherwise,
            } => {
                visit(*condition);
                expressions(then, visit);
                expressions(otherwise, visit);
            }
        }
    }
}
