//! Removes cache folders that have not been used for a long time. Everything in them can be
//! rebuilt.
//!
//! A folder's modification time records its last use, to the hour. The user of a folder updates an
//! older time under a shared lock. The remover checks the time again under an exclusive lock. So no
//! process loses a folder that it has just started to use.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Folders that are unused for longer than this are always removed.
const LONG: Duration = Duration::from_secs(30 * 24 * 3600);
/// While the cache holds more bytes than this, folders unused for longer than `THESE_DAYS` are
/// removed too, oldest first.
const MOST_BYTES: u64 = 1 << 30;
const THESE_DAYS: Duration = Duration::from_secs(2 * 24 * 3600);

/// The file whose modification time records the last sweep.
const SWEPT: &str = ".swept";

/// Returns whether `folder` exists, and marks it as used now.
pub(crate) fn take(folder: &Path) -> bool {
    let Ok(open) = File::open(folder) else {
        return false;
    };
    if unused_for(&open).is_some_and(|age| age < HOUR) {
        return true;
    }
    // Errors are ignored: in a read-only cache the date stays unchanged, but there this user cannot
    // remove folders either.
    let _ = flock(&open, FlockOperation::LockShared);
    let _ = open.set_modified(SystemTime::now());
    // Another process may have removed the folder before this one got the lock.
    folder.is_dir()
}

/// Removes unused folders in `home` whose names satisfy `is_kind`, at most once a day. `home` may
/// hold folders of other programs, so `is_kind` accepts only names that Yamba generates. Each
/// folder is first renamed to `aside` with its name appended, so no process finds a half-removed
/// folder.
pub(crate) fn sweep(home: &Path, is_kind: impl Fn(&str) -> bool, aside: &Path) {
    if !is_due(home) {
        return;
    }
    let mut bytes = 0;
    for (age, folder) in by_age(home, is_kind) {
        bytes += size(&folder);
        let limit = if bytes > MOST_BYTES { THESE_DAYS } else { LONG };
        if age > limit {
            remove(&folder, limit, aside);
        }
    }
}

fn unused_for(folder: &File) -> Option<Duration> {
    folder.metadata().ok()?.modified().ok()?.elapsed().ok()
}

/// Returns whether the last sweep is more than a day old. Records the new sweep; if that fails, no
/// sweep is due.
fn is_due(home: &Path) -> bool {
    let mark = home.join(SWEPT);
    let age = File::open(&mark).ok().and_then(|mark| unused_for(&mark));
    age.is_none_or(|age| age > DAY) && fs::write(&mark, "").is_ok()
}

/// The folders in `home` and the time since their last use, most recently used first.
fn by_age(home: &Path, is_kind: impl Fn(&str) -> bool) -> Vec<(Duration, PathBuf)> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let is_folder = |e: &fs::DirEntry| e.file_type().is_ok_and(|t| t.is_dir());
    let ours = entries.filter(|e| is_folder(e) && is_kind(&e.file_name().to_string_lossy()));
    let mut all: Vec<(Duration, PathBuf)> =
        ours.filter_map(|e| Some((unused_for(&File::open(e.path()).ok()?)?, e.path()))).collect();
    all.sort();
    all
}

/// Whether `name` is a hash of `digits` hexadecimal digits.
pub(crate) fn is_digest(name: &str, digits: usize) -> bool {
    name.len() == digits && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// The total size in bytes of all files below `folder`.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let each = entries.filter_map(|e| Some((e.metadata().ok()?, e.path())));
    each.map(|(about, path)| if about.is_dir() { size(&path) } else { about.len() }).sum()
}

/// Removes `folder`, unless another process is using it or has used it within `limit`.
fn remove(folder: &Path, limit: Duration, aside: &Path) {
    let Ok(open) = File::open(folder) else {
        return;
    };
    if flock(&open, FlockOperation::NonBlockingLockExclusive).is_err()
        || unused_for(&open).is_none_or(|age| age <= limit)
    {
        return;
    }
    let mut gone = aside.as_os_str().to_owned();
    gone.push(folder.file_name().unwrap_or_default());
    // If the removal fails, the next sweep tries again.
    if fs::rename(folder, &gone).is_ok() {
        let _ = fs::remove_dir_all(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder with a file of `bytes` bytes, last used `days` days ago.
    fn folder(home: &Path, name: &str, days: u64, bytes: u64) -> PathBuf {
        let folder = home.join(name);
        fs::create_dir(&folder).unwrap();
        let file = File::create(folder.join("program")).unwrap();
        file.set_len(bytes).unwrap();
        unused(&folder, days);
        folder
    }

    fn unused(path: &Path, days: u64) {
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600 + 60);
        File::open(path).unwrap().set_modified(then).unwrap();
    }

    fn swept(home: &Path) {
        sweep(home, |name| !name.starts_with('.'), &home.join(".gone-"));
    }

    #[test]
    fn unused_folders_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let old = folder(home.path(), "old", 31, 1);
        let recent = folder(home.path(), "recent", 29, 1);
        let other = folder(home.path(), ".other", 99, 1);
        std::os::unix::fs::symlink(&other, home.path().join("link")).unwrap();
        let used = folder(home.path(), "used", 99, 1);
        let held = folder(home.path(), "held", 99, 1);
        assert!(take(&used) && !take(&home.path().join("none")));
        let lock = File::open(&held).unwrap();
        flock(&lock, FlockOperation::LockShared).unwrap();
        swept(home.path());
        assert!(!old.exists(), "it was not used for 31 days");
        for left in [&recent, &other, &used, &held] {
            assert!(left.exists(), "{}", left.display());
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 6);
    }

    #[test]
    fn digest_name_is_recognised() {
        assert!(is_digest("0123456789abcdef", 16));
        for name in ["0123456789abcde", "0123456789abcdeg", "0123456789ABCDEF", "backup"] {
            assert!(!is_digest(name, 16), "{name}");
        }
    }

    #[test]
    fn eviction_runs_once_a_day() {
        let home = tempfile::tempdir().unwrap();
        swept(home.path());
        let old = folder(home.path(), "old", 31, 1);
        swept(home.path());
        assert!(old.exists());
        unused(&home.path().join(SWEPT), 1);
        swept(home.path());
        assert!(!old.exists());
    }

    /// The files are sparse.
    #[test]
    fn oldest_folders_are_evicted_above_size_limit() {
        let home = tempfile::tempdir().unwrap();
        let half = MOST_BYTES / 2 + 1;
        let large = [1, 3, 5].map(|days| folder(home.path(), &days.to_string(), days, half));
        swept(home.path());
        assert_eq!(large.map(|f| f.exists()), [true, false, false]);
        // A recently used folder stays, whatever its size.
        unused(&home.path().join(SWEPT), 1);
        let again = folder(home.path(), "again", 1, half);
        swept(home.path());
        assert!(again.exists());
    }
}
