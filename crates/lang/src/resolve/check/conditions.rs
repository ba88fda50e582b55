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
    let places = condition.atoms();
    let [(_, span), ..] = places[..] else { return };
    let span = places.last().map_or(span, |(_, last)| span.to(*last));
    let own = Formula::from_optional(Some(condition));
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
        Atom::Name(name) | Atom::AtLeast(name, _) => analysis.index.names.has(name),
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

/// Rejects a version of anything but an operating system.
fn versions(analysis: &Analysis, condition: &Condition, found: &mut Vec<Diagnostic>) {
    let names = &analysis.index.names;
    for (atom, span) in condition.atoms() {
        match atom {
            Atom::AtLeast(name, _) if names.isas.contains(name) => {
                found.push(error!("version-of-isa" at span,
                    "`{name}` is an instruction set and has no version";
                    help "ask for a feature with cpu(FEATURE)"));
            }
            Atom::Name(name) if !names.has(name) && analysis.find_class(name).is_some() => {
                found.push(error!("not-a-platform" at span,
                    "`{name}` is a class, but no instruction set or operating system";
                    help "a platform's class extends `InstructionSet` or `OperatingSystem`"));
            }
            _ => {}
        }
    }
}
