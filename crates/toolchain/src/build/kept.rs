//! Included files of an earlier run, laid out so that the same C++ includes them again.
//!
//! Each file lies below one folder at its former path: `/home/me/lib.h` at `FOLDER/home/me/lib.h`. So `#include "../other.h"` finds what it found then.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::cache::Cache;
use super::key::Key;

/// Makes `__FILE__` what it was.
pub(super) const PREFIX_MAP: &str = "-fmacro-prefix-map=";

/// The file that shows that a folder has all its files.
const MARK: &str = "includes";

/// Texts by their former paths, and the folders that were searched for them.
#[derive(Clone, Debug, Default)]
pub struct KeptIncludes {
    texts: BTreeMap<PathBuf, String>,
    folders: Vec<PathBuf>,
}

impl KeptIncludes {
    /// Adds a file.
    ///
    /// # Errors
    /// If another text has this path already, or a file of this path could lie outside the folder: the sentence says so.
    pub fn add(&mut self, path: &str, text: &str) -> Result<(), String> {
        let below = below_root(path)?;
        let known = self.texts.entry(below).or_insert_with(|| text.to_owned());
        if known == text {
            return Ok(());
        }
        Err(format!("the run kept two versions of {path}"))
    }

    /// Adds a folder that was searched, after those that were added before.
    ///
    /// # Errors
    /// If the path could lead outside the folder: the sentence says so.
    pub fn search(&mut self, folder: &str) -> Result<(), String> {
        let below = below_root(folder)?;
        if !self.folders.contains(&below) {
            self.folders.push(below);
        }
        Ok(())
    }

    /// Writes the files to a folder of the cache that is named by their content.
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
        Ok(LaidOut {
            folders: below.collect(),
            root,
        })
    }
}

/// Kept files on the disk.
pub(super) struct LaidOut {
    /// The folder below which each file lies at its former path.
    pub(super) root: PathBuf,
    /// The folders to search, in order. They lie below `root`.
    pub(super) folders: Vec<PathBuf>,
}

impl LaidOut {
    /// Returns compiler options that include the files under their former names.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let folders = self.folders.iter();
        let mut words: Vec<OsString> = folders
            .flat_map(|folder| ["-I".into(), folder.clone().into_os_string()])
            .collect();
        words.push(format!("{PREFIX_MAP}{}=", self.root.display()).into());
        words
    }
}

/// The folder of the files, beside the mark.
const FILES: &str = "files";

/// A path from the root on, as one that cannot lead out of the folder that it is joined to.
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
    fn paths_that_lead_out_are_refused() {
        let mut kept = KeptIncludes::default();
        for path in ["relative/a.h", "/a/../../b.h", "../a.h", ""] {
            assert!(kept.add(path, "x").is_err(), "{path}");
            assert!(kept.search(path).is_err(), "{path}");
        }
        kept.add("/a/b.h", "x").unwrap();
        kept.add("/a/b.h", "x").unwrap();
        assert!(kept.add("/a/b.h", "y").is_err());
    }
}
