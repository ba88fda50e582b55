//! What a kept run was asked for, read from the words of its command line by the command's own rules.

use clap::Parser;
use yamba_record::Run as Document;

use super::super::{Cli, Command};
use super::Run;
use yamba_session::remote;

/// Whether the command line of a kept run named another machine.
pub(in crate::cli) fn is_remote(run: &Document) -> bool {
    Run::asked(&run.producer.arguments).is_some_and(|asked| {
        asked.remote.is_some() || remote::is_asked_for(&asked.set, &asked.sweep)
    })
}

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

    /// The parameters that were given a value.
    pub(in crate::cli) fn given(&self) -> Vec<String> {
        self.set.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Whether the table of all tests was wanted.
    pub(in crate::cli) fn wants_tests(&self) -> bool {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::{Benchmark, Machine, Status};

    use super::*;

    /// What is copied to another machine holds its libraries, whichever command asked for it.
    #[test]
    fn what_another_machine_is_to_run_is_built_for_it() {
        let kept = |words: &[&str], host: &str| {
            let mut run = Document::new(Machine::default());
            run.producer.arguments = words.iter().map(|w| (*w).to_owned()).collect();
            let mut entry = Benchmark::ended("lat_tcp", Status::Ok, Vec::new());
            entry.parameters.0.push(("host".to_owned(), host.into()));
            run.benchmarks.push(entry);
            remote::build_options_of(&run, is_remote(&run)).elsewhere
        };
        assert!(kept(&["study", "course.toml"], "ssh:server"));
        assert!(kept(&["run", "lat_tcp", "--remote", "server"], "veth"));
        assert!(!kept(&["study", "course.toml"], "veth"));
    }
}
