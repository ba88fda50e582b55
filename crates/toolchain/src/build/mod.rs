//! Builds a program from a resolved class: assembles, generates C++, compiles, and caches the
//! result.

mod assemble;
mod assemble_all;
mod assembler_help;
mod att;
mod cache;
mod command;
mod command_lines;
mod compiler_kind;
mod error;
mod first_key;
mod identity;
mod job;
mod key;
mod link_words;
mod listing;
mod manifest;
mod messages;
mod observe;
mod options;
mod package;
mod python_package;
mod read_file;
mod search;
mod several;
mod shared;
mod snapshot_includes;
mod support;
mod temporary;
mod tool;
mod toolchain;
mod user_flags;

pub use assemble_all::{AssembledClasses, assemble_all};
pub use error::BuildError;
pub use job::{
    Built, assemble, build, bundle_runner, compiler_source, compiler_version, kept_program,
};
pub use options::BuildOptions;
pub use python_package::how_to_get_compiler;
pub use several::{build_all, build_while};
pub use snapshot_includes::SnapshotIncludes;
pub use toolchain::{CompilerSource, host, runner};
pub use user_flags::{changed_library, command_line_flags};
