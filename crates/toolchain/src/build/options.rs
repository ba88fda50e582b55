//! Options of a build.

use super::snapshot_includes::SnapshotIncludes;

/// Options that may differ between builds.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// Additional options for the C++ compiler.
    pub flags: Vec<String>,
    /// Whether the program will run on another machine. As its libraries may differ, the program links them statically.
    pub elsewhere: bool,
    /// Stored included files of a previous run, compiled instead of those on disk.
    pub includes: Option<SnapshotIncludes>,
}
