//! The Yamba language: from text to resolved classes.
//!
//! Pure: no files, no processes, no clock. Texts come in through [`Files`], messages go out as [`Diagnostic`]s.

pub mod ast;
pub mod cpp;
pub mod diagnostic;
pub mod model;
mod resolve;
pub mod source;
pub mod syntax;
pub mod units;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use model::{Analysis, ClassId, Composition, Program, Target};
pub use resolve::show_atom;

/// A text to analyse and the path a person knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The path, as it should be shown.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Where other classes and ports are looked for. The binary implements this over folders, tests over lists.
pub trait Files {
    /// The file `NAME.yamba` as seen from the file at `from`: its folder, each `--lib`, the installed library.
    fn find(&self, from: &str, name: &str) -> Option<Input>;
    /// Every `.yamba` file in the folder of the file at `from`, in each `--lib` and in the installed library and suite,
    /// the file itself included. Called at most once for each folder of a class that is in use.
    fn around(&self, from: &str) -> Vec<Input>;
}

/// Reads `roots`, everything they refer to and every port of a class in use, and finds all that is wrong with them.
pub fn analyse(roots: Vec<Input>, files: &dyn Files) -> Analysis {
    resolve::analyse(roots, files)
}
