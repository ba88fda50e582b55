//! The options of a stored run, parsed from its recorded command line.

use super::Run;
use crate::cli::{Command, recorded};

impl Run {
    /// Parses the recorded arguments of a `yamba run`.
    pub(in crate::cli) fn from_arguments(arguments: &[String]) -> Option<Run> {
        match recorded(arguments)? {
            Command::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Whether the whole suite was requested.
    pub(in crate::cli) fn is_whole(&self) -> bool {
        self.names.names.is_empty() && self.tags.is_empty()
    }

    /// The parameters that `--set` gave a value.
    pub(in crate::cli) fn set_parameters(&self) -> Vec<String> {
        self.set.iter().map(|(name, _)| name.clone()).collect()
    }
}
