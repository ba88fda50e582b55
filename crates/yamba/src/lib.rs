//! The command line: arguments, output on a terminal, exit status. The other crates do the work.

pub mod cli;
pub mod study_report;
mod wrap;
