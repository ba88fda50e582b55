//! Reasons why a program was not built.

use std::fmt;
use std::io;

use yamba_lang::{Diagnostic, Target};

/// The reason why a build produced no program.
#[derive(Debug)]
pub enum BuildError {
    /// Faults in the author's C++ or assembly.
    Diagnostics(Vec<Diagnostic>),
    /// No compiler for the target.
    MissingCompiler {
        target: Target,
        /// The names of the compilers that were searched.
        tried: Vec<String>,
        /// How to get one.
        help: String,
    },
    /// The class does not exist on the target, or lacks members there.
    NothingToBuild(String),
    /// A setting that cannot be used, such as a library that does not exist.
    Setting {
        fault: String,
        /// How to fix it.
        help: String,
    },
    /// A tool failed without a message about the author's program.
    Tool {
        /// The command that failed.
        command: String,
        /// The output of the command.
        output: String,
    },
    /// A file or process operation failed.
    Io(io::Error),
}

/// Why a setting of the user cannot be used.
pub(super) struct SettingFault {
    pub(super) text: String,
    /// How to fix it.
    pub(super) help: String,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Diagnostics(all) => write!(f, "{} faults in the program", all.len()),
            BuildError::MissingCompiler { target, tried, .. } => {
                write!(f, "no C++ compiler for {target}: looked for {}", tried.join(", "))
            }
            BuildError::NothingToBuild(why) => f.write_str(why),
            BuildError::Setting { fault, .. } => f.write_str(fault),
            BuildError::Tool { command, output } => {
                write!(f, "`{command}` failed:\n{}", output.trim_end())
            }
            BuildError::Io(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<io::Error> for BuildError {
    fn from(e: io::Error) -> BuildError {
        BuildError::Io(e)
    }
}
