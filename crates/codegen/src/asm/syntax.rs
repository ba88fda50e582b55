//! Properties of an instruction set's assembler.

use yamba_lang::Analysis;

/// The syntax of an instruction set's assembler: properties of its library class.
#[derive(Clone, Debug, Default)]
pub struct Syntax {
    /// Put before every block.
    pub header: String,
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
            hole_header: analysis.isa_property(isa, "assembler_hole_header").unwrap_or_default(),
            symbolic_immediate: analysis.isa_property(isa, "symbolic_immediate"),
            filled_relocations: analysis
                .isa_property(isa, "filled_relocations")
                .map(|list| list.split_whitespace().filter_map(|n| n.parse().ok()).collect())
                .unwrap_or_default(),
        }
    }
}
