//! Completions, manual pages and help texts cover exactly the existing commands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use yamba_record::{Machine, Run};
use yamba_store::{Location, Store};

use crate::support::{Answer, Yamba, needs};

/// The commands that `yamba --help` lists in all groups.
pub fn commands(yamba: &mut Yamba) -> Vec<String> {
    let help = yamba.run("--help").ok().out;
    let (_, listed) = help.split_once("\n\nMeasure:\n").unwrap();
    let (listed, _) = listed.split_once("\nOptions:\n").unwrap();
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = listed.lines().filter(is_name);
    let names = names.filter_map(|l| l.split_whitespace().next());
    names.filter(|n| *n != "help").map(str::to_owned).collect()
}

#[test]
fn each_shell_has_a_script_that_asks_the_program() {
    let mut yamba = Yamba::new();
    for (shell, mark) in
        [("bash", "complete -o"), ("zsh", "#compdef yamba"), ("fish", "complete --keep-order")]
    {
        let script = yamba.run(&format!("completions {shell}")).ok();
        script.says(&[mark, "YAMBA_COMPLETE"]);
    }
    yamba.run("completions csh").refused(&["csh", "bash, zsh, fish"]);
}

/// How to make a shell read its script and print its completions.
struct Shell {
    name: &'static str,
    /// The name of the script file.
    file: &'static str,
    /// The arguments that read the file in a folder (the next argument) and print the completions
    /// of a line (the last argument).
    ask: &'static [&'static str],
}

const BASH: Shell = Shell {
    name: "bash",
    file: "yamba",
    ask: &[
        "--norc",
        "-c",
        r#"source "$1/yamba"; COMP_WORDS=($2); [[ $2 != *' ' ]] || COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _clap_complete_yamba yamba "${COMP_WORDS[COMP_CWORD]}" x; printf '%s\n' "${COMPREPLY[@]}""#,
        "bash",
    ],
};

/// As at the first press of Tab: the file is found by its name, and its function may have to be
/// loaded. Without a line editor, the completions are printed.
const ZSH: Shell = Shell {
    name: "zsh",
    file: "_yamba",
    ask: &[
        "-f",
        "-c",
        r#"fpath=($1 $fpath); autoload -Uz compinit; compinit -u -d $1/dump
        _describe() { print -rl -- ${(P)3} }
        words=(${=2}); [[ $2 != *' ' ]] || words+=('')
        CURRENT=$#words
        $_comps[yamba]"#,
        "zsh",
    ],
};

const FISH: Shell = Shell {
    name: "fish",
    file: "yamba.fish",
    ask: &["--no-config", "-c", "source $argv[1]/yamba.fish; complete -C $argv[2]"],
};

/// The completions of the line's last word, except options, which are always possible.
fn offered(yamba: &Yamba, shell: &Shell, scripts: &Path, line: &str) -> BTreeSet<String> {
    let answer = yamba
        .other(shell.name)
        .args(shell.ask)
        .arg(scripts)
        .arg(line)
        .env("HOME", scripts)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert_eq!(told, "", "{line}");
    let text = String::from_utf8(answer.stdout).unwrap();
    text.lines()
        .filter(|l| !l.is_empty() && !l.starts_with("--"))
        // zsh and fish append a description.
        .filter_map(|l| l.split([':', '\t']).next())
        .map(str::to_owned)
        .collect()
}

/// Lines, and the completions of their last word.
const OFFERED: [(&str, &[&str]); 12] = [
    ("yamba comp", &["compare", "completions"]),
    ("yamba run lat_pagefault_po", &["lat_pagefault_posix"]),
    ("yamba run lat_pipe lat_pagefault_po", &["lat_pagefault_posix"]),
    ("yamba run min", &["mine.yamba"]),
    ("yamba run --only-tag demo", &["demonstration"]),
    ("yamba run --tag demo", &["demonstration"]),
    ("yamba run no_such_name", &[]),
    ("yamba show ", &["01234567", "baseline", "latest"]),
    ("yamba compare latest ba", &["baseline"]),
    ("yamba show 0123", &["0123456789abcdef"]),
    ("yamba tag latest b", &["baseline"]),
    ("yamba study kan", &["kanata"]),
];

