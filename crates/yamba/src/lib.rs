//! The world outside: files, compilers, processes, the machine. The only crate that touches it.

pub mod about;
pub mod build;
pub mod cli;
pub mod compare;
pub mod disasm;
pub mod embedded;
pub mod files;
pub mod groups;
mod harmless;
pub mod noise;
pub mod random;
pub mod render;
pub mod run;
pub mod selftest;
pub mod stored;
pub mod study;
pub mod time;
mod unused;
mod wrap;

// An alias until every module names the crate itself.
pub use yamba_machine as machine;

#[cfg(test)]
mod published;
