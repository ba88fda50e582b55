//! The directory that benchmarks put their files in: made by the parent, so that it is removed however they end.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::disk::Room;
use super::options::Options;
use super::strays::{self, Started};
use yamba_machine::{scratch_folder, stale_dirs};

const PREFIX: &str = "yamba-run-";

/// A private directory, locked as long as the run lives.
#[derive(Debug)]
pub(super) struct Scratch {
    directory: PathBuf,
    _lock: Option<File>,
    executor: Option<(Child, Started)>,
}

/// The script of an executor. It reads the paths of control groups until its input ends. Benchmarks may have a few more files to write before
/// their end reaches them, and half a second to undo what the system would keep. Then what is left in the groups is ended.
const LAST_WILL: &str = r#"
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
    /// Makes one under `TMPDIR` or `/var/tmp` (`/tmp` is often memory), and removes those of runs that were killed.
    pub fn new() -> Scratch {
        Scratch::under(&scratch_folder().1)
    }

    /// If none can be made, programs that ask for it say so, and only they fail.
    fn under(home: &Path) -> Scratch {
        stale_dirs::sweep(home, PREFIX);
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(home);
        let directory = match made {
            Ok(directory) => directory.keep(),
            Err(_) => home.join(format!("{PREFIX}{}", std::process::id())),
        };
        Scratch {
            executor: executor(&directory),
            _lock: stale_dirs::hold(&directory),
            directory,
        }
    }

    /// How much benchmarks may put there.
    pub fn room(&self, options: &Options) -> Room {
        let most = options.processes.iter().max();
        Room::of(
            &self.directory,
            options.disk_limit,
            most.copied().unwrap_or(1),
        )
    }

    /// Has these control groups removed, too, should this process be killed.
    pub fn clean_up_too(&self, groups: &[PathBuf]) {
        let input = self
            .executor
            .as_ref()
            .and_then(|(child, _)| child.stdin.as_ref());
        let lines = groups
            .iter()
            .map(|folder| format!("{}\n", folder.display()));
        if let Some(mut input) = input {
            // Without an executor the next run removes them.
            let _ = input.write_all(lines.collect::<String>().as_bytes());
        }
    }

    /// The part of one benchmark: none finds another's files.
    pub fn of(&self, class: &str) -> PathBuf {
        self.directory.join(class)
    }

    /// Removes what a launch has left that could not tidy up: it would take the room of others.
    pub fn forget(&self, class: &str) {
        // What cannot be removed now goes with the rest.
        let _ = fs::remove_dir_all(self.of(class));
    }
}

/// A process that removes the directory when this one has ended, however it did: it holds the other end of its input. Where there is
/// none, the next run sweeps.
fn executor(directory: &Path) -> Option<(Child, Started)> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", LAST_WILL, "sh"])
        .arg(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What ends the terminal's group is not for it.
        .process_group(0);
    strays::start(&mut command).ok()
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
        if let Some((mut child, started)) = self.executor.take() {
            // Closes its input first.
            let _ = child.wait();
            strays::forget(started);
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
    fn is_removed_and_those_of_the_dead_are_swept() {
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
