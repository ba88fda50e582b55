//! Limits how much a benchmark may write to its scratch folder.

use std::path::Path;

/// Environment variable with the limits, for every program of a run.
pub(super) const ROOM: &str = "YAMBA_DISK_ROOM";

/// Space left free on a file system: a twentieth, within these bounds.
const LEAST_RESERVE: u64 = 16 << 20;
const MOST_RESERVE: u64 = 1 << 30;

/// Disk limits of a run. They are fixed at its start: parameters depend on them and must not change
/// while files come and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// Bytes of all files of the run at any time.
    pub all: u64,
    /// Bytes for each process, if the maximum number of processes runs at the same time.
    pub each: u64,
    /// How to raise the limit.
    fix: String,
}

impl Room {
    /// Disk limits for files in `folder`: at most `limit` bytes, shared by `processes`.
    pub fn of(folder: &Path, limit: u64, processes: u64) -> Room {
        let space = rustix::fs::statvfs(folder).ok();
        let spare = space.map(|s| {
            let size = |blocks: u64| blocks.saturating_mul(s.f_frsize);
            spare(size(s.f_blocks), size(s.f_bavail))
        });
        let all = limit.min(spare.unwrap_or(limit));
        let folder = folder.display();
        let fix = if all < limit {
            format!("{folder} has no more to spare; let TMPDIR name a larger disk")
        } else {
            "--disk-limit lets it have more".to_owned()
        };
        Room { all, each: all / processes.max(1), fix }
    }

    /// The value of [`ROOM`].
    pub fn to_variable(&self) -> String {
        format!("{} {} {}", self.all, self.each, self.fix)
    }
}

/// Usable bytes of a file system with this size and free space.
fn spare(size: u64, free: u64) -> u64 {
    free.saturating_sub((size / 20).clamp(LEAST_RESERVE, MOST_RESERVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn limit_leaves_reserve_on_disk() {
        assert_eq!(spare(1000 * MIB, 100 * MIB), 50 * MIB);
        assert_eq!(spare(1000 * MIB, 40 * MIB), 0);
        assert_eq!(spare(64 * MIB, 20 * MIB), 4 * MIB);
        assert_eq!(spare(MIB << 20, 3 << 30), 2 << 30);
    }

    #[test]
    fn limit_is_smaller_of_option_and_disk() {
        let folder = tempfile::tempdir().unwrap();
        let small = Room::of(folder.path(), 1000, 3);
        assert_eq!(small.to_variable(), "1000 333 --disk-limit lets it have more");
        let large = Room::of(folder.path(), u64::MAX, 1);
        assert!(large.all < u64::MAX && large.fix.contains("TMPDIR"));
        let nowhere = Room::of(Path::new("/no/such/folder"), 1000, 0);
        assert_eq!((nowhere.all, nowhere.each), (1000, 1000));
    }
}
