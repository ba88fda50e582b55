//! The syntax tree: the content of a file before name resolution.
//!
//! C++ and assembly are stored as ranges of the source ([`Cpp`]), so that line numbers stay
//! correct.

use crate::compile::CompileKey;
use crate::source::{FileId, Span};

/// A name with its source range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The characters of the name.
    pub text: String,
    /// The source range.
    pub span: Span,
}

impl std::fmt::Display for Ident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// A range of verbatim C++: an expression, a type, or the inside of a body without its braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpp {
    /// The source range. Trimmed of white space for expressions and types, exact for bodies.
    pub span: Span,
}

/// One file.
#[derive(Clone, Debug)]
pub struct File {
    /// The source text.
    pub id: FileId,
    /// The `native { ... }` blocks at file level, in order.
    pub natives: Vec<Cpp>,
    /// The classes, in order.
    pub classes: Vec<Class>,
}

/// The parent of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// No parent is written, which means `extends Latency`.
    Default,
    /// `extends nothing`: a root class of the library.
    Nothing,
    /// `extends NAME`.
    Extends(Ident),
    /// `ports NAME`.
    Ports(Ident),
}

/// `yamba [abstract] NAME [extends BASE | ports BASE] [on CONDITION] { ... }`.
#[derive(Clone, Debug)]
pub struct Class {
    /// From the word `yamba` to the end of the header.
    pub header: Span,
    /// The documentation comment without `///`, lines joined by `\n`; empty without a comment.
    pub doc: String,
    /// Whether `abstract` was written.
    pub is_abstract: bool,
    /// The class's name.
    pub name: Ident,
    /// The parent.
    pub parent: Parent,
    /// The condition after `on`.
    pub on: Option<Condition>,
    /// The members, in order.
    pub members: Vec<Member>,
}

impl Class {
    /// The settings of its `compile` clauses, in order.
    pub fn compile_settings(&self) -> impl Iterator<Item = &CompileSetting> {
        let written = self.members.iter().filter_map(|member| match &member.kind {
            MemberKind::Compile(settings) => Some(settings),
            _ => None,
        });
        written.flatten()
    }

    /// The class's own tags, in order.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let written = self.members.iter().filter_map(|member| match &member.kind {
            MemberKind::Tags(names) => Some(names),
            _ => None,
        });
        written.flatten().map(|name| name.text.as_str())
    }

    /// The primitive for which the class itself says that it stands.
    pub fn primitive(&self) -> Option<&str> {
        self.members.iter().find_map(|member| match &member.kind {
            MemberKind::StandsFor(of) => Some(of.primitive.text.as_str()),
            _ => None,
        })
    }
}

/// A condition on the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A single atom.
    Atom(Atom, Span),
    /// `! C`.
    Not(Box<Condition>),
    /// `A && B`.
    And(Box<Condition>, Box<Condition>),
    /// `A || B`.
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// The atoms in the order of the source.
    pub fn atoms(&self) -> Vec<(&Atom, Span)> {
        match self {
            Condition::Atom(atom, span) => vec![(atom, *span)],
            Condition::Not(inner) => inner.atoms(),
            Condition::And(a, b) | Condition::Or(a, b) => [a.atoms(), b.atoms()].concat(),
        }
    }
}

/// A single test of the platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// An instruction set or an operating system, by name.
    Name(String),
    /// `NAME >= VERSION`; `NAME < VERSION` is parsed as `NAME && !(NAME >= VERSION)`.
    AtLeast(String, Vec<u32>),
    /// `cpu(FEATURE)`.
    Cpu(String),
    /// `root`.
    Root,
    /// `file("PATH")`.
    File(String),
}

/// A member with its documentation.
#[derive(Clone, Debug)]
pub struct Member {
    /// The documentation comment before the member or after it on its line; empty without a
    /// comment.
    pub doc: String,
    /// The source range of the member without its documentation.
    pub span: Span,
    /// The kind, with its content.
    pub kind: MemberKind,
}

