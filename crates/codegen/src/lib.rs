//! Generates C++ and assembler text from resolved classes.
//!
//! Pure: runs no compiler, reads no file, knows no instruction set by name. [`generate`] writes the
//! C++ file; [`asm`] writes the assembler's input and interprets its output.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod asm;
mod class;
mod class_writer;
mod context;
mod cpp_text;
mod members;
mod plan;
mod process_wide;
mod program;
mod terms;
mod text;
mod used;
mod virtuals;
mod writer;

use std::collections::HashMap;

use asm::AssembledBlock;
use context::Context;
pub use context::file_name;
use yamba_lang::source::Span;
use yamba_lang::{Analysis, Program};

/// Writes the C++ of a program, one file. Without `blocks` the place of each asm block stays empty:
/// the result depends on the source alone, and can be compared with an earlier one before an
/// assembler runs. The runtime's headers do not see the `hidden` macros.
pub fn generate(
    analysis: &Analysis,
    program: &Program,
    blocks: &[AssembledBlock],
    hidden: &[&str],
) -> String {
    let blocks: HashMap<Span, &AssembledBlock> = blocks.iter().map(|b| (b.span, b)).collect();
    let context = Context { analysis, program, blocks, hidden };
    program::write(&context)
}
