//! Folders that belong to a process: locked while it lives, and removed by a later one where it was killed.

use std::fs::{self, File};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Takes a folder: nobody sweeps it until what is given back is dropped, or the process has ended.
pub(crate) fn hold(folder: &Path) -> Option<File> {
    let lock = File::open(folder).ok()?;
    let _ = flock(&lock, FlockOperation::LockExclusive);
    Some(lock)
}

/// Removes the folders in `home` with names of this kind that nobody holds. A lock ends with its process, also in another
/// container, where the number of the process would mean something else.
pub(crate) fn sweep(home: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(home) else {
        return;
    };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(prefix);
        if !is_ours || !is_old(&entry) {
            continue;
        }
        let Ok(folder) = File::open(entry.path()) else {
            continue;
        };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// One that has just been made may not be locked yet.
fn is_old(entry: &fs::DirEntry) -> bool {
    let made = entry.metadata().and_then(|m| m.modified());
    made.is_ok_and(|at| at.elapsed().is_ok_and(|age| age.as_secs() >= 5))
}
