//! The cache of built programs and their inputs.
//!
//! Before compilation only part of the inputs is known: the generated C++, the command, the
//! compiler, the environment. Their hash names a folder of manifests. Each manifest lists the files
//! that one build read, and names the folder of its product. A product is reused only if every
//! listed file is unchanged. A folder with a product never changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

use yamba_machine::stale_dirs;

use super::error::BuildError;
use super::key::{DIGITS, Key};
use super::manifest::Manifest;
use super::read_file::{Stamp, Stamps};
use super::user_flags;
use crate::{cache_eviction, embedded};

/// Keys of the products that this process is building now.
static MAKING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static MADE: Condvar = Condvar::new();

/// Guard for one key: no other thread of this process builds the same product while it exists.
pub(super) struct Alone(String);

/// Waits until no other thread builds the product with this key, then claims the key.
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

/// Prefix of the names of folders in which a build runs.
const STAGING: &str = ".building-";

/// The folder of built programs.
pub(super) struct Cache {
    root: PathBuf,
    stamps: Stamps,
    /// Folders of files that all programs share, by first key. Each is validated once.
    shared: Mutex<BTreeMap<String, PathBuf>>,
}

impl Cache {
    pub(super) fn open() -> io::Result<Cache> {
        let root = embedded::cache_root()?.join("programs");
        fs::create_dir_all(&root)?;
        Ok(Cache { root, stamps: Stamps::default(), shared: Mutex::default() })
    }

    /// The folder that holds all products.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Finds a previous build whose input files are unchanged.
    pub(super) fn find(&self, first: &str, name: &str) -> Option<Made> {
        self.find_made(first, name, |path, key, manifest| {
            let absent = || {
                let text = fs::read(path.with_file_name(format!("{key}{ABSENT}"))).ok()?;
                serde_json::from_slice(&text).ok()
            };
            manifest.is_current(&self.stamps, absent)
        })
    }

    /// Finds a program that was linked with files of the user by its identity, also if one of its
    /// input files has changed since.
    pub(super) fn find_identity(&self, identity: &str, name: &str) -> Option<Made> {
        if !cache_eviction::is_digest(identity, DIGITS) {
            return None;
        }
        self.find_made(identity, name, |_, _, manifest| manifest.product.identity == identity)
    }

    /// Finds the first build with a manifest in the folder `manifests` that `is_wanted`, by its
    /// path, key and content.
    fn find_made(
        &self,
        manifests: &str,
        name: &str,
        is_wanted: impl Fn(&Path, &str, &Manifest) -> bool,
    ) -> Option<Made> {
        let manifests = self.root.join(manifests);
        if !cache_eviction::take(&manifests) {
            return None;
        }
        let entries = fs::read_dir(manifests).ok()?.flatten();
        entries.map(|entry| entry.path()).find_map(|path| {
            let key = path.file_name()?.to_str()?.strip_suffix(MANIFEST)?;
            let manifest: Manifest = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            let folder = self.find_folder(key, name)?;
            is_wanted(&path, key, &manifest).then_some(Made { folder, manifest })
        })
    }

    /// Like [`Cache::find`], for files that all programs share. The result is validated once and
    /// remembered.
    pub(super) fn find_shared(&self, first: &str, name: &str) -> Option<PathBuf> {
        let known = || self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = known().get(first) {
            return Some(folder.clone());
        }
        let folder = self.find(first, name)?.folder;
        known().insert(first.to_owned(), folder.clone());
        Some(folder)
    }

    /// Returns the folder with this key if it holds `name`.
    pub(super) fn find_folder(&self, key: &str, name: &str) -> Option<PathBuf> {
        let folder = self.root.join(key);
        let is_there = cache_eviction::take(&folder) && folder.join(name).is_file();
        is_there.then_some(folder)
    }

    /// Builds the program and records the files that it read. If a file changes during the build,
    /// builds once more. If a file changes during that build too, the program is not cached.
    pub(super) fn fill(
        &self,
        first: &str,
        name: &str,
        mut build: impl FnMut(&Path) -> Result<Manifest, BuildError>,
    ) -> Result<Made, BuildError> {
        let mut staging = self.staging()?;
        let mut manifest = build(staging.path())?;
        if manifest.may_have_changed_since(&staging.made) {
            staging = self.staging()?;
            manifest = build(staging.path())?;
        }
        let is_usable = manifest.is_complete && !manifest.may_have_changed_since(&staging.made);
        let mut key = Key::new();
        key.add(first);
        key.add(&manifest.product.identity);
        manifest.hashes().into_iter().for_each(|hash| key.add(hash));
        let key = key.finish();
        let folder = self.put(staging, &key, name)?;
        if is_usable {
            self.note(first, &key, &manifest)?;
            if user_flags::links_files(&manifest.product.inputs) {
                self.note(&manifest.product.identity, &key, &manifest)?;
            }
        }
        Ok(Made { folder, manifest })
    }