/// A parameter of a function or bitstring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// C++ type: everything before the name. For `int a[4]` it is `int`, and the suffix is `[4]`.
    pub ty: Cpp,
    /// The name. `None` if unnamed.
    pub name: Option<Ident>,
    /// Array suffix after the name, verbatim, if there is one. A pointer to a function has the type
    /// `void (*` and the suffix `)(int)`, so that type, name and suffix together are the
    /// declaration.
    pub suffix: Option<Cpp>,
}

/// The kinds of member.
#[derive(Clone, Debug)]
pub enum MemberKind {
    /// `import(NAME);` with an optional `;`.
    Import(Ident),
    /// `param TYPE NAME [= VALUE] [over ...] [quick {...}];`
    Param(Param),
    /// `NAME [= VALUE] [over ...] [quick {...}];`
    Assign {
        /// The inherited parameter.
        name: Ident,
        /// The value and sweeps given here; at least one is present.
        values: Values,
    },
    /// `TYPE NAME[ARRAY] [= INIT | {INIT}];`. A declaration of several names is as many members;
    /// all but the first begin after their type.
    State {
        /// The type.
        ty: Cpp,
        /// The name.
        name: Ident,
        /// The array suffix `[N][M]`, verbatim, or `)(ARGS)` of a pointer to a function, as in
        /// [`Parameter::suffix`].
        array: Option<Cpp>,
        /// The initialiser: the expression after `=`, or the braced list with its braces.
        init: Option<Cpp>,
    },
    /// A native function.
    Function {
        /// The return type with any specifiers before it, such as `static`.
        ret: Cpp,
        /// The name.
        name: Ident,
        /// The parameters.
        params: Vec<Parameter>,
        /// Qualifiers between `)` and the body or `;`, such as `const` or `noexcept`.
        qualifiers: Option<Cpp>,
        /// The inside of the body. `None` if abstract.
        body: Option<Cpp>,
    },
    /// A bitstring member, with or without parameters or a C signature.
    Bitstring(Bitstring),
    /// `evidence TYPE NAME() [expects [LOW, HIGH]] { ... }`
    Evidence {
        /// The type.
        ty: Cpp,
        /// The name.
        name: Ident,
        /// The bounds.
        expects: Option<(Cpp, Cpp)>,
        /// The inside of the body. `None` if abstract.
        body: Option<Cpp>,
    },
    /// `at_least VALUE UNIT;` or `at_most VALUE UNIT;`
    Bound {
        /// Whether it is `at_least`.
        at_least: bool,
        /// The limit, a C++ expression.
        value: Cpp,
        /// The unit: `cycle`, `cycles`, `ns`, `us`, `ms`, `s`, `B/s`, `kB/s`, `MB/s`, `GB/s`, ...
        /// verbatim.
        unit: Ident,
    },
    /// `requires CONDITION;`: parameter values that do not fulfil the C++ condition are not
    /// measured.
    Requires(Cpp),
    /// `chart FIGURE against X [log] [by PARAMETER] [fit linear];`
    Chart(Chart),
    /// `stands_for PRIMITIVE [by PARAMETER] [contains PRIMITIVE [* N | * EVIDENCE], ...];`
    StandsFor(StandsFor),
    /// `tags NAME, ...;`
    Tags(Vec<Ident>),
    /// `compile { KEY "VALUE", ...; ... }`: a setting for each value, in order.
    Compile(Vec<CompileSetting>),
    /// `native { ... }`: C++ members, verbatim. Also a type, alias, template or operator that is
    /// declared without `native`.
    Native(Cpp),
}

impl MemberKind {
    /// The name that the member declares, if any.
    pub fn name(&self) -> Option<&Ident> {
        match self {
            MemberKind::Param(param) => Some(&param.name),
            MemberKind::State { name, .. }
            | MemberKind::Function { name, .. }
            | MemberKind::Evidence { name, .. } => Some(name),
            MemberKind::Bitstring(bitstring) => Some(&bitstring.name),
            _ => None,
        }
    }

    /// The body in C++ of a function or evidence. `None` if abstract.
    pub fn body(&self) -> Option<Cpp> {
        match self {
            MemberKind::Function { body, .. } | MemberKind::Evidence { body, .. } => *body,
            _ => None,
        }
    }

