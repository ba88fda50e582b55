//! Lists system state outside processes: kernel objects, devices, namespaces, settings.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::leftovers;

/// All current objects, one line each.
pub fn objects() -> BTreeSet<String> {
    let mut all = leftovers::kept();
    for folder in ["/dev/shm", "/dev/mqueue", "/run/sshd", "/sys/class/net"] {
        all.extend(leftovers::files(Path::new(folder)));
    }
    name_spaces(&mut all);
    settings(Path::new("/proc/sys"), &mut all);
    for disk in fs::read_dir("/sys/class/bdi")
        .into_iter()
        .flatten()
        .flatten()
    {
        let read_ahead = fs::read_to_string(disk.path().join("read_ahead_kb")).unwrap_or_default();
        all.insert(format!(
            "{} read_ahead_kb {}",
            disk.path().display(),
            read_ahead.trim()
        ));
    }
    all
}

/// Waits until all new objects are gone, at most `patience`; returns the remaining ones. Other programs may create and delete objects meanwhile.
pub fn settle(before: &BTreeSet<String>, patience: Duration) -> Vec<String> {
    let since = Instant::now();
    loop {
        let left: Vec<String> = objects().difference(before).cloned().collect();
        if left.is_empty() || since.elapsed() > patience {
            return left;
        }
        sleep(Duration::from_millis(500));
    }
}

/// Network and mount namespaces that a process is in or holds open, or that are mounted.
fn name_spaces(all: &mut BTreeSet<String>) {
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let at = |name: &str| fs::read_link(process.path().join(name)).ok();
        let open = fs::read_dir(process.path().join("fd"));
        let open = open.into_iter().flatten().flatten();
        let held = open.filter_map(|file| fs::read_link(file.path()).ok());
        let links = [at("ns/net"), at("ns/mnt")].into_iter().flatten();
        let names = links.chain(held).map(|link| link.display().to_string());
        let is_space = |name: &String| name.starts_with("net:[") || name.starts_with("mnt:[");
        all.extend(names.filter(is_space).map(|n| format!("name space {n}")));
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let spaces = mounts.lines().filter(|line| line.contains(" - nsfs "));
    all.extend(spaces.map(|line| format!("mounted name space {line}")));
}

/// Settings to ignore, because the system itself changes them all the time.
const COUNTS: [&str; 8] = [
    "/random/",
    "/fs/dentry-state",
    "/fs/inode-",
    "/fs/file-nr",
    "/kernel/pty/nr",
    "/kernel/ns_last_pid",
    "/sched_domain/",
    "/nf_conntrack_count",
];

fn settings(folder: &Path, all: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.display().to_string();
        if COUNTS.iter().any(|c| name.contains(c)) {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => settings(&path, all),
            _ => {
                let value = fs::read_to_string(&path).unwrap_or_default();
                all.insert(format!("setting {name} {}", value.trim()));
            }
        }
    }
}
