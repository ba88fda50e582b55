//! Conditions on the platform: evaluation, implication, and the atoms that remain to be tested at
//! run time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::ast::{Atom, Condition};
use crate::target::Target;

/// A condition without source positions, with constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    True,
    False,
    Atom(Atom),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
}

/// Maximum number of atoms in a condition, which bounds the truth tables.
pub(crate) const MOST_ATOMS: usize = 6;

impl Formula {
    pub(crate) fn from_optional(condition: Option<&Condition>) -> Formula {
        condition.map_or(Formula::True, Formula::from_condition)
    }

    fn from_condition(condition: &Condition) -> Formula {
        match condition {
            Condition::Atom(atom, _) => Formula::Atom(atom.clone()),
            Condition::Not(inner) => Formula::Not(Box::new(Formula::from_condition(inner))),
            Condition::And(a, b) => Formula::from_condition(a).and(Formula::from_condition(b)),
            Condition::Or(a, b) => Formula::Or(
                Box::new(Formula::from_condition(a)),
                Box::new(Formula::from_condition(b)),
            ),
        }
    }

    pub(crate) fn and(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::True, f) | (f, Formula::True) => f,
            (Formula::False, _) | (_, Formula::False) => Formula::False,
            (a, b) => Formula::And(Box::new(a), Box::new(b)),
        }
    }

    pub(crate) fn atoms(&self, out: &mut BTreeSet<Atom>) {
        match self {
            Formula::True | Formula::False => {}
            Formula::Atom(atom) => {
                out.insert(atom.clone());
            }
            Formula::Not(inner) => inner.atoms(out),
            Formula::And(a, b) | Formula::Or(a, b) => {
                a.atoms(out);
                b.atoms(out);
            }
        }
    }

    fn holds(&self, answer: &dyn Fn(&Atom) -> bool) -> bool {
        match self {
            Formula::True => true,
            Formula::False => false,
            Formula::Atom(atom) => answer(atom),
            Formula::Not(inner) => !inner.holds(answer),
            Formula::And(a, b) => a.holds(answer) && b.holds(answer),
            Formula::Or(a, b) => a.holds(answer) || b.holds(answer),
        }
    }

    /// Replaces the atoms that are known for `target` at build time by constants. The others are
    /// tested at run time.
    pub(crate) fn on(&self, target: &Target) -> Formula {
        let is = |name: &str| name == target.isa || name == target.system;
        match self {
            Formula::Atom(Atom::Name(name)) => constant(is(name)),
            Formula::Atom(Atom::AtLeast(name, _)) if !is(name) => Formula::False,
            Formula::Not(inner) => match inner.on(target) {
                Formula::True => Formula::False,
                Formula::False => Formula::True,
                f => Formula::Not(Box::new(f)),
            },
            Formula::And(a, b) => a.on(target).and(b.on(target)),
            Formula::Or(a, b) => match (a.on(target), b.on(target)) {
                (Formula::True, _) | (_, Formula::True) => Formula::True,
                (Formula::False, f) | (f, Formula::False) => f,
                (a, b) => Formula::Or(Box::new(a), Box::new(b)),
            },
            f => f.clone(),
        }
    }

    /// Whether the formula holds if exactly the atoms whose bit in `world` is set hold.
    pub(crate) fn holds_in(&self, atoms: &[Atom], world: usize) -> bool {
        self.holds(&|atom| {
            atoms.iter().position(|a| a == atom).is_some_and(|i| world >> i & 1 == 1)
        })
    }

    /// Whether any platform satisfies the formula. Also true if it has too many atoms to decide.
    pub(crate) fn is_satisfiable(&self, names: &Names) -> bool {
        let mut atoms = BTreeSet::new();
        self.atoms(&mut atoms);
        let atoms: Vec<Atom> = atoms.into_iter().collect();
        atoms.len() > 2 * MOST_ATOMS
            || (0..1usize << atoms.len())
                .any(|world| is_possible(&atoms, world, names) && self.holds_in(&atoms, world))
    }

    /// Whether every platform that satisfies `self` satisfies `other`.
    pub(crate) fn implies(&self, other: &Formula, names: &Names) -> bool {
        !self.clone().and(Formula::Not(Box::new(other.clone()))).is_satisfiable(names)
    }
}

fn constant(value: bool) -> Formula {
    if value { Formula::True } else { Formula::False }
}

/// The known instruction sets and operating systems. A platform has exactly one of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) isas: Vec<String>,
    pub(crate) systems: Vec<String>,
}

impl Names {
    /// Whether this is an instruction set or operating system.
    pub(crate) fn has(&self, name: &String) -> bool {
        self.isas.contains(name) || self.systems.contains(name)
    }
}

/// Whether the answers are consistent: one instruction set, one system, and each version implies
/// all older ones.
pub(crate) fn is_possible(atoms: &[Atom], world: usize, names: &Names) -> bool {
    let set = |i: usize| world >> i & 1 == 1;
    let mut isa = None;
    let mut system = None;
    let mut versions: BTreeMap<&str, Vec<(&[u32], bool)>> = BTreeMap::new();
    for (i, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Name(name) if set(i) => {
                let kind = if names.isas.contains(name) { &mut isa } else { &mut system };
                if kind.is_some_and(|k| k != name) {
                    return false;
                }
                *kind = Some(name);
            }
            Atom::AtLeast(name, version) => {
                versions.entry(name).or_default().push((version, set(i)))
            }
            _ => {}
        }
    }
    versions.iter().all(|(name, answers)| {
        let any = answers.iter().any(|(_, holds)| *holds);
        let named = atoms.iter().position(|a| matches!(a, Atom::Name(n) if n == name));
        let other_system = system.is_some_and(|s| s != name);
        !(any && (other_system || named.is_some_and(|i| !set(i)))) && versions_agree(answers)
    })
}

