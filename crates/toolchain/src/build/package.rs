//! Asks pkg-config for the compiler's arguments of a package.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use yamba_locale::plain;

use super::error::SettingFault;
use super::toolchain::in_path;

/// The variable that names the program.
const VARIABLE: &str = "PKG_CONFIG";

/// The arguments to compile and to link with `package`. `prefix` is that of the target's tools.
pub(super) fn flags(
    prefix: &str,
    package: &str,
) -> Result<(Vec<String>, Vec<String>), SettingFault> {
    let program = program(prefix)?;
    let ask = |question: &str| {
        let mut command = Command::new(&program);
        command.args(["--print-errors", question, package]);
        let output = plain(command.stdin(Stdio::null())).output();
        let output = output.map_err(|e| SettingFault {
            text: format!("{} cannot be started: {e}", program.display()),
            help: format!("{VARIABLE} names another program"),
        })?;
        if output.status.success() {
            return Ok(words(&String::from_utf8_lossy(&output.stdout)));
        }
        Err(unknown(package, &String::from_utf8_lossy(&output.stderr)))
    };
    Ok((ask("--cflags")?, ask("--libs")?))
}

fn program(prefix: &str) -> Result<PathBuf, SettingFault> {
    let named = env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let usual = format!("{prefix}pkg-config");
    let name = named.as_ref().unwrap_or(&usual);
    in_path(name).ok_or_else(|| SettingFault {
        text: format!("{name} is not installed, which finds packages"),
        help: match (&named, prefix) {
            (Some(_), _) => format!("let {VARIABLE} name a program that exists"),
            (None, "") => {
                "install it (Debian: apt install pkg-config), or name the package's library itself with `link`".to_owned()
            }
            (None, _) => format!("install it, or name another with {VARIABLE}"),
        },
    })
}

fn unknown(package: &str, errors: &str) -> SettingFault {
    let mut lines = errors.lines().map(str::trim).filter(|l| !l.is_empty());
    let detail = match lines.next_back() {
        Some(line) => format!(": {line}"),
        None => String::new(),
    };
    SettingFault {
        text: format!("pkg-config cannot use the package `{package}`{detail}"),
        help: format!(
            "install the files for development of `{package}` (Debian: a package whose name ends in -dev), or set PKG_CONFIG_PATH to the folder of {package}.pc"
        ),
    }
}

/// Splits the output into words. A backslash takes away the meaning of the next character.
fn words(output: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut letters = output.chars();
    while let Some(letter) = letters.next() {
        let word = words.last_mut().expect("it begins with one word");
        match letter {
            '\\' => word.extend(letters.next()),
            c if c.is_whitespace() => words.push(String::new()),
            c => word.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_except_at_escaped_spaces() {
        let output = "-I/a\\ b  -lz -DX=\\\"y\\\"\n";
        assert_eq!(words(output), ["-I/a b", "-lz", "-DX=\"y\""]);
    }

    #[test]
    fn unknown_package_is_named_with_the_last_line() {
        let fault = unknown("foo", "Perhaps you should\nPackage 'foo' not found\n");
        assert!(fault.text.contains("`foo`: Package 'foo' not found"));
        assert!(fault.help.contains("foo.pc"));
    }
}
