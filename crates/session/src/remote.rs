//! Implements `--remote HOST`: selects the benchmarks that measure between two hosts, and sets their parameters.

use std::str::FromStr;

use yamba_lang::{Analysis, ClassId, Target};
use yamba_record::parameters::plain;
use yamba_record::{Parameters, Run};

use super::Failure;
use super::select::{How, Selection};
use yamba_toolchain::build::BuildOptions;

/// Parameters of such a benchmark: the two hosts that it measures between, and the placement of its two processes.
const HOST: &str = "host";
const PLACEMENT: &str = "placement";

/// Prefix of a `host` value that names another machine.
const FAR: &str = "ssh:";

/// Another machine, as named for ssh.
#[derive(Clone, Debug)]
pub struct Remote(String);

impl FromStr for Remote {
    type Err = String;

    fn from_str(name: &str) -> Result<Remote, String> {
        // The benchmark itself rejects other invalid names.
        let is_name =
            !name.is_empty() && !name.starts_with('-') && !name.contains(char::is_whitespace);
        match is_name {
            true => Ok(Remote(name.to_owned())),
            false => Err("write the name of a machine as for ssh: HOST or USER@HOST".to_owned()),
        }
    }
}

impl Remote {
    /// Fails if the user also sets or sweeps the parameter `host`.
    pub fn check<'a>(&self, mut asked: impl Iterator<Item = &'a String>) -> Result<(), Failure> {
        match asked.any(|name| name == HOST) {
            true => Err(Failure::new(format!(
                "--remote {} and a value for {HOST} contradict each other",
                self.0
            ))
            .help(format!(
                "--sweep {HOST}=loopback,{FAR}{} measures both",
                self.0
            ))),
            false => Ok(()),
        }
    }

    /// Selects the benchmarks that measure between two hosts. Fails if another one was named, or if no benchmark remains.
    pub fn choose(
        &self,
        selection: &Selection,
        classes: Vec<ClassId>,
        target: &Target,
    ) -> Result<Vec<ClassId>, Failure> {
        let analysis = &selection.analysis;
        let is_named = |class: ClassId| {
            let mut chosen = selection.chosen.iter();
            chosen.any(|c| c.class == class && c.how == How::Name)
        };
        let is_able = |class: &ClassId| match has_hosts(analysis, *class, target) {
            Some(has) => has,
            // A benchmark that does not exist on this target is kept if it was named: its entry then shows the reason.
            None => is_named(*class),
        };
        let (able, others): (Vec<ClassId>, Vec<ClassId>) = classes.into_iter().partition(is_able);
        let mut wrong = others.iter().filter(|c| is_named(**c) || able.is_empty());
        let Some(wrong) = wrong.next() else {
            return Ok(able);
        };
        let name = analysis.class(*wrong).name();
        Err(Failure::new(format!(
            "--remote {}: {name} does not measure between two hosts: it has no parameter `{HOST}`",
            self.0
        ))
        .help("`yamba list` shows those that do: the group of the network"))
    }

    /// The parameter values that the option sets.
    pub fn preset(&self) -> [(String, String); 2] {
        [
            (HOST.to_owned(), format!("{FAR}{}", self.0)),
            (PLACEMENT.to_owned(), "apart".to_owned()),
        ]
    }
}

/// Whether one of these parameter values names another machine.
pub fn is_asked_for(set: &[(String, String)], sweep: &[(String, Vec<String>)]) -> bool {
    let is_there = |name: &String, value: &String| name == HOST && value.starts_with(FAR);
    set.iter().any(|(name, value)| is_there(name, value))
        || (sweep.iter()).any(|(name, values)| values.iter().any(|value| is_there(name, value)))
}

/// Whether an entry was measured between this machine and another one.
pub fn was_asked_for(parameters: &Parameters) -> bool {
    let host = parameters.get(HOST).map(plain);
    host.is_some_and(|host| host.starts_with(FAR))
}

/// The build options for rebuilding the programs of a stored run. `is_remote`: the run was requested with `--remote`.
pub fn build_options_of(run: &Run, is_remote: bool) -> BuildOptions {
    let mut all = run.benchmarks.iter();
    build_options(is_remote || all.any(|b| was_asked_for(&b.parameters)))
}

/// The build options. `is_any_far`: a program is copied to another machine.
pub fn build_options(is_any_far: bool) -> BuildOptions {
    BuildOptions {
        elsewhere: is_any_far,
        ..BuildOptions::default()
    }
}

/// Whether the benchmark has the parameter `host`; `None` if it does not exist on this target.
fn has_hosts(analysis: &Analysis, class: ClassId, target: &Target) -> Option<bool> {
    let variants = analysis.program(class, target).variants;
    let mut all = variants.iter().flat_map(|c| &c.parameters);
    (!variants.is_empty()).then(|| all.any(|p| p.name == HOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_name_cannot_be_an_option_or_a_command() {
        for wrong in ["", "-oProxyCommand=true", "a b"] {
            assert!(wrong.parse::<Remote>().is_err(), "{wrong}");
        }
        let right: Remote = "user@server".parse().unwrap();
        assert_eq!(right.preset()[0].1, "ssh:user@server");
    }

    #[test]
    fn remote_host_may_be_one_of_several_values() {
        let value = |text: &str| (HOST.to_owned(), text.to_owned());
        let values = |text: &str| (HOST.to_owned(), vec!["veth".to_owned(), text.to_owned()]);
        assert!(is_asked_for(&[value("ssh:server")], &[]));
        assert!(is_asked_for(&[], &[values("ssh:server")]));
        assert!(!is_asked_for(&[value("veth")], &[values("loopback")]));
        let entry = |text: &str| Parameters(vec![(HOST.to_owned(), text.into())]);
        assert!(was_asked_for(&entry("ssh:server")));
        assert!(!was_asked_for(&entry("veth")) && !was_asked_for(&Parameters::default()));
    }
}
