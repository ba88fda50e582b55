//! The directory for benchmarks' files. The parent process makes it, so that it is removed however
//! benchmarks end.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::disk::Room;
use super::options::Options;
use super::orphans::{self, Started};
use yamba_machine::{scratch_folder, stale_dirs};

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
        Room::of(&self.directory, options.disk_limit, most)
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
    pub fn of(&self, class: &str) -> PathBuf {
        self.directory.join(class)
    }

    /// Removes the files of a launch that could not clean up: they would take disk space from
    /// others.
    pub fn forget(&self, class: &str) {
        // Files that cannot be removed now are removed with the directory.
        let _ = fs::remove_dir_all(self.of(class));
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
            fs::create_dir(second.of(class)).unwrap();
            fs::write(second.of(class).join("data"), "x").unwrap();
        }
        second.forget("b");
        assert!(second.of("a").exists() && !second.of("b").exists());
        let path = second.directory.clone();
        drop(second);
        assert!(!path.exists());
    }
}
