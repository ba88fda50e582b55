//! All checks: first of each class alone, then of its composition on every platform.

mod bounds;
mod completeness;
mod conditions;
mod inheritance;
mod names;
mod near;
mod protocol;
mod references;
mod shapes;
mod values;
mod widths;

use std::collections::BTreeSet;

use super::chain::Setting;
use super::compose::{Composed, Composer};
use crate::ast::{Ident, Member, MemberKind};
use crate::condition::{Formula, is_possible};
use crate::diagnostic::Diagnostic;
use crate::model::{Analysis, Class, ClassId, MemberRef, Target};

/// All diagnostics of an analysis whose classes are loaded and indexed.
pub(super) fn all(analysis: &Analysis) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for class in &analysis.classes {
        names::check(analysis, class, &mut found);
        near::check(analysis, class, &mut found);
        conditions::check(analysis, class, &mut found);
        inheritance::check(analysis, class, &mut found);
        protocol::check(analysis, class, &mut found);
        values::check(analysis, class, &mut found);
        bounds::check(analysis, class, &mut found);
        references::check(analysis, class, &mut found);
        widths::check(analysis, class, &mut found);
    }
    for class in composed(analysis) {
        check_compositions(analysis, class, &mut found);
    }
    found
}

/// The classes to compose: the requested ones, and for a requested port the class that it ports.
fn composed(analysis: &Analysis) -> BTreeSet<ClassId> {
    let base = |id: &ClassId| {
        analysis
            .ancestry(*id)
            .find(|id| !analysis.class(*id).is_port)
    };
    // A duplicate name is already an error; composing thousands of duplicates would take minutes.
    let mut names = BTreeSet::new();
    analysis
        .classes
        .iter()
        .filter(|c| c.is_requested && names.insert(c.name()))
        .filter_map(|c| base(&c.id))
        .collect()
}

/// A composition for one target and one set of answers there.
struct Case {
    target: Target,
    composed: Composed,
}

fn check_compositions(analysis: &Analysis, class: ClassId, found: &mut Vec<Diagnostic>) {
    let composer = Composer {
        analysis,
        index: &analysis.index,
    };
    let mut cases = Vec::new();
    for target in analysis.targets() {
        cases.extend(cases_on(&composer, class, &target, found));
    }
    for case in &cases {
        found.extend(case.composed.faults.iter().cloned());
        shapes::check(analysis, &case.composed.composition, found);
    }
    completeness::check(analysis, class, &cases, found);
}

fn cases_on(
    composer: &Composer,
    class: ClassId,
    target: &Target,
    found: &mut Vec<Diagnostic>,
) -> Vec<Case> {
    let exists = composer.index.exists[class.0].on(target);
    if exists == Formula::False {
        return Vec::new();
    }
    let (questions, fault) = composer.questions(class, target);
    found.extend(fault);
    let atoms = &questions.atoms;
    let mut seen = BTreeSet::new();
    let mut cases = Vec::new();
    for world in 0..1usize << atoms.len() {
        let is_here =
            is_possible(atoms, world, &composer.index.names) && exists.holds_in(atoms, world);
        if is_here && seen.insert(questions.answers(world)) {
            let composed = composer.compose(
                class,
                Setting {
                    target,
                    atoms,
                    world,
                },
            );
            cases.push(Case {
                target: target.clone(),
                composed,
            });
        }
    }
    cases
}

/// The member `name` that a class sees: its own or an inherited one, but not one of other ports.
fn visible(analysis: &Analysis, from: ClassId, name: &str) -> Option<MemberRef> {
    analysis
        .ancestry(from)
        .find_map(|class| own(analysis.class(class), name).map(|index| MemberRef { class, index }))
}

fn own(class: &Class, name: &str) -> Option<usize> {
    class
        .ast
        .members
        .iter()
        .position(|m| super::members::name(&m.kind).is_some_and(|n| n.text == name))
}

/// All names that a class sees, for suggestions.
fn visible_names<'a>(
    analysis: &'a Analysis,
    from: ClassId,
    is: impl Fn(&MemberKind) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    let members = analysis
        .ancestry(from)
        .flat_map(|id| &analysis.class(id).ast.members);
    members
        .filter(move |m| is(&m.kind))
        .filter_map(|m| super::members::name(&m.kind))
        .map(|n| n.text.as_str())
}

/// The class that `name` denotes before a dot.
fn imported(analysis: &Analysis, from: ClassId, name: &str) -> Option<ClassId> {
    analysis.ancestry(from).find_map(|id| {
        analysis
            .class(id)
            .imports
            .iter()
            .find(|(n, _)| n.text == name)
            .map(|(_, id)| *id)
    })
}

fn member_ident(member: &Member) -> Option<&Ident> {
    super::members::name(&member.kind)
}
