//! Resolved classes: what code generation, `explain`, `list` and `port` work on.

use std::collections::BTreeMap;

use crate::ast::{self, Atom, Cpp};
use crate::condition::{Formula, Names};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};
pub use crate::target::Target;

/// Names one class of an [`Analysis`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub usize);

/// What a class is, by the root of the library that it descends from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Descends from `Benchmark`.
    Benchmark,
    /// Descends from `InstructionSet`.
    InstructionSet,
    /// Descends from `OperatingSystem`.
    OperatingSystem,
    /// Any other class: something to import.
    Part,
}

/// A class whose parent is known.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its own name in the analysis.
    pub id: ClassId,
    /// Where it was read.
    pub file: FileId,
    /// What was written.
    pub ast: ast::Class,
    /// What it extends or ports; `None` for a root class (or one whose parent is unknown, an error).
    pub parent: Option<ClassId>,
    /// Whether it `ports` its parent.
    pub is_port: bool,
    /// What it is.
    pub role: Role,
    /// The classes it imports itself, in order.
    pub imports: Vec<(ast::Ident, ClassId)>,
    /// Whether it stands in a file that was named by the user (and not only looked up).
    pub is_requested: bool,
}

impl Class {
    /// The class's name.
    pub fn name(&self) -> &str {
        &self.ast.name.text
    }
}

/// The result of reading some files and everything they refer to.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// All texts.
    pub sources: SourceMap,
    /// All files, in the order of `FileId`.
    pub files: Vec<ast::File>,
    /// All classes.
    pub classes: Vec<Class>,
    /// All that was found wrong, errors of syntax and of meaning, in order of place.
    pub diagnostics: Vec<Diagnostic>,
    /// Derived from the classes.
    pub(crate) index: Index,
}

/// Derived facts, one entry a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The classes that port a class, directly or through another port, in order of name.
    pub(crate) ports: Vec<Vec<ClassId>>,
    /// Where a class exists: its own `on` and that of everything it builds on.
    pub(crate) exists: Vec<Formula>,
    /// Where a port applies: its own `on` and that of the port it ports.
    pub(crate) applies: Vec<Formula>,
    /// The names used as `super::NAME`, each with its first place.
    pub(crate) supers: Vec<Vec<(String, Span)>>,
    /// The known instruction sets and operating systems.
    pub(crate) names: Names,
}

/// One member of one class: `classes[class].ast.members[index]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberRef {
    /// The class.
    pub class: ClassId,
    /// The index of the member in that class.
    pub index: usize,
}

/// A benchmark (or a class to import) on one target: one generated file.
#[derive(Clone, Debug)]
pub struct Program {
    /// The class.
    pub class: ClassId,
    /// The target.
    pub target: Target,
    /// What must be asked where the program runs; never an ISA's or system's bare name. At most 8.
    pub atoms: Vec<Atom>,
    /// For each of the `2^atoms.len()` answers (bit i set: `atoms[i]` holds) what applies there.
    pub worlds: Vec<World>,
    /// The distinct compositions, referred to by `worlds`.
    pub variants: Vec<Composition>,
}

/// What applies for one set of answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum World {
    /// `variants[i]` runs.
    Runs(usize),
    /// The class's own `on` does not hold; the text says what it needs (`needs root`).
    Absent(String),
    /// Something is missing or ambiguous; the text says what.
    Incomplete(Vec<Gap>),
}

/// Why a composition is not complete.
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
        /// What it needs.
        needs: String,
    },
    /// Classes that import each other.
    ImportCycle {
        /// The class that imports.
        importer: ClassId,
        /// The imported class, which needs the importer itself.
        imported: ClassId,
    },
}

/// One class with its bases and ports, in the order of a C++ inheritance chain.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The class that was composed (not a port, unless one was composed by name).
    pub class: ClassId,
    /// The chain, root first; the last is the most derived.
    pub layers: Vec<Layer>,
    /// The ports that apply, least specific first.
    pub ports: Vec<ClassId>,
    /// Every class that is imported, directly or not: each after all that it imports itself.
    /// Only the outermost composition of a program has parts; those of a part refer to this list too.
    /// `isa` is the last one.
    pub parts: Vec<Composition>,
    /// Index in `parts` of the target's instruction set (always imported, for `align`). `None` in a part.
    pub isa: Option<usize>,
    /// State, functions, bitstrings and evidence by key (a function's is `name(type, type)`, any other's its name): the definition that counts.
    /// Abstract declarations are here too where nothing defines them.
    pub members: BTreeMap<String, MemberRef>,
    /// The parameters in an order in which each comes after those its value mentions.
    pub parameters: Vec<EffectiveParameter>,
    /// The evidence, in order of first declaration.
    pub evidence: Vec<EffectiveEvidence>,
    /// Bounds, charts in order of the chain.
    pub bounds: Vec<MemberRef>,
    /// Charts in order of the chain.
    pub charts: Vec<MemberRef>,
    /// Tags of all layers, without duplicates.
    pub tags: Vec<String>,
}

/// One class of a chain.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The class.
    pub class: ClassId,
    /// What it imports and no earlier layer has: the name in the source and the index in `parts`.
    pub imports: Vec<(String, usize)>,
    /// For each name used here as `super::NAME`, the layer (an index into `layers`) whose definition is meant.
    pub supers: BTreeMap<String, usize>,
}

/// A parameter and where its values come from: `param` or `NAME = VALUE;` members.
#[derive(Clone, Debug)]
pub struct EffectiveParameter {
    /// The `param` member.
    pub declared: MemberRef,
    /// Its name.
    pub name: String,
    /// The member whose value counts; `None` where none is given.
    pub value: Option<MemberRef>,
    /// The member whose `over` counts.
    pub over: Option<MemberRef>,
    /// The member whose `quick` counts.
    pub quick: Option<MemberRef>,
}

/// An evidence, its definition and its bound.
#[derive(Clone, Debug)]
pub struct EffectiveEvidence {
    /// Its name.
    pub name: String,
    /// The definition that counts.
    pub definition: MemberRef,
    /// The bound of the most derived declaration that has one.
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

    /// What a `param` or `NAME = VALUE;` member gives.
    pub fn values(&self, m: MemberRef) -> Option<&ast::Values> {
        match &self.member(m).kind {
            ast::MemberKind::Param(param) => Some(&param.values),
            ast::MemberKind::Assign { values, .. } => Some(values),
            _ => None,
        }
    }

    /// The value that counts of a parameter.
    pub fn value(&self, parameter: &EffectiveParameter) -> Option<Cpp> {
        self.values(parameter.value?)?.value
    }

    /// The characters of a piece of C++.
    pub fn cpp(&self, cpp: Cpp) -> &str {
        self.sources.text(cpp.span)
    }

    /// The characters of a range.
    pub fn text(&self, span: Span) -> &str {
        self.sources.text(span)
    }

    /// Whether any diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == crate::diagnostic::Severity::Error)
    }
}
