//! Where a class runs, and what is missing where it does not.

use yamba_lang::ast::{Member, MemberKind};
use yamba_lang::model::{Gap, MemberRef, Program, World};
use yamba_lang::{Analysis, ClassId, Target};

use super::here;

/// What a class is on one platform.
pub(super) enum Standing {
    /// It runs; the index of the variant.
    Runs(usize),
    /// It does not exist there; what it needs.
    Absent(String),
    /// It would, but something is missing.
    Incomplete(Vec<Gap>),
}

/// On this machine, as this user.
pub(super) fn here(program: &Program) -> Standing {
    let bits = program.atoms.iter().enumerate();
    let world: usize = bits
        .map(|(i, atom)| usize::from(here::holds(atom)) << i)
        .sum();
    match &program.worlds[world] {
        World::Runs(variant) => Standing::Runs(*variant),
        World::Absent(needs) => Standing::Absent(needs.clone()),
        World::Incomplete(gaps) => Standing::Incomplete(gaps.clone()),
    }
}

/// At best, on some machine of this target: what can be said without being there.
pub(super) fn somewhere(program: &Program) -> Standing {
    let mut best = Standing::Absent("not for this platform".to_string());
    for world in &program.worlds {
        match (world, &best) {
            (World::Runs(variant), _) => return Standing::Runs(*variant),
            (World::Incomplete(gaps), Standing::Absent(_)) => {
                best = Standing::Incomplete(gaps.clone())
            }
            (World::Incomplete(gaps), Standing::Incomplete(old)) if gaps.len() < old.len() => {
                best = Standing::Incomplete(gaps.clone());
            }
            (World::Absent(needs), Standing::Absent(_)) => best = Standing::Absent(needs.clone()),
            _ => {}
        }
    }
    best
}

/// The members without which `class` runs nowhere on `target`.
pub(super) fn missing(analysis: &Analysis, class: ClassId, target: &Target) -> Vec<MemberRef> {
    match somewhere(&analysis.program(class, target)) {
        Standing::Incomplete(gaps) => gaps.iter().filter_map(missing_member).collect(),
        _ => Vec::new(),
    }
}

fn missing_member(gap: &Gap) -> Option<MemberRef> {
    match gap {
        Gap::Missing(member) => Some(*member),
        _ => None,
    }
}

/// One gap in a few words: the member's declaration, or who disagrees about it.
pub(super) fn describe(analysis: &Analysis, gap: &Gap) -> String {
    match gap {
        Gap::Missing(member) => declaration(analysis, analysis.member(*member)),
        other => analysis.gap_text(other),
    }
}

/// A member's declaration on one line, without body, value or sweep.
pub(super) fn declaration(analysis: &Analysis, member: &Member) -> String {
    let text = match &member.kind {
        MemberKind::Param(p) => format!("param {} {}", analysis.cpp(p.ty), p.name.text),
        _ => analysis.text(member.span).to_string(),
    };
    let head = text.split('{').next().unwrap_or(&text);
    let words: Vec<&str> = head.split_whitespace().collect();
    words.join(" ").trim_end_matches(';').trim_end().to_string()
}
