//! Completions, manual pages and the texts of help: each is of the commands that there are.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::support::{Yamba, has};

/// The commands that `yamba --help` lists.
pub fn commands(yamba: &mut Yamba) -> Vec<String> {
    let help = yamba.run("--help").ok().out;
    let listed = help.split("Commands:\n").nth(1).unwrap();
    let listed = listed.split("\n\n").next().unwrap();
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = listed.lines().filter(is_name);
    let names = names.filter_map(|l| l.split_whitespace().next());
    names.filter(|n| *n != "help").map(str::to_owned).collect()
}

#[test]
fn shells_complete_every_command() {
    let mut yamba = Yamba::new();
    let names = commands(&mut yamba);
    assert!(
        names.len() > 20 && names.contains(&"completions".to_owned()),
        "{names:?}"
    );
    for (shell, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef yamba"),
        ("fish", "complete -c yamba"),
    ] {
        let script = yamba
            .run(&format!("completions {shell}"))
            .ok()
            .says(&[mark])
            .out;
        for name in &names {
            assert!(script.contains(name), "{shell}: no {name}");
        }
    }
    yamba
        .run("completions csh")
        .refused(&["csh", "bash, zsh, fish"]);
}

/// What bash itself offers after `yamba comp`.
#[test]
fn bash_offers_what_begins_so() {
    if !has("bash") {
        return;
    }
    let mut yamba = Yamba::new();
    let script = yamba.run("completions bash").ok().out;
    let ask = "COMP_WORDS=(yamba comp) COMP_CWORD=1; _yamba yamba comp yamba; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let answer = Command::new("bash")
        .args(["--norc", "-c", &format!("{script}\n{ask}")])
        .output()
        .unwrap();
    let offered = String::from_utf8(answer.stdout).unwrap();
    let offered: BTreeSet<&str> = offered.lines().collect();
    assert_eq!(offered, BTreeSet::from(["compare", "completions"]));
}

#[test]
fn each_command_has_a_page_of_the_manual() {
    let mut yamba = Yamba::new();
    let names = commands(&mut yamba);
    let written = yamba.run("man pages/man1").ok().out;
    assert_eq!(written.lines().count(), names.len() + 1);
    let page =
        |name: &str| fs::read_to_string(yamba.folder.path().join("pages/man1").join(name)).unwrap();
    for name in &names {
        let text = page(&format!("yamba-{name}.1"));
        for part in [
            ".TH",
            ".SH NAME",
            ".SH SYNOPSIS",
            ".SH OPTIONS",
            ".SH EXAMPLES\n.nf\n",
        ] {
            assert!(text.contains(part), "{name}: no {part}");
        }
    }
    let whole = page("yamba.1");
    for part in [
        ".SH SUBCOMMANDS",
        ".SH ENVIRONMENT\n",
        ".SH \"EXIT STATUS\"\n",
        "yamba\\-run(1)",
    ] {
        assert!(whole.contains(part), "no {part} in {whole}");
    }
    let pages = fs::read_dir(yamba.folder.path().join("pages/man1"))
        .unwrap()
        .flatten();
    for page in pages {
        let text = fs::read_to_string(page.path()).unwrap();
        let macros = [
            "TH", "SH", "TP", "nf", "fi", "br", "RS", "RE", "ie", "el", "IP", "PP",
        ];
        for line in text.lines().filter(|l| l.starts_with(['.', '\''])) {
            let word = line[1..].split_whitespace().next().unwrap_or_default();
            assert!(macros.contains(&word), "{}: {line}", page.path().display());
        }
    }
    yamba.run("man /proc/no").refused(&["/proc/no", "help:"]);
}

/// What they show is the same on a terminal of no colours and in a pipe: no control character in any help.
#[test]
fn help_of_every_command() {
    let mut yamba = Yamba::new();
    for name in commands(&mut yamba) {
        let help = yamba
            .run(&format!("{name} --help"))
            .ok()
            .says(&["Usage:", "Examples:"])
            .out;
        assert!(!help.contains('\u{1b}'), "{name}");
    }
}
