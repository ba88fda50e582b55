//! Checks that a redefinition has the kind and signature of the inherited member.

use super::super::members::{noun, types};
use super::super::suggest;
use super::lookup::{visible, visible_names};
use crate::ast::{Bitstring, Ident, Member, MemberKind};
use crate::cpp;
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class, ClassId};

pub(super) fn check(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    for member in &class.ast.members {
        if let MemberKind::Assign { name, .. } = &member.kind {
            assignment(analysis, class, name, found);
        }
    }
    let Some(parent) = class.parent else { return };
    for member in &class.ast.members {
        let Some(name) = member.kind.name() else {
            continue;
        };
        if let Some(inherited) = visible(analysis, parent, &name.text) {
            redefinition(analysis, parent, member, analysis.member(inherited), found);
        }
    }
}

fn assignment(analysis: &Analysis, class: &Class, name: &Ident, found: &mut Vec<Diagnostic>) {
    let is_param = |k: &MemberKind| matches!(k, MemberKind::Param(_));
    match visible(analysis, class.id, &name.text).map(|m| analysis.member(m)) {
        Some(member) if is_param(&member.kind) => {}
        Some(member) => {
            let message = format!(
                "`{name}` is {}, and only a parameter can be given a value",
                noun(&member.kind)
            );
            found.push(declared_here(
                error!("assignment-to-other" at name.span, "{message}"),
                member,
            ));
        }
        None => {
            let otherwise = format!(
                "declare it: `param TYPE {name} = VALUE;`, or write its type to declare state"
            );
            let known = visible_names(analysis, class.id, is_param);
            let help = suggest::help(&name.text, known, otherwise);
            found.push(error!("unknown-parameter" at name.span, "there is no parameter `{name}`";
                help help));
        }
    }
}

fn declared_here(fault: Diagnostic, inherited: &Member) -> Diagnostic {
    match inherited.kind.name() {
        Some(name) => fault.also(name.span, "declared here"),
        None => fault,
    }
}

fn redefinition(
    analysis: &Analysis,
    parent: ClassId,
    member: &Member,
    inherited: &Member,
    found: &mut Vec<Diagnostic>,
) {
    let Some(name) = member.kind.name() else {
        return;
    };
    let fault = match (&member.kind, &inherited.kind) {
        (MemberKind::State { .. }, MemberKind::State { .. })
        | (MemberKind::Param(_), MemberKind::Param(_)) => None, // `names` says so
        (MemberKind::Function { .. }, MemberKind::Function { .. }) => {
            function(analysis, parent, member, name)
        }
        (MemberKind::Bitstring(own), MemberKind::Bitstring(base)) => bitstring(analysis, own, base),
        (MemberKind::Evidence { ty, .. }, MemberKind::Evidence { ty: base, .. }) => {
            differs(analysis.cpp(*ty), analysis.cpp(*base))
                .then(|| wrong(name, &format!("evidence {} {name}()", analysis.cpp(*base))))
        }
        (own, base) => {
            let message = format!(
                "`{name}` is {} here and {} in a class that this one builds on",
                noun(own),
                noun(base)
            );
            Some(error!("wrong-kind" at name.span, "{message}";
                help "give one of them another name"))
        }
    };
    match fault {
        Some(fault) => found.push(declared_here(fault, inherited)),
        None if !member.kind.is_definition()
            && inherited.kind.is_definition()
            && !matches!(member.kind, MemberKind::Param(_)) =>
        {
            let message = format!(
                "`{name}` already has a definition, which this declaration without a body would take away"
            );
            found.push(declared_here(
                error!("undefined-again" at name.span, "{message}";
                help "leave the declaration out, or give it a body"),
                inherited,
            ));
        }
        None => {}
    }
}

fn differs(a: &str, b: &str) -> bool {
    cpp::normalised(a) != cpp::normalised(b)
}

fn wrong(name: &Ident, expected: &str) -> Diagnostic {
    error!("wrong-signature" at name.span,
        "`{name}` redefines an inherited member with another signature";
        help format!("the inherited one is `{expected}`"))
}

/// A function may redefine any inherited overload.
fn function(
    analysis: &Analysis,
    parent: ClassId,
    member: &Member,
    name: &Ident,
) -> Option<Diagnostic> {
    let MemberKind::Function { ret, params, .. } = &member.kind else {
        return None;
    };
    let own = types(&analysis.sources, params);
    let mut overloads = Vec::new();
    for id in analysis.ancestry(parent) {
        for member in &analysis.class(id).ast.members {
            if let MemberKind::Function { ret: base_ret, name: base_name, params, .. } =
                &member.kind
                && base_name.text == name.text
            {
                let base = types(&analysis.sources, params);
                if base == own && !differs(analysis.cpp(*ret), analysis.cpp(*base_ret)) {
                    return None;
                }
                overloads.push(format!(
                    "{} {name}({})",
                    cpp::normalised(analysis.cpp(*base_ret)),
                    base.join(", ")
                ));
            }
        }
    }
    overloads.dedup();
    Some(wrong(name, &overloads.join("` or `")))
}

fn bitstring(analysis: &Analysis, own: &Bitstring, base: &Bitstring) -> Option<Diagnostic> {
    (shown_types(analysis, own) != shown_types(analysis, base))
        .then(|| wrong(&own.name, &shown_types(analysis, base)))
}

fn shown_types(analysis: &Analysis, bitstring: &Bitstring) -> String {
    let signature = bitstring.signature.as_ref().map_or_else(String::new, |s| {
        format!(
            "<{} c_function({})>",
            cpp::normalised(analysis.cpp(s.ret)),
            types(&analysis.sources, &s.args).join(", ")
        )
    });
    let params = types(&analysis.sources, &bitstring.params);
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    format!("bitstring{signature} {}{params}", bitstring.name.text)
}