    /// Whether the member is a definition rather than an abstract declaration.
    pub fn is_definition(&self) -> bool {
        match self {
            MemberKind::Bitstring(bitstring) => bitstring.body.is_some(),
            MemberKind::State { .. } => true,
            _ => self.body().is_some(),
        }
    }
}

/// A value in a `compile` clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileSetting {
    /// The key.
    pub key: CompileKey,
    /// The value, without quotes.
    pub value: String,
    /// The source range of the value.
    pub span: Span,
}

/// `param ...`
#[derive(Clone, Debug)]
pub struct Param {
    /// The type.
    pub ty: Cpp,
    /// The name.
    pub name: Ident,
    /// Value and sweeps.
    pub values: Values,
}

/// Value and sweeps of a parameter: `[= VALUE] [over ...] [quick {...}]`.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The value, if given.
    pub value: Option<Cpp>,
    /// The sweep without `--quick`.
    pub over: Option<Sweep>,
    /// The values with `--quick`.
    pub quick: Option<Vec<Cpp>>,
}

/// The values of a sweep.
#[derive(Clone, Debug)]
pub enum Sweep {
    /// `{A, B, C}`
    List(Vec<Cpp>),
    /// `log(FIRST, LAST, POINTS_PER_OCTAVE)`
    Log(Cpp, Cpp, Cpp),
    /// `linear(FIRST, LAST, STEP)`
    Linear(Cpp, Cpp, Cpp),
}

/// `bitstring ...`
#[derive(Clone, Debug)]
pub struct Bitstring {
    /// The C signature `<RET c_function(ARGS)>`, if it is callable.
    pub signature: Option<Signature>,
    /// The name.
    pub name: Ident,
    /// The parameters; empty both for `bitstring b` and `bitstring b()`.
    pub params: Vec<Parameter>,
    /// The terms. `None` if abstract. `= LITERAL;` gives a single literal term.
    pub body: Option<Vec<Term>>,
}

/// The C signature of a callable bitstring.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The return type.
    pub ret: Cpp,
    /// The arguments.
    pub args: Vec<Parameter>,
}

/// `chart ...`
#[derive(Clone, Debug)]
pub struct Chart {
    /// The figure on the y axis: `latency`, `cycles`, `bandwidth`, `value` or an evidence.
    pub figure: Ident,
    /// The parameter or evidence on the x axis.
    pub against: Ident,
    /// Whether the x axis is logarithmic.
    pub log: bool,
    /// The parameter with one curve per value.
    pub by: Option<Ident>,
    /// Whether `fit linear` is written.
    pub fit_linear: bool,
}

/// `stands_for ...`
#[derive(Clone, Debug)]
pub struct StandsFor {
    /// The primitive: an operation of the platform, such as `read(file)`.
    pub primitive: Ident,
    /// The parameter that is the primitive's size.
    pub by: Option<Ident>,
    /// The primitives that it contains.
    pub contains: Vec<Contained>,
}

/// `PRIMITIVE [* NUMBER]` behind `contains`
#[derive(Clone, Debug)]
pub struct Contained {
    /// The primitive.
    pub primitive: Ident,
    /// Its number per operation.
    pub count: ContainedCount,
}

/// How often one operation uses another primitive.
#[derive(Clone, Debug)]
pub enum ContainedCount {
    /// This often.
    Number(u64),
    /// As often as this evidence says.
    Evidence(Ident),
}

/// A term of a bitstring body.
#[derive(Clone, Debug)]
pub struct Term {
    /// The source range.
    pub span: Span,
    /// The kind, with its content.
    pub kind: TermKind,
}

impl Term {
    /// Its blocks of terms. Only an `if` has two.
    pub fn blocks(&self) -> [&[Term]; 2] {
        match &self.kind {
            TermKind::Word(_, terms) | TermKind::Unroll { body: terms, .. } => [terms, &[]],
            TermKind::If { then, otherwise, .. } => [then, otherwise],
            _ => [&[], &[]],
        }
    }

