//! Turns `.yamba` files into executables: file lookup, the embedded library and suite, the system's
//! compiler, the build cache, and disassembly.
//!
//! This crate runs compilers and assemblers, but never the programs that it builds. It depends on
//! neither the harness nor the store, and prints nothing.

pub mod build;
mod cache_eviction;
pub mod disasm;
pub mod embedded;
pub mod files;
pub mod provenance;
pub mod render;
pub mod source_snapshot;
pub mod suite_topics;
