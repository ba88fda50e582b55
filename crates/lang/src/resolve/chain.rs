//! The order of a class, its bases and its applicable ports by specificity.

use crate::ast::Atom;
use crate::model::{Analysis, ClassId};

/// The classes of a composition, least specific first.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) classes: Vec<ClassId>,
    /// `below[i][j]`: whether class `i` is less specific than class `j`.
    below: Vec<Vec<bool>>,
}

/// The platform of a composition: atoms with their answers.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) target: &'a crate::model::Target,
    pub(crate) atoms: &'a [Atom],
    pub(crate) world: usize,
}

impl Chain {
    /// The chain of `id`. A port composed by name includes its base, but not the other ports of the
    /// base.
    pub(crate) fn new(analysis: &Analysis, id: ClassId, setting: Setting) -> Chain {
        let mut segments = Vec::new();
        collect(analysis, id, setting, !analysis.class(id).is_port, &mut segments);
        let classes: Vec<ClassId> = segments.iter().flatten().copied().collect();
        let segment_of: Vec<usize> =
            segments.iter().enumerate().flat_map(|(i, s)| s.iter().map(move |_| i)).collect();
        let below = |i: usize, j: usize| {
            segment_of[i] < segment_of[j]
                || segment_of[i] == segment_of[j]
                    && is_less_specific(analysis, classes[i], classes[j])
        };
        let below =
            (0..classes.len()).map(|i| (0..classes.len()).map(|j| below(i, j)).collect()).collect();
        Chain { classes, below }
    }

    /// Whether class `i` is less specific than class `j`.
    pub(crate) fn is_below(&self, i: usize, j: usize) -> bool {
        self.below[i][j]
    }

    /// The classes of `layers` that have no more specific one among them.
    pub(crate) fn most_specific(&self, layers: &[usize]) -> Vec<usize> {
        layers.iter().copied().filter(|i| layers.iter().all(|j| !self.is_below(*i, *j))).collect()
    }
}

fn collect(
    analysis: &Analysis,
    id: ClassId,
    setting: Setting,
    with_ports: bool,
    out: &mut Vec<Vec<ClassId>>,
) {
    let class = analysis.class(id);
    if let Some(parent) = class.parent {
        let parent_with_ports = !class.is_port && !analysis.class(parent).is_port;
        collect(analysis, parent, setting, parent_with_ports, out);
    }
    out.push(vec![id]);
    if with_ports {
        let applies = |port: &ClassId| {
            analysis.index.applies[port.0].on(setting.target).holds_in(setting.atoms, setting.world)
        };
        let ports: Vec<ClassId> =
            analysis.index.ports[id.0].iter().copied().filter(applies).collect();
        out.push(by_specificity(analysis, ports));
    }
}

/// Sorts ports by specificity, least specific first. Ties keep their order, which is by name.
fn by_specificity(analysis: &Analysis, mut ports: Vec<ClassId>) -> Vec<ClassId> {
    let mut sorted = Vec::new();
    while !ports.is_empty() {
        let is_free = |p: &ClassId| ports.iter().all(|q| !is_less_specific(analysis, *q, *p));
        let next = ports.iter().position(is_free).unwrap_or(0);
        sorted.push(ports.remove(next));
    }
    sorted
}

/// Compares by explicit `ports` first, then by strict implication of conditions.
fn is_less_specific(analysis: &Analysis, a: ClassId, b: ClassId) -> bool {
    let ports = |port: ClassId, base: ClassId| analysis.index.ports[base.0].contains(&port);
    if a == b || ports(a, b) {
        return false;
    }
    if ports(b, a) {
        return true;
    }
    let (wide, narrow) = (&analysis.index.applies[a.0], &analysis.index.applies[b.0]);
    narrow.implies(wide, &analysis.index.names) && !wide.implies(narrow, &analysis.index.names)
}
