//! The whole suite for who is not root and has no home: what can run does, the rest is told once.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::support::{Answer, has, root};

/// Who owns nothing.
const NOBODY: u32 = 65534;

/// Of the suite, one for each thing that an ordinary user may lack: nothing, raw sockets and network name spaces, a right that cannot be had, a disk by name, a word to push out what others have; and
/// servers and libraries of others, which may refuse to serve him.
const SUITE: [&str; 9] = [
    "cpu/lat_syscall_getppid.yamba",
    "network/lat_ping.yamba",
    "file/lat_disk_seek.yamba",
    "file/file_cache.yamba",
    "network/lat_http.yamba",
    "network/lat_rpc.yamba",
    "remote/lat_remote_read_smb.yamba",
    "remote/lat_remote_read_nfs.yamba",
    "remote/lat_remote_read_sshfs.yamba",
];

const PRIVILEGED: &str = "yamba needs_root on linux && root { void benchmark() {} }\n";

/// Of what may be said of programs of others: what mends it, or that they say it themselves.
const MENDS: [&str; 6] = [
    "apt install",
    "as root",
    "/dev/fuse",
    "name space",
    "--privileged",
    "its programs do not work here",
];

/// All that a run reads, in a folder that this user may enter.
fn lay_out(home: &Path) {
    for part in ["runtime", "library"] {
        let done = Command::new("cp")
            .arg("-r")
            .arg(root().join(part))
            .arg(home)
            .status();
        assert!(done.unwrap().success());
    }
    for path in SUITE {
        let to = home.join("suite").join(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root().join("suite").join(path), to).unwrap();
    }
    fs::write(home.join("suite/cpu/needs_root.yamba"), PRIVILEGED).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_yamba"), home.join("yamba")).unwrap();
    let done = Command::new("chmod")
        .arg("-R")
        .arg("a+rX")
        .arg(home)
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn whoever_is_not_root_and_has_no_home_measures_what_can_be() {
    if !has("g++") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let own = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    lay_out(home.path());
    let mut command = Command::new(home.path().join("yamba"));
    // Root gives itself up; who is not root is what is wanted.
    if chown(own.path(), Some(NOBODY), Some(NOBODY)).is_ok() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
        .args(["run", "--quick", "--launches", "1"])
        .current_dir(own.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("YAMBA_HOME", home.path())
        .env("YAMBA_STORE", own.path().join("results.sqlite"))
        .env("TMPDIR", own.path());
    let answer = Answer::of(command.output().unwrap());
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
    // Programs of others, and what they need: either it is here, or it is told once.
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
    assert!(own.path().join("results.sqlite").exists());
    let left = fs::read_dir(own.path()).unwrap().flatten();
    let scratch = left.filter(|e| e.file_name().to_string_lossy().starts_with("yamba-run-"));
    assert_eq!(scratch.count(), 0);
}