    /// Creates a folder whose key is a hash of its content.
    pub(super) fn fill_folder(
        &self,
        key: &str,
        name: &str,
        make: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<PathBuf> {
        if let Some(folder) = self.find_folder(key, name) {
            return Ok(folder);
        }
        let staging = self.staging()?;
        make(staging.path())?;
        self.put(staging, key, name)
    }

    /// Creates a new folder to build in. First removes folders of killed builds and evicts unused
    /// products.
    fn staging(&self) -> io::Result<Staging> {
        stale_dirs::sweep(&self.root, STAGING);
        let aside = self.root.join(STAGING);
        cache_eviction::sweep(&self.root, |name| cache_eviction::is_digest(name, DIGITS), &aside);
        let folder = tempfile::Builder::new().prefix(STAGING).tempdir_in(&self.root)?;
        Ok(Staging {
            lock: stale_dirs::lock(folder.path()),
            made: Stamp::read(folder.path())?,
            folder,
        })
    }

    /// Renames the finished build folder, so other processes see all of it or nothing. If two
    /// builds finish at once, the first is kept.
    fn put(&self, staging: Staging, key: &str, name: &str) -> io::Result<PathBuf> {
        let folder = self.root.join(key);
        match fs::rename(staging.path(), &folder) {
            Ok(()) => {
                // After the rename there is no temporary folder to remove.
                let _ = staging.folder.keep();
            }
            Err(e) if self.find_folder(key, name).is_none() => return Err(e),
            Err(_) => {}
        }
        drop(staging.lock);
        Ok(folder)
    }

    fn note(&self, first: &str, key: &str, manifest: &Manifest) -> io::Result<()> {
        // A path that is not UTF-8 cannot be listed. Without the manifest the product is not
        // reused.
        let (Ok(text), Ok(absent)) =
            (serde_json::to_vec(manifest), serde_json::to_vec(&manifest.absent))
        else {
            return Ok(());
        };
        let folder = self.root.join(first);
        fs::create_dir_all(&folder)?;
        forget_oldest(&folder);
        // The manifest is written last, so that a process that finds it also finds the other file.
        for (end, text) in [(ABSENT, absent), (MANIFEST, text)] {
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(&text)?;
            file.persist(folder.join(format!("{key}{end}"))).map_err(|e| e.error)?;
        }
        Ok(())
    }
}

/// Removes the oldest manifests to leave room for one more. If a header changes often, only its
/// latest versions are useful.
fn forget_oldest(manifests: &Path) {
    let entries = fs::read_dir(manifests).into_iter().flatten().flatten();
    let dated = entries.filter_map(|e| Some((e.metadata().ok()?.modified().ok()?, e.path())));
    let mut dated: Vec<_> = dated.collect();
    dated.sort();
    let surplus = (dated.len() + 2).saturating_sub(MOST_MANIFESTS);
    for (_, path) in dated.into_iter().take(surplus) {
        // Another process may have removed it already.
        let _ = fs::remove_file(path);
    }
}

/// File name suffix of manifests; `ABSENT` is the suffix of their [`Manifest::absent`] lists.
const MANIFEST: &str = ".json";
const ABSENT: &str = ".absent";

/// Maximum number of files in a manifest folder: 16 manifests with two files each.
const MOST_MANIFESTS: usize = 2 * 16;

/// A built folder and the manifest of its inputs.
pub(super) struct Made {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
}

/// A folder in which a build runs.
struct Staging {
    lock: Option<fs::File>,
    /// The time of its creation.
    made: Stamp,
    folder: tempfile::TempDir,
}

impl Staging {
    fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::build::manifest::Product;

    #[test]
    fn next_build_removes_folders_of_killed_build() {
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
        let _lock = stale_dirs::lock(&living);
        let cache =
            Cache { root: root.clone(), stamps: Stamps::default(), shared: Mutex::default() };
        let built = cache.fill("key", "program", |folder| {
            fs::write(folder.join("program"), "whole")?;
            Ok(Manifest::new(Product::default(), true))
        });
        let folder = built.unwrap().folder;
        assert_eq!(folder.parent(), Some(root.as_path()));
        assert!(!dead.exists() && living.exists());
        let found = cache.find("key", "program").unwrap();
        assert_eq!(found.folder, folder);
    }
}
