//! The syntax tree: what a file says, before any name is looked up.
//!
//! C++ and assembly are kept as ranges of the source ([`Cpp`]), so that every line keeps its place.

use crate::source::{FileId, Span};

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The characters of the name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A range of verbatim C++ (an expression, a type, or the inside of a body without its braces).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpp {
    /// The range; trimmed of white space for expressions and types, exact for bodies.
    pub span: Span,
}

/// One file.
#[derive(Clone, Debug)]
pub struct File {
    /// Its text.
    pub id: FileId,
    /// `native { ... }` at file level, in order.
    pub natives: Vec<Cpp>,
    /// The classes, in order.
    pub classes: Vec<Class>,
}

/// What a class builds on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// Nothing written: `extends Latency`.
    Default,
    /// `extends nothing`: a root class, of the library.
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
    /// The documentation comment, its `///` removed, lines joined by `\n`; empty if none.
    pub doc: String,
    /// Whether `abstract` was written.
    pub is_abstract: bool,
    /// The class's name.
    pub name: Ident,
    /// What it builds on.
    pub parent: Parent,
    /// The condition after `on`.
    pub on: Option<Condition>,
    /// The members, in order.
    pub members: Vec<Member>,
}

impl Class {
    /// What it is tagged with itself, in order.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let written = self.members.iter().filter_map(|member| match &member.kind {
            MemberKind::Tags(names) => Some(names),
            _ => None,
        });
        written.flatten().map(|name| name.text.as_str())
    }
}

/// A condition on the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A single question.
    Atom(Atom, Span),
    /// `! C`.
    Not(Box<Condition>),
    /// `A && B`.
    And(Box<Condition>, Box<Condition>),
    /// `A || B`.
    Or(Box<Condition>, Box<Condition>),
}

/// A single question about the platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// An ISA or an operating system by name.
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
    /// The documentation comment before it or after it on its line; empty if none.
    pub doc: String,
    /// The whole member without its documentation.
    pub span: Span,
    /// What it is.
    pub kind: MemberKind,
}

/// A parameter of a function or bitstring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its C++ type: everything before the name (and what follows the name: `int a[4]` gives `int` and suffix `[4]`).
    pub ty: Cpp,
    /// Its name; `None` for an unnamed one.
    pub name: Option<Ident>,
    /// Array suffix after the name, verbatim, if any. A pointer to a function has `void (*` as its type and
    /// `)(int)` as its suffix, so that type, name and suffix in a row are the declaration.
    pub suffix: Option<Cpp>,
}

/// The kinds of member.
#[derive(Clone, Debug)]
pub enum MemberKind {
    /// `import(NAME);` (the `;` may be missing).
    Import(Ident),
    /// `param TYPE NAME [= VALUE] [over ...] [quick {...}];`
    Param(Param),
    /// `NAME [= VALUE] [over ...] [quick {...}];`
    Assign {
        /// The inherited parameter.
        name: Ident,
        /// What it takes here; at least one of the three is given.
        values: Values,
    },
    /// `TYPE NAME[ARRAY] [= INIT | {INIT}];`
    State {
        /// The type.
        ty: Cpp,
        /// The name.
        name: Ident,
        /// `[N][M]`, verbatim, if any; `)(ARGS)` of a pointer to a function, as in [`Parameter::suffix`].
        array: Option<Cpp>,
        /// The initialiser: what follows `=`, or the braced list with its braces.
        init: Option<Cpp>,
    },
    /// A native function.
    Function {
        /// The return type with whatever stands before it (`static`, ...).
        ret: Cpp,
        /// The name.
        name: Ident,
        /// The parameters.
        params: Vec<Parameter>,
        /// What stands between `)` and the body or `;` (`const`, `noexcept`), if anything.
        qualifiers: Option<Cpp>,
        /// The inside of the body; `None`: abstract.
        body: Option<Cpp>,
    },
    /// A bitstring, a bitstring function, or a callable one.
    Bitstring(Bitstring),
    /// `evidence TYPE NAME() [expects [LOW, HIGH]] { ... }`
    Evidence {
        /// The type.
        ty: Cpp,
        /// The name.
        name: Ident,
        /// The bound.
        expects: Option<(Cpp, Cpp)>,
        /// The inside of the body; `None`: abstract.
        body: Option<Cpp>,
    },
    /// `at_least VALUE UNIT;` or `at_most VALUE UNIT;`
    Bound {
        /// `true` for `at_least`.
        at_least: bool,
        /// The number, a C++ expression.
        value: Cpp,
        /// The unit: `cycle`, `cycles`, `ns`, `us`, `ms`, `s`, `B/s`, `kB/s`, `MB/s`, `GB/s`, ... verbatim.
        unit: Ident,
    },
    /// `chart FIGURE against X [log] [by PARAMETER] [fit linear];`
    Chart(Chart),
    /// `tags NAME, ...;`
    Tags(Vec<Ident>),
    /// `native { ... }`: C++ members, verbatim.
    Native(Cpp),
}

