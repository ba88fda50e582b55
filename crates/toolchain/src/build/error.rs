//! Reasons why a program was not built.

use std::fmt;
use std::io;

use yamba_lang::{Diagnostic, Target};

/// Why there is no program.
#[derive(Debug)]
pub enum BuildError {
    /// Faults in the author's C++ or assembly.
    Diagnostics(Vec<Diagnostic>),
    /// No compiler for the target.
    MissingCompiler {
        /// The target.
        target: Target,
        /// What was looked for.
        tried: Vec<String>,
        /// How to get one.
        help: String,
    },
    /// The class does not exist on the target, or lacks members there.
    NothingToBuild(String),
    /// A tool failed and said nothing about the author's program.
    Tool {
        /// What was run.
        command: String,
        /// What it said.
        output: String,
    },
    /// A file or a process could not be had.
    Io(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Diagnostics(all) => write!(f, "{} faults in the program", all.len()),
            BuildError::MissingCompiler { target, tried, .. } => {
                write!(
                    f,
                    "no C++ compiler for {target}: looked for {}",
                    tried.join(", ")
                )
            }
            BuildError::NothingToBuild(why) => f.write_str(why),
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
