//! The suite for a user who is not root and has no home. Benchmarks that can run must run; missing requirements are reported once. The whole suite is
//! listed, but only one benchmark per requirement is measured, since building all takes minutes. `everywhere.rs` builds all and queries every program
//! as an ordinary user's run does.
//! all of it takes minutes. `everywhere.rs`, which has built all, asks every program as an ordinary user's run does before it measures.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Answer, Yamba, has, root};

/// A user id that owns no files.
const NOBODY: u32 = 65534;

/// One benchmark of the suite for each possible requirement: none, raw sockets and network name spaces, an unavailable privilege, a named disk,
/// permission to evict other data; and other programs' servers and libraries, which may refuse to serve this user.
const SUITE: [&str; 9] = [
    "suite/cpu/lat_syscall_getppid.yamba",
    "suite/network/lat_ping.yamba",
    "suite/file/lat_disk_seek.yamba",
    "suite/file/file_cache.yamba",
    "suite/network/lat_http.yamba",
    "suite/network/lat_rpc.yamba",
    "suite/remote/lat_remote_read_smb.yamba",
    "suite/remote/lat_remote_read_nfs.yamba",
    "suite/remote/lat_remote_read_sshfs.yamba",
];

const PRIVILEGED: &str = "yamba needs_root on linux && root { void benchmark() {} }\n";

/// Phrases of which the message about a missing program must contain one: how to fix it, or the program's own message.
const MENDS: [&str; 6] = [
    "apt install",
    "as root",
    "/dev/fuse",
    "name space",
    "--privileged",
    "its programs do not work here",
];

/// The user's environment: a readable installation of the command, and a folder of the user's own.
pub struct Place {
    home: TempDir,
    own: TempDir,
}

impl Place {
    /// An installation with these parts of the suite.
    pub fn new(suite: &[&str]) -> Place {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for part in ["runtime", "library"].iter().chain(suite) {
            let to = home.path().join(part);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            does(Command::new("cp").arg("-r").arg(root().join(part)).arg(to));
        }
        fs::write(home.path().join("suite/cpu/needs_root.yamba"), PRIVILEGED).unwrap();
        // Copied by another process. If this one held the file open for writing while a child starts, the copy could not be executed.
        let program = env!("CARGO_BIN_EXE_yamba");
        does(Command::new("cp").arg(program).arg(home.path()));
        does(Command::new("chmod").args(["-R", "a+rX"]).arg(home.path()));
        let own = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
        Place { home, own }
    }

    /// The user's own folder. Runs work there and keep their scratch files in it.
    pub fn folder(&self) -> &Path {
        self.own.path()
    }

    pub fn run(&self, words: &str) -> Answer {
        self.run_as(NOBODY, &[], words)
    }

    /// Runs the command as `user`, with the words `before` as a prefix. If the test does not run as root, the user is unchanged.
    pub fn run_as(&self, user: u32, before: &[&str], words: &str) -> Answer {
        let program = self.home.path().join("yamba");
        let mut all = before.iter().map(OsStr::new).chain([program.as_os_str()]);
        let mut command = Command::new(all.next().expect("the program is one of them"));
        command.args(all);
        if chown(self.own.path(), Some(user), Some(user)).is_ok() {
            command.uid(user).gid(user);
        }
        command
            .args(words.split(' '))
            .current_dir(self.own.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("YAMBA_HOME", self.home.path())
            .env("YAMBA_STORE", self.own.path().join("results.sqlite"))
            .env("TMPDIR", self.own.path());
        Answer::of(command.output().unwrap())
    }
}

fn does(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// The listed benchmarks by name, with the missing requirement of those that do not run here.
fn listed(answer: Answer) -> BTreeMap<String, Option<String>> {
    let all: Vec<Value> = serde_json::from_str(&answer.ok().out).unwrap();
    let each = all.iter().map(|b| {
        assert_eq!(b["missing"], json!([]), "{b}");
        assert_eq!(b["needs"].is_null(), b["runs_here"] == true, "{b}");
        let name = b["name"].as_str().unwrap().to_owned();
        (name, b["needs"].as_str().map(str::to_owned))
    });
    each.collect()
}

/// The list is the same as for root, except for benchmarks that need root.
#[test]
fn all_of_the_suite_is_listed_for_who_is_not_root() {
    let here = listed(Yamba::new().run("list --json"));
    let mut his = listed(Place::new(&["suite"]).run("list --json"));
    let privileged = his.remove("needs_root").expect("it is listed");
    assert!(privileged.is_some_and(|needs| needs.contains("root")));
    assert_eq!(here.len(), his.len());
    for (name, needs) in his {
        let is_alike = needs == here[&name];
        let is_told = needs.as_ref().is_some_and(|n| n.contains("root"));
        assert!(is_alike || is_told, "{name}: {needs:?}");
    }
}

#[test]
fn whoever_is_not_root_and_has_no_home_measures_what_can_be() {
    if !has("g++") {
        return;
    }
    let place = Place::new(&SUITE);
    let answer = place.run("run --quick --launches 1");
    let out = &answer.out;
    let (figures, skipped) = out.split_once("\nSkipped\n").expect(&answer.err);
    let skipped = skipped.split_whitespace().collect::<Vec<&str>>().join(" ");
    for name in ["lat_syscall_getppid", "lat_http"] {
        assert!(figures.contains(name), "{name} in\n{out}");
    }
    assert!(out.contains("lat_rpc"), "{out}");
    assert!(!out.contains("crashed"), "{out}");
    for (name, mend) in [
        ("needs_root", "root"),
        ("file_cache", "--set fill=true"),
        ("lat_disk_seek", "--set path="),
    ] {
        assert_eq!(skipped.matches(name).count(), 1, "{name} in\n{skipped}");
        assert!(skipped.contains(mend), "{name} in\n{skipped}");
    }
    // Requirements of other programs: either they are installed, or their absence is reported once.
    for name in [
        "lat_remote_read_nfs",
        "lat_remote_read_sshfs",
        "lat_remote_read_smb",
    ] {
        let times = skipped.matches(name).count();
        if figures.contains(name) {
            assert_eq!(times, 0, "{name} in\n{out}");
            continue;
        }
        assert_eq!(times, 1, "{name} in\n{out}");
        let told = skipped.split_once(name).unwrap().1;
        let told = told.split("lat_").next().unwrap();
        assert!(MENDS.iter().any(|m| told.contains(m)), "{name}: {told}");
        eprintln!("left out: {name}: {told}");
    }
    assert_eq!(answer.err, "");
    let own = place.own.path();
    assert!(own.join("results.sqlite").exists());
    let left = fs::read_dir(own).unwrap().flatten();
    let scratch = left.filter(|e| e.file_name().to_string_lossy().starts_with("yamba-run-"));
    assert_eq!(scratch.count(), 0);
}
