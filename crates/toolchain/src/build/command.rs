//! Commands: their environment, copies, and text.

use std::path::Path;
use std::process::Command;

/// Makes a compiler put its temporary files in `folder`. The folder is removed eventually, even if
/// the compiler and this process are killed.
pub(super) fn contained<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    command.env("TMPDIR", folder)
}

/// A command with the same program, arguments and environment.
pub(super) fn copy(command: &Command) -> Command {
    let mut copied = Command::new(command.get_program());
    copied.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => copied.env(name, value),
            None => copied.env_remove(name),
        };
    }
    copied
}

/// Formats a command as a person would type it in a shell.
pub(super) fn show(command: &Command) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=,:@%".contains(c);
    let quote = |s: &std::ffi::OsStr| {
        let text = s.to_string_lossy().into_owned();
        if !text.is_empty() && text.chars().all(plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(quote).collect::<Vec<_>>().join(" ")
}
