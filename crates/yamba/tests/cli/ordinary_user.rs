//! The suite for a user who is not root and has no home. Benchmarks that can run must run; missing
//! requirements are reported once. The whole suite is listed, but only one benchmark per
//! requirement is measured, since building all takes minutes. `everywhere.rs` builds all and
//! queries every program as an ordinary user's run does.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::{Answer, Yamba};
use crate::user::UserEnvironment;

/// One benchmark of the suite for each possible requirement: none, raw sockets and network name
/// spaces, an unavailable privilege, a named disk, permission to evict other data; and other
/// programs' servers and libraries, which may refuse to serve this user.
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

/// Phrases of which the message about a missing program must contain one: how to fix it, or the
/// program's own message.
const MENDS: [&str; 6] = [
    "apt install",
    "as root",
    "/dev/fuse",
    "name space",
    "--privileged",
    "its programs do not work here",
];

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
fn whole_suite_is_listed_for_ordinary_user() {
    let here = listed(Yamba::new().run("list --json"));
    let mut his = listed(UserEnvironment::new(&["suite"]).run("list --json"));
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
#[ignore = "needs g++"]
fn ordinary_user_without_home_can_measure() {
    let place = UserEnvironment::new(&SUITE);
    let answer = place.run("run --quick --launches 1");
    let out = &answer.out;
    let (figures, skipped) = out.split_once("\nSkipped\n").expect(&answer.err);
    let skipped = skipped.split_whitespace().collect::<Vec<&str>>().join(" ");
    for name in ["lat_syscall_getppid", "lat_http"] {
        assert!(figures.contains(name), "{name} in\n{out}");
    }
    assert!(out.contains("lat_rpc"), "{out}");
    assert!(!out.contains("crashed"), "{out}");
    for (name, fix) in [
        ("needs_root", "root"),
        ("file_cache", "--set fill=true"),
        ("lat_disk_seek", "--set path="),
    ] {
        assert_eq!(skipped.matches(name).count(), 1, "{name} in\n{skipped}");
        assert!(skipped.contains(fix), "{name} in\n{skipped}");
    }
    // Requirements of other programs: either they are installed, or their absence is reported once.
    for name in ["lat_remote_read_nfs", "lat_remote_read_sshfs", "lat_remote_read_smb"] {
        let times = skipped.matches(name).count();
        if figures.contains(name) {
            assert_eq!(times, 0, "{name} in\n{out}");
            continue;
        }
        assert_eq!(times, 1, "{name} in\n{out}");
        let told = skipped.split_once(name).unwrap().1;
        let told = told.split("lat_").next().unwrap();
        assert!(MENDS.iter().any(|m| told.contains(m)), "{name}: {told}");
    }
    assert_eq!(answer.err, "");
    let own = place.own.path();
    assert!(own.join("results.sqlite").exists());
    let left = fs::read_dir(own).unwrap().flatten();
    let scratch = left.filter(|e| e.file_name().to_string_lossy().starts_with("yamba-run-"));
    assert_eq!(scratch.count(), 0);
}

#[test]
#[ignore = "needs g++"]
fn program_in_inaccessible_folder_is_reported() {
    let place = UserEnvironment::new(&["suite/cpu/lat_syscall_getppid.yamba"]);
    let locked = place.folder().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    place
        .run("build lat_syscall_getppid -o locked/program")
        .refused(&["cannot write locked/program: permission denied"]);
}
