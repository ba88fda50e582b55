//! Determines where a class runs, and what is missing elsewhere. Evaluates conditions
//! of `on` about the running machine: versions, processor features.

use std::path::Path;

use yamba_lang::ast::Atom;
use yamba_lang::model::{Gap, MemberRef, Program, Role, World};
use yamba_lang::{Analysis, ClassId, Target};

/// The availability on this machine, for this user.
pub fn here(program: &Program) -> World {
    let atoms = program.atoms.iter().enumerate();
    let bits = atoms.map(|(i, atom)| usize::from(holds(atom)) << i);
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

/// Whether the condition holds on this machine. The name of an instruction set or a system always
/// holds: the target determines it.
pub(super) fn holds(atom: &Atom) -> bool {
    match atom {
        Atom::Name(_) => true,
        Atom::AtLeast(_, version) => kernel_version() >= *version,
        Atom::Cpu(feature) => has_cpu_feature(feature),
        Atom::Root => rustix::process::geteuid().is_root(),
        Atom::File(path) => Path::new(path).exists(),
    }
}

fn kernel_version() -> Vec<u32> {
    let names = rustix::system::uname();
    numbers(&names.release().to_string_lossy())
}

/// The leading numbers of a version: `6.1.0-13-amd64` is 6, 1, 0.
fn numbers(release: &str) -> Vec<u32> {
    let digits = release.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or("");
    digits.split('.').filter_map(|n| n.parse().ok()).collect()
}

/// Whether `/proc/cpuinfo` lists the feature, under the name that the system uses. Supports the
/// keys of all architectures that Linux runs on.
fn has_cpu_feature(feature: &str) -> bool {
    let Ok(text) = std::fs::read_to_string("/proc/cpuinfo") else {
        return false;
    };
    let lists = ["flags", "Features", "isa"];
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(key, _)| lists.contains(&key.trim()))
        .any(|(_, value)| {
            value.split([' ', '_']).any(|f| f == feature) || value.split(' ').any(|f| f == feature)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(numbers("6.1.0-13-amd64"), [6, 1, 0]);
        assert_eq!(numbers("5.10"), [5, 10]);
        assert!(numbers("6.10.2+") > vec![6, 9]);
        assert!(numbers("6.1.0") >= vec![6, 1]);
    }
}
