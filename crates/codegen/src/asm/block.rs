//! The blocks of assembly of a program.

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
