//! Resolved classes: the input of code generation, `explain`, `list` and `port`.

use std::collections::BTreeMap;

use crate::ast::{self, Atom, Cpp};
use crate::condition::{Formula, Names};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};
pub use crate::target::Target;

/// Identifies a class of an [`Analysis`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub usize);

/// The role of a class, by its root class in the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Descends from `Benchmark`.
    Benchmark,
    /// Descends from `InstructionSet`.
    InstructionSet,
    /// Descends from `OperatingSystem`.
    OperatingSystem,
    /// Any other class, which can be imported.
    Part,
}

/// A class with resolved parent.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its id.
    pub id: ClassId,
    /// Its file.
    pub file: FileId,
    /// Its syntax tree.
    pub ast: ast::Class,
    /// The class that it extends or ports. `None` for a root class, and for an unknown parent,
    /// which is an error.
    pub parent: Option<ClassId>,
    /// Whether it `ports` its parent.
    pub is_port: bool,
    /// Its role.
    pub role: Role,
    /// Its own imports, in order.
    pub imports: Vec<(ast::Ident, ClassId)>,
    /// Whether the user named its file, rather than a reference.
    pub is_requested: bool,
}

impl Class {
    /// The class's name.
    pub fn name(&self) -> &str {
        &self.ast.name.text
    }
}

/// The result of analysing some files and everything that they refer to.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// All source texts.
    pub sources: SourceMap,
    /// All files, in the order of `FileId`.
    pub files: Vec<ast::File>,
    /// All classes.
    pub classes: Vec<Class>,
    /// All diagnostics of syntax and resolution, in order of position.
    pub diagnostics: Vec<Diagnostic>,
    /// Tables derived from the classes.
    pub(crate) index: Index,
}

/// Derived tables with one entry per class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The ports of each class, direct or through another port, in order of name.
    pub(crate) ports: Vec<Vec<ClassId>>,
    /// The condition under which each class exists: its own `on` and those of its ancestors.
    pub(crate) exists: Vec<Formula>,
    /// The condition under which each port applies: its own `on` and that of the port that it
    /// ports.
    pub(crate) applies: Vec<Formula>,
    /// The names in `super::NAME`, each with its first position.
    pub(crate) supers: Vec<Vec<(String, Span)>>,
    /// The known instruction sets and operating systems.
    pub(crate) names: Names,
}

/// A member of a class: `classes[class].ast.members[index]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberRef {
    /// The class.
    pub class: ClassId,
    /// The index of the member in that class.
    pub index: usize,
}

/// A benchmark or importable class for one target: the content of one generated file.
#[derive(Clone, Debug)]
pub struct Program {
    /// The class.
    pub class: ClassId,
    /// The target.
    pub target: Target,
    /// The atoms to test at run time, at most 8; never the name of an instruction set or system.
    pub atoms: Vec<Atom>,
    /// The result for each of the `2^atoms.len()` sets of answers. Bit i means that `atoms[i]`
    /// holds.
    pub worlds: Vec<World>,
    /// The distinct compositions, referred to by `worlds`.
    pub variants: Vec<Composition>,
}

/// The result for one set of answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum World {
    /// `variants[i]` applies.
    Runs(usize),
    /// The class's own `on` does not hold. The text states the requirement (`needs root`).
    Absent(String),
    /// Members are missing or ambiguous.
    Incomplete(Vec<Gap>),
}

/// Why a composition is incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// A member without a definition, or a `param` without a value.
    Missing(MemberRef),
    /// A member that several equally specific ports define.
    Ambiguous {
        /// The member's name.
        name: String,
        /// The definitions.
        definitions: Vec<MemberRef>,
    },
    /// An imported class that does not exist on this platform.
    ImportAbsent {
        /// The class that imports.
        importer: ClassId,
        /// The imported class.
        imported: ClassId,
        /// Its requirement.
        needs: String,
    },
    /// Classes that import each other.
    ImportCycle {
        /// The class that imports.
        importer: ClassId,
        /// The imported class, which depends on the importer.
        imported: ClassId,
    },
}

