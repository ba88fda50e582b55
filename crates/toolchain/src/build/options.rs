//! Options of a build.

use std::collections::BTreeMap;

use yamba_record::run::{Flags, UserFlags};

use super::snapshot_includes::SnapshotIncludes;

/// Options that may differ between builds.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Additional options for the C++ compiler, also for the files that all programs share.
    pub flags: Vec<String>,
    /// Options of the command line, for the programs only.
    pub command_line: Flags,
    /// By class: the options of a previous run. They replace `command_line` and the `compile`
    /// clauses.
    pub recorded: BTreeMap<String, UserFlags>,
    /// Whether the program will run on another machine. As its libraries may differ, the program
    /// links them statically.
    pub elsewhere: bool,
    /// Stored included files of a previous run, compiled instead of those on disk.
    pub includes: Option<SnapshotIncludes>,
}
