//! The help of each command fits the screen: `-h` one of 50 lines, `--help` two.

use crate::support::Yamba;

const SCREEN: usize = 50;

/// Each command, as the words after `yamba`, with its summary.
fn commands() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(parent) = open.pop() {
        let help = Yamba::new().run(&format!("{parent} -h")).ok().out;
        let is_heading = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
        let mut heading = "";
        for line in help.lines() {
            if is_heading(&line) {
                heading = line;
            }
            let Some(entry) = line.strip_prefix("  ") else { continue };
            let lists_commands = parent.is_empty() || heading == "Commands:";
            let Some((name, summary)) = entry.split_once(' ') else { continue };
            let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && name != "help";
            if lists_commands && is_name && heading != "Options:" {
                let words = format!("{parent} {name}").trim().to_owned();
                found.push((words.clone(), summary.trim().to_owned()));
                open.push(words);
            }
        }
    }
    assert!(found.len() > 40, "{found:?}");
    found
}

#[test]
fn summaries_are_orders_of_at_most_ten_words() {
    for (command, summary) in commands() {
        let words: Vec<&str> = summary.split_whitespace().collect();
        assert!((1..=10).contains(&words.len()), "{command}: {summary}");
        let is_question = summary.ends_with('?') || summary.ends_with('.');
        let articles = ["A", "An", "The", "What", "Which", "How", "Who", "Can", "Is"];
        assert!(!is_question && !articles.contains(&words[0]), "{command}: {summary}");
    }
}

#[test]
fn short_help_fits_a_screen_and_long_help_two() {
    let mut yamba = Yamba::new();
    let mut long = Vec::new();
    let commands = commands().into_iter().map(|(command, _)| command);
    for command in commands.chain([String::new()]) {
        for (option, most) in [("-h", SCREEN), ("--help", 2 * SCREEN)] {
            let lines = yamba.run(&format!("{command} {option}")).ok().out.lines().count();
            if lines > most {
                long.push(format!("{command} {option}: {lines}"));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

/// `--help` has each option and the whole description, in the compact form of `-h`.
#[test]
fn long_help_has_every_option() {
    let mut yamba = Yamba::new();
    let help = yamba.run("run --help").ok().out;
    for part in ["\nLimits:\n", "--process-limit", "--percentiles", "- pinned: ", "docs/method.md"]
    {
        assert!(help.contains(part), "no {part} in\n{help}");
    }
    assert_eq!(yamba.run("help run").ok().out, help);
    assert!(!yamba.run("run -h").ok().out.contains("--process-limit"));
}
