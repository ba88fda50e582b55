//! The input of all parts of the generator.

use std::collections::HashMap;

use yamba_lang::source::Span;
use yamba_lang::{Analysis, Program};

use crate::asm::AssembledBlock;

/// The file name of generated text in its `#line`s.
pub fn file_name(analysis: &Analysis, program: &Program) -> String {
    format!("{}.cc", analysis.class(program.class).name())
}

/// The program to generate.
pub(crate) struct Context<'a> {
    pub(crate) analysis: &'a Analysis,
    pub(crate) program: &'a Program,
    pub(crate) blocks: HashMap<Span, &'a AssembledBlock>,
    /// Macros of the user that the runtime's headers do not see.
    pub(crate) hidden: &'a [&'a str],
}
