//! Where a class runs, and what is missing where it does not.

use yamba_lang::model::{Gap, MemberRef, Program, World};
use yamba_lang::{Analysis, ClassId, Target};

use super::here;

/// What a class is on one platform.
pub enum Standing {
    /// It runs; the index of the variant.
    Runs(usize),
    /// It does not exist there; what it needs.
    Absent(String),
    /// It would, but something is missing.
    Incomplete(Vec<Gap>),
}

/// On this machine, as this user.
pub fn here(program: &Program) -> Standing {
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
pub fn somewhere(program: &Program) -> Standing {
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
pub fn missing(analysis: &Analysis, class: ClassId, target: &Target) -> Vec<MemberRef> {
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
