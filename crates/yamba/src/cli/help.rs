//! The help of the commands: `yamba --help` lists them by group, and `--help` of a command has one
//! compact list of options.

use clap::builder::{PossibleValue, Resettable, StyledStr};
use clap::{Arg, Command};

use super::GROUPS;

/// Replaces the flat list of commands in the help of `cli` by grouped lists.
pub fn grouped(mut cli: Command) -> Command {
    // `build` adds the command `help`, which the list includes.
    cli.build();
    let styles = cli.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let all = GROUPS.iter().flat_map(|(_, names)| *names);
    let width = all.map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (heading, names) in GROUPS {
        text += &format!("\n{header}{heading}:{header:#}\n");
        for name in *names {
            let about = cli.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &format!("  {literal}{name:width$}{literal:#}  {about}\n");
        }
    }
    text += &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    cli.help_template(StyledStr::from(text))
}

/// The order of the parts of `--help`; the description is the text before the usage.
const COMPACT: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The command whose `--help` has all options and texts in the form of `-h`, which needs a third of
/// the lines of clap's long form.
pub fn compact(command: Command) -> Command {
    let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let description = long.split_once("\n\n").map(|(_, rest)| StyledStr::from(rest.to_owned()));
    let after = command.get_after_long_help().or(command.get_after_help()).cloned();
    command
        .long_about(None)
        .before_help(Resettable::from(description))
        .help_template(COMPACT)
        .after_help(Resettable::from(after))
        .after_long_help(None)
        .mut_args(compact_option)
        .mut_subcommands(compact)
}

fn compact_option(option: Arg) -> Arg {
    let help = option.get_long_help().or(option.get_help()).map(ToString::to_string);
    let values = option.get_possible_values();
    let described: Vec<String> = values.iter().filter_map(described_value).collect();
    let hides_values = !described.is_empty() || option.is_hide_possible_values_set();
    let help = help.map(|help| help.replace("\n\n", "\n"));
    let lines: Vec<String> = help.into_iter().chain(described).collect();
    option
        .long_help(None)
        .help(lines.join("\n"))
        .hide_short_help(false)
        .hide_possible_values(hides_values)
}

/// A possible value with its meaning. `None` if it has none.
fn described_value(value: &PossibleValue) -> Option<String> {
    let help = value.get_help().filter(|_| !value.is_hide_set())?;
    Some(format!("- {}: {help}", value.get_name()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let mut cli = crate::cli::Cli::command();
        cli.build();
        let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            *groups.entry(name).or_default() += 1;
        }
        for command in cli.get_subcommands().filter(|c| !c.is_hide_set()) {
            let name = command.get_name();
            assert_eq!(groups.remove(name), Some(1), "groups with `{name}`");
        }
        assert!(groups.is_empty(), "no such commands: {groups:?}");
    }

    #[test]
    fn help_has_each_command_below_the_heading_of_its_group() {
        let help = grouped(crate::cli::Cli::command()).render_long_help().to_string();
        let mut rest = help.as_str();
        for (heading, names) in GROUPS {
            let at = rest.find(&format!("\n{heading}:\n")).expect(heading);
            rest = &rest[at..];
            for name in *names {
                let at = rest.find(&format!("\n  {name} ")).expect(name);
                rest = &rest[at..];
            }
        }
        assert!(rest.contains("\nOptions:\n"), "{help}");
        assert!(rest.contains("\nExamples:\n"), "{help}");
    }
}
