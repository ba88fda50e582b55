//! Determines where a class runs, and what is missing elsewhere.

use yamba_lang::model::{Gap, MemberRef, Program, World};
use yamba_lang::{Analysis, ClassId, Target};

use super::here;

/// The availability of a class on one platform.
pub enum Standing {
    /// It runs there; the index of the variant.
    Runs(usize),
    /// It does not exist there; the unmet condition.
    Absent(String),
    /// It exists there, but members are missing.
    Incomplete(Vec<Gap>),
}

/// The availability on this machine, for this user.
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

/// The best availability on any machine of this target. Needs no access to such a machine.
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

/// The members that a port to `target` must define before `class` can run there.
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
