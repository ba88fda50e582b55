//! Determines where a class runs, and what is missing elsewhere.

use yamba_lang::model::{Gap, MemberRef, Program, Role, World};
use yamba_lang::{Analysis, ClassId, Target};

use super::here;

/// The availability on this machine, for this user.
pub fn here(program: &Program) -> World {
    let atoms = program.atoms.iter().enumerate();
    let bits = atoms.map(|(i, atom)| usize::from(here::holds(atom)) << i);
    program.worlds[bits.sum::<usize>()].clone()
}

/// The best availability on any machine of this target. Needs no access to such a machine.
pub fn somewhere(program: &Program) -> World {
    let rank = |(place, world): &(usize, &World)| match world {
        World::Runs(_) => (0, 0),
        World::Incomplete(gaps) => (1, gaps.len()),
        World::Absent(_) => (2, usize::MAX - place),
    };
    let best = program.worlds.iter().enumerate().min_by_key(rank);
    let absent = || World::Absent("not for this platform".to_string());
    best.map_or_else(absent, |(_, world)| world.clone())
}

/// The tag of the class of an operating system on which nothing was ever run.
const UNTESTED: &str = "untested";

/// Whether nothing was ever run on the operating system of this target, as its class says.
pub fn is_untested(analysis: &Analysis, target: &Target) -> bool {
    let mut systems = analysis.classes.iter();
    let class = systems.find(|c| c.role == Role::OperatingSystem && c.name() == target.system);
    class.is_some_and(|class| analysis.has_tag(class.id, UNTESTED))
}

/// The members that a port to `target` must define before `class` can run there.
pub fn missing(analysis: &Analysis, class: ClassId, target: &Target) -> Vec<MemberRef> {
    let World::Incomplete(gaps) = somewhere(&analysis.program(class, target)) else {
        return Vec::new();
    };
    let missing = gaps.into_iter().filter_map(|gap| match gap {
        Gap::Missing(member) => Some(member),
        _ => None,
    });
    missing.collect()
}
