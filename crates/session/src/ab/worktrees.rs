//! Builds two revisions of a repository, each in a working tree of its own.

use std::fs;
use std::path::{Path, PathBuf};

use globset::Glob;
use yamba_compare::history::WORKTREES;
use yamba_harness::{CommandOutput, ProgramRunner, ProgramStart, Stop};

use super::Words;
use super::git::{changes, failure, git};
use crate::commands::{command_words, may_execute};
use crate::{ErrorMessage, Failure, TemporaryFolder, temporary_folder};

/// The names of the trees.
const SIDES: [&str; 2] = ["base", "head"];

fn is_empty_or_gone(folder: &Path) -> bool {
    fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

/// Whether the folder is a working tree beside a repository. A repository of its own has a folder
/// `.git`, and the file `.git` of a submodule names `modules`.
fn is_linked_worktree(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join(".git")).unwrap_or_default();
    text.strip_prefix("gitdir: ").is_some_and(|path| path.contains("/worktrees/"))
}

/// Characters of a glob.
const GLOB: [char; 3] = ['*', '?', '['];

/// The working trees of two revisions.
pub struct Worktrees {
    repository: PathBuf,
    /// For the trees that are not kept, and the output of builds.
    scratch: TemporaryFolder,
    /// The folder in which the trees stay. `None`: they are removed at the end.
    kept: Option<PathBuf>,
    /// The place of the present folder in the repository: build and program run in the same one.
    inside: String,
    sides: [Tree; 2],
}

/// The working tree of a side.
struct Tree {
    commit: String,
    /// Whether its folder was there already, with the build of this commit by this command.
    is_built: bool,
}

impl Worktrees {
    /// Makes a working tree of each revision of the repository of the present folder. Build and
    /// program will run in the same folder of it. In the folder `kept` the trees stay, and one that
    /// has the build of the same commit by the same command is used as it is.
    ///
    /// # Errors
    /// If git refuses: there is no repository, or no such revision.
    pub fn new(
        revisions: &[String; 2],
        build: Option<&str>,
        kept: Option<&Path>,
    ) -> Result<Worktrees, Failure> {
        let here = git(Path::new("."), &["rev-parse", "--show-toplevel"])?;
        let repository = PathBuf::from(here.trim_end_matches('\n'));
        let inside = git(Path::new("."), &["rev-parse", "--show-prefix"])?;
        let inside = inside.trim_end_matches('\n').to_owned();
        let commit = |revision: &String| -> Result<Tree, Failure> {
            let revision = format!("{revision}^{{commit}}");
            let commit = git(&repository, &["rev-parse", "--verify", &revision])?;
            Ok(Tree { commit: commit.trim().to_owned(), is_built: false })
        };
        let sides = [commit(&revisions[0])?, commit(&revisions[1])?];
        let kept = kept.map(std::path::absolute).transpose().map_err(|e| {
            ErrorMessage::from(e).help("--trees names the folder in which the working trees stay")
        })?;
        let scratch = temporary_folder(WORKTREES)?;
        forget_lost(&repository);
        let mut trees = Worktrees { repository, scratch, kept, inside, sides };
        for side in 0..2 {
            trees.make(side, build)?;
        }
        Ok(trees)
    }

    /// Makes the working tree of a side, unless the kept one is built.
    fn make(&mut self, side: usize, build: Option<&str>) -> Result<(), Failure> {
        let tree = self.tree(side);
        let built = fs::read_to_string(self.mark(side)).unwrap_or_default();
        self.sides[side].is_built = tree.is_dir() && built == self.build_of(side, build)?;
        if self.sides[side].is_built {
            return Ok(());
        }
        if self.kept.is_some() {
            self.replace_kept(side)?;
        }
        let (path, commit) = (tree.display().to_string(), &self.sides[side].commit);
        // With `--force`, git replaces its record of a tree at this path whose folder is gone.
        git(&self.repository, &["worktree", "add", "--force", "--detach", &path, commit])?;
        Ok(())
    }

