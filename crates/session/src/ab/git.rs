//! Calls of git.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use yamba_harness::excerpt;

use crate::Failure;

/// Lines of a failed command's output that are shown.
const SHOWN_LINES: usize = 20;

/// The output of git in a repository.
///
/// # Errors
/// If git is not found, or refuses.
pub(super) fn git(repository: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(arguments);
    called(&mut command, arguments)
}

/// A text that differs if the files of a commit have other contents in the working tree. The tree
/// needs no record in the repository: a cache may have brought it. `scratch` is a folder for
/// temporary files.
///
/// # Errors
/// If git refuses.
pub(super) fn changes(
    repository: &Path,
    tree: &Path,
    commit: &str,
    scratch: &Path,
) -> Result<String, Failure> {
    let index = scratch.join("index");
    let _ = fs::remove_file(&index);
    let git_of_tree = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(repository).arg("--work-tree").arg(tree).args(arguments);
        called(command.env("GIT_INDEX_FILE", &index), arguments)
    };
    git_of_tree(&["read-tree", commit])?;
    let options = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary"];
    let text = git_of_tree(&[&options[..], &["--ignore-submodules"]].concat())?;
    Ok(blake3::hash(text.as_bytes()).to_hex().to_string())
}

fn called(command: &mut Command, arguments: &[&str]) -> Result<String, Failure> {
    let output = command.output();
    let what = format!("git {}", arguments.join(" "));
    let output = succeeded(&what, output)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn succeeded(what: &str, output: std::io::Result<Output>) -> Result<Output, Failure> {
    let output = output
        .map_err(|e| Failure::new(format!("{what}: {e}")).help("is the program installed?"))?;
    if output.status.success() {
        return Ok(output);
    }
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    Err(failure(what, &output.status.to_string(), &text))
}

/// A command that failed, with an excerpt of its output.
pub(super) fn failure(what: &str, end: &str, output: &[u8]) -> Failure {
    let shown = excerpt(output, SHOWN_LINES).replace('\n', "\n  ");
    Failure::new(format!("{what} failed, {end}:\n  {shown}"))
        .help("run it by itself, and see what is wrong")
}
