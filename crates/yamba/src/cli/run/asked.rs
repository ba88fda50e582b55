//! The options of a stored run, parsed from its recorded command line.

use yamba_record::Run as Document;

use super::Run;
use crate::cli::{Command, recorded};
use yamba_session::remote;

/// Whether the command line of a stored run named a remote host.
pub(in crate::cli) fn is_remote(run: &Document) -> bool {
    Run::asked(&run.producer.arguments).is_some_and(|asked| {
        asked.remote.is_some() || remote::is_asked_for(&asked.set, &asked.sweep)
    })
}

impl Run {
    /// Parses the recorded arguments of a `yamba run`.
    pub(in crate::cli) fn asked(arguments: &[String]) -> Option<Run> {
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
    pub(in crate::cli) fn given(&self) -> Vec<String> {
        self.set.iter().map(|(name, _)| name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::{Benchmark, Machine, Status};

    use super::*;

    /// Programs for another machine contain their libraries, whichever command builds them.
    #[test]
    fn programs_for_a_remote_host_are_built_for_it() {
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
