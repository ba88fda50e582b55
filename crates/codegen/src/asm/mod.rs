//! Blocks of assembly: what the assembler is given, and what its answer means.
//!
//! All blocks of a program are assembled in one run, each in a section of its own. A `${}` becomes a symbol where the
//! instruction set has a spelling for that ([`Syntax::symbolic_immediate`]): the relocation that it leaves tells the field.
//! Elsewhere the block is also assembled with many values, and [`learn`] sees which bits move.

mod block;
mod field;
mod learn;
mod listing;
mod read;
mod syntax;

pub use block::{AsmBlock, asm_blocks};
pub use field::{AssembledBlock, Field, FieldBits};
pub use listing::{Listing, Place};
pub use read::{ObjectFile, Relocation, Section, read};
pub use syntax::Syntax;
