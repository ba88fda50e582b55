//! Decides how a command is started: directly, or by a shell.

use std::env;
use std::path::{Path, PathBuf};

use super::Shell;
use crate::Failure;

/// The shell for commands that need one.
pub(super) const SHELL: &str = "/bin/sh";

/// Characters that mean something to a shell, apart from quotes.
const SPECIAL: &[char] = &[
    '|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '[', ']', '{', '}', '~', '#', '!', '\n',
];

/// Commands of POSIX shells that are no programs, or change the shell itself.
const BUILT_IN: [&str; 24] = [
    ":", ".", "alias", "break", "cd", "command", "continue", "eval", "exec", "exit", "export",
    "read", "readonly", "return", "set", "shift", "times", "trap", "type", "ulimit", "umask",
    "unalias", "unset", "wait",
];

/// How a command is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The program and its arguments.
    pub words: Vec<String>,
    pub shell: Option<String>,
}

/// How this command is started.
pub(super) fn start(command: &str, shell: &Shell) -> Result<Start, Failure> {
    let start = match shell {
        Shell::Named(shell) => by_shell(shell, command)?,
        Shell::Automatic if needs_shell(command) => by_shell(SHELL, command)?,
        Shell::Automatic | Shell::None => Start { words: split(command)?, shell: None },
    };
    if is_program(&start.words[0]) {
        return Ok(start);
    }
    let program = &start.words[0];
    Err(Failure::new(format!("`{command}`: {program} is not found, or cannot be executed"))
        .help("write the path of a program, or one that PATH finds"))
}

/// The command, started by a shell with its own arguments.
pub(super) fn by_shell(shell: &str, command: &str) -> Result<Start, Failure> {
    let mut words = split(shell)?;
    words.extend(["-c".to_owned(), command.to_owned()]);
    Ok(Start { words, shell: Some(shell.to_owned()) })
}

fn needs_shell(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    has_shell_syntax(command) || BUILT_IN.contains(&first) || first.contains('=')
}

/// Whether a character means something to a shell. Within single quotes none does, within double
/// quotes only those of expansions.
fn has_shell_syntax(command: &str) -> bool {
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if letter == open => quote = None,
            (None | Some('"'), '\\') => {
                letters.next();
            }
            (None, _) if SPECIAL.contains(&letter) => return true,
            (Some('"'), '$' | '`' | '!') => return true,
            _ => {}
        }
    }
    false
}

/// The words of a command without a shell.
pub(super) fn split(command: &str) -> Result<Vec<String>, Failure> {
    match shlex::split(command) {
        Some(words) if !words.is_empty() => Ok(words),
        Some(_) => Err(Failure::new(format!("`{command}`: there is no program"))
            .help("write a command, as 'sleep 0.1', or --shell none")),
        None if command.ends_with('\\') => {
            Err(Failure::new(format!("`{command}`: nothing follows the backslash at its end"))
                .help("write it twice for a backslash, or remove it"))
        }
        None => Err(Failure::new(format!("`{command}`: a quote is not closed"))
            .help("close it, or write a backslash before it")),
    }
}

/// Whether the program exists, at its path or in a folder of `PATH`, and may be executed.
fn is_program(name: &str) -> bool {
    if name.contains('/') { may_execute(name.as_ref()) } else { in_path(name).is_some() }
}

/// The program of this name in a folder of `PATH`.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| may_execute(file))
}

/// Whether the path is a file that this user may execute.
pub(crate) fn may_execute(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::message_of;
    use super::*;

    #[test]
    fn only_commands_with_shell_syntax_get_a_shell() {
        for (command, needs) in [
            ("sleep 0.1", false),
            ("grep -r 'a b' .", false),
            ("ls | wc", true),
            ("echo $HOME", true),
            ("cd /tmp", true),
            ("LANG=C sort", true),
            ("cat *.txt", true),
            ("find . -name '*.h'", false),
            ("echo \"a;b\" \\$x", false),
            ("echo \"$x\"", true),
        ] {
            let start = start(command, &Shell::Automatic).unwrap();
            assert_eq!(start.shell.is_some(), needs, "{command}");
        }
        let quoted = start("sh -c 'exit 3'", &Shell::Automatic).unwrap();
        assert_eq!(quoted.words, ["sh", "-c", "exit 3"]);
        let named = start("true", &Shell::Named("/bin/sh".to_owned())).unwrap();
        assert_eq!(named.words, ["/bin/sh", "-c", "true"]);
        let shell = Shell::Named("sh -o 'nounset'".to_owned());
        let with_arguments = start("echo a b", &shell).unwrap();
        assert_eq!(with_arguments.words, ["sh", "-o", "nounset", "-c", "echo a b"]);
        assert_eq!(with_arguments.shell.as_deref(), Some("sh -o 'nounset'"));
    }

    /// The words of random commands that are started directly, by the shell itself.
    #[test]
    fn words_are_those_of_the_shell() {
        const PIECES: [&str; 16] = [
            "a", "b1", " ", "  ", "'", "\"", "\\", "\t", "=", "-", "$", "%s", "é", ",", "\\ ",
            "\"x y\"",
        ];
        let mut random = fastrand::Rng::with_seed(1);
        let mut direct: Vec<(String, Vec<String>)> = Vec::new();
        while direct.len() < 1000 {
            let length = random.usize(1..12);
            let command: String = (0..length).map(|_| PIECES[random.usize(..16)]).collect();
            let words = split(&command).ok().filter(|_| !needs_shell(&command));
            direct.extend(words.map(|words| (command, words)));
        }
        let script: String = direct
            .iter()
            .map(|(command, _)| format!("printf '%s\\0' {command}; printf '\\001'\n"))
            .collect();
        let by_shell =
            std::process::Command::new("/bin/sh").args(["-c", &script]).output().unwrap();
        let by_shell = String::from_utf8(by_shell.stdout).unwrap();
        for ((command, words), expected) in direct.iter().zip(by_shell.split('\u{1}')) {
            let words: String = words.iter().map(|word| format!("{word}\0")).collect();
            assert_eq!(words, expected, "{command}");
        }
        assert_eq!(by_shell.matches('\u{1}').count(), direct.len());
    }

    #[test]
    fn impossible_commands_are_refused() {
        assert!(start("no_such_program_here 1", &Shell::Automatic).is_err());
        assert!(start("echo 'open", &Shell::None).is_err());
        for shell in ["no_such_shell", "", "sh 'open"] {
            assert!(start("true", &Shell::Named(shell.to_owned())).is_err());
        }
        let message = message_of(start("echo a\\", &Shell::None));
        assert!(message.contains("backslash at its end"), "{message}");
    }
}
