//! From `.yamba` files to executables: file lookup, the embedded library and suite, the system's compiler, the build cache, and disassembly.
//!
//! This crate runs compilers and assemblers, but no program that it has built. It knows neither the harness nor the store, and prints nothing.

pub mod build;
mod cache_eviction;
pub mod disasm;
pub mod embedded;
pub mod files;
pub mod provenance;
pub mod render;
pub mod source_snapshot;
pub mod suite_topics;
