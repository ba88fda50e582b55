//! Composition of a class with its bases, ports and imports on a platform: selects the definition
//! of each member.

use std::collections::{BTreeMap, BTreeSet};

use super::chain::{Chain, Setting};
use super::members::{Key, key, name_of};
use super::parameters;
use crate::ast::{Atom, MemberKind};
use crate::condition::{Formula, is_possible, show};
use crate::diagnostic::{Diagnostic, error};
use crate::model::{
    Analysis, ClassId, Composition, EffectiveEvidence, Gap, Layer, MemberRef, Program, Role,
    Target, World,
};

/// Maximum number of atoms tested at run time, which bounds the number of compositions in a
/// program.
const MOST_WORLD_ATOMS: usize = 8;

/// The atoms that are tested at run time, and the conditions that depend on them.
pub(crate) struct Questions {
    pub(crate) atoms: Vec<Atom>,
    conditions: Vec<Formula>,
}

impl Questions {
    /// The value of each condition. Worlds with equal values have the same composition.
    pub(crate) fn answers(&self, world: usize) -> Vec<bool> {
        self.conditions.iter().map(|c| c.holds_in(&self.atoms, world)).collect()
    }
}

/// A composition with its gaps and diagnostics.
pub(crate) struct Composed {
    pub(crate) composition: Composition,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) faults: Vec<Diagnostic>,
}

/// Composes programs and collects diagnostics.
pub(crate) struct Composer<'a> {
    pub(crate) analysis: &'a Analysis,
}

impl<'a> Composer<'a> {
    /// The program of `class` for `target`.
    pub(crate) fn program(&self, class: ClassId, target: &Target) -> Program {
        let exists = self.analysis.index.exists[class.0].on(target);
        let mut program = Program {
            class,
            target: target.clone(),
            atoms: Vec::new(),
            worlds: Vec::new(),
            variants: Vec::new(),
        };
        if exists == Formula::False {
            program.worlds.push(World::Absent(format!(
                "needs {}",
                show(&self.analysis.index.exists[class.0])
            )));
            return program;
        }
        let (questions, _) = self.questions(class, target);
        let mut known: BTreeMap<Vec<bool>, World> = BTreeMap::new();
        for world in 0..1usize << questions.atoms.len() {
            let setting = Setting { target, atoms: &questions.atoms, world };
            let found = if !is_possible(setting.atoms, world, &self.analysis.index.names) {
                World::Absent("impossible".to_owned())
            } else {
                let compose = || self.world(class, &exists, setting, &mut program.variants);
                known.entry(questions.answers(world)).or_insert_with(compose).clone()
            };
            program.worlds.push(found);
        }
        program.atoms = questions.atoms;
        program
    }

    /// The atoms to test where `class` runs. If there are too many, reports an error and returns
    /// the first ones.
    pub(crate) fn questions(
        &self,
        class: ClassId,
        target: &Target,
    ) -> (Questions, Option<Diagnostic>) {
        let conditions = self.conditions(class, target);
        let mut atoms = BTreeSet::new();
        conditions.iter().for_each(|c| c.atoms(&mut atoms));
        let mut atoms: Vec<Atom> = atoms.into_iter().collect();
        let fault = (atoms.len() > MOST_WORLD_ATOMS).then(|| self.too_many_atoms(class, &atoms));
        atoms.truncate(MOST_WORLD_ATOMS);
        (Questions { atoms, conditions }, fault)
    }

    fn world(
        &self,
        class: ClassId,
        exists: &Formula,
        setting: Setting,
        variants: &mut Vec<Composition>,
    ) -> World {
        if !exists.holds_in(setting.atoms, setting.world) {
            return World::Absent(format!("needs {}", show(exists)));
        }
        let composed = self.compose(class, setting);
        if !composed.gaps.is_empty() {
            return World::Incomplete(composed.gaps);
        }
        let known = variants.iter().position(|v| same_classes(v, &composed.composition));
        World::Runs(known.unwrap_or_else(|| {
            variants.push(composed.composition);
            variants.len() - 1
        }))
    }

