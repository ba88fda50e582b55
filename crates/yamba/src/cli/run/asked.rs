//! What a kept run was asked for, read from the words of its command line by the command's own rules.

use clap::Parser;
use yamba_record::Run as Document;

use super::super::{Cli, Command};
use super::Run;
use super::remote;
use crate::build::BuildOptions;
use crate::study::Study;

/// How the programs of a kept run are built again, whichever command measured it.
pub(in crate::cli) fn build_options(run: &Document) -> BuildOptions {
    let asked = Run::asked(&run.producer.arguments);
    let is_asked = asked.is_some_and(|asked| asked.build_options().elsewhere);
    let mut all = run.benchmarks.iter();
    remote::build_options(is_asked || all.any(|b| remote::was_asked_for(&b.parameters)))
}

/// How the programs of a study are built.
pub(in crate::cli) fn study_build_options(study: &Study) -> BuildOptions {
    let mut all = study.measurements.iter();
    remote::build_options(all.any(|m| remote::is_asked_for(&m.set, &m.sweep)))
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

    /// How its programs are built.
    pub(super) fn build_options(&self) -> BuildOptions {
        remote::build_options(self.remote.is_some() || remote::is_asked_for(&self.set, &self.sweep))
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
        let study = |host: &str| {
            let text = format!(
                "title = \"t\"\n[[measurement]]\nlabel = \"l\"\nbenchmark = \"lat_tcp\"\nparameters = {{ host = [\"veth\", \"{host}\"] }}\n"
            );
            study_build_options(&crate::study::read(&text).unwrap()).elsewhere
        };
        assert!(study("ssh:server"));
        assert!(!study("loopback"));

        let kept = |words: &[&str], host: &str| {
            let mut run = Document::new(Machine::default());
            run.producer.arguments = words.iter().map(|w| (*w).to_owned()).collect();
            let mut entry = Benchmark::ended("lat_tcp", Status::Ok, Vec::new());
            entry.parameters.0.push(("host".to_owned(), host.into()));
            run.benchmarks.push(entry);
            build_options(&run).elsewhere
        };
        assert!(kept(&["study", "course.toml"], "ssh:server"));
        assert!(kept(&["run", "lat_tcp", "--remote", "server"], "veth"));
        assert!(!kept(&["study", "course.toml"], "veth"));
    }
}
