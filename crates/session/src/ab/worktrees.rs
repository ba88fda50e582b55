//! Builds two revisions of a repository, each in a working tree of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use globset::Glob;
use yamba_harness::{ProgramRunner, ProgramStart, Stop, last_lines};

use super::Words;
use crate::commands::{command_words, may_execute};
use crate::{Failure, temporary_folder};

/// Lines of a failed command's output that are shown.
const SHOWN_LINES: usize = 20;

/// The working trees of two revisions, which are removed at the end.
pub struct Worktrees {
    repository: PathBuf,
    folder: tempfile::TempDir,
}

impl Worktrees {
    /// Makes a working tree of each revision of the repository of the present folder.
    ///
    /// # Errors
    /// If git refuses: there is no repository, or no such revision.
    pub fn new(revisions: &[String; 2]) -> Result<Worktrees, Failure> {
        let here = git(Path::new("."), &["rev-parse", "--show-toplevel"])?;
        let repository = PathBuf::from(here.trim());
        let folder = temporary_folder("yamba-worktrees-")?;
        let trees = Worktrees { repository, folder };
        for (side, revision) in revisions.iter().enumerate() {
            let tree = trees.tree(side).display().to_string();
            let revision = format!("{revision}^{{commit}}");
            let commit = git(&trees.repository, &["rev-parse", "--verify", &revision])?;
            git(&trees.repository, &["worktree", "add", "--detach", &tree, commit.trim()])?;
        }
        Ok(trees)
    }

    /// The working tree of a side: 0 is the base, 1 the head.
    fn tree(&self, side: usize) -> PathBuf {
        self.folder.path().join(["base", "head"][side])
    }

    /// Runs the command of the build in a working tree.
    ///
    /// # Errors
    /// If it fails, or a stop is requested.
    pub fn build(&self, side: usize, command: &str, stop: &Stop) -> Result<(), Failure> {
        let output = self.folder.path().join("output");
        let shell = ["/bin/sh", "-c", "exec 2>&1; eval \"$0\"", command].map(str::to_owned);
        let start = ProgramStart {
            words: shell.into(),
            folder: Some(self.tree(side)),
            output: output.clone(),
            ..ProgramStart::default()
        };
        let (run, _) = ProgramRunner::new(stop, None).run(&start);
        let what = format!("`{command}` in the working tree of {}", ["base", "head"][side]);
        if stop.requested() {
            return Err(Failure::new(format!("{what} was stopped")).help("nothing was measured"));
        }
        if run.end.is_success() {
            return Ok(());
        }
        Err(failure(&what, &run.end.to_string(), &fs::read(output).unwrap_or_default()))
    }

    /// The program of the benchmarks in a working tree, with its arguments. Its path may be a glob
    /// that matches one file that can be executed.
    ///
    /// # Errors
    /// If the glob matches no such file, or several, or the path leads out of the working tree.
    pub fn program(&self, side: usize, text: &str) -> Result<Words, Failure> {
        let mut words = command_words(text, false)?;
        let tree = self.tree(side);
        let is_outside =
            Path::new(&words[0]).is_absolute() || words[0].split('/').any(|p| p == "..");
        if is_outside {
            return Err(Failure::new(format!("--bench {}: it lies outside of the working tree", words[0]))
                .help("name a program that --build makes in the working tree: both sides would be one program"));
        }
        if words[0].contains(['*', '?', '[']) {
            words[0] = matched(&tree, &words[0])?;
        }
        Ok(Words { words, folder: Some(tree) })
    }
}

impl Drop for Worktrees {
    fn drop(&mut self) {
        for side in 0..2 {
            let tree = self.tree(side).display().to_string();
            let _ = git(&self.repository, &["worktree", "remove", "--force", &tree]);
        }
        let _ = git(&self.repository, &["worktree", "prune"]);
    }
}

/// The one file that matches, as a path from the folder. Files of intermediate results that cannot
/// be executed, as `bench-1a2b.d` of Cargo, do not count.
fn matched(folder: &Path, glob: &str) -> Result<String, Failure> {
    let matcher = Glob::new(glob).map_err(|e| {
        Failure::new(format!("--bench {glob}: {e}"))
            .help("write a path, or a glob as 'target/release/deps/sort-*'")
    })?;
    let matcher = matcher.compile_matcher();
    let parent = Path::new(glob).parent().unwrap_or(Path::new(""));
    let entries = fs::read_dir(folder.join(parent)).into_iter().flatten().flatten();
    let found: Vec<PathBuf> = entries
        .filter(|entry| may_execute(&entry.path()))
        .map(|entry| parent.join(entry.file_name()))
        .filter(|path| matcher.is_match(path))
        .collect();
    match &found[..] {
        [one] => Ok(one.display().to_string()),
        [] => Err(Failure::new(format!("--bench {glob}: no program in the working tree matches"))
            .help("name the program that --build makes")),
        several => {
            let names: Vec<String> = several.iter().map(|p| p.display().to_string()).collect();
            Err(Failure::new(format!("--bench {glob} matches {}", names.join(", ")))
                .help("write a glob that matches one"))
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output();
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

/// A command that failed, with the last lines of its output.
fn failure(what: &str, end: &str, output: &[u8]) -> Failure {
    let shown = last_lines(output, SHOWN_LINES).replace('\n', "\n  ");
    Failure::new(format!("{what} failed, {end}:\n  {shown}"))
        .help("run it by itself, and see what is wrong")
}
