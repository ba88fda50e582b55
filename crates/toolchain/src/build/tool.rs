//! Finds programs, and starts them.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use yamba_machine::locale::plain;

/// A program and its fixed arguments.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<String>,
    /// Whether it starts without the environment variables that name header folders.
    pub(super) ignores_header_variables: bool,
}

/// Environment variables that name header folders for g++ and clang++.
pub(super) const HEADER_VARIABLES: [&str; 5] =
    ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "OBJCPLUS_INCLUDE_PATH"];

impl Tool {
    /// The program that the first word names, with the other words as arguments.
    pub(super) fn find(words: &[String]) -> Option<Tool> {
        let (program, arguments) = words.split_first()?;
        Some(Tool::new(in_path(program)?, arguments))
    }

    /// The program of a command line such as `ccache g++ -m32`. Its path may have spaces.
    pub(super) fn find_command(command: &str) -> Option<Tool> {
        let command = command.trim();
        let ends = command.match_indices(char::is_whitespace).map(|(end, _)| end);
        let mut ends = ends.chain([command.len()]);
        ends.find_map(|end| {
            let (program, arguments) = command.split_at(end);
            let is_program = !program.contains(char::is_whitespace) || program.contains('/');
            let path = is_program.then(|| in_path(program))??;
            let arguments: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
            Some(Tool::new(path, &arguments))
        })
    }

    fn new(path: PathBuf, arguments: &[String]) -> Tool {
        Tool { path, arguments: arguments.to_vec(), ignores_header_variables: false }
    }

    /// A command of this program, whose messages are English.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        plain(&mut command);
        command.args(&self.arguments);
        if self.ignores_header_variables {
            for name in HEADER_VARIABLES {
                command.env_remove(name);
            }
        }
        command
    }

    /// The arguments without the leading names of programs or subcommands, as in `ccache g++` and
    /// `zig c++`.
    pub(super) fn options(&self) -> impl Iterator<Item = &String> {
        let is_name = |word: &&String| !word.starts_with(['-', '@']) && !word.contains('/');
        self.arguments.iter().skip_while(is_name)
    }

    /// The output of `--version`, queried once per process. A wrapper script may start another
    /// compiler later, so the result is not cached on disk.
    pub(super) fn version(&self) -> io::Result<String> {
        static KNOWN: Mutex<BTreeMap<(PathBuf, Vec<String>), String>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = (self.path.clone(), self.arguments.clone());
        if let Some(version) = known.get(&asked) {
            return Ok(version.clone());
        }
        let mut command = self.command();
        let output = command.arg("--version").output()?;
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        known.insert(asked, version.clone());
        Ok(version)
    }
}

/// The first line of a version that is not empty.
pub(super) fn first_line(version: &str) -> &str {
    let text = version.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or("unknown version")
}

/// Resolves a program name: a path as it is, or a name through `PATH`. As a shell does, it ignores
/// files in `PATH` that are not executable.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        return path.is_file().then_some(path);
    }
    let folders = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn first_line_of_a_version_is_not_empty() {
        for (version, line) in [
            (
                "g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\r\nCopyright\n",
                "g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0",
            ),
            (
                "\u{feff}\n c++ (conda-forge gcc 13.2.0-7) 13.2.0\n",
                "c++ (conda-forge gcc 13.2.0-7) 13.2.0",
            ),
            ("", "unknown version"),
        ] {
            assert_eq!(first_line(version), line);
        }
    }

    #[test]
    fn command_is_a_program_whose_path_may_have_spaces_and_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let spaced = folder.path().join("my tools");
        fs::create_dir(&spaced).unwrap();
        let program = spaced.join("a b++");
        fs::write(&program, "").unwrap();
        let found = |command: &str| {
            let tool = Tool::find_command(command)?;
            Some((tool.path.to_str()?.to_owned(), tool.arguments.join("|")))
        };
        let path = program.to_str().unwrap().to_owned();
        assert_eq!(found(&path), Some((path.clone(), String::new())));
        assert_eq!(found(&format!(" {path}  c++ -m32 ")), Some((path, "c++|-m32".to_owned())));
        let shell = found("sh c++").unwrap();
        assert!(shell.0.ends_with("/sh") && shell.1 == "c++", "{shell:?}");
        for missing in ["", " ", "no-such-program c++", "no such/program"] {
            assert_eq!(found(missing), None, "{missing}");
        }
    }

    #[test]
    fn options_follow_the_names_of_programs() {
        for (arguments, options) in [
            ("g++ -I inc", "-I inc"),
            ("c++", ""),
            ("-B dir x", "-B dir x"),
            ("inc/spec.o", "inc/spec.o"),
            ("@file", "@file"),
        ] {
            let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            let tool = Tool::new(PathBuf::from("ccache"), &words);
            let found: Vec<&str> = tool.options().map(String::as_str).collect();
            assert_eq!(found.join(" "), options);
        }
    }
}
