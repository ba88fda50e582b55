//! Warns about a function that is never called and whose name is similar to one that the harness
//! calls, since this is probably a typing error.

use super::super::suggest;
use super::lookup::visible;
use crate::ast::{Ident, Member, MemberKind};
use crate::cpp;
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class, Role};

pub(super) fn check(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    let Some(parent) = class.parent else { return };
    if class.role != Role::Benchmark {
        return;
    }
    for name in class.ast.members.iter().filter_map(function) {
        if visible(analysis, parent, &name.text).is_some() {
            continue;
        }
        let Some(near) = suggest::similar(&name.text, protocol(analysis, class)) else {
            continue;
        };
        if uses(analysis, &name.text) > 1 {
            continue;
        }
        found.push(
            error!("never-called" at name.span, "nothing calls `{name}`";
            help format!("did you mean `{near}`, which the harness calls?"))
            .as_warning(),
        );
    }
}

/// The name of a member that is a function.
fn function(member: &Member) -> Option<&Ident> {
    match &member.kind {
        MemberKind::Function { name, .. } => Some(name),
        _ => None,
    }
}

/// The functions of the root class, which the harness calls.
fn protocol<'a>(analysis: &'a Analysis, class: &Class) -> impl Iterator<Item = &'a str> {
    let root = analysis.ancestry(class.id).last();
    let members = root.map_or(&[][..], |id| &analysis.class(id).ast.members);
    members.iter().filter_map(function).map(|n| n.text.as_str())
}

/// Number of occurrences of a word in all texts.
fn uses(analysis: &Analysis, word: &str) -> usize {
    let files = analysis.sources.files().map(|(_, file)| &file.text);
    let texts = files.filter(|text| text.contains(word));
    texts
        .map(|text| {
            let tokens = cpp::tokens(text).into_iter();
            tokens.filter(|t| &text[t.range.clone()] == word).count()
        })
        .sum()
}
