//! Members and imports that a class sees, by their names.

use crate::ast::MemberKind;
use crate::model::{Analysis, ClassId, MemberRef};

/// The member of `name` that a class sees: its own or one it inherits; not those of other ports.
pub(super) fn visible(analysis: &Analysis, from: ClassId, name: &str) -> Option<MemberRef> {
    analysis.ancestry(from).find_map(|class| own(analysis, class, name))
}

/// The class's own member of this name.
pub(super) fn own(analysis: &Analysis, class: ClassId, name: &str) -> Option<MemberRef> {
    analysis
        .members(class)
        .find(|(_, m)| m.kind.name().is_some_and(|n| n.text == name))
        .map(|(member, _)| member)
}

/// Every name that a class sees, for suggestions.
pub(super) fn visible_names<'a>(
    analysis: &'a Analysis,
    from: ClassId,
    is: impl Fn(&MemberKind) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    let members = analysis.ancestry(from).flat_map(|id| &analysis.class(id).ast.members);
    members.filter(move |m| is(&m.kind)).filter_map(|m| m.kind.name()).map(|n| n.text.as_str())
}

/// The class that `name` stands for before a dot.
pub(super) fn imported(analysis: &Analysis, from: ClassId, name: &str) -> Option<ClassId> {
    analysis.ancestry(from).find_map(|id| {
        analysis.class(id).imports.iter().find(|(n, _)| n.text == name).map(|(_, id)| *id)
    })
}
