//! Tables derived from the loaded classes.

use crate::ast::{Member, MemberKind};
use crate::condition::{Formula, Names};
use crate::cpp;
use crate::model::{Analysis, ClassId, Index, Role, Target};
use crate::source::{SourceMap, Span};

impl Index {
    pub(super) fn new(analysis: &Analysis) -> Index {
        let ids: Vec<ClassId> = analysis.classes.iter().map(|c| c.id).collect();
        Index {
            ports: ids.iter().map(|id| ports_of(analysis, *id)).collect(),
            exists: ids.iter().map(|id| condition_along(analysis, *id, |_| true)).collect(),
            applies: ids.iter().map(|id| condition_along(analysis, *id, |a| a.is_port)).collect(),
            supers: analysis
                .classes
                .iter()
                .map(|c| super_uses(&analysis.sources, &c.ast.members))
                .collect(),
            names: Names {
                isas: names_of(analysis, Role::InstructionSet),
                systems: names_of(analysis, Role::OperatingSystem),
            },
        }
    }

    pub(crate) fn targets(&self) -> Vec<Target> {
        let pair =
            |isa: &String, system: &String| Target { isa: isa.clone(), system: system.clone() };
        self.names
            .isas
            .iter()
            .flat_map(|isa| self.names.systems.iter().map(move |system| pair(isa, system)))
            .collect()
    }
}

impl Analysis {
    /// A class and its ancestors, starting with the class.
    pub fn ancestry(&self, id: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        std::iter::successors(Some(id), |id| self.class(*id).parent)
    }
}

fn names_of(analysis: &Analysis, role: Role) -> Vec<String> {
    let is_root = |name: &str| matches!(name, "InstructionSet" | "OperatingSystem");
    let mut names: Vec<String> = analysis
        .classes
        .iter()
        .filter(|c| c.role == role && !c.is_port && !is_root(c.name()))
        .map(|c| c.name().to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn ports_of(analysis: &Analysis, id: ClassId) -> Vec<ClassId> {
    let is_port_of = |port: ClassId| {
        let mut at = port;
        while analysis.class(at).is_port {
            match analysis.class(at).parent {
                Some(parent) if parent == id => return true,
                Some(parent) => at = parent,
                None => return false,
            }
        }
        false
    };
    let mut ports: Vec<ClassId> =
        analysis.classes.iter().map(|c| c.id).filter(|p| is_port_of(*p)).collect();
    ports.sort_by(|a, b| analysis.class(*a).name().cmp(analysis.class(*b).name()));
    ports
}

/// The conjunction of the conditions of a class and its ancestors, as long as `goes_on` holds.
fn condition_along(
    analysis: &Analysis,
    id: ClassId,
    goes_on: impl Fn(&crate::model::Class) -> bool,
) -> Formula {
    let mut formula = Formula::True;
    for id in analysis.ancestry(id) {
        let class = analysis.class(id);
        if !goes_on(class) {
            break;
        }
        formula = formula.and(Formula::from_optional(class.ast.on.as_ref()));
    }
    formula
}

fn super_uses(sources: &SourceMap, members: &[Member]) -> Vec<(String, Span)> {
    let mut uses: Vec<(String, Span)> = Vec::new();
    for member in members {
        for (name, span) in super_uses_in(sources, member) {
            if uses.iter().all(|(known, _)| *known != name) {
                uses.push((name, span));
            }
        }
    }
    uses
}

/// Finds `super::NAME` in a member, bitstring terms included. C++ has no `super`, so every use is
/// Yamba's.
fn super_uses_in(sources: &SourceMap, member: &Member) -> Vec<(String, Span)> {
    if matches!(
        member.kind,
        MemberKind::Import(_)
            | MemberKind::Tags(_)
            | MemberKind::Compile(_)
            | MemberKind::Chart(_)
            | MemberKind::StandsFor(_)
    ) {
        return Vec::new();
    }
    let text = sources.text(member.span);
    let tokens = cpp::tokens(text);
    let word = |i: usize| &text[tokens[i].range.clone()];
    (0..tokens.len().saturating_sub(2))
        .filter(|i| {
            word(*i) == "super"
                && word(*i + 1) == "::"
                && tokens[*i + 2].kind == cpp::CppTokenKind::Word
        })
        .map(|i| {
            let range = &tokens[i + 2].range;
            let at = |offset: usize| member.span.start + offset as u32;
            (word(i + 2).to_owned(), Span::new(member.span.file, at(range.start), at(range.end)))
        })
        .collect()
}
