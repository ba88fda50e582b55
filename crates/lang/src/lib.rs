//! The Yamba language: from text to resolved classes.
//!
//! This crate accesses no files, processes or clocks. Texts come in through [`Files`], and messages
//! are [`Diagnostic`]s.

#![warn(missing_docs)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod ast;
pub mod compile;
mod condition;
pub mod cpp;
pub mod diagnostic;
mod input;
pub mod model;
mod resolve;
pub mod source;
pub mod syntax;
mod target;
pub mod units;

pub use condition::show_atom;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use input::{Files, Input};
pub use model::{Analysis, ClassId, Composition, Program, Target};

/// Analyses `roots`, everything that they refer to and every port of a class in use.
pub fn analyse(roots: Vec<Input>, files: &dyn Files) -> Analysis {
    resolve::analyse(roots, files)
}