/// `param ...`
#[derive(Clone, Debug)]
pub struct Param {
    /// The type.
    pub ty: Cpp,
    /// The name.
    pub name: Ident,
    /// What it takes.
    pub values: Values,
}

/// `[= VALUE] [over ...] [quick {...}]`: what a parameter takes.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The value, if given.
    pub value: Option<Cpp>,
    /// The sweep of a plain run.
    pub over: Option<Sweep>,
    /// The sweep of a quick run.
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
    /// `<RET c_function(ARGS)>`, if it is callable.
    pub signature: Option<Signature>,
    /// The name.
    pub name: Ident,
    /// The parameters; empty both for `bitstring b` and `bitstring b()`.
    pub params: Vec<Parameter>,
    /// The terms; `None`: abstract. `= LITERAL;` gives one literal term.
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
    /// `latency`, `cycles`, `bandwidth`, `value` or an evidence.
    pub figure: Ident,
    /// A parameter or an evidence.
    pub against: Ident,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// One curve for each value of this parameter.
    pub by: Option<Ident>,
    /// `fit linear`.
    pub fit_linear: bool,
}

/// A term of a bitstring body.
#[derive(Clone, Debug)]
pub struct Term {
    /// The whole term.
    pub span: Span,
    /// What it is.
    pub kind: TermKind,
}

/// The kinds of term.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `0x...` or `0b...`: the bits as written, first bit first.
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
        /// Before the first turn; may be empty.
        init: Cpp,
        /// Before each turn.
        condition: Cpp,
        /// After each turn; may be empty.
        step: Cpp,
        /// The terms of a turn.
        body: Vec<Term>,
    },
    /// `if (CONDITION) { ... } else { ... }`; `else if` nests.
    If {
        /// The condition.
        condition: Cpp,
        /// The terms where it holds.
        then: Vec<Term>,
        /// The terms where it does not.
        otherwise: Vec<Term>,
    },
    /// `label NAME:`
    Label(Ident),
    /// `rel(NAME, BITS)`
    Rel(Ident, Cpp),
    /// `align(BYTES)`
    Align(Cpp),
    /// `abs(FUNCTION, BITS)`; the function is a C++ name, perhaps qualified.
    Abs(Cpp, Cpp),
}

/// A use of another bitstring.
#[derive(Clone, Debug)]
pub struct Reference {
    /// `super::` was written.
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
    /// The text cut into pieces: comments removed (their line ends kept), `${...}` cut out.
    pub pieces: Vec<AsmPiece>,
}

/// A piece of an `asm` block.
#[derive(Clone, Debug)]
pub enum AsmPiece {
    /// Text for the assembler. `line` is the line of the source its first character stands on, from 1.
    Text {
        /// The text, line ends included.
        text: String,
        /// Source line of its first character.
        line: u32,
    },
    /// `${EXPRESSION}`.
    Hole(Cpp),
}
