//! What a kept run was asked for, read from the words of its command line by the command's own rules.

use clap::Parser;

use super::super::{Cli, Command};
use super::Run;
use super::remote;
use crate::build::BuildOptions;

impl Run {
    /// None if they are not the words of `yamba run`, or those of a version that took others.
    pub(in crate::cli) fn asked(arguments: &[String]) -> Option<Run> {
        let words = std::iter::once("yamba").chain(arguments.iter().map(String::as_str));
        match Cli::try_parse_from(words).ok()?.command {
            Command::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Whether all of the suite was meant.
    pub(in crate::cli) fn is_whole(&self) -> bool {
        self.names.names.is_empty() && self.tags.is_empty()
    }

    /// How its programs are built.
    pub(in crate::cli) fn build_options(&self) -> BuildOptions {
        BuildOptions {
            elsewhere: self.remote.is_some() || remote::is_asked_for(&self.set, &self.sweep),
            ..BuildOptions::default()
        }
    }

    /// The parameters that were given a value.
    pub(in crate::cli) fn given(&self) -> Vec<String> {
        self.set.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Whether the table of all tests was wanted.
    pub(in crate::cli) fn wants_tests(&self) -> bool {
        self.table
    }
}