    fn too_many_atoms(&self, class: ClassId, atoms: &[Atom]) -> Diagnostic {
        let name = &self.analysis.class(class).ast.name;
        let shown: Vec<String> = atoms.iter().map(crate::condition::show_atom).collect();
        error!("too-many-conditions" at name.span,
            "`{name}` with its ports asks {} questions where it runs; at most {MOST_WORLD_ATOMS} can be", atoms.len();
            help "let ports share their conditions, or split the benchmark")
            .here(shown.join(", "))
    }

    /// All conditions that affect `class` on `target`: those of the class, of its imports and of
    /// their ports.
    fn conditions(&self, class: ClassId, target: &Target) -> Vec<Formula> {
        let mut conditions = Vec::new();
        let mut seen = BTreeSet::new();
        let mut pending: Vec<ClassId> =
            std::iter::once(class).chain(self.isa_class(target)).collect();
        conditions.push(self.analysis.index.exists[class.0].on(target));
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let class = self.analysis.class(id);
            pending.extend(class.parent);
            for (_, imported) in &class.imports {
                conditions.push(self.analysis.index.exists[imported.0].on(target));
                pending.push(*imported);
            }
            for port in &self.analysis.index.ports[id.0] {
                let applies = self.analysis.index.applies[port.0].on(target);
                if applies != Formula::False {
                    conditions.push(applies);
                    pending.push(*port);
                }
            }
        }
        conditions.retain(|c| !matches!(c, Formula::True | Formula::False));
        conditions
    }

    pub(crate) fn isa_class(&self, target: &Target) -> Option<ClassId> {
        let is_it = |c: &&crate::model::Class| {
            c.role == Role::InstructionSet && !c.is_port && c.name() == target.isa
        };
        self.analysis.classes.iter().find(is_it).map(|c| c.id)
    }

    /// Composes `class` with its imports for one set of answers.
    pub(crate) fn compose(&self, class: ClassId, setting: Setting) -> Composed {
        let mut parts = Parts {
            composer: self,
            setting,
            compositions: Vec::new(),
            stack: vec![class],
            gaps: Vec::new(),
            faults: Vec::new(),
        };
        let mut composed = parts.chain(class);
        parts.stack.clear();
        composed.isa = self.isa_class(setting.target).and_then(|isa| parts.part(isa));
        composed.parts = parts.compositions;
        Composed { composition: composed, gaps: parts.gaps, faults: parts.faults }
    }
}

fn same_classes(a: &Composition, b: &Composition) -> bool {
    let classes = |c: &Composition| c.layers.iter().map(|l| l.class).collect::<Vec<_>>();
    classes(a) == classes(b)
        && a.parts.len() == b.parts.len()
        && a.parts.iter().zip(&b.parts).all(|(a, b)| classes(a) == classes(b))
}

/// The imported classes of a composition, each composed once.
struct Parts<'a> {
    composer: &'a Composer<'a>,
    setting: Setting<'a>,
    compositions: Vec<Composition>,
    stack: Vec<ClassId>,
    gaps: Vec<Gap>,
    faults: Vec<Diagnostic>,
}

