//! The blocks of assembly of a program, their bits that hold values, and the syntax of assemblers.

use yamba_lang::ast::{self, AsmPiece, MemberKind, TermKind};
use yamba_lang::source::Span;
use yamba_lang::{Analysis, ClassId, Program};

/// A block of a program, not yet assembled.
#[derive(Clone, Debug)]
pub struct AsmBlock {
    /// Its text in the source, without braces; identifies the block.
    pub span: Span,
    /// The class that contains it.
    pub class: ClassId,
    /// Its text, split at its holes.
    pub pieces: Vec<AsmPiece>,
}

impl AsmBlock {
    /// The number of its `${}`.
    pub fn holes(&self) -> usize {
        self.pieces.iter().filter(|p| matches!(p, AsmPiece::Hole(_))).count()
    }
}

/// The blocks of all classes of a program, each once.
pub fn asm_blocks(analysis: &Analysis, program: &Program) -> Vec<AsmBlock> {
    let mut blocks: Vec<AsmBlock> = Vec::new();
    for variant in &program.variants {
        for layer in variant.parts.iter().chain([variant]).flat_map(|c| &c.layers) {
            if blocks.iter().any(|b| b.class == layer.class) {
                continue;
            }
            for member in &analysis.class(layer.class).ast.members {
                if let MemberKind::Bitstring(bitstring) = &member.kind {
                    let body = bitstring.body.as_deref().unwrap_or_default();
                    ast::walk(body, &mut |term| {
                        if let TermKind::Asm(block) = &term.kind {
                            blocks.push(AsmBlock {
                                span: block.body,
                                class: layer.class,
                                pieces: block.pieces.clone(),
                            });
                        }
                    });
                }
            }
        }
    }
    blocks
}

/// Bits of a value that go to adjacent bits of a block: `count` bits from `value_bit` up go to
/// those from `block_bit` up. Bits of a block count from the lowest bit of its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldBits {
    /// The lowest bit of the value.
    pub value_bit: u32,
    /// The lowest bit of the block.
    pub block_bit: u32,
    /// The number of bits.
    pub count: u32,
}

/// The range of a `${}`'s value, and its place in the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: u64,
    /// Every value must be a multiple of this.
    pub multiple: u64,
    /// Added to the value before it is stored.
    pub bias: i64,
    /// The places of its bits.
    pub bits: Vec<FieldBits>,
}

/// A block as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssembledBlock {
    /// The source text of the block.
    pub span: Span,
    /// Its bytes; the bits of fields are unspecified.
    pub bytes: Vec<u8>,
    /// One for each `${}`, in order.
    pub fields: Vec<Field>,
}

/// The syntax of an instruction set's assembler: properties of its library class.
#[derive(Clone, Debug, Default)]
pub struct Syntax {
    /// Put before every block.
    pub header: String,
    /// Put after every block.
    pub footer: String,
    /// Put before blocks with `${}`.
    pub hole_header: String,
    /// Put before a symbol that is an immediate; `None`: test values show the fields.
    pub symbolic_immediate: Option<String>,
    /// Types of relocation that an assembler leaves although it has filled in the bits: distances
    /// between two places of one block, which stay the same when the block moves.
    pub filled_relocations: Vec<u32>,
}

impl Syntax {
    /// The syntax of an instruction set of the library.
    pub fn for_isa(analysis: &Analysis, isa: &str) -> Syntax {
        Syntax {
            header: analysis.isa_property(isa, "assembler_header").unwrap_or_default(),
            footer: analysis.isa_property(isa, "assembler_footer").unwrap_or_default(),
            hole_header: analysis.isa_property(isa, "assembler_hole_header").unwrap_or_default(),
            symbolic_immediate: analysis.isa_property(isa, "symbolic_immediate"),
            filled_relocations: analysis
                .isa_property(isa, "filled_relocations")
                .map(|list| list.split_whitespace().filter_map(|n| n.parse().ok()).collect())
                .unwrap_or_default(),
        }
    }
}
