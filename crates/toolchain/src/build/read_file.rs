//! A file that a build read: its hash, and metadata that detects changes.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// File metadata. While it is unchanged, so is the file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    /// The inode change time, which no program can set.
    changed: (i64, i64),
}

/// File stamps, read once per command, because most programs read the same headers.
#[derive(Default)]
pub(super) struct Stamps(Mutex<HashMap<PathBuf, Option<Stamp>>>);

impl Stamps {
    /// The stamp of `path`; `None` if the file does not exist.
    pub(super) fn get(&self, path: &Path) -> Option<Stamp> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stamp) = known.get(path) {
            return *stamp;
        }
        let stamp = Stamp::read(path).ok();
        known.insert(path.to_owned(), stamp);
        stamp
    }
}

impl Stamp {
    pub(super) fn from_metadata(about: &Metadata) -> Stamp {
        Stamp {
            device: about.dev(),
            inode: about.ino(),
            size: about.size(),
            modified: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
        }
    }

    pub(super) fn read(path: &Path) -> io::Result<Stamp> {
        fs::metadata(path).map(|about| Stamp::from_metadata(&about))
    }

    /// Whether the file may have changed after `moment`. File system clocks have a coarse step; a
    /// change within the same step counts as later.
    pub(super) fn may_follow(&self, moment: &Stamp) -> bool {
        self.changed >= moment.changed
    }
}

/// A file that was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ReadFile {
    path: PathBuf,
    pub(super) stamp: Stamp,
    hash: String,
}

impl ReadFile {
    pub(super) fn new(path: &Path) -> io::Result<ReadFile> {
        let mut stamp = Stamp::read(path)?;
        loop {
            let hash = hash(path, stamp)?;
            let after = Stamp::read(path)?;
            if after == stamp {
                let path = path.to_owned();
                return Ok(ReadFile { path, stamp, hash });
            }
            // The file changed while it was read; read it again.
            stamp = after;
        }
    }

    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    pub(super) fn is_current(&self, stamps: &Stamps) -> bool {
        let Some(stamp) = stamps.get(&self.path) else {
            return false;
        };
        stamp == self.stamp || hash(&self.path, stamp).is_ok_and(|hash| hash == self.hash)
    }
}

/// The BLAKE3 hash of a file's content in hexadecimal. Each version of a file is hashed once.
fn hash(path: &Path, stamp: Stamp) -> io::Result<String> {
    static KNOWN: Mutex<BTreeMap<Stamp, String>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hash) = known().get(&stamp) {
        return Ok(hash.clone());
    }
    let hash = blake3::hash(&fs::read(path)?).to_hex().to_string();
    if Stamp::read(path)? == stamp {
        known().insert(stamp, hash.clone());
    }
    Ok(hash)
}

/// The last component of a path.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
