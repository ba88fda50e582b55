//! The directory for benchmarks' files. The parent process makes it, so that it is removed however
//! benchmarks end. Limits how much they may write there.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use yamba_machine::{scratch_folder, stale_dirs};

use super::options::Options;
use super::orphans::{self, Started};

const PREFIX: &str = "yamba-run-";

/// A private directory, locked while the run lives.
#[derive(Debug)]
pub(super) struct Scratch {
    directory: PathBuf,
    _lock: Option<File>,
    executor: Option<(Child, Started)>,
}

/// The script of `executor`, the process that cleans up after the run. It reads the paths of
/// control groups until its input ends. Benchmarks may still write a few files before they end, and
/// get half a second to clean up. Then the processes left in the groups are killed.
const CLEANUP_TIME: &str = r#"
while read -r group; do set -- "$@" "$group"; done
scratch=$1
shift
for n in 1 2 3 4 5 6 7 8 9 10; do
    rm -rf -- "$scratch"
    left=
    for group; do
        rmdir -- "$group"/*/ "$group"
        [ -e "$group" ] || continue
        left=1
        [ $n -le 5 ] && continue
        echo 0 > "$group/pids.max"
        kill -9 $(cat "$group/cgroup.procs")
    done
    [ -e "$scratch" ] || [ $left ] || exit
    sleep 0.1
done"#;

impl Scratch {
    /// Makes a directory under `TMPDIR` or `/var/tmp` (`/tmp` is often memory), and removes those
    /// of runs that were killed.
    pub fn new() -> Scratch {
        Scratch::under(&scratch_folder().1)
    }

    /// If no directory can be made, only programs that need one fail, with their own message.
    fn under(home: &Path) -> Scratch {
        stale_dirs::sweep(home, PREFIX);
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(home);
        let directory = match made {
            Ok(directory) => directory.keep(),
            Err(_) => home.join(format!("{PREFIX}{}", std::process::id())),
        };
        Scratch { executor: executor(&directory), _lock: stale_dirs::lock(&directory), directory }
    }

    /// Disk limits for benchmarks.
    pub fn room(&self, options: &Options) -> Room {
        let most = options.workers.iter().map(|w| w.count()).max().unwrap_or(1);
        Room::new(&self.directory, options.disk_limit, most)
    }

    /// Makes the executor also remove these control groups if this process is killed.
    pub fn clean_up_too(&self, groups: &[PathBuf]) {
        let line = |folder: &PathBuf| format!("{}\n", folder.display());
        let executor = self.executor.as_ref();
        if let Some(mut input) = executor.and_then(|(child, _)| child.stdin.as_ref()) {
            // Without an executor the next run removes them.
            let _ = input.write_all(groups.iter().map(line).collect::<String>().as_bytes());
        }
    }

    /// The subdirectory of one benchmark: no benchmark finds another's files.
    pub fn folder(&self, class: &str) -> PathBuf {
        self.directory.join(class)
    }

    /// Removes the files of a launch that could not clean up: they would take disk space from
    /// others.
    pub fn forget(&self, class: &str) {
        // Files that cannot be removed now are removed with the directory.
        let _ = fs::remove_dir_all(self.folder(class));
    }
}

/// Starts a process that removes the directory when this process ends, however it ends: its
/// standard input is a pipe that closes then. If it cannot be started, the next run removes the
/// directory.
fn executor(directory: &Path) -> Option<(Child, Started)> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", CLEANUP_TIME, "sh"])
        .arg(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A signal to the terminal's process group must not end it.
        .process_group(0);
    orphans::start(&mut command).ok()
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
        if let Some((mut child, started)) = self.executor.take() {
            // `wait` closes its input first.
            let _ = child.wait();
            orphans::forget(started);
        }
    }
}

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
    pub fn new(folder: &Path, limit: u64, processes: u64) -> Room {
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
    use std::time::{Duration, SystemTime};

    fn age(path: &Path) {
        let then = SystemTime::now() - Duration::from_secs(60);
        File::open(path).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn own_folder_is_removed_and_stale_ones_are_swept() {
        let home = tempfile::tempdir().unwrap();
        let dead = home.path().join("yamba-run-dead");
        let other = home.path().join("something-else");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("data"), "x").unwrap();
        fs::create_dir(&other).unwrap();
        age(&dead);
        age(&other);

        let living = Scratch::under(home.path());
        assert!(!dead.exists() && other.exists());
        age(&living.directory);
        let second = Scratch::under(home.path());
        assert!(living.directory.exists(), "the living keep theirs");

        for class in ["a", "b"] {
            fs::create_dir(second.folder(class)).unwrap();
            fs::write(second.folder(class).join("data"), "x").unwrap();
        }
        second.forget("b");
        assert!(second.folder("a").exists() && !second.folder("b").exists());
        let path = second.directory.clone();
        drop(second);
        assert!(!path.exists());
    }

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
        let small = Room::new(folder.path(), 1000, 3);
        assert_eq!(small.to_variable(), "1000 333 --disk-limit lets it have more");
        let large = Room::new(folder.path(), u64::MAX, 1);
        assert!(large.all < u64::MAX && large.fix.contains("TMPDIR"));
        let nowhere = Room::new(Path::new("/no/such/folder"), 1000, 0);
        assert_eq!((nowhere.all, nowhere.each), (1000, 1000));
    }
}