fn offers_what_begins_so(shell: &Shell) {
    needs(&[shell.name]);
    let mut yamba = Yamba::new().file("mine.yamba", "yamba mine { void benchmark() {} }");
    let mut run: Run = Run::new(Machine::default());
    run.id = "0123456789abcdef".to_owned();
    run.started_unix_s = Some(1.7e9);
    run.tags = vec!["baseline".to_owned()];
    let file = yamba.folder.path().join("results.sqlite");
    let mut store = Store::open(&Location::File(file)).unwrap();
    store.add(&run).unwrap();
    drop(store);
    let scripts = tempfile::tempdir().unwrap();
    let script = yamba.run(&format!("completions {}", shell.name)).ok().out;
    let path = scripts.path().join(shell.file);
    fs::write(&path, script).unwrap();
    let read = yamba.other(shell.name).arg("-n").arg(path).output();
    Answer::read(read.unwrap()).ok();
    let offered = |line: &str| offered(&yamba, shell, scripts.path(), line);
    for (line, words) in OFFERED {
        let words: BTreeSet<String> = words.iter().map(|w| (*w).to_owned()).collect();
        assert_eq!(offered(line), words, "{}: {line}", shell.name);
    }
    // An unreadable store causes no message.
    fs::write(yamba.folder.path().join("results.sqlite"), "no store").unwrap();
    assert_eq!(offered("yamba show l"), BTreeSet::new());
}

#[test]
fn bash_completes_prefix() {
    offers_what_begins_so(&BASH);
}

#[test]
#[ignore = "needs zsh"]
fn zsh_completes_prefix() {
    offers_what_begins_so(&ZSH);
}

#[test]
#[ignore = "needs fish"]
fn fish_completes_prefix() {
    offers_what_begins_so(&FISH);
}

/// The completions that the program prints for the last of these words, with the embedded suite.
fn completed(yamba: &Yamba, words: &[&str]) -> BTreeSet<String> {
    let mut program = yamba.command(&["--", "yamba"]);
    let cache = yamba.folder.path().join("cache");
    let answer = program
        .args(words)
        .env("YAMBA_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n")
        .env("YAMBA_CACHE", cache)
        .env_remove("YAMBA_HOME")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&answer.stderr), "", "{words:?}");
    let text = String::from_utf8(answer.stdout).unwrap();
    let each = text.lines().filter(|l| !l.starts_with("--"));
    each.map(str::to_owned).collect()
}

/// The files of a folder and their contents, except shared memory files: closing one would release
/// the locks of a store that this process has open.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let is_shared = |p: &Path| p.to_string_lossy().ends_with("-shm");
    let each = paths.map(|p| match is_shared(&p) {
        true => (p, Vec::new()),
        false => (p.clone(), fs::read(p).unwrap()),
    });
    each.collect()
}

#[test]
fn completion_changes_nothing_and_offers_no_shell_syntax() {
    let yamba = Yamba::new()
        .file("a$(b).json", "")
        .file("a;b.json", "")
        .file("-a.json", "")
        .file("plain.json", "");
    let set =
        |words: &[&str]| -> BTreeSet<String> { words.iter().map(|w| (*w).to_owned()).collect() };
    let look = |words: &[&str]| {
        let before = contents(yamba.folder.path());
        let offered = completed(&yamba, words);
        let after = contents(yamba.folder.path());
        assert!(before == after, "{words:?}: {:?}", after.keys());
        offered
    };
    assert_eq!(look(&["show", ""]), set(&["plain.json"]));
    assert_eq!(look(&["import", ""]), set(&[".", "plain.json"]));
    let found = set(&["lat_pagefault_posix"]);
    assert_eq!(look(&["run", "lat_pagefault_po"]), found);

    let path = yamba.folder.path().join("results.sqlite");
    let mut store = Store::open(&Location::File(path)).unwrap();
    for (id, tag) in [("0123456789abcdef", "v1.0+a/b_c-d"), ("$(reboot)", "x;y")] {
        let mut run: Run = Run::new(Machine::default());
        run.id = id.to_owned();
        run.tags = vec![tag.to_owned(), format!("`{tag}`"), "two words".to_owned()];
        store.add(&run).unwrap();
    }
    let all = set(&["01234567", "latest", "v1.0+a/b_c-d"]);
    assert_eq!(look(&["show", ""]), all);
    drop(store);
    assert_eq!(look(&["show", ""]), all);
    assert_eq!(look(&["tag", "latest", ""]), set(&["v1.0+a/b_c-d"]));
}

