//! The files that this process has read as documents, so that no output replaces one of them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A file, whatever the names of its links: its device and its inode.
pub(crate) type FileIdentity = (u64, u64);

static READ: Mutex<BTreeSet<FileIdentity>> = Mutex::new(BTreeSet::new());

/// The file at this path now.
pub(crate) fn identity(path: &Path) -> Option<FileIdentity> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Adds a file that is about to be read.
pub fn add(path: &Path) {
    READ.lock().unwrap_or_else(PoisonError::into_inner).extend(identity(path));
}

/// Whether this file was added, by this path or another.
pub fn has(path: &Path) -> bool {
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    identity(path).is_some_and(|file| read.contains(&file))
}
