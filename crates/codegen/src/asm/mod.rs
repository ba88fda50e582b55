//! Assembles blocks of assembly: writes the assembler's input and interprets its output.
//!
//! All blocks of a program are assembled in one run, each in a section of its own. A `${}` becomes
//! a symbol if the instruction set has a syntax for that ([`Syntax::symbolic_immediate`]): the
//! relocation shows the field. Otherwise the block is also assembled with many values, and
//! [`learn`] finds the bits that change.

mod block;
mod learn;
mod listing;
mod read;

pub use block::{AsmBlock, AssembledBlock, Field, FieldBits, Syntax, asm_blocks};
pub use listing::{LineOrigin, Listing};
pub use read::{ObjectFile, Relocation, Section, read};