    /// Its C++ expressions, without those of its blocks.
    pub fn expressions(&self) -> Vec<Cpp> {
        match &self.kind {
            TermKind::Literal(_) | TermKind::Label(_) => Vec::new(),
            TermKind::Reference(reference) => reference.args.clone().unwrap_or_default(),
            TermKind::Le(a, b) | TermKind::Be(a, b) | TermKind::Abs(a, b) => vec![*a, *b],
            TermKind::Slice(a, b, c) => vec![*a, *b, *c],
            TermKind::Rel(_, a) | TermKind::Align(a) | TermKind::Word(a, _) => vec![*a],
            TermKind::Asm(block) => block.holes().collect(),
            TermKind::Unroll { init, condition, step, .. } => vec![*init, *condition, *step],
            TermKind::If { condition, .. } => vec![*condition],
        }
    }
}

/// Visits terms and the terms of their blocks, in the order of the source.
pub fn walk<'a>(terms: &'a [Term], visit: &mut impl FnMut(&'a Term)) {
    for term in terms {
        visit(term);
        for block in term.blocks() {
            walk(block, visit);
        }
    }
}

/// The kinds of term.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `0x...` or `0b...`: the bits in the order of the source.
    Literal(Vec<bool>),
    /// `name`, `name(args)`, `Class.name(args)`, `super::name(args)`.
    Reference(Reference),
    /// `le(VALUE, BITS)`
    Le(Cpp, Cpp),
    /// `be(VALUE, BITS)`
    Be(Cpp, Cpp),
    /// `bits(VALUE, HIGH, LOW)`
    Slice(Cpp, Cpp, Cpp),
    /// `word(BITS) { ... }`
    Word(Cpp, Vec<Term>),
    /// `asm { ... }`
    Asm(AsmBlock),
    /// `unroll (INIT; CONDITION; STEP) { ... }`
    Unroll {
        /// Executed before the first iteration; may be empty.
        init: Cpp,
        /// Evaluated before each iteration.
        condition: Cpp,
        /// Executed after each iteration; may be empty.
        step: Cpp,
        /// The terms of an iteration.
        body: Vec<Term>,
    },
    /// `if (CONDITION) { ... } else { ... }`; `else if` nests.
    If {
        /// The condition.
        condition: Cpp,
        /// The terms if the condition holds.
        then: Vec<Term>,
        /// The terms if it does not.
        otherwise: Vec<Term>,
    },
    /// `label NAME:`
    Label(Ident),
    /// `rel(NAME, BITS)`
    Rel(Ident, Cpp),
    /// `align(BYTES)`
    Align(Cpp),
    /// `abs(FUNCTION, BITS)`. The function is a C++ name, possibly qualified.
    Abs(Cpp, Cpp),
}

/// A reference to another bitstring.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Whether `super::` is written.
    pub is_super: bool,
    /// The class before the dot.
    pub class: Option<Ident>,
    /// The member.
    pub name: Ident,
    /// The arguments; `None` without parentheses.
    pub args: Option<Vec<Cpp>>,
}

/// `asm { ... }`
#[derive(Clone, Debug)]
pub struct AsmBlock {
    /// The inside of the braces.
    pub body: Span,
    /// The text in pieces: without comments (their line ends stay), and divided at each `${...}`.
    pub pieces: Vec<AsmPiece>,
}

impl AsmBlock {
    /// The expressions in `${...}`, in order.
    pub fn holes(&self) -> impl Iterator<Item = Cpp> {
        self.pieces.iter().filter_map(|piece| match piece {
            AsmPiece::Hole(hole) => Some(*hole),
            AsmPiece::Text { .. } => None,
        })
    }
}

/// A piece of an `asm` block.
#[derive(Clone, Debug)]
pub enum AsmPiece {
    /// Text for the assembler.
    Text {
        /// The text, line ends included.
        text: String,
        /// Source line of the first character, from 1.
        line: u32,
    },
    /// `${EXPRESSION}`.
    Hole(Cpp),
}
