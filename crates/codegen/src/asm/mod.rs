//! Blocks of assembly: what the assembler is given, and what its answer means.
//!
//! All blocks of a program are assembled in one run, each in a section of its own. A `${}` becomes a symbol where the
//! instruction set has a spelling for that ([`Syntax::symbolic_immediate`]): the relocation that it leaves tells the field.
//! Elsewhere the block is also assembled with many values, and [`learn`] sees which bits move.

mod learn;
mod listing;
mod read;

use yamba_lang::ast::AsmPiece;
use yamba_lang::ast::{MemberKind, Term, TermKind};
use yamba_lang::model::{Analysis, ClassId, Program};
use yamba_lang::source::Span;

pub use listing::{Listing, Place};
pub use read::{ObjectFile, Relocation, Section, read};

/// A block of a program, not yet assembled.
#[derive(Clone, Debug)]
pub struct AsmBlock {
    /// Its text in the source, without braces; names the block.
    pub span: Span,
    /// The class that it stands in.
    pub class: ClassId,
    /// Its text cut at its holes.
    pub pieces: Vec<AsmPiece>,
}

impl AsmBlock {
    /// How many `${}` it has.
    pub fn holes(&self) -> usize {
        self.pieces
            .iter()
            .filter(|p| matches!(p, AsmPiece::Hole(_)))
            .count()
    }
}

/// `count` bits of a value from `value_bit` up go to the bits of the block from `block_bit` up; a block's bits are
/// counted from the lowest of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldBits {
    /// The lowest bit of the value.
    pub value_bit: u32,
    /// The lowest bit of the block.
    pub block_bit: u32,
    /// How many.
    pub count: u32,
}

/// Where the value of a `${}` goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: u64,
    /// What every value must be a multiple of.
    pub multiple: u64,
    /// Added to the value before it is stored.
    pub bias: i64,
    /// Where its bits go.
    pub bits: Vec<FieldBits>,
}

/// A block as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssembledBlock {
    /// Which block it is.
    pub span: Span,
    /// Its bytes; those of fields are of no importance.
    pub bytes: Vec<u8>,
    /// One for each `${}`, in order.
    pub fields: Vec<Field>,
}

/// How an instruction set's assembler wants to be spoken to: properties of its library class.
#[derive(Clone, Debug, Default)]
pub struct Syntax {
    /// Put before every block.
    pub header: String,
    /// Put before blocks with `${}`.
    pub hole_header: String,
    /// Put before a symbol that is an immediate; `None`: fields are learnt from values.
    pub symbolic_immediate: Option<String>,
    /// Types of relocation that an assembler leaves for a linker to look at although it has filled in the bits: distances
    /// between two places of one block, which survive being moved.
    pub filled_relocations: Vec<u32>,
}

impl Syntax {
    /// The syntax of an instruction set of the library.
    pub fn of(analysis: &Analysis, isa: &str) -> Syntax {
        Syntax {
            header: analysis
                .isa_property(isa, "assembler_header")
                .unwrap_or_default(),
            hole_header: analysis
                .isa_property(isa, "assembler_hole_header")
                .unwrap_or_default(),
            symbolic_immediate: analysis.isa_property(isa, "symbolic_immediate"),
            filled_relocations: analysis
                .isa_property(isa, "filled_relocations")
                .map(|list| {
                    list.split_whitespace()
                        .filter_map(|n| n.parse().ok())
                        .collect()
                })
                .unwrap_or_default(),
        }
    }
}

/// The blocks of all classes of a program, each once.
pub fn asm_blocks(analysis: &Analysis, program: &Program) -> Vec<AsmBlock> {
    let mut blocks: Vec<AsmBlock> = Vec::new();
    for variant in &program.variants {
        for layer in variant
            .parts
            .iter()
            .chain([variant])
            .flat_map(|c| &c.layers)
        {
            if blocks.iter().any(|b| b.class == layer.class) {
                continue;
            }
            for member in &analysis.class(layer.class).ast.members {
                if let MemberKind::Bitstring(bitstring) = &member.kind {
                    collect(
                        layer.class,
                        bitstring.body.as_deref().unwrap_or_default(),
                        &mut blocks,
                    );
                }
            }
        }
    }
    blocks
}

fn collect(class: ClassId, terms: &[Term], blocks: &mut Vec<AsmBlock>) {
    for term in terms {
        match &term.kind {
            TermKind::Asm(block) => blocks.push(AsmBlock {
                span: block.body,
                class,
                pieces: block.pieces.clone(),
            }),
            TermKind::Word(_, terms) | TermKind::Unroll { body: terms, .. } => {
                collect(class, terms, blocks)
            }
            TermKind::If {
                then, otherwise, ..
            } => {
                collect(class, then, blocks);
                collect(class, otherwise, blocks);
            }
            _ => {}
        }
    }
}
