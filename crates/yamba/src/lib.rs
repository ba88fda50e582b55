//! The world outside: files, compilers, processes, the machine. The only crate that touches it.

pub mod about;
pub mod build;
pub mod cli;
pub mod compare;
pub mod disasm;
pub mod embedded;
pub mod files;
pub mod groups;
pub mod noise;
pub mod render;
pub mod selftest;
pub mod stored;
pub mod study;
pub mod time;
mod unused;
mod wrap;

// Aliases until every module names the crate itself.
pub use yamba_harness as run;
pub use yamba_harness::random;
pub use yamba_machine as machine;

#[cfg(test)]
mod published;
