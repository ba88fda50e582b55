//! The locale of programs whose output Yamba reads. Translated messages and decimal commas would be
//! read wrongly.
//!
//! A program of the user, such as a traced application, keeps the user's locale. If Yamba reads
//! numbers that its run-time system writes, only the category of numbers changes.

use std::ffi::OsString;
use std::process::Command;

/// Sets all categories.
const ALL: &str = "LC_ALL";
/// The category of numbers, which decides on the decimal point.
const NUMERIC: &str = "LC_NUMERIC";
/// The name of the locale that every system has, with English messages and decimal points.
const PLAIN: &str = "C";
/// The other categories of POSIX and of the GNU C library.
const OTHERS: [&str; 11] = [
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_TIME",
    "LC_ADDRESS",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_NAME",
    "LC_PAPER",
    "LC_TELEPHONE",
];

/// Starts a tool in the locale `C`: its messages are English, and its numbers have a decimal point.
pub fn plain(command: &mut Command) -> &mut Command {
    command.env(ALL, PLAIN)
}

/// Starts a program with decimal points in the C library's numbers, and otherwise in the user's
/// locale. A Java virtual machine needs the rest of the locale to find files with other letters
/// than those of ASCII, and shows its language to the application.
pub fn decimal_points(command: &mut Command) -> &mut Command {
    for (name, value) in numeric_only(std::env::var_os(ALL)) {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// The variables to set or to remove. `LC_ALL` would precede `LC_NUMERIC`, so the other categories
/// get its value.
fn numeric_only(all: Option<OsString>) -> Vec<(&'static str, Option<OsString>)> {
    let all = all.filter(|value| !value.is_empty());
    let others = all.iter().flat_map(|value| {
        let copied = |name: &&'static str| (*name, Some(value.clone()));
        OTHERS.iter().map(copied)
    });
    let fixed = [(ALL, None), (NUMERIC, Some(PLAIN.into()))];
    others.chain(fixed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn category_of_numbers_changes_alone() {
        assert_eq!(numeric_only(None), [("LC_ALL", None), ("LC_NUMERIC", Some("C".into()))]);
        assert_eq!(numeric_only(Some("".into())), numeric_only(None));
        let found = numeric_only(Some("nb_NO.UTF-8".into()));
        assert_eq!(found.len(), 13);
        for (name, value) in found {
            let expected = match name {
                "LC_ALL" => None,
                "LC_NUMERIC" => Some("C".into()),
                _ => Some("nb_NO.UTF-8".into()),
            };
            assert_eq!(value, expected, "{name}");
        }
    }

    #[test]
    fn tools_have_the_plain_locale() {
        let mut command = Command::new("true");
        plain(&mut command);
        let set: Vec<_> = command.get_envs().collect();
        assert_eq!(set, [("LC_ALL".as_ref(), Some("C".as_ref()))]);
    }
}
