//! Stored included files of a previous run, written to disk so that the same C++ can include them.
//!
//! Each file is placed at its former path below one folder: `/home/me/lib.h` at
//! `FOLDER/home/me/lib.h`. So `#include "../other.h"` finds the same file as before.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::cache::Cache;
use super::key::Key;

/// The option that restores the former value of `__FILE__`.
pub(super) const PREFIX_MAP: &str = "-fmacro-prefix-map=";

/// A file that marks the folder as complete.
const MARK: &str = "includes";

/// Texts by former path, and the folders that were searched for them.
#[derive(Clone, Debug, Default)]
pub struct SnapshotIncludes {
    texts: BTreeMap<PathBuf, String>,
    folders: Vec<PathBuf>,
}

impl SnapshotIncludes {
    /// Adds a file.
    ///
    /// # Errors
    /// A message, if another text has this path, or if the path could lead outside the folder.
    pub fn add(&mut self, path: &str, text: &str) -> Result<(), String> {
        let below = below_root(path)?;
        let known = self.texts.entry(below).or_insert_with(|| text.to_owned());
        if known == text {
            return Ok(());
        }
        Err(format!("the run kept two versions of {path}"))
    }

    /// Adds a search folder after those already added.
    ///
    /// # Errors
    /// A message, if the path could lead outside the folder.
    pub fn search(&mut self, folder: &str) -> Result<(), String> {
        let below = below_root(folder)?;
        if !self.folders.contains(&below) {
            self.folders.push(below);
        }
        Ok(())
    }

    /// Writes the files to a cache folder that is named by their content.
    pub(super) fn lay_out(&self, cache: &Cache) -> io::Result<LaidOut> {
        let mut key = Key::new();
        key.add(MARK);
        for (path, text) in &self.texts {
            key.bytes(path.as_os_str().as_encoded_bytes());
            key.add(text);
        }
        for folder in &self.folders {
            key.bytes(folder.as_os_str().as_encoded_bytes());
        }
        let folder = cache.fill_folder(&key.finish(), MARK, |staging| {
            let root = staging.join(FILES);
            fs::create_dir(&root)?;
            for folder in &self.folders {
                fs::create_dir_all(root.join(folder))?;
            }
            for (path, text) in &self.texts {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap_or(&root))?;
                fs::write(path, text)?;
            }
            fs::write(staging.join(MARK), "")
        })?;
        let root = folder.join(FILES);
        let below = self.folders.iter().map(|folder| root.join(folder));
        Ok(LaidOut { folders: below.collect(), root })
    }
}

/// Stored included files, written to disk.
pub(super) struct LaidOut {
    /// The folder that holds each file at its former path.
    pub(super) root: PathBuf,
    /// The folders to search, in order. They lie below `root`.
    pub(super) folders: Vec<PathBuf>,
}

impl LaidOut {
    /// Compiler options that include the files under their former names.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let folders = self.folders.iter();
        let mut words: Vec<OsString> =
            folders.flat_map(|folder| ["-I".into(), folder.clone().into_os_string()]).collect();
        words.push(format!("{PREFIX_MAP}{}=", self.root.display()).into());
        words
    }
}

/// The subfolder of the files, beside `MARK`.
const FILES: &str = "files";

/// Makes an absolute path relative to the root. Rejects paths that could leave the folder they are
/// joined to.
fn below_root(path: &str) -> Result<PathBuf, String> {
    let below = Path::new(path).strip_prefix("/").ok();
    let is_plain = |below: &&Path| {
        let mut all = below.components();
        all.all(|c| matches!(c, Component::Normal(_)))
    };
    let below = below.filter(is_plain).map(Path::to_owned);
    below.ok_or_else(|| format!("the path of an included file is not absolute or has `..`: {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_folder_are_rejected() {
        let mut kept = SnapshotIncludes::default();
        for path in ["relative/a.h", "/a/../../b.h", "../a.h", ""] {
            assert!(kept.add(path, "x").is_err(), "{path}");
            assert!(kept.search(path).is_err(), "{path}");
        }
        kept.add("/a/b.h", "x").unwrap();
        kept.add("/a/b.h", "x").unwrap();
        assert!(kept.add("/a/b.h", "y").is_err());
    }
}