impl Parts<'_> {
    fn part(&mut self, id: ClassId) -> Option<usize> {
        if let Some(known) = self.compositions.iter().position(|c| c.class == id) {
            return Some(known);
        }
        self.stack.push(id);
        let composition = self.chain(id);
        self.stack.pop();
        self.compositions.push(composition);
        Some(self.compositions.len() - 1)
    }

    fn import(&mut self, importer: ClassId, imported: ClassId) -> Option<usize> {
        if self.stack.contains(&imported) {
            self.gaps.push(Gap::ImportCycle { importer, imported });
            return None;
        }
        let exists = &self.composer.analysis.index.exists[imported.0];
        let here = exists.on(self.setting.target);
        if !here.holds_in(self.setting.atoms, self.setting.world) {
            let needs = show(if here == Formula::False { exists } else { &here });
            self.gaps.push(Gap::ImportAbsent { importer, imported, needs });
            return None;
        }
        self.part(imported)
    }

    fn chain(&mut self, id: ClassId) -> Composition {
        let analysis = self.composer.analysis;
        let chain = Chain::new(analysis, id, self.setting);
        let table = Table::new(analysis, &chain);
        let mut layers = Vec::new();
        let mut imported = BTreeSet::new();
        for (at, class) in chain.classes.iter().enumerate() {
            let imports = self.imports(*class, &mut imported);
            let supers = table.supers(at, &mut self.faults);
            layers.push(Layer { class: *class, imports, supers });
        }
        self.gaps.extend(table.gaps());
        let own_port = |c: &ClassId| analysis.class(*c).is_port;
        let (parameters, gaps) = parameters::effective(analysis, &chain, &mut self.faults);
        self.gaps.extend(gaps);
        Composition {
            class: id,
            layers,
            ports: chain.classes.iter().copied().filter(own_port).collect(),
            parts: Vec::new(),
            isa: None,
            parameters,
            evidence: table.evidence(),
            bounds: table.members_of_kind(|k| matches!(k, MemberKind::Bound { .. })),
            requirements: table.members_of_kind(|k| matches!(k, MemberKind::Requires(_))),
            charts: table.members_of_kind(|k| matches!(k, MemberKind::Chart(_))),
            stands_for: table.members_of_kind(|k| matches!(k, MemberKind::StandsFor(_))).pop(),
            tags: tags(analysis, &chain.classes),
            members: table.members(),
        }
    }

    fn imports(
        &mut self,
        class: ClassId,
        imported: &mut BTreeSet<ClassId>,
    ) -> Vec<(String, usize)> {
        let mut out = Vec::new();
        for (name, id) in self.composer.analysis.class(class).imports.clone() {
            if imported.insert(id) {
                out.extend(self.import(class, id).map(|part| (name.text.clone(), part)));
            }
        }
        out
    }
}

pub(crate) fn tags(analysis: &Analysis, classes: &[ClassId]) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for class in classes {
        tags.extend(analysis.class(*class).ast.tags().map(str::to_owned));
    }
    let mut seen = BTreeSet::new();
    tags.retain(|t| seen.insert(t.clone()));
    tags
}

/// All declarations of a chain by key.
struct Table<'a> {
    analysis: &'a Analysis,
    chain: &'a Chain,
    declarations: BTreeMap<Key, Vec<Declaration>>,
    order: Vec<Key>,
}

#[derive(Clone, Copy)]
struct Declaration {
    layer: usize,
    member: MemberRef,
    is_definition: bool,
}