fn versions_agree(answers: &[(&[u32], bool)]) -> bool {
    answers.iter().all(|(version, holds)| {
        !holds
            || answers
                .iter()
                .all(|(older, older_holds)| *older_holds || compare(older, version).is_gt())
    })
}

/// Compares versions number by number; missing numbers count as 0.
fn compare(a: &[u32], b: &[u32]) -> std::cmp::Ordering {
    let length = a.len().max(b.len());
    let at = |v: &[u32], i: usize| v.get(i).copied().unwrap_or(0);
    (0..length)
        .map(|i| at(a, i).cmp(&at(b, i)))
        .find(|o| o.is_ne())
        .unwrap_or(std::cmp::Ordering::Equal)
}

/// An atom as source text: `linux >= 6.1`, `cpu(avx512f)`, `root`, `file("/dev/kvm")`.
pub fn show_atom(atom: &Atom) -> String {
    match atom {
        Atom::Name(name) => name.clone(),
        Atom::AtLeast(name, version) => {
            let version: Vec<String> = version.iter().map(u32::to_string).collect();
            format!("{name} >= {}", version.join("."))
        }
        Atom::Cpu(feature) => format!("cpu({feature})"),
        Atom::Root => "root".to_owned(),
        Atom::File(path) => format!("file(\"{path}\")"),
    }
}

/// A formula as source text.
pub(crate) fn show(formula: &Formula) -> String {
    let mut out = String::new();
    write_formula(formula, 0, &mut out);
    out
}

fn write_formula(formula: &Formula, outer: u8, out: &mut String) {
    let (left, sign, right, precedence) = match formula {
        Formula::True => return out.push_str("any platform"),
        Formula::False => return out.push_str("no platform"),
        Formula::Atom(atom) => {
            let _ = write!(out, "{}", show_atom(atom));
            return;
        }
        Formula::Not(inner) => {
            out.push('!');
            let bare = matches!(
                &**inner,
                Formula::Not(_)
                    | Formula::Atom(Atom::Name(_) | Atom::Cpu(_) | Atom::Root | Atom::File(_))
            );
            return if bare {
                write_formula(inner, 0, out)
            } else {
                write_parenthesised(inner, out)
            };
        }
        Formula::And(a, b) => (a, " && ", b, 2),
        Formula::Or(a, b) => (a, " || ", b, 1),
    };
    let parenthesised = precedence < outer;
    if parenthesised {
        out.push('(');
    }
    write_formula(left, precedence, out);
    out.push_str(sign);
    write_formula(right, precedence, out);
    if parenthesised {
        out.push(')');
    }
}

fn write_parenthesised(formula: &Formula, out: &mut String) {
    out.push('(');
    write_formula(formula, 0, out);
    out.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names {
            isas: vec!["x86_64".into(), "aarch64".into()],
            systems: vec!["linux".into(), "darwin".into()],
        }
    }

    fn name(n: &str) -> Formula {
        Formula::Atom(Atom::Name(n.into()))
    }

    fn linux(version: &[u32]) -> Formula {
        Formula::Atom(Atom::AtLeast("linux".into(), version.into()))
    }

    #[test]
    fn implication_considers_platforms_and_versions() {
        let yes = [
            (name("x86_64").and(name("linux")), name("linux")),
            (linux(&[6, 1]), linux(&[5, 0])),
            (linux(&[6, 1]), linux(&[6])),
            (linux(&[6, 1]), name("linux")),
            (name("x86_64"), Formula::Not(Box::new(name("aarch64")))),
            (linux(&[5]), Formula::Not(Box::new(name("darwin")))),
            (linux(&[6, 0]), linux(&[6])),
        ];
        for (a, b) in yes {
            assert!(a.implies(&b, &names()), "{} => {}", show(&a), show(&b));
        }
        let no = [
            (name("linux"), name("x86_64")),
            (linux(&[5]), linux(&[6])),
            (name("linux"), linux(&[1])),
            (Formula::True, name("linux")),
        ];
        for (a, b) in no {
            assert!(!a.implies(&b, &names()), "{} => {}", show(&a), show(&b));
        }
    }

    #[test]
    fn contradictions_are_unsatisfiable() {
        assert!(!name("x86_64").and(name("aarch64")).is_satisfiable(&names()));
        assert!(!name("darwin").and(linux(&[5])).is_satisfiable(&names()));
        assert!(name("darwin").and(name("aarch64")).is_satisfiable(&names()));
    }

    #[test]
    fn formula_is_printed_as_source() {
        let f = Formula::Or(
            Box::new(name("a").and(Formula::Not(Box::new(linux(&[6, 1]))))),
            Box::new(Formula::Atom(Atom::Root)),
        );
        assert_eq!(show(&f), "a && !(linux >= 6.1) || root");
        assert_eq!(show(&f.clone().and(name("b"))), "(a && !(linux >= 6.1) || root) && b");
    }
}