    /// Removes a kept tree, and marks the place as one of Yamba's trees, which is not yet built.
    ///
    /// # Errors
    /// If the folder is not a tree that an earlier call has made.
    fn replace_kept(&self, side: usize) -> Result<(), Failure> {
        let (tree, mark) = (self.tree(side), self.mark(side));
        if !is_empty_or_gone(&tree) {
            let path = tree.display().to_string();
            if !mark.is_file() || !is_linked_worktree(&tree) {
                return Err(Failure::new(format!("--trees: {path} is no working tree of Yamba"))
                    .help("name a folder that is empty, or that an earlier call has made"));
            }
            // The tree may be of another clone.
            let _ = git(&self.repository, &["worktree", "remove", "--force", &path]);
            let _ = fs::remove_dir_all(&tree);
        }
        let written =
            fs::create_dir_all(tree.parent().unwrap_or(&tree)).and_then(|()| fs::write(&mark, ""));
        written.map_err(|e| {
            Failure::new(format!("--trees: {}: {e}", mark.display()))
                .help("name a folder in which files can be written")
        })
    }

    /// The working tree of a side: 0 is the base, 1 the head.
    fn tree(&self, side: usize) -> PathBuf {
        let folder = self.kept.as_deref().unwrap_or(self.scratch.path());
        folder.join(SIDES[side])
    }

    /// The file that marks a kept tree as Yamba's, and says which build it has.
    fn mark(&self, side: usize) -> PathBuf {
        self.tree(side).with_extension("built")
    }

    /// The content of that file: all that decides the build, and the changes of the commit's files
    /// in the tree, since a build may write to them. An edited tree has others.
    ///
    /// # Errors
    /// If git refuses.
    fn build_of(&self, side: usize, command: Option<&str>) -> Result<String, Failure> {
        let Tree { commit, .. } = &self.sides[side];
        let changes = changes(&self.repository, &self.tree(side), commit, self.scratch.path())?;
        Ok(format!("{commit}\n{}\n{}\n{changes}\n", self.inside, command.unwrap_or_default()))
    }

    /// The folder in a working tree in which build and program run.
    ///
    /// # Errors
    /// If the revision does not have it.
    fn folder(&self, side: usize) -> Result<PathBuf, Failure> {
        let folder = self.tree(side).join(&self.inside);
        if folder.is_dir() {
            return Ok(folder);
        }
        let message = format!("the revision of {} has no folder {}", SIDES[side], self.inside);
        Err(Failure::new(message).help("call it in a folder that both revisions have"))
    }