#[test]
fn each_command_has_a_manual_page() {
    let mut yamba = Yamba::new();
    let names = commands(&mut yamba);
    let written = yamba.run("man pages/man1").ok().out;
    // Some commands have commands of their own.
    let of_commands = [
        "fleet-run",
        "fleet-report",
        "gc-characterise",
        "gc-profile",
        "gc-predict",
        "java-measure",
        "java-list",
        "load-fit",
        "load-run",
        "load-replay",
        "load-serve-origin",
        "study-hardware",
        "study-new",
    ];
    assert_eq!(written.lines().count(), names.len() + 1 + of_commands.len());
    for name in of_commands {
        let line = format!("pages/man1/yamba-{name}.1");
        assert!(written.lines().any(|l| l == line), "{line}");
    }
    let page =
        |name: &str| fs::read_to_string(yamba.folder.path().join("pages/man1").join(name)).unwrap();
    for name in &names {
        let text = page(&format!("yamba-{name}.1"));
        for part in [".TH", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES\n.nf\n"] {
            assert!(text.contains(part), "{name}: no {part}");
        }
    }
    let whole = page("yamba.1");
    for part in [".SH SUBCOMMANDS", ".SH ENVIRONMENT\n", ".SH \"EXIT STATUS\"\n", "yamba\\-run(1)"]
    {
        assert!(whole.contains(part), "no {part} in {whole}");
    }
    let pages = fs::read_dir(yamba.folder.path().join("pages/man1")).unwrap().flatten();
    for page in pages {
        let text = fs::read_to_string(page.path()).unwrap();
        let macros = ["TH", "SH", "TP", "nf", "fi", "br", "RS", "RE", "ie", "el", "IP", "PP"];
        for line in text.lines().filter(|l| l.starts_with(['.', '\''])) {
            let word = line[1..].split_whitespace().next().unwrap_or_default();
            assert!(macros.contains(&word), "{}: {line}", page.path().display());
        }
    }
    yamba.run("man /proc/no").refused(&["/proc/no", "help:"]);
}

/// Formats the pages with groff, which `man` uses, with all warnings enabled.
#[test]
#[ignore = "needs groff"]
fn manual_pages_render_without_warnings() {
    needs(&["groff"]);
    let mut yamba = Yamba::new();
    for page in yamba.run("man pages").ok().out.lines() {
        let mut groff = yamba.other("groff");
        groff.args(["-Kutf8", "-man", "-Tutf8", "-P-cbou", "-ww", page]);
        let answer = Answer::read(groff.output().unwrap()).ok();
        assert_eq!(answer.err, "", "{page}");
        answer.says(&["NAME", "SYNOPSIS", "OPTIONS"]);
    }
}

/// Help is the same on a terminal without colours and in a pipe: no help contains control
/// characters.
#[test]
fn help_of_every_command() {
    let mut yamba = Yamba::new();
    for name in commands(&mut yamba) {
        let help = yamba.run(&format!("{name} --help")).ok().says(&["Usage:", "Examples:"]).out;
        assert!(!help.contains('\u{1b}'), "{name}");
    }
}
