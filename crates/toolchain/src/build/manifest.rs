//! The input files and the result of a build, and whether the files are unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use yamba_record::run::BuildInputs;

use super::read_file::{ReadFile, Stamp, Stamps};
use super::tool;

/// Files that would be read instead of others if they existed, by folder.
pub(super) type Names = BTreeMap<PathBuf, BTreeSet<String>>;

/// The stamp of a folder; `None` if it changed within the last `STEP`.
fn settled(folder: &Path) -> Option<Stamp> {
    let about = fs::metadata(folder).ok()?;
    let age = about.modified().ok()?.elapsed().ok()?;
    (age > STEP).then(|| Stamp::from_metadata(&about))
}

/// Longer than the clock granularity of any file system.
const STEP: Duration = Duration::from_secs(3);

/// The input files of one build, and its product.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    files: Vec<ReadFile>,
    /// Folders in which some files are absent, with their stamps. While a stamp is unchanged, no
    /// file has been added. `None` if the folder did not exist or had just changed.
    folders: BTreeMap<PathBuf, Option<Stamp>>,
    /// The files that are absent from `folders`. Stored in a separate file, because the list is
    /// long and rarely needed.
    #[serde(skip)]
    pub(super) absent: Names,
    /// Paths of the programs that the compiler finds through `PATH`.
    tools: BTreeMap<String, PathBuf>,
    /// Whether the manifest lists every file that was read. If not, the product is not reused,
    /// because unlisted files cannot be checked.
    pub(super) is_complete: bool,
    pub(super) product: Product,
}

impl Manifest {
    pub(super) fn new(product: Product, is_complete: bool) -> Manifest {
        Manifest { is_complete, product, ..Manifest::default() }
    }

    pub(super) fn add_file(&mut self, file: ReadFile) {
        self.files.push(file);
    }

    /// Records that `name` is absent from `folder`, if it is.
    pub(super) fn add_absent(&mut self, folder: &Path, name: &str) {
        let path = folder.join(name);
        let name = path.file_name().and_then(|name| name.to_str());
        let (Some(folder), Some(name)) = (path.parent(), name) else {
            return;
        };
        let known = self.folders.entry(folder.to_owned());
        known.or_insert_with(|| settled(folder));
        let names = self.absent.entry(folder.to_owned()).or_default();
        if !names.contains(name) && !path.exists() {
            names.insert(name.to_owned());
        }
    }

    pub(super) fn add_tool(&mut self, name: &str, path: PathBuf) {
        self.tools.insert(name.to_owned(), path);
    }

    /// Whether a file may have changed since `moment`. Then its hash may not match the content that
    /// the build read.
    pub(super) fn may_have_changed_since(&self, moment: &Stamp) -> bool {
        self.files.iter().any(|file| file.stamp.may_follow(moment))
    }

    /// Whether a build now would read the same files with the same content. `absent` loads the
    /// saved [`Manifest::absent`].
    pub(super) fn is_current(
        &self,
        stamps: &Stamps,
        absent: impl FnOnce() -> Option<Names>,
    ) -> bool {
        let is_found =
            |(name, path): (&String, &PathBuf)| tool::in_path(name).as_ref() == Some(path);
        self.files.iter().all(|file| file.is_current(stamps))
            && self.tools.iter().all(is_found)
            && self.has_nothing_new(stamps, absent)
    }

    fn has_nothing_new(&self, stamps: &Stamps, absent: impl FnOnce() -> Option<Names>) -> bool {
        let is_other = |(folder, then): &(&PathBuf, &Option<Stamp>)| {
            let now = stamps.get(folder);
            now.is_some() && now != **then
        };
        let mut changed = self.folders.iter().filter(is_other).peekable();
        if changed.peek().is_none() {
            return true;
        }
        let Some(absent) = absent() else {
            return false;
        };
        changed.all(|(folder, _)| {
            let mut names = absent.get(folder).into_iter().flatten();
            names.all(|name| stamps.get(&folder.join(name)).is_none())
        })
    }

    /// The distinct hashes of all files that were read.
    pub(super) fn hashes(&self) -> BTreeSet<&str> {
        self.files.iter().map(ReadFile::hash).collect()
    }
}

/// The result of a build without its files.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Product {
    /// A hash of all inputs that affect the program's behaviour.
    pub(super) identity: String,
    pub(super) inputs: BuildInputs,
    /// The texts of the included files, by hash.
    pub(super) texts: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_current(manifest: &Manifest) -> bool {
        manifest.is_current(&Stamps::default(), || Some(manifest.absent.clone()))
    }

    fn manifest(path: &Path) -> Manifest {
        let mut made = Manifest::new(Product::default(), true);
        made.add_file(ReadFile::new(path).unwrap());
        made
    }

    #[test]
    fn current_product_is_recognised_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h");
        fs::write(&path, "one").unwrap();
        let made = manifest(&path);
        assert!(is_current(&made));
        let other = folder.path().join("b.h");
        fs::write(&other, "one").unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(is_current(&made));
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "two").unwrap();
        let open = fs::File::options().write(true).open(&path).unwrap();
        open.set_modified(before).unwrap();
        assert!(!is_current(&made));
        fs::remove_file(&path).unwrap();
        assert!(!is_current(&made));
    }

    #[test]
    fn new_file_in_search_path_makes_product_outdated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h");
        fs::write(&path, "one").unwrap();
        let mut made = manifest(&path);
        made.add_absent(&folder.path().join("later"), "a.h");
        made.add_absent(folder.path(), "a.h");
        assert!(is_current(&made));
        fs::create_dir(folder.path().join("later")).unwrap();
        assert!(is_current(&made));
        fs::write(folder.path().join("later/a.h"), "one").unwrap();
        assert!(!is_current(&made));
    }

    #[test]
    fn change_during_a_build_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let [early, late] = ["early", "late"].map(|name| folder.path().join(name));
        fs::write(&early, "").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let moment = folder.path().join("moment");
        fs::write(&moment, "").unwrap();
        let moment = Stamp::read(&moment).unwrap();
        fs::write(&late, "").unwrap();
        assert!(!manifest(&early).may_have_changed_since(&moment));
        assert!(manifest(&late).may_have_changed_since(&moment));
    }
}
