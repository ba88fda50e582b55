//! The command line: arguments, terminal output, exit status. Other crates do the work.

pub mod cli;
pub mod views;
