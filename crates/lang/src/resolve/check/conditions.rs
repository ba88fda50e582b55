//! Checks for conditions that no platform satisfies, or that have too many atoms.

use std::collections::BTreeSet;

use crate::ast::{Atom, Condition};
use crate::condition::{Formula, MOST_ATOMS, show};
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class};
use crate::source::Span;

pub(super) fn check(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    let Some(condition) = &class.ast.on else {
        return;
    };
    let span = place(condition);
    let own = Formula::of(Some(condition));
    let mut atoms = BTreeSet::new();
    own.atoms(&mut atoms);
    if atoms.len() > MOST_ATOMS {
        found.push(error!("condition-too-long" at span,
            "this condition asks {} questions; at most {MOST_ATOMS} can be", atoms.len();
            help "split the class into ports with shorter conditions"));
        return;
    }
    let before = found.len();
    versions(analysis, condition, found);
    let is_known = |atom: &Atom| match atom {
        Atom::Name(name) | Atom::AtLeast(name, _) => {
            let names = &analysis.index.names;
            names.isas.contains(name) || names.systems.contains(name)
        }
        _ => true,
    };
    if found.len() > before || !atoms.iter().all(is_known) {
        return; // an unknown platform is reported as such
    }
    let whole = if class.is_port {
        &analysis.index.applies[class.id.0]
    } else {
        &analysis.index.exists[class.id.0]
    };
    if !own.is_satisfiable(&analysis.index.names) {
        found.push(never(span, &own));
    } else if !whole.is_satisfiable(&analysis.index.names) {
        found.push(
            never(span, whole).here("together with the conditions of what this class builds on"),
        );
    }
}

fn never(span: Span, formula: &Formula) -> Diagnostic {
    error!("condition-never-holds" at span, "no platform satisfies `{}`", show(formula);
        help "a platform has one instruction set and one operating system; join alternatives by `||`")
}

fn place(condition: &Condition) -> Span {
    match condition {
        Condition::Atom(_, span) => *span,
        Condition::Not(inner) => place(inner),
        Condition::And(a, b) | Condition::Or(a, b) => place(a).to(place(b)),
    }
}

/// Rejects a version of anything but an operating system.
fn versions(analysis: &Analysis, condition: &Condition, found: &mut Vec<Diagnostic>) {
    match condition {
        Condition::Atom(Atom::AtLeast(name, _), span)
            if analysis.index.names.isas.contains(name) =>
        {
            found.push(error!("version-of-isa" at *span,
                "`{name}` is an instruction set and has no version";
                help "ask for a feature with cpu(FEATURE)"));
        }
        Condition::Atom(..) => {
            if let Condition::Atom(Atom::Name(name), span) = condition
                && !analysis.index.names.isas.contains(name)
                && !analysis.index.names.systems.contains(name)
                && analysis.find_class(name).is_some()
            {
                found.push(error!("not-a-platform" at *span,
                    "`{name}` is a class, but no instruction set or operating system";
                    help "a platform's class extends `InstructionSet` or `OperatingSystem`"));
            }
        }
        Condition::Not(inner) => versions(analysis, inner, found),
        Condition::And(a, b) | Condition::Or(a, b) => {
            versions(analysis, a, found);
            versions(analysis, b, found);
        }
    }
}
