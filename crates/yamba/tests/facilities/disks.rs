//! Stores that cannot be written: on a full disk, on a read-only disk, in another user's folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::thread::{UnshareFlags, unshare_unsafe};
use tempfile::TempDir;
use yamba_child_guard::StartGuarded;

use crate::Missing;
use crate::support::{Answer, MANY, Yamba, json, until};

/// A user id that owns no files.
const NOBODY: u32 = 65534;

const RUN: &str = "run many.yamba --set size=3 --quick";

/// Runs `test` with a disk of two megabytes. Only this thread and its child processes see it, and
/// it disappears with them.
fn on_a_small_disk(test: impl FnOnce(&Path) + Send) -> Result<(), Missing> {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        let alone = scope.spawn(|| {
            if !mounted(folder.path()) {
                return Err(Missing::new("only root may mount a disk"));
            }
            test(folder.path());
            Ok(())
        });
        alone.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Gives this thread its own mount table and mounts a disk.
fn mounted(disk: &Path) -> bool {
    // SAFETY: only the table of mounts becomes the thread's own. File descriptors stay those of the
    // process.
    let alone = unsafe { unshare_unsafe(UnshareFlags::NEWNS) };
    alone.is_ok()
        && mount(&["--make-rprivate"], Path::new("/"))
        && mount(&["-t", "tmpfs", "-o", "size=2m", "tmpfs"], disk)
}

fn mount(how: &[&str], place: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(how).arg(place).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

fn storing_in(store: &Path) -> Yamba {
    let yamba = Yamba::new().file("many.yamba", MANY);
    let temporary = yamba.folder.path().to_owned();
    yamba.env("YAMBA_STORE", store).env("TMPDIR", temporary)
}

/// The document that a run left among the temporary files.
fn left_by(yamba: &Yamba) -> PathBuf {
    let files = fs::read_dir(yamba.folder.path()).unwrap().flatten();
    let is_it = |p: &PathBuf| {
        let name = p.file_name().unwrap().to_string_lossy();
        name.starts_with("yamba-run-") && name.ends_with(".json")
    };
    let mut found: Vec<PathBuf> = files.map(|f| f.path()).filter(is_it).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// The disk is full after the first entry. The run continues and its whole document goes to a file.
/// Once there is room, the warning's command works.
pub fn run_is_rescued_if_the_store_disk_is_full() -> Result<(), Missing> {
    on_a_small_disk(|disk| {
        let mut yamba = storing_in(&disk.join("results.sqlite"));
        let words = "run many.yamba --quick --sweep size=1,2,3,4,5,6,7,8";
        let child = yamba
            .command(&words.split(' ').collect::<Vec<_>>())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .start();
        until("an entry is kept", || {
            let listed = json(&mut yamba, "runs --json");
            listed[0]["benchmarks"].as_array().is_some_and(|b| !b.is_empty())
        });
        let filler = disk.join("filler");
        assert!(fs::write(&filler, vec![1; 4 << 20]).is_err());
        let answer = Answer::read(child.finish()).ok();
        for part in ["the disk is full", "the whole run is in", "yamba import"] {
            assert!(answer.err.contains(part), "no `{part}` in\n{}", answer.err);
        }
        fs::remove_file(filler).unwrap();
        yamba.run("runs").ok().says(&["cut off"]);
        yamba.run("rm latest").ok();
        let document = left_by(&yamba);
        yamba.run_words(&["import", document.to_str().unwrap()]).ok();
        let run = json(&mut yamba, "show --json");
        assert_eq!(run["benchmarks"].as_array().unwrap().len(), 8);
    })
}

/// Every command on the store is refused with help. A run that did not name this store writes its
/// document elsewhere.
pub fn store_on_a_read_only_disk_is_refused_and_left_unchanged() -> Result<(), Missing> {
    on_a_small_disk(|disk| {
        let store = disk.join("yamba/results.sqlite");
        let mut yamba = storing_in(&store);
        yamba.run(RUN).ok();
        let before = fs::read(&store).unwrap();
        assert!(mount(&["-o", "remount,ro"], disk));
        for words in ["runs", "show", "rm latest"] {
            yamba.run(words).refused(&["results.sqlite", "copy it to a folder"]);
        }
        yamba.run(RUN).refused(&["results.sqlite", "--store FILE"]);

        let mut yamba = yamba.without("YAMBA_STORE").env("XDG_DATA_HOME", disk);
        let answer = yamba.run(RUN).ok();
        for part in ["not stored", "the whole run is in", "yamba import"] {
            assert!(answer.err.contains(part), "no `{part}` in\n{}", answer.err);
        }
        assert!(mount(&["-o", "remount,rw"], disk));
        assert!(fs::read(&store).unwrap() == before);
        let document = left_by(&yamba);
        yamba.run_words(&["import", document.to_str().unwrap()]).ok();
        assert_eq!(json(&mut yamba, "runs --json").as_array().unwrap().len(), 2);
    })
}

/// A reader without write permission for the folder is refused with help, and following the help
/// works. Root may write everywhere, so for root the reader is another user.
pub fn store_in_a_folder_that_may_not_be_written_is_read_from_a_copy() -> Result<(), Missing> {
    let folder = Folder(tempfile::tempdir().unwrap());
    let store = folder.path().join("results.sqlite");
    let mut yamba = storing_in(&store);
    yamba.run(RUN).ok();
    let document = yamba.run("export --format json").ok().out;
    let yamba = yamba.file("their.json", without_id(&document));
    files_may_be_read(folder.path());
    folder.may_be_written(false);
    let Some(mut reader) = reader(&yamba) else {
        return Err(Missing::new(
            "the user nobody cannot start a program in the folder for temporary files",
        ));
    };
    let before = fs::read(&store).unwrap();
    for words in ["runs", "show", "tag latest base", "rm latest", "import their.json"] {
        reader(words).refused(&["results.sqlite", "copy it to a folder that you may write"]);
    }
    assert!(fs::read(&store).unwrap() == before);

    let home = tempfile::tempdir().unwrap();
    set_mode(home.path(), 0o777);
    let copy = home.path().join("copy.sqlite");
    fs::copy(&store, &copy).unwrap();
    set_mode(&copy, 0o666);
    let words = format!("export --format json --store {}", copy.display());
    assert!(reader(&words).ok().out == document);
    Ok(())
}

/// A folder that is temporarily read-only for its owner. It is made writable again for its removal.
struct Folder(TempDir);

impl Folder {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn may_be_written(&self, on: bool) {
        set_mode(self.path(), if on { 0o755 } else { 0o555 });
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.may_be_written(true);
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes the files readable by every user, whatever the umask was.
fn files_may_be_read(folder: &Path) {
    for file in fs::read_dir(folder).unwrap().flatten() {
        set_mode(&file.path(), 0o644);
    }
}

/// Runs the command as a user who may not write everywhere. `None` if that user cannot start it.
fn reader(yamba: &Yamba) -> Option<impl FnMut(&str) -> Answer + use<>> {
    let home = yamba.folder.path().to_owned();
    let program = home.join("yamba");
    fs::copy(env!("CARGO_BIN_EXE_yamba"), &program).unwrap();
    set_mode(&home, 0o755);
    set_mode(&program, 0o755);
    set_mode(&home.join("their.json"), 0o644);
    let is_root = rustix::process::geteuid().is_root();
    let surroundings = yamba.command(&[]);
    let variables = surroundings.get_envs();
    let variables: Vec<_> =
        variables.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    let run = move |words: &str| {
        let mut command = Command::new(&program);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.args(words.split(' ')).current_dir(&home);
        command.stdin(Stdio::null()).envs(variables.clone());
        command.output()
    };
    let is_there = run("--version").is_ok_and(|o| o.status.success());
    is_there.then_some(move |words: &str| Answer::read(run(words).unwrap()))
}

/// The same document without its id, so that it counts as another run.
fn without_id(document: &str) -> String {
    let mut run: serde_json::Value = serde_json::from_str(document).unwrap();
    run["id"] = "".into();
    run.to_string()
}
