//! Checks that each class that is not abstract is complete wherever it exists, and that no ports
//! contradict each other.

use std::collections::BTreeMap;

use super::super::compose::Composed;
use super::super::suggest;
use crate::ast::{Member, MemberKind};
use crate::diagnostic::{Diagnostic, Severity, error};
use crate::model::{Analysis, ClassId, Gap, MemberRef, Target};
use crate::source::Span;

/// A composition for one target and one set of answers there.
pub(super) struct Case {
    pub(super) target: Target,
    pub(super) composed: Composed,
}

pub(super) fn check(analysis: &Analysis, id: ClassId, cases: &[Case], found: &mut Vec<Diagnostic>) {
    let class = analysis.class(id);
    let mut missing: BTreeMap<MemberRef, Vec<String>> = BTreeMap::new();
    for case in cases {
        for gap in &case.composed.gaps {
            match gap {
                Gap::Missing(member) if !class.ast.is_abstract => {
                    let targets = missing.entry(*member).or_default();
                    let target = case.target.to_string();
                    if !targets.contains(&target) {
                        targets.push(target);
                    }
                }
                Gap::Missing(_) => {}
                Gap::Ambiguous { name, definitions } => {
                    found.push(ambiguous(analysis, id, name, definitions))
                }
                Gap::ImportAbsent { importer, imported, needs } => {
                    if !class.ast.is_abstract {
                        found.push(absent(analysis, *importer, *imported, needs, case));
                    }
                }
                Gap::ImportCycle { importer, imported } => {
                    found.push(cycle(analysis, *importer, *imported))
                }
            }
        }
    }
    if !missing.is_empty() && !is_misread(analysis, id) {
        let targets =
            cases.iter().map(|c| &c.target).collect::<std::collections::BTreeSet<_>>().len();
        found.push(incomplete(analysis, id, &missing, targets));
    }
}

/// Whether the text of the class has an error of syntax, so that members of it may not have been
/// read.
fn is_misread(analysis: &Analysis, id: ClassId) -> bool {
    let header = analysis.class(id).ast.header;
    let headers = analysis.classes.iter().map(|class| class.ast.header);
    let later = headers.filter(|h| h.file == header.file && h.start > header.start);
    let text = header.start..later.map(|h| h.start).min().unwrap_or(u32::MAX);
    // So far, only the files have been read.
    let errors = analysis.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let mut places = errors.map(|d| d.primary.span);
    places.any(|place| place.file == header.file && text.contains(&place.start))
}

fn incomplete(
    analysis: &Analysis,
    id: ClassId,
    missing: &BTreeMap<MemberRef, Vec<String>>,
    targets: usize,
) -> Diagnostic {
    let class = analysis.class(id);
    let count = if missing.len() == 1 {
        "a member".to_owned()
    } else {
        format!("{} members", missing.len())
    };
    let mut fault = error!("incomplete-class" at class.ast.name.span,
        "`{}` is not abstract, but lacks {count}", class.name();
        help help(analysis, id, missing));
    for (member, on) in missing {
        let where_missing =
            if on.len() == targets { String::new() } else { format!(" (on {})", on.join(", ")) };
        let doc = analysis.member(*member).doc.replace('\n', " ");
        let doc = if doc.is_empty() { doc } else { format!(": {}", doc.trim()) };
        fault = fault.also(
            place(analysis, *member),
            format!("missing: `{}`{doc}{where_missing}", analysis.declaration(*member)),
        );
    }
    fault
}

/// The help text: what to add, or which similar function of the class may have been meant.
fn help(analysis: &Analysis, id: ClassId, missing: &BTreeMap<MemberRef, Vec<String>>) -> String {
    let is_own = |m: &&Member| matches!(m.kind, MemberKind::Function { .. });
    let own = &analysis.class(id).ast.members;
    let names = || own.iter().filter(is_own).filter_map(|m| m.kind.name());
    let near = missing.keys().find_map(|member| {
        let wanted = analysis.member_name(*member)?;
        let near = suggest::similar(wanted, names().map(|n| n.text.as_str()))?;
        Some(format!("did you mean `{wanted}` by `{near}`?"))
    });
    let is_param =
        |member: &MemberRef| matches!(analysis.member(*member).kind, MemberKind::Param(_));
    if near.is_none() && missing.keys().all(is_param) {
        return "a parameter needs a value, also with a sweep: `param int size = 8 over {8, 64};`"
            .to_owned();
    }
    near.unwrap_or_else(|| {
        "define what is missing here, in a base or in a port; or mark the class `abstract`, to be completed by ports".to_owned()
    })
}

fn place(analysis: &Analysis, member: MemberRef) -> Span {
    let m = analysis.member(member);
    m.kind.name().map_or(m.span, |n| n.span)
}

fn ambiguous(
    analysis: &Analysis,
    id: ClassId,
    name: &str,
    definitions: &[MemberRef],
) -> Diagnostic {
    let names: Vec<String> =
        definitions.iter().map(|m| format!("`{}`", analysis.class(m.class).name())).collect();
    let message = format!(
        "{} both define `{name}` of `{}`, and neither is more specific",
        names.join(" and "),
        analysis.class(id).name()
    );
    let (first, rest) = definitions.split_first().expect("an ambiguity has definitions");
    let mut fault = error!("ambiguous-ports" at place(analysis, *first), "{message}";
        help "let one `ports` the other, narrow its condition, or add a port for the platform that both apply to");
    for member in rest {
        fault = fault.also(place(analysis, *member), "also defined here");
    }
    fault
}

fn import_place(analysis: &Analysis, importer: ClassId, imported: ClassId) -> Span {
    let class = analysis.class(importer);
    class
        .imports
        .iter()
        .find(|(_, id)| *id == imported)
        .map_or(class.ast.name.span, |(name, _)| name.span)
}

fn absent(
    analysis: &Analysis,
    importer: ClassId,
    imported: ClassId,
    needs: &str,
    case: &Case,
) -> Diagnostic {
    error!("import-absent" at import_place(analysis, importer, imported),
        "`{}` exists only where {needs} holds, but `{}` also where it does not",
        analysis.class(imported).name(), analysis.class(importer).name();
        help format!("add `on {needs}` to the class, or import it in a port"))
    .here(format!("not on {}", case.target))
}

fn cycle(analysis: &Analysis, importer: ClassId, imported: ClassId) -> Diagnostic {
    error!("cyclic-import" at import_place(analysis, importer, imported),
        "`{}` imports `{}`, which needs `{0}` itself",
        analysis.class(importer).name(), analysis.class(imported).name();
        help "move what both need into a third class and import that")
}