    /// Runs the command of the build in a working tree that is not built.
    ///
    /// # Errors
    /// If it fails, or a stop is requested.
    pub fn build(&self, side: usize, command: &str, stop: &Stop) -> Result<(), Failure> {
        if self.sides[side].is_built {
            return Ok(());
        }
        let output = self.scratch.path().join("output");
        let shell = ["/bin/sh", "-c", "exec 2>&1; eval \"$0\"", command].map(str::to_owned);
        let start = ProgramStart {
            words: shell.into(),
            folder: Some(self.folder(side)?),
            output: CommandOutput::File(output.clone()),
            ..ProgramStart::default()
        };
        let (run, _) = ProgramRunner::new(stop, None).run(&start);
        let what = format!("`{command}` in the working tree of {}", SIDES[side]);
        if stop.requested() {
            return Err(Failure::new(format!("{what} was stopped")).help("nothing was measured"));
        }
        if run.end.is_success() {
            if self.kept.is_some() {
                // Without the mark, the next call builds it again.
                let _ = fs::write(self.mark(side), self.build_of(side, Some(command))?);
            }
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
        let tree = self.folder(side)?;
        if Path::new(&words[0]).is_absolute() || leads_out(&self.inside, &words[0]) {
            return Err(Failure::new(format!("--bench {}: it lies outside of the working tree", words[0]))
                .help("name a program that --build makes in the working tree: both sides would be one program"));
        }
        if words[0].contains(GLOB) {
            words[0] = matched(&tree, &words[0])?;
        }
        if !words[0].contains('/') && tree.join(&words[0]).is_file() {
            // Without a folder it would be searched in `PATH`.
            words[0] = format!("./{}", words[0]);
        }
        Ok(Words { words, folder: Some(tree) })
    }
}

/// Whether a path from the folder `inside` of a tree leads out of the tree.
fn leads_out(inside: &str, path: &str) -> bool {
    let mut depth = 0;
    let parts = inside.split('/').chain(path.split('/'));
    parts.filter(|part| !part.is_empty() && *part != ".").any(|part| {
        depth += if part == ".." { -1 } else { 1 };
        depth < 0
    })
}

/// Removes git's records of the working trees of comparisons that were killed. The folder of
/// another tree may be on a disk that is not mounted now.
fn forget_lost(repository: &Path) {
    let list = git(repository, &["worktree", "list", "--porcelain"]).unwrap_or_default();
    for path in list.lines().filter_map(|line| line.strip_prefix("worktree ")) {
        let name = Path::new(path).parent().and_then(Path::file_name).unwrap_or_default();
        if name.to_string_lossy().starts_with(WORKTREES) && !Path::new(path).exists() {
            let _ = git(repository, &["worktree", "remove", "--force", path]);
        }
    }
}

impl Drop for Worktrees {
    fn drop(&mut self) {
        if self.kept.is_some() {
            return;
        }
        for side in 0..2 {
            let tree = self.tree(side);
            // git removes its record of a tree even if a build has damaged the tree.
            let _ = fs::remove_dir_all(&tree);
            let path = tree.display().to_string();
            let _ = git(&self.repository, &["worktree", "remove", "--force", &path]);
        }
    }
}

/// The one program or jar that matches, as a path from the folder. Files of intermediate results
/// that cannot be executed, as `bench-1a2b.d` of Cargo, do not count.
fn matched(folder: &Path, glob: &str) -> Result<String, Failure> {
    let mut found = expanded(folder, glob)?;
    found.retain(|path| may_execute(&folder.join(path)) || is_jar(&folder.join(path)));
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

fn is_jar(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jar") && path.is_file()
}

/// The paths from the folder that match, sorted. Each part between slashes is a name or a glob.
fn expanded(folder: &Path, glob: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut found = vec![PathBuf::new()];
    for part in glob.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(GLOB) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let refused = |why: &str| {
            Failure::new(format!("--bench {glob}: {why}"))
                .help("write a path, or a glob as 'target/release/deps/sort-*'")
        };
        if part.contains("**") {
            return Err(refused("** is not understood"));
        }
        let matcher = Glob::new(part).map_err(|e| refused(&e.to_string()))?.compile_matcher();
        let names = |path: PathBuf| {
            let entries = fs::read_dir(folder.join(&path)).into_iter().flatten().flatten();
            entries.map(move |entry| (path.clone(), entry.file_name()))
        };
        let all = found.into_iter().flat_map(names);
        found = all
            .filter(|(_, name)| matcher.is_match(name))
            .map(|(path, name)| path.join(name))
            .collect();
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn path_to_a_folder_above_stays_in_the_tree() {
        for (inside, path, is_out) in [
            ("", "target/bench", false),
            ("", "../bench", true),
            ("", "a/../../bench", true),
            ("crates/x/", "../../target/bench-*", false),
            ("crates/x/", "./../../../bench", true),
        ] {
            assert_eq!(leads_out(inside, path), is_out, "{inside} {path}");
        }
    }

    #[test]
    fn each_part_of_a_glob_is_expanded() {
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [
            ("a/x-1/bench-1", 0o755),
            ("a/x-1/bench-1.d", 0o644),
            ("a/y/bench-2", 0o755),
            ("b.jar", 0o644),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
        let found = |glob| matched(folder.path(), glob);
        assert_eq!(found("a/x-*/bench-*").unwrap(), "a/x-1/bench-1");
        assert_eq!(found("*/y/bench-[0-9]").unwrap(), "a/y/bench-2");
        assert_eq!(found("*.jar").unwrap(), "b.jar");
        for (glob, said) in [
            ("*/*/bench-*", "matches a/x-1/bench-1, a/y/bench-2"),
            ("a/bench-*", "no program in the working tree matches"),
            ("a/x-[/bench", "unclosed character class"),
            ("**/bench-2", "** is not understood"),
        ] {
            let Err(Failure::Sentence { message, .. }) = found(glob) else {
                panic!("{glob} is not refused");
            };
            assert!(message.contains(said), "{message}");
        }
    }
}