impl<'a> Table<'a> {
    fn new(analysis: &'a Analysis, chain: &'a Chain) -> Table<'a> {
        let mut table = Table { analysis, chain, declarations: BTreeMap::new(), order: Vec::new() };
        for (layer, class) in chain.classes.iter().enumerate() {
            for (member, m) in analysis.members(*class) {
                let Some(key) = key(&analysis.sources, &m.kind) else {
                    continue;
                };
                let known = table.declarations.entry(key.clone()).or_default();
                if known.is_empty() {
                    table.order.push(key);
                }
                known.push(Declaration { layer, member, is_definition: m.kind.is_definition() });
            }
        }
        table
    }

    /// The definitions of a key in the most specific layers.
    fn best(&self, key: &Key) -> Vec<Declaration> {
        let definitions: Vec<Declaration> =
            self.declarations[key].iter().copied().filter(|d| d.is_definition).collect();
        let layers: Vec<usize> = definitions.iter().map(|d| d.layer).collect();
        let best = self.chain.most_specific(&layers);
        let mut chosen: Vec<Declaration> =
            definitions.into_iter().filter(|d| best.contains(&d.layer)).collect();
        chosen.dedup_by_key(|d| d.layer); // duplicates in one class are reported elsewhere
        chosen
    }

    fn members(&self) -> BTreeMap<String, MemberRef> {
        let chosen =
            |key: &Key| self.best(key).last().or(self.declarations[key].first()).map(|d| d.member);
        self.order.iter().filter_map(|key| chosen(key).map(|m| (key.to_string(), m))).collect()
    }

    fn gaps(&self) -> Vec<Gap> {
        let mut gaps = Vec::new();
        for key in &self.order {
            let best = self.best(key);
            if best.is_empty() && !self.has_alternative(key) {
                gaps.push(Gap::Missing(self.declarations[key][0].member));
            } else if best.len() > 1 {
                gaps.push(Gap::Ambiguous {
                    name: key.name().to_owned(),
                    definitions: best.iter().map(|d| d.member).collect(),
                });
            }
        }
        gaps
    }

    /// Whether another overload is defined. One definition and one report of a missing one are
    /// enough for all overloads. A definition of another kind or signature is reported at its own
    /// position.
    fn has_alternative(&self, key: &Key) -> bool {
        let others = self.order.iter().take_while(|other| *other != key);
        others.clone().any(|other| other.name() == key.name())
            || self
                .declarations
                .iter()
                .any(|(other, d)| other.name() == key.name() && d.iter().any(|d| d.is_definition))
    }

    fn evidence(&self) -> Vec<EffectiveEvidence> {
        let kind = |d: &Declaration| &self.analysis.member(d.member).kind;
        let expects = |d: &Declaration| match kind(d) {
            MemberKind::Evidence { expects, .. } => *expects,
            _ => None,
        };
        let effective = |key: &Key| {
            let declarations = &self.declarations[key];
            let first = &declarations[0];
            matches!(kind(first), MemberKind::Evidence { .. }).then(|| EffectiveEvidence {
                name: key.name().to_owned(),
                definition: self.best(key).last().unwrap_or(first).member,
                expects: declarations.iter().rev().find_map(expects),
            })
        };
        self.order.iter().filter_map(effective).collect()
    }

    fn members_of_kind(&self, is: impl Fn(&MemberKind) -> bool) -> Vec<MemberRef> {
        self.chain
            .classes
            .iter()
            .flat_map(|class| self.analysis.members(*class))
            .filter(|(_, m)| is(&m.kind))
            .map(|(member, _)| member)
            .collect()
    }

    /// Resolves each `super::NAME` of the class at layer `at`.
    fn supers(&self, at: usize, faults: &mut Vec<Diagnostic>) -> BTreeMap<String, usize> {
        let mut supers = BTreeMap::new();
        for (name, span) in &self.analysis.index.supers[self.chain.classes[at].0] {
            let below = self.definitions_below(name, at);
            let best = self.chain.most_specific(&below);
            match best.as_slice() {
                [one] => {
                    supers.insert(name.clone(), *one);
                }
                [] => match self.native_below(name, at) {
                    Some(layer) => {
                        supers.insert(name.clone(), layer);
                    }
                    None => faults.push(error!("super-undefined" at *span,
                        "nothing that this class builds on defines `{name}`";
                        help "`super::` names the definition that this one replaces; leave it out, or define the member in a base")),
                },
                several => {
                    let mut fault = error!("super-ambiguous" at *span,
                        "several definitions of `{name}` are equally specific here";
                        help "a port between them and this one must say which is meant");
                    for layer in several {
                        let class = self.analysis.class(self.chain.classes[*layer]);
                        fault = fault.also(class.ast.name.span, format!("`{}` defines `{name}`", class.name()));
                    }
                    faults.push(fault);
                }
            }
        }
        supers
    }

    fn definitions_below(&self, name: &str, at: usize) -> Vec<usize> {
        let of_name = self.declarations.iter().filter(|(key, _)| key.name() == name);
        let mut layers: Vec<usize> = of_name
            .flat_map(|(_, d)| d)
            .filter(|d| d.is_definition && self.chain.is_below(d.layer, at))
            .map(|d| d.layer)
            .collect();
        layers.sort_unstable();
        layers.dedup();
        layers
    }

    /// The nearest layer below `at` whose `native` blocks contain the word `name`. `super::NAME`
    /// may refer to a C++ member in them: this compiler does not parse C++.
    fn native_below(&self, name: &str, at: usize) -> Option<usize> {
        (0..at).rev().filter(|layer| self.chain.is_below(*layer, at)).find(|layer| {
            let class = self.chain.classes[*layer];
            self.analysis.members(class).any(|(_, m)| match &m.kind {
                MemberKind::Native(body) => name_of(self.analysis.cpp(*body), name),
                _ => false,
            })
        })
    }
}
