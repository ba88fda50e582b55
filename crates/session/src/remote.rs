//! Implements `--remote HOST`: selects the benchmarks that measure between two machines, sets their
//! parameters, and builds programs that start on both.
//!
//! A class declares those parameters itself, or imports a class that does: see the property
//! `remote_parameters` in docs/language.md.

use std::str::FromStr;

use yamba_harness::Own;
use yamba_lang::{Analysis, ClassId, Composition, Target};

use super::Failure;
use super::select::{How, Selection};

/// The property with the parameters that `--remote` sets, as `NAME=VALUE`, separated by spaces. The
/// first one names the other machine.
const PROPERTY: &str = "remote_parameters";

/// Stands for the other machine's name in the value of the first parameter.
const MACHINE: &str = "NAME";

/// Another machine, as named for ssh.
#[derive(Clone, Debug)]
pub struct Remote(String);

impl FromStr for Remote {
    type Err = String;

    fn from_str(name: &str) -> Result<Remote, String> {
        // The benchmark itself rejects other invalid names.
        let is_name =
            !name.is_empty() && !name.starts_with('-') && !name.contains(char::is_whitespace);
        if is_name {
            Ok(Remote(name.to_owned()))
        } else {
            Err("write the name of a machine as for ssh: HOST or USER@HOST".to_owned())
        }
    }
}

impl Remote {
    /// Selects the benchmarks that measure between two machines. Fails if another one was named, or
    /// if no benchmark remains.
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
        let is_able = |class: &ClassId| {
            let exists = !analysis.program(*class, target).variants.is_empty();
            // A benchmark that does not exist on this target is kept if it was named: its entry
            // then shows the reason.
            RemoteParameters::from_class(analysis, *class, target).is_some()
                || !exists && is_named(*class)
        };
        let (able, others): (Vec<ClassId>, Vec<ClassId>) = classes.into_iter().partition(is_able);
        let mut wrong = others.iter().filter(|c| is_named(**c) || able.is_empty());
        let Some(wrong) = wrong.next() else {
            return Ok(able);
        };
        let name = analysis.class(*wrong).name();
        Err(Failure::new(format!(
            "--remote {}: {name} does not measure between two machines",
            self.0
        ))
        .help(format!(
            "`yamba run --remote {} --dry-run` shows those of the suite that do",
            self.0
        )))
    }

    /// The parameter values that the option sets in each of these benchmarks. Fails if the user
    /// gave the parameter that names the machine.
    pub fn own(
        &self,
        analysis: &Analysis,
        classes: &[ClassId],
        target: &Target,
        values: &[(String, String)],
    ) -> Result<Vec<Own>, Failure> {
        let each = classes.iter().map(|class| {
            let Some(parameters) = RemoteParameters::from_class(analysis, *class, target) else {
                return Ok(Own::default());
            };
            let preset = parameters.naming(&self.0);
            let (name, value) = &preset[0];
            let others = values.iter().filter(|(n, _)| n == name);
            let others: Vec<&str> = others.map(|(_, v)| v.as_str()).collect();
            if !others.is_empty() {
                let (remote, others) = (&self.0, others.join(","));
                return Err(Failure::new(format!(
                    "--remote {remote} and a value for {name} contradict each other"
                ))
                .help(format!("--sweep {name}={others},{value} measures both")));
            }
            Ok(Own { preset, ..Own::default() })
        });
        each.collect()
    }
}

/// The values that a request gives to parameters, by `--set` and `--sweep`.
pub(super) fn parameter_values(
    set: &[(String, String)],
    sweep: &[(String, Vec<String>)],
) -> Vec<(String, String)> {
    let swept = sweep.iter().flat_map(|(name, values)| {
        let each = values.iter();
        each.map(|value| (name.clone(), value.clone()))
    });
    set.iter().cloned().chain(swept).collect()
}

/// Whether one of these values makes one of these benchmarks measure between this machine and
/// another.
pub(super) fn names_a_machine(
    analysis: &Analysis,
    classes: &[ClassId],
    target: &Target,
    values: &[(String, String)],
) -> bool {
    let each = classes.iter();
    let mut declared =
        each.filter_map(|class| RemoteParameters::from_class(analysis, *class, target));
    declared.any(|parameters| {
        let mut values = values.iter();
        values.any(|(name, value)| parameters.is_machine(name, value))
    })
}

/// The parameters that a benchmark declares for `--remote`, at least one.
struct RemoteParameters(Vec<(String, String)>);

impl RemoteParameters {
    /// `None` if the benchmark does not measure between two machines, or does not exist on this
    /// target.
    fn from_class(
        analysis: &Analysis,
        class: ClassId,
        target: &Target,
    ) -> Option<RemoteParameters> {
        let variants = analysis.program(class, target).variants;
        variants.iter().find_map(|v| Self::from_variant(analysis, v))
    }

