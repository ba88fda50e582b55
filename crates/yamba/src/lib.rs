//! The world outside: files, compilers, processes, the machine. The only crate that touches it.

pub mod cli;
pub mod study_report;
mod wrap;

// Aliases until every module names the crates themselves.
pub use yamba_compare as compare;
pub use yamba_harness as run;
pub use yamba_harness::random;
pub use yamba_machine as machine;
pub use yamba_toolchain::{
    build, disasm, embedded, files, provenance as about, render, source_snapshot as stored,
    suite_topics as groups,
};
