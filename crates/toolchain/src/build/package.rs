//! Asks pkg-config for the compiler's arguments of a package.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use yamba_machine::locale::plain;

use super::error::SettingFault;
use super::tool::in_path;

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
            return arguments(&output.stdout).map_err(|fault| SettingFault {
                text: format!("pkg-config's answer for `{package}` is no list of options: {fault}"),
                help: format!("`{} {question} {package}` prints it", program.display()),
            });
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

/// Options whose value is the next word.
const WITH_VALUE: [&str; 9] =
    ["-I", "-D", "-L", "-l", "-isystem", "-idirafter", "-include", "-framework", "-Xlinker"];

/// The options that pkg-config prints: words that begin with `-`, their values, and files by their
/// paths.
fn arguments(output: &[u8]) -> Result<Vec<String>, String> {
    let text = std::str::from_utf8(output).map_err(|_| "it is not UTF-8".to_owned())?;
    let words = words(text.trim_start_matches('\u{feff}')).ok_or("a quotation has no end")?;
    let mut takes_value = false;
    for word in &words {
        let is_value = std::mem::replace(&mut takes_value, WITH_VALUE.contains(&word.as_str()));
        if !is_value && !word.starts_with(['-', '/']) || word == "-" {
            return Err(format!("`{word}`"));
        }
    }
    match words.last() {
        Some(last) if takes_value => Err(format!("`{last}` has no value")),
        _ => Ok(words),
    }
}

/// Splits the output into words as a shell does. `None` if a quotation has no end.
fn words(output: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = output.chars();
    while let Some(letter) = letters.next() {
        if letter.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        match letter {
            '\\' => word.push(letters.next()?),
            '\'' | '"' => loop {
                match letters.next()? {
                    end if end == letter => break,
                    '\\' if letter == '"' => word.push(letters.next()?),
                    inside => word.push(inside),
                }
            },
            plain => word.push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_except_at_escaped_spaces() {
        let output = "-I/a\\ b  -lz -DX=\\\"y\\\"\n";
        assert_eq!(words(output).unwrap(), ["-I/a b", "-lz", "-DX=\"y\""]);
        let output = "-DA='b c' \"-I/d e\" -DF=\"\\\"g\\\"\"\r\n";
        assert_eq!(words(output).unwrap(), ["-DA=b c", "-I/d e", "-DF=\"g\""]);
        assert_eq!(words("-DA='b"), None);
    }

    #[test]
    fn other_text_than_options_is_refused() {
        let read = |text: &str| arguments(text.as_bytes());
        assert_eq!(read("-isystem /a /b/libc.a\n").unwrap().len(), 3);
        assert!(read("\n").unwrap().is_empty());
        for text in ["Package foo was found", "-lz 5", "-L", "-I/a - b", "1.3.1"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(arguments(b"-I/caf\xe9").is_err());
    }

    /// Each word of an answer is one of the original's, or belongs to the changed place.
    #[test]
    fn changed_answer_keeps_the_other_options() {
        let text = "-I/usr/include/libpng16 -DPNG=16 -I/my\\ lib -L/opt/lib -lpng16 -lz\n";
        let form = yamba_mutants::Form {
            separator: " ",
            fields: &["-pthread", "1.6.43", "/usr/lib/libm.a"],
        };
        let whole = arguments(text.as_bytes()).unwrap();
        for mutant in yamba_mutants::text(text, form, 52, 10_000) {
            let Ok(read) = arguments(mutant.text.as_bytes()) else {
                continue;
            };
            if mutant.change.keeps_figures() {
                assert_eq!(read, whole, "{mutant:?}");
            }
            let plain = words(&mutant.text).unwrap();
            let in_text = |word: &String| plain.contains(word) || mutant.change.keeps_figures();
            assert!(read.iter().all(in_text), "{mutant:?}");
            assert_eq!(read.len(), plain.len(), "{mutant:?}");
            assert!(!read.iter().any(|word| word == "1.6.43"), "{mutant:?}");
        }
    }

    #[test]
    fn unknown_package_is_named_with_the_last_line() {
        let fault = unknown("foo", "Perhaps you should\nPackage 'foo' not found\n");
        assert!(fault.text.contains("`foo`: Package 'foo' not found"));
        assert!(fault.help.contains("foo.pc"));
    }
}
