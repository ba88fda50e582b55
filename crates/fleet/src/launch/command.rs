//! Runs the programs of an engine, and words for a shell.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use yamba_machine::locale::plain;

use crate::launch::LaunchError;

/// Longest reason, in characters.
const LONGEST: usize = 200;

/// Fewest dashes of a line around advice.
const RULE: usize = 20;

/// The output of a program that succeeded, in the locale `C`. `input` is its standard input.
pub(crate) fn output(command: &mut Command, input: &str) -> Result<String, LaunchError> {
    output_in_own_locale(plain(command), input)
}

/// The output of a program that succeeded, in the user's locale. For a program that hands its
/// environment on to what it starts.
pub(crate) fn output_in_own_locale(
    command: &mut Command,
    input: &str,
) -> Result<String, LaunchError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let missing = |e: &std::io::Error| {
        LaunchError::new(
            format!("{program}: {e}"),
            format!("`{program}` must be installed here and in PATH"),
        )
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(|e| missing(&e))?;
    let given = child.stdin.take().map(|mut pipe| pipe.write_all(input.as_bytes()));
    let ended = child.wait_with_output().map_err(|e| missing(&e))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    if !ended.status.success() || given.is_some_and(|g| g.is_err()) {
        let why = last_line(&said).unwrap_or_else(|| failed(ended.status));
        return Err(LaunchError::new(
            format!("{program}: {why}"),
            format!("run `{program}` by hand to see whether the engine works"),
        ));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

/// The program and options that the variable gives, or the usual ones.
pub(crate) fn words(variable: &str, usual: &str) -> Vec<String> {
    let given = std::env::var(variable).ok();
    let words = given.and_then(|text| shlex::split(&text));
    let words = words.filter(|words| !words.is_empty());
    words.unwrap_or_else(|| vec![usual.to_owned()])
}

/// The command of its program and arguments.
pub(crate) fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// A command line for a shell.
pub(crate) fn shell_line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Whether a text can be the name or the address of a host.
pub(crate) fn is_host_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_part)
}

/// A word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| String::new(), |quoted| quoted.into_owned())
}

/// How a process failed.
pub(crate) fn failed(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => killed(signal),
        (None, code) => exited(code.unwrap_or(-1)),
    }
}

/// A reason in words for an exit status. A shell reports a signal as 128 and more.
pub(crate) fn exited(status: i32) -> String {
    match status {
        129..=192 => killed(status - 128),
        _ => format!("ended with status {status}"),
    }
}

/// A reason in words for a signal.
pub(crate) fn killed(signal: i32) -> String {
    match signal {
        9 => "killed by signal 9 (SIGKILL)".to_owned(),
        15 => "ended by signal 15 (SIGTERM)".to_owned(),
        _ => format!("killed by signal {signal}"),
    }
}

/// The last line of a text with letters in it, shortened. Open MPI puts long advice between two
/// lines of dashes, whose beginning says most: that counts only if there is nothing else.
pub(crate) fn last_line(text: &str) -> Option<String> {
    let is_said = |line: &&str| line.chars().any(char::is_alphabetic);
    let is_rule = |line: &str| line.len() >= RULE && line.chars().all(|c| c == '-');
    let mut is_advice = false;
    let own = text.lines().map(str::trim).filter(|line| {
        is_advice ^= is_rule(line);
        !is_advice
    });
    let line = own.filter(is_said).reduce(|_, last| last);
    let line = line.or_else(|| text.lines().map(str::trim).find(is_said))?;
    Some(line.chars().take(LONGEST).collect())
}

/// The last message in the log of a task.
pub(crate) fn last_message(log: &Path) -> Option<String> {
    last_line(&String::from_utf8_lossy(&fs::read(log).ok()?))
}

/// A reason with the last message of the task.
pub(crate) fn with_message(reason: String, log: &Path) -> String {
    match last_message(log) {
        Some(message) => format!("{reason}: {message}"),
        None => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_program_is_reported_with_its_last_message() {
        let mut shell = Command::new("sh");
        let error =
            output(shell.args(["-c", "echo early >&2; echo no node >&2; exit 3"]), "").unwrap_err();
        assert_eq!(error.message, "sh: no node");
        let error = output(&mut Command::new("/nowhere/sbatch"), "").unwrap_err();
        assert!(error.help.contains("PATH"), "{error:?}");
        assert_eq!(output(&mut Command::new("cat"), "given").unwrap(), "given");
    }

    #[test]
    fn signals_are_named_also_through_a_shell() {
        assert_eq!(exited(137), killed(9));
        assert_eq!(exited(3), "ended with status 3");
        let status = Command::new("sh").args(["-c", "kill -9 $$"]).status();
        assert_eq!(failed(status.unwrap()), killed(9));
    }

    #[test]
    fn last_line_skips_rules_and_empty_lines() {
        let text = "one\n  the reason  \n-----\n\n";
        assert_eq!(last_line(text).as_deref(), Some("the reason"));
        assert_eq!(last_line("---\n"), None);
        let rule = "-".repeat(74);
        let advice =
            format!("{rule}\nmpirun was run as root.\n\nDo that\nat your own risk.\n{rule}\n");
        assert_eq!(last_line(&advice).as_deref(), Some("mpirun was run as root."));
        let said = last_line(&format!("ssh: no such host\n{advice}"));
        assert_eq!(said.as_deref(), Some("ssh: no such host"));
    }
}
