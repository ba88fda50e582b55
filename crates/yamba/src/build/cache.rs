//! Programs that were built, by the hash of all that they depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use super::BuildError;
use super::toolchain::Tool;
use crate::{abandoned, embedded, unused};

/// What a program depends on.
pub(super) struct Key(blake3::Hasher);

impl Key {
    pub(super) fn new() -> Key {
        Key(blake3::Hasher::new())
    }

    /// Length first: no two sequences of texts run into the same bytes.
    pub(super) fn add(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// A tool that was replaced by another version has another size or date.
    pub(super) fn add_tool(&mut self, tool: &Tool) -> io::Result<()> {
        let real = fs::canonicalize(&tool.path)?;
        let about = fs::metadata(&real)?;
        let changed = about
            .modified()?
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos());
        self.bytes(real.as_os_str().as_encoded_bytes());
        self.add(&format!(
            "{} {changed} {}",
            about.len(),
            tool.arguments.join(" ")
        ));
        Ok(())
    }

    /// Every file of a folder, by name and content, as they were when they were first asked for.
    pub(super) fn add_folder(&mut self, folder: &Path) -> io::Result<()> {
        static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(folder) {
            let mut key = Key::new();
            key.read_folder(folder)?;
            known.insert(folder.to_path_buf(), key.finish());
        }
        self.add(&known[folder]);
        Ok(())
    }

    fn read_folder(&mut self, folder: &Path) -> io::Result<()> {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder)?
            .map(|e| e.map(|e| e.path()))
            .collect::<Result<_, _>>()?;
        entries.sort();
        for path in entries {
            if path.is_dir() {
                self.read_folder(&path)?;
            } else {
                self.bytes(path.as_os_str().as_encoded_bytes());
                self.bytes(&fs::read(&path)?);
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> String {
        self.0.finalize().to_hex()[..DIGITS].to_owned()
    }
}

/// In the name of a folder.
const DIGITS: usize = 32;

/// What is being made.
static MAKING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static MADE: Condvar = Condvar::new();

/// Nobody else in this process makes the same meanwhile.
pub(super) struct Alone(String);

/// Waits until nobody makes what has this key.
pub(super) fn alone(key: &str) -> Alone {
    let making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = MADE.wait_while(making, |m| m.contains(key));
    let mut making = wait.unwrap_or_else(PoisonError::into_inner);
    making.insert(key.to_owned());
    Alone(key.to_owned())
}

impl Drop for Alone {
    fn drop(&mut self) {
        let mut making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        making.remove(&self.0);
        MADE.notify_all();
    }
}

/// How the names of folders begin in which something is being built.
const STAGING: &str = ".building-";

/// The folder of built programs.
pub(super) struct Cache {
    root: PathBuf,
}

impl Cache {
    pub(super) fn open() -> io::Result<Cache> {
        let root = embedded::cache_root()?.join("programs");
        fs::create_dir_all(&root)?;
        Ok(Cache { root })
    }

    /// The folder of an earlier build.
    pub(super) fn find(&self, key: &str, name: &str) -> Option<PathBuf> {
        let folder = self.root.join(key);
        let is_there = unused::take(&folder) && folder.join(name).is_file();
        is_there.then_some(folder)
    }

    /// Builds in a folder of its own and renames that: whoever finds a folder finds it whole, and of two builds at
    /// once one is kept. Folders of builds that were killed are removed first, and what nobody uses any more.
    pub(super) fn fill(
        &self,
        key: &str,
        name: &str,
        build: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<PathBuf, BuildError> {
        abandoned::sweep(&self.root, STAGING);
        let aside = self.root.join(STAGING);
        unused::sweep(&self.root, |name| unused::is_digest(name, DIGITS), &aside);
        let staging = tempfile::Builder::new()
            .prefix(STAGING)
            .tempdir_in(&self.root)?;
        let _lock = abandoned::hold(staging.path());
        build(staging.path())?;
        let folder = self.root.join(key);
        match fs::rename(staging.path(), &folder) {
            Ok(()) => {
                // Renamed: there is nothing left to remove.
                let _ = staging.keep();
            }
            Err(e) if self.find(key, name).is_none() => return Err(e.into()),
            Err(_) => {}
        }
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn what_a_killed_build_left_is_removed_by_the_next() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().to_owned();
        let staging = |name: &str| {
            let folder = root.join(format!("{STAGING}{name}"));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("ccXXXXXX.s"), "half").unwrap();
            let then = SystemTime::now() - Duration::from_secs(60);
            File::open(&folder).unwrap().set_modified(then).unwrap();
            folder
        };
        let (dead, living) = (staging("dead"), staging("living"));
        let _lock = abandoned::hold(&living);
        let cache = Cache { root: root.clone() };
        let built = cache.fill("key", "program", |folder| {
            Ok(fs::write(folder.join("program"), "whole")?)
        });
        assert_eq!(built.unwrap(), root.join("key"));
        assert!(!dead.exists() && living.exists());
        assert!(cache.find("key", "program").is_some());
    }
}