    fn from_variant(analysis: &Analysis, variant: &Composition) -> Option<RemoteParameters> {
        let imports = variant.layers.iter().flat_map(|layer| &layer.imports);
        let imported = imports.map(|(_, part)| variant.parts[*part].class);
        let mut classes = std::iter::once(variant.class).chain(imported);
        let text = classes.find_map(|class| analysis.property(class, PROPERTY))?;
        let words = text.split_whitespace();
        let pairs = words.filter_map(|word| word.split_once('='));
        let parameters: Vec<(String, String)> =
            pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let (first, _) = parameters.first()?;
        let mut own = variant.parameters.iter();
        own.any(|p| p.name == *first).then_some(RemoteParameters(parameters))
    }

    /// The values for this machine.
    fn naming(self, machine: &str) -> Vec<(String, String)> {
        let mut values = self.0;
        values[0].1 = values[0].1.replacen(MACHINE, machine, 1);
        values
    }

    /// Whether this value of a parameter names a machine.
    fn is_machine(&self, name: &str, value: &str) -> bool {
        let (first, form) = &self.0[0];
        let (before, after) = form.split_once(MACHINE).unwrap_or((form, ""));
        name == first
            && value.len() >= before.len() + after.len()
            && value.starts_with(before)
            && value.ends_with(after)
    }
}

#[cfg(test)]
mod tests {
    use yamba_lang::{Files, Input};

    use super::*;

    /// No file but the analysed one.
    struct Alone;

    impl Files for Alone {
        fn find(&self, _: &str, _: &str) -> Option<Input> {
            None
        }

        fn around(&self, _: &str) -> Vec<Input> {
            Vec::new()
        }
    }

    const CLASSES: &str = r#"
yamba abstract Benchmark extends nothing { void benchmark() {} }
yamba abstract Latency extends Benchmark {}
yamba abstract Part extends nothing {}
yamba abstract InstructionSet extends Part {}
yamba abstract OperatingSystem extends Part {}
yamba isa extends InstructionSet on isa {}
yamba system extends OperatingSystem on system {}
yamba ends extends Part { const char *remote_parameters = "peer=at:NAME! cores=two"; }
yamba far { import(ends); param const char *peer = "here"; param const char *cores = "one"; }
yamba near { import(ends); param const char *cores = "one"; }
yamba own_declaration { const char *remote_parameters = "peer=NAME"; param const char *peer = "here"; }
"#;

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        let each = all.iter();
        each.map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    fn analysed() -> (Analysis, Target) {
        let input = Input { path: "all.yamba".to_owned(), text: CLASSES.to_owned() };
        let analysis = yamba_lang::analyse(vec![input], &Alone);
        assert!(!analysis.has_errors(), "{:?}", analysis.diagnostics);
        let target = Target { isa: "isa".to_owned(), system: "system".to_owned() };
        (analysis, target)
    }

    #[test]
    fn host_name_cannot_be_an_option_or_a_command() {
        for wrong in ["", "-oProxyCommand=true", "a b"] {
            assert!(wrong.parse::<Remote>().is_err(), "{wrong}");
        }
        assert!("user@server".parse::<Remote>().is_ok());
    }

    #[test]
    fn class_or_its_import_declares_what_remote_sets() {
        let (analysis, target) = analysed();
        let remote: Remote = "user@server".parse().unwrap();
        let own = |class: &str, values: &[(&str, &str)]| {
            let classes = [analysis.find_class(class).unwrap()];
            let own = remote.own(&analysis, &classes, &target, &pairs(values));
            own.map(|mut own| own.remove(0).preset)
        };
        let both = pairs(&[("peer", "at:user@server!"), ("cores", "two")]);
        assert_eq!(own("far", &[("cores", "one")]).unwrap(), both);
        assert_eq!(own("near", &[]).unwrap(), []);
        let named = pairs(&[("peer", "user@server")]);
        assert_eq!(own("own_declaration", &[]).unwrap(), named);
        let refused = own("far", &[("peer", "a"), ("peer", "b")]);
        let Err(Failure::Sentence { help, .. }) = refused else {
            panic!("a value beside --remote is accepted");
        };
        let help = help.unwrap_or_default();
        assert!(help.contains("--sweep peer=a,b,at:user@server!"), "{help}");
    }

    #[test]
    fn value_in_the_declared_form_names_a_machine() {
        let (analysis, target) = analysed();
        let is_remote = |class: &str, set: &[(&str, &str)], sweep: &[(&str, &str)]| {
            let classes = [analysis.find_class(class).unwrap()];
            let several = |v: &str| v.split(',').map(str::to_owned).collect();
            let sweep = sweep.iter().map(|(n, v)| ((*n).to_owned(), several(v)));
            let values = parameter_values(&pairs(set), &sweep.collect::<Vec<_>>());
            names_a_machine(&analysis, &classes, &target, &values)
        };
        assert!(is_remote("far", &[("peer", "at:server!")], &[]));
        assert!(is_remote("far", &[], &[("peer", "here,at:server!")]));
        assert!(!is_remote("far", &[("peer", "here")], &[("cores", "two")]));
        assert!(!is_remote("far", &[("cores", "at:server!")], &[]));
        assert!(!is_remote("near", &[("peer", "at:server!")], &[]));
    }
}
