//! Options of a build.

use super::kept::KeptIncludes;

/// What may differ from one build to the next.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// More options for the C++ compiler.
    pub flags: Vec<String>,
    /// Whether the program is to start on another machine, which may have other libraries: then it holds them.
    pub elsewhere: bool,
    /// Included files of an earlier run, which are compiled instead of those that lie on the disk now.
    pub includes: Option<KeptIncludes>,
}
