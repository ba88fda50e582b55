//! The commands in `yamba --help`, under one heading for each group.

use clap::Command;
use clap::builder::StyledStr;

/// Each heading of the help with its commands, in order of use.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Measure", &["time", "list", "run", "trace", "java", "load", "study", "bundle", "fleet"]),
    (
        "Results",
        &[
            "runs",
            "show",
            "compare",
            "history",
            "predict",
            "page-cache",
            "gc",
            "report",
            "export",
            "import",
            "tag",
            "rm",
            "salvage",
        ],
    ),
    ("Language", &["new", "check", "build", "disasm", "explain", "port"]),
    ("Machine", &["machine", "selftest", "noise"]),
    ("Help", &["completions", "man", "help"]),
];

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
        for name in names {
            let about = cli.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &format!("  {literal}{name:width$}{literal:#}  {about}\n");
        }
    }
    text += &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    cli.help_template(StyledStr::from(text))
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
        let help = grouped(crate::cli::Cli::command()).render_help().to_string();
        let mut rest = help.as_str();
        for (heading, names) in GROUPS {
            let at = rest.find(&format!("\n{heading}:\n")).expect(heading);
            rest = &rest[at..];
            for name in names {
                let at = rest.find(&format!("\n  {name} ")).expect(name);
                rest = &rest[at..];
            }
        }
        assert!(rest.contains("\nOptions:\n"), "{help}");
        assert!(rest.contains("\nExamples:\n"), "{help}");
    }
}
