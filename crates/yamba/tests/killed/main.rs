//! A run that is killed, or a process of it, at moments that differ: nothing is left behind, and no benchmark stops another.
//! `benches/src/bin/killed.rs` does the same at random, with the whole suite, for as long as one likes.
#![cfg(target_os = "linux")]

mod leftovers;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

/// They fork partners, leave last wills, start servers on hosts of their own, and fill files.
const NAMES: [&str; 6] = [
    "lat_pipe",
    "lat_sem",
    "lat_open_close",
    "lat_remote_read_sshfs",
    "lat_remote_read_nfs",
    "lat_remote_read_smb",
];
const PATIENCE: Duration = Duration::from_secs(30);

fn yamba(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_yamba"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    command
        .args(words)
        .args(NAMES)
        .env("YAMBA_HOME", root)
        .env("YAMBA_CACHE", cache)
        .env("YAMBA_STORE", folder.with_extension("sqlite"))
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Its document goes to a file beside the folder: nobody reads while it runs.
fn start(folder: &Path) -> Child {
    let document = File::create(folder.with_extension("json")).unwrap();
    yamba(folder, &["run", "--quick", "--json"])
        .stdout(document)
        .spawn()
        .unwrap()
}

/// A process that is not the run's own and has been there for a while, or none if the run ends before.
fn someone(run: &mut Child, after: Duration) -> Option<leftovers::Process> {
    let since = Instant::now();
    while run.try_wait().unwrap().is_none() {
        let mut all = leftovers::descendants(run.id() as i32);
        if since.elapsed() > after && !all.is_empty() {
            let at = after.as_millis() as usize % all.len();
            return Some(all.swap_remove(at));
        }
        sleep(Duration::from_millis(5));
    }
    None
}

fn statuses(folder: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder.with_extension("json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).expect("a document");
    let text = |b: &serde_json::Value, key: &str| b[key].as_str().unwrap_or_default().to_owned();
    let all = document["benchmarks"].as_array().unwrap();
    all.iter()
        .map(|b| (text(b, "name"), text(b, "status")))
        .collect()
}

/// One test: what is left is found by descent from this process, so nothing else may run in it.
#[test]
fn nothing_is_left_and_nobody_is_stopped() {
    leftovers::adopt_orphans();
    let home = tempfile::tempdir().unwrap();
    let built = yamba(home.path(), &["build"]).output().unwrap();
    if !built.status.success() && std::env::var_os("YAMBA_TEST_ALL").is_none() {
        eprintln!("left out: nothing can be built here");
        return;
    }
    assert!(built.status.success());

    for (after, signal) in [
        (150, Signal::KILL),
        (900, Signal::KILL),
        (1700, Signal::INT),
        (2600, Signal::TERM),
    ] {
        let folder = home.path().join(format!("run-{after}"));
        fs::create_dir(&folder).unwrap();
        let mut run = start(&folder);
        // Where it has ended before, its number may be another's.
        if someone(&mut run, Duration::from_millis(after)).is_some() {
            leftovers::signal(run.id() as i32, signal);
        }
        run.wait().unwrap();
        let left = leftovers::settle(&folder, PATIENCE);
        assert_eq!(left, Vec::<String>::new(), "{signal:?} after {after} ms");
    }

    let folder = home.path().join("one-by-one");
    fs::create_dir(&folder).unwrap();
    let mut run = start(&folder);
    let mut victims = Vec::new();
    for after in [300, 1100, 2300] {
        if let Some(victim) = someone(&mut run, Duration::from_millis(after)) {
            leftovers::signal(victim.pid, Signal::KILL);
            victims.push(victim);
        }
    }
    run.wait().unwrap();
    let left = leftovers::settle(&folder, PATIENCE);
    assert_eq!(left, Vec::<String>::new(), "{victims:?}");
    let all = statuses(&folder);
    let hurt = all.iter().filter(|(_, status)| status == "crashed").count();
    assert!(hurt <= victims.len(), "{victims:?}: {all:?}");
    for name in NAMES {
        assert!(all.iter().any(|(n, _)| n == name), "{name} is missing");
    }
}
