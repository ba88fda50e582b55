//! Recovery of a damaged store by the command that its error message names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use yamba_store::{Detail, Location, Store, StoreError};

use crate::Missing;

#[allow(dead_code, reason = "the tests of the store use the rest")]
#[path = "../../../store/tests/kept/sample.rs"]
mod sample;

use sample::several_runs;

const PAGE: usize = 4096;

/// A store with several runs. Its name needs quotes in a shell.
fn filled(folder: &Path) -> PathBuf {
    let path = folder.join("it's several.sqlite");
    let mut store = Store::open(&Location::File(path.clone())).unwrap();
    for run in several_runs() {
        store.add(&run).unwrap();
    }
    path
}

/// Runs the command between backticks in a help text, with another name in place of NEW.
fn follow(help: &str, new: &Path) -> bool {
    let command = help.split('`').nth(1).unwrap();
    let command = command.replace("NEW", &format!("'{}'", new.display()));
    let done = Command::new("sh").arg("-c").arg(command).output();
    done.is_ok_and(|done| done.status.success()) && new.is_file()
}

fn sqlite3(path: &Path, sql: &str) -> Option<String> {
    let done = Command::new("sqlite3").arg(path).arg(sql).output().ok()?;
    done.status.success().then(|| String::from_utf8(done.stdout).unwrap())
}

/// Whether the installed sqlite3 recovers an undamaged file.
fn can_recover(folder: &Path) -> bool {
    let [plain, copy] = ["plain.sqlite", "copy.sqlite"].map(|name| folder.join(name));
    let help = format!("`sqlite3 '{}' .recover | sqlite3 NEW`", plain.display());
    sqlite3(&plain, "CREATE TABLE t (a); INSERT INTO t VALUES (1)").is_some()
        && follow(&help, &copy)
        && sqlite3(&copy, "SELECT count(*) FROM t").as_deref() == Some("1\n")
}

/// The ids of the runs that can be read, and the error of the first that cannot. Their figures are
/// those that were written. Of tags and sources, which have pages of their own, some may be lost.
fn readable(path: &Path) -> (Vec<String>, Option<StoreError>) {
    let mut store = match Store::open(&Location::File(path.to_owned())) {
        Ok(store) => store,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let (mut ids, mut first_error) = (Vec::new(), None);
    for was in several_runs() {
        match store.run(&was.id, Detail::Batches) {
            Ok(read) => {
                let id = was.head.id;
                assert!(read.benchmarks == was.benchmarks, "{id} has other figures");
                assert_eq!(read.machine, was.head.machine);
                let mut sources = read.sources.iter();
                assert!(sources.all(|(hash, text)| was.head.sources.get(hash) == Some(text)));
                ids.push(id);
            }
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    (ids, first_error)
}

/// Whichever page is destroyed, the command copies each run that is still readable, and no figure
/// that was not written.
pub fn command_of_the_message_copies_undamaged_runs() -> Result<(), Missing> {
    let folder = tempfile::tempdir().unwrap();
    if !can_recover(folder.path()) {
        return Err(Missing::new("no sqlite3 here recovers a file: Debian 12's copies nothing"));
    }
    let path = filled(folder.path());
    let whole = fs::read(&path).unwrap();
    let new = folder.path().join("new.sqlite");
    let mut copied = Vec::new();
    // The first page identifies the file.
    for page in 1..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0xA5);
        fs::write(&path, bytes).unwrap();
        let (left, error) = readable(&path);
        let Some(error) = error else {
            continue;
        };
        let help = error.help_text().unwrap();
        assert!(help.starts_with("`sqlite3 '"), "page {page}: {help}");
        assert!(follow(help, &new), "page {page}: {help}");
        let (recovered, _) = readable(&new);
        let is_copied = left.iter().all(|id| recovered.contains(id));
        assert!(is_copied, "page {page}: {left:?} were readable, and {recovered:?} are copied");
        copied.push(recovered.len());
        fs::remove_file(&new).unwrap();
    }
    // Most pages belong to the batches of one run, and cost no other run.
    let all_but_one = several_runs().len() - 1;
    let most = copied.iter().filter(|count| **count >= all_but_one).count();
    assert!(2 * most > copied.len() && !copied.is_empty(), "{copied:?}");
    Ok(())
}
