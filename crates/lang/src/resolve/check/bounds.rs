//! Checks bounds of evidence. They are evaluated once, before `prepare`, and cannot use names
//! without a value at that time.

use std::collections::HashSet;

use super::lookup::{imported, visible};
use crate::ast::{Cpp, Member, MemberKind};
use crate::cpp::{self, CppTokenKind};
use crate::diagnostic::{Diagnostic, error};
use crate::model::{Analysis, Class, ClassId, MemberRef, Role};
use crate::source::Span;

/// The name of the batch that was just timed.
const BATCH: &str = "batch";

pub(super) fn check(analysis: &Analysis, class: &Class, found: &mut Vec<Diagnostic>) {
    for member in &class.ast.members {
        if let MemberKind::Evidence { expects: Some((low, high)), .. } = member.kind {
            let fault = [low, high].into_iter().find_map(|end| fault(analysis, class.id, end));
            found.extend(fault);
        }
        if let MemberKind::Requires(condition) = member.kind {
            check_part(class, condition, found);
            let fault = fault(analysis, class.id, condition);
            found.extend(fault.map(|fault| without_value(analysis, fault.primary.span)));
        }
    }
}

/// Rejects a condition in a class that is only imported, where nothing evaluates it.
fn check_part(class: &Class, condition: Cpp, found: &mut Vec<Diagnostic>) {
    if class.role != Role::Benchmark {
        found.push(error!("condition-of-part" at condition.span,
            "`{}` is no benchmark, and only benchmarks have conditions", class.name();
            help "write the condition into the benchmarks that import it"));
    }
}

fn without_value(analysis: &Analysis, place: Span) -> Diagnostic {
    let name = analysis.text(place);
    error!("condition-without-value" at place,
        "this condition uses `{name}`, which has no value yet: conditions are evaluated once, before anything is timed";
        help "use parameters and `platform`")
}

/// The first name in one end of a bound that has no value when the bound is evaluated.
fn fault(analysis: &Analysis, class: ClassId, end: Cpp) -> Option<Diagnostic> {
    let text = analysis.cpp(end);
    names(analysis, class, text).find_map(|name| {
        let place = Span::new(
            end.span.file,
            end.span.start + name.range.start as u32,
            end.span.start + name.range.end as u32,
        );
        let Some(member) = name.member else {
            return is_batch(text, &name).then(|| bound_of_batch(place));
        };
        let word = &text[name.range.clone()];
        match &analysis.member(member).kind {
            MemberKind::Evidence { .. } => Some(bound_of_evidence(place, word)),
            MemberKind::State { init: None, .. } => Some(bound_of_state(place, word)),
            MemberKind::Function { .. } => {
                let user = user_of_batch(analysis, member, &mut HashSet::new())?;
                let span = analysis.member(user).kind.name()?.span;
                Some(bound_of_batch(place).also(span, "this function uses `batch`"))
            }
            _ => None,
        }
    })
}

fn bound_of_batch(place: Span) -> Diagnostic {
    error!("bound-of-batch" at place,
        "this bound depends on `batch`, but bounds are evaluated once, before anything is timed";
        help "divide in the evidence: return the ratio to `batch.passes`, and write `expects [1, 1]`")
}

fn bound_of_evidence(place: Span, name: &str) -> Diagnostic {
    error!("bound-of-evidence" at place,
        "this bound calls the evidence `{name}`, but bounds are evaluated once, before anything is timed";
        help "return the ratio or the difference of both from one evidence, and bound that")
}

fn bound_of_state(place: Span, name: &str) -> Diagnostic {
    error!("bound-of-state" at place,
        "this bound reads the state `{name}`, which has no value yet: bounds are evaluated once, before `prepare` and `setup`";
        help "bounds may use parameters and `platform`; return the ratio to this state from the evidence, and write `expects [1, 1]`")
}

/// A word in a piece of C++, with the member that it names, if any.
struct Name {
    range: std::ops::Range<usize>,
    member: Option<MemberRef>,
}

/// The words of a piece of C++ in a class: unqualified ones, and those after the name of an import.
fn names<'a>(
    analysis: &'a Analysis,
    class: ClassId,
    text: &'a str,
) -> impl Iterator<Item = Name> + 'a {
    let tokens = cpp::tokens(text);
    let sign = |text: &str| matches!(text, "." | ">");
    (0..tokens.len()).filter_map(move |i| {
        let word = &text[tokens[i].range.clone()];
        let before = |n: usize| i.checked_sub(n).map(|at| &text[tokens[at].range.clone()]);
        if tokens[i].kind != CppTokenKind::Word {
            return None;
        }
        let is_part = before(1).is_some_and(sign);
        let owner = before(2).filter(|_| before(1) == Some(".") && !before(3).is_some_and(sign));
        let class = match owner {
            Some(part) if part != "this" => imported(analysis, class, part)?,
            _ if is_part && owner.is_none() && before(2) != Some("this") => return None,
            _ => class,
        };
        Some(Name { range: tokens[i].range.clone(), member: visible(analysis, class, word) })
    })
}

/// Whether the word is the harness's `batch` with a member access, and not a variable of this name.
fn is_batch(text: &str, name: &Name) -> bool {
    let is_read = text[name.range.end..].trim_start().starts_with('.');
    &text[name.range.clone()] == BATCH && is_read
}

/// This function, or one that it calls directly or indirectly, whose text uses `batch`.
fn user_of_batch(
    analysis: &Analysis,
    function: MemberRef,
    seen: &mut HashSet<MemberRef>,
) -> Option<MemberRef> {
    overloads(analysis, function).into_iter().find_map(|member| {
        analysis.member(member).kind.body()?;
        if !seen.insert(member) {
            return None;
        }
        let text = analysis.text(analysis.member(member).span);
        names(analysis, member.class, text).find_map(|name| match name.member {
            None => is_batch(text, &name).then_some(member),
            Some(called) => user_of_batch(analysis, called, seen),
        })
    })
}

/// The overloads of a function in its class.
fn overloads(analysis: &Analysis, of: MemberRef) -> Vec<MemberRef> {
    let name = |m: &Member| m.kind.name().map(|n| n.text.clone());
    let wanted = name(analysis.member(of));
    let members = analysis.members(of.class);
    members.filter(|(_, m)| name(m) == wanted).map(|(member, _)| member).collect()
}
