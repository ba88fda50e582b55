//! All checks: first of each class alone, then of its composition on every platform.

mod bounds;
mod completeness;
mod conditions;
mod inheritance;
mod lookup;
mod names;
mod near;
mod protocol;
mod references;
mod shapes;
mod values;
mod widths;

use std::collections::BTreeSet;

use completeness::Case;

use super::chain::Setting;
use super::compose::Composer;
use crate::condition::{Formula, is_possible};
use crate::diagnostic::Diagnostic;
use crate::model::{Analysis, ClassId, Target};

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
    let base = |id: &ClassId| analysis.ancestry(*id).find(|id| !analysis.class(*id).is_port);
    // A duplicate name is already an error; composing thousands of duplicates would take minutes.
    let mut names = BTreeSet::new();
    analysis
        .classes
        .iter()
        .filter(|c| c.is_requested && names.insert(c.name()))
        .filter_map(|c| base(&c.id))
        .collect()
}

fn check_compositions(analysis: &Analysis, class: ClassId, found: &mut Vec<Diagnostic>) {
    let composer = Composer { analysis };
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
    let exists = composer.analysis.index.exists[class.0].on(target);
    if exists == Formula::False {
        return Vec::new();
    }
    let (questions, fault) = composer.questions(class, target);
    found.extend(fault);
    let atoms = &questions.atoms;
    let mut seen = BTreeSet::new();
    let mut cases = Vec::new();
    for world in 0..1usize << atoms.len() {
        let is_here = is_possible(atoms, world, &composer.analysis.index.names)
            && exists.holds_in(atoms, world);
        if is_here && seen.insert(questions.answers(world)) {
            let composed = composer.compose(class, Setting { target, atoms, world });
            cases.push(Case { target: target.clone(), composed });
        }
    }
    cases
}
