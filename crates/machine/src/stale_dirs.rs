//! Folders that belong to a process. The process locks its folder; a later process removes folders
//! whose owner was killed.

use std::fs::{self, File};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Locks a folder against [`sweep`], until the returned file is dropped or the process ends.
pub fn lock(folder: &Path) -> Option<File> {
    let lock = File::open(folder).ok()?;
    let _ = flock(&lock, FlockOperation::LockExclusive);
    Some(lock)
}

/// Removes the unlocked folders in `home` whose names begin with `prefix`. A lock ends with its
/// process. A process number would not do: it has no meaning in another container.
pub fn sweep(home: &Path, prefix: &str) {
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

/// Whether a folder is at least 5 s old: the owner of a newer one may not have locked it yet.
fn is_old(entry: &fs::DirEntry) -> bool {
    let made = entry.metadata().and_then(|m| m.modified());
    made.is_ok_and(|at| at.elapsed().is_ok_and(|age| age.as_secs() >= 5))
}
