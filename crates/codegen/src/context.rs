//! What every part of the generator reads.

use std::collections::HashMap;

use yamba_lang::source::Span;
use yamba_lang::{Analysis, Program};

use crate::asm::AssembledBlock;

/// The name that generated text is known by, in its own `#line`s.
pub fn file_name(analysis: &Analysis, program: &Program) -> String {
    format!("{}.cc", analysis.class(program.class).name())
}

/// The program to generate.
pub(crate) struct Context<'a> {
    pub(crate) analysis: &'a Analysis,
    pub(crate) program: &'a Program,
    pub(crate) blocks: HashMap<Span, &'a AssembledBlock>,
}
