//! The files that no output may replace: stores, and what this process has read.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
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

/// Why an output may not replace the file at this path: it may be the only copy of what it
/// contains.
pub fn irreplaceable(path: &Path) -> Option<&'static str> {
    // A device or a pipe is written, not replaced; and to open a pipe could take for ever.
    if !path.is_file() {
        return None;
    }
    if is_database(path) {
        return Some("a store of results");
    }
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let is_read = identity(path).is_some_and(|file| read.contains(&file));
    is_read.then_some("an input of this command")
}

/// Whether it is a database of SQLite. No command writes one as an output.
fn is_database(path: &Path) -> bool {
    const SQLITE: &[u8; 16] = b"SQLite format 3\0";
    let mut begin = [0; SQLITE.len()];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *SQLITE
}
