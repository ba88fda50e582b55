//! The hash of the inputs that are known before the compiler runs.

use std::process::Command;

use super::command::show;
use super::error::BuildError;
use super::key::Key;
use super::{command_lines::CommandLines, search, toolchain};

/// Starts a hash of the inputs of `command` that are known before it runs.
pub(super) fn command_key(lines: &CommandLines, command: &Command) -> Result<Key, BuildError> {
    let compiler = &lines.toolchain.compiler;
    let mut key = Key::new();
    key.add(env!("CARGO_PKG_VERSION"));
    key.add(&lines.target.to_string());
    key.add(&show(command));
    key.add_tool(compiler)?;
    key.add(&compiler.version()?);
    key.add_folder(&lines.runtime)?;
    let environment = search::environment(compiler.ignores_header_variables);
    for (name, value) in &environment {
        key.add(name);
        key.add(value);
    }
    // Machines with different processors may share a cache.
    if lines.names_native() {
        let cpuinfo = yamba_machine::cpuinfo();
        toolchain::native_processor(&cpuinfo).into_iter().for_each(|line| key.add(line));
    }
    // The working directory matters if a variable or an argument may have a relative path.
    let is_fixed = environment.values().all(|value| is_absolute(value))
        && lines.given_arguments().all(|flag| has_no_path(flag));
    if !is_fixed {
        key.add(&std::env::current_dir()?.to_string_lossy());
    }
    Ok(key)
}

/// Whether every path of a variable's value is absolute. An empty path is the working directory.
fn is_absolute(value: &str) -> bool {
    value.split([':', ';', ' ']).all(|path| path.starts_with('/'))
}

fn has_no_path(flag: &str) -> bool {
    ["-O", "-m", "-std", "-D", "-U"].iter().any(|option| flag.starts_with(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_of_absolute_paths_is_absolute() {
        assert!(is_absolute("/usr/lib") && is_absolute("/opt/a:/opt/b"));
        for value in ["lib", "/opt/a:lib", "/opt/a:", ":/opt/a", "/opt/a;lib", "1700000000"] {
            assert!(!is_absolute(value), "{value}");
        }
    }
}