/// A class with its bases and ports, in the order of a C++ inheritance chain.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The composed class. It is a port only if one was composed by name.
    pub class: ClassId,
    /// The chain from the root to the most derived class.
    pub layers: Vec<Layer>,
    /// The ports that apply, least specific first.
    pub ports: Vec<ClassId>,
    /// All imported classes, direct or indirect, each after its own imports. Only the outermost
    /// composition of a program has parts; those of a part refer to this list too. `isa` is the
    /// last one.
    pub parts: Vec<Composition>,
    /// Index in `parts` of the target's instruction set, which is always imported for `align`.
    /// `None` in a part.
    pub isa: Option<usize>,
    /// The effective definition of each state, function, bitstring and evidence, by key. The key of
    /// a function is `name(type, type)`, any other is the name. Contains abstract declarations too
    /// if there is no definition.
    pub members: BTreeMap<String, MemberRef>,
    /// The parameters, ordered so that each follows those in its value.
    pub parameters: Vec<EffectiveParameter>,
    /// The evidence, in order of first declaration.
    pub evidence: Vec<EffectiveEvidence>,
    /// The bounds in order of the chain.
    pub bounds: Vec<MemberRef>,
    /// The conditions on parameters in order of the chain.
    pub requirements: Vec<MemberRef>,
    /// The charts in order of the chain.
    pub charts: Vec<MemberRef>,
    /// The last `stands_for` of the chain.
    pub stands_for: Option<MemberRef>,
    /// The tags of all layers, without duplicates.
    pub tags: Vec<String>,
}

/// A class in a chain.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The class.
    pub class: ClassId,
    /// Imports that no earlier layer has: the name in the source and the index in `parts`.
    pub imports: Vec<(String, usize)>,
    /// For each `super::NAME` of this class: the layer of the definition, as an index into
    /// `layers`.
    pub supers: BTreeMap<String, usize>,
}

/// A parameter with the origins of its values: `param` or `NAME = VALUE;` members.
#[derive(Clone, Debug)]
pub struct EffectiveParameter {
    /// The `param` member.
    pub declared: MemberRef,
    /// Its name.
    pub name: String,
    /// The member with the effective value. `None` if no member has one.
    pub value: Option<MemberRef>,
    /// The member with the effective `over`.
    pub over: Option<MemberRef>,
    /// The member with the effective `quick`.
    pub quick: Option<MemberRef>,
}

/// An evidence, its definition and its bound.
#[derive(Clone, Debug)]
pub struct EffectiveEvidence {
    /// Its name.
    pub name: String,
    /// The effective definition.
    pub definition: MemberRef,
    /// The bounds of the most derived declaration with bounds.
    pub expects: Option<(Cpp, Cpp)>,
}

impl Analysis {
    /// The class named `id`.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0]
    }

    /// A member.
    pub fn member(&self, m: MemberRef) -> &ast::Member {
        &self.class(m.class).ast.members[m.index]
    }

    /// The members of a class, in order.
    pub fn members(&self, class: ClassId) -> impl Iterator<Item = (MemberRef, &ast::Member)> {
        let members = self.class(class).ast.members.iter().enumerate();
        members.map(move |(index, member)| (MemberRef { class, index }, member))
    }

    /// The value and sweeps of a `param` or `NAME = VALUE;` member.
    pub fn values(&self, m: MemberRef) -> Option<&ast::Values> {
        match &self.member(m).kind {
            ast::MemberKind::Param(param) => Some(&param.values),
            ast::MemberKind::Assign { values, .. } => Some(values),
            _ => None,
        }
    }

    /// The effective value of a parameter.
    pub fn value(&self, parameter: &EffectiveParameter) -> Option<Cpp> {
        self.values(parameter.value?)?.value
    }

    /// The text of a piece of C++.
    pub fn cpp(&self, cpp: Cpp) -> &str {
        self.sources.text(cpp.span)
    }

    /// The text of a range.
    pub fn text(&self, span: Span) -> &str {
        self.sources.text(span)
    }

    /// Whether any diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == crate::diagnostic::Severity::Error)
    }
}
