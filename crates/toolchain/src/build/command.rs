//! Commands: their environment, their copies, and their text.

use std::path::Path;
use std::process::Command;

/// A compiler that speaks English, and keeps what it writes on the way in this folder: that is removed in the end, also where both
/// the compiler and this process are killed.
pub(super) fn contained<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    command.env("LC_ALL", "C").env("TMPDIR", folder)
}

/// The same program with the same arguments and environment.
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

/// A command as a person types it.
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
