//! Possible leftovers of a run: processes, files, mounts, network devices, and unused kernel
//! objects.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// A live process.
#[derive(Clone, Debug)]
pub struct Process {
    /// The process id.
    pub pid: i32,
    /// The command line, or the name.
    pub words: String,
}

/// Makes this process inherit orphaned descendants. So all live descendants are found, whatever
/// their parent was.
pub fn adopt_orphans() {
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).expect("Linux 3.4");
}

/// All live descendants of a process. Zombies do not count.
pub fn descendants(of: i32) -> Vec<Process> {
    let all = processes();
    let mut family = BTreeSet::from([of]);
    loop {
        let known = family.len();
        family.extend(
            all.iter()
                .filter(|(_, p)| family.contains(&p.0))
                .map(|(pid, _)| *pid)
                .collect::<Vec<_>>(),
        );
        if family.len() == known {
            break;
        }
    }
    family.remove(&of);
    let living = family.into_iter().filter(|pid| !matches!(all[pid].1, 'Z' | 'X'));
    living.map(|pid| Process { pid, words: words(pid) }).collect()
}

/// Parent and state of every process.
fn processes() -> BTreeMap<i32, (i32, char)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    let stat = |pid: i32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, after) = text.rsplit_once(')')?;
        let mut fields = after.split_whitespace();
        let state = fields.next()?.chars().next()?;
        Some((pid, (fields.next()?.parse().ok()?, state)))
    };
    numbers.filter_map(stat).collect()
}

fn words(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&bytes).replace('\0', " ");
    match words.trim() {
        "" => fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned(),
        words => words.chars().take(200).collect(),
    }
}

/// Sends a signal. A process that has ended is ignored.
pub fn signal(pid: i32, signal: rustix::process::Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The content of this folder, one line per entry.
pub fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| format!("file {}", e.path().display())).collect()
}

/// Mounts whose entry names this folder.
pub fn mounts(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let all = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let ours = all.lines().filter(|l| l.contains(&folder));
    ours.map(|l| format!("mount {l}")).collect()
}

/// Network devices of the hosts that benchmarks create. They must not appear on this host.
pub fn devices() -> Vec<String> {
    let ours = ["near", "far"].map(|name| Path::new("/sys/class/net").join(name));
    let there = ours.iter().filter(|path| path.exists());
    there.map(|path| format!("device {}", path.display())).collect()
}

/// Kernel objects that outlive processes: private System V objects, and unlocked memory control
/// groups.
pub fn kept() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for kind in ["sem", "shm", "msg"] {
        let text = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        let ids = own_private(&text);
        all.extend(ids.map(|id| format!("System V {kind} {id}")));
    }
    let groups = groups().into_iter().filter(|g| !is_locked(g));
    all.extend(groups.map(|g| format!("group {}", g.display())));
    all
}

/// This user's objects without a key. Benchmarks create only such objects.
fn own_private(table: &str) -> impl Iterator<Item = &str> {
    let mut lines = table.lines();
    let heads = lines.next().unwrap_or_default().split_whitespace();
    let owner = heads.into_iter().position(|head| head == "cuid");
    let own = rustix::process::getuid().as_raw().to_string();
    lines.filter_map(move |line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_own = fields.first() == Some(&"0") && fields.get(owner?) == Some(&own.as_str());
        is_own.then(|| fields[1])
    })
}

/// Memory control groups of the kind that benchmarks create.
pub fn groups() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let homes = text.lines().filter_map(|line| {
        let path = match line.split_once(":memory:") {
            Some((_, path)) => format!("/sys/fs/cgroup/memory{path}"),
            None => format!("/sys/fs/cgroup{}", line.strip_prefix("0::")?),
        };
        Some(PathBuf::from(path))
    });
    // In version 2 the groups are siblings of their creator's group.
    let places = homes.flat_map(|home| [home.parent().map(PathBuf::from), Some(home)]);
    let places: Vec<PathBuf> = places.flatten().collect();
    // If the run has a group, a benchmark's group is inside it.
    let runs: Vec<PathBuf> = named(&places, b"yamba-run-").collect();
    named(&places, b"yamba.").chain(named(&runs, b"yamba.")).collect()
}

/// The groups in these folders with this name prefix.
fn named<'a>(folders: &'a [PathBuf], begin: &'a [u8]) -> impl Iterator<Item = PathBuf> + 'a {
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok());
    let all = entries.flatten().flatten().map(|entry| entry.path());
    all.filter(move |path| {
        let name = path.file_name();
        name.is_some_and(|n| n.as_encoded_bytes().starts_with(begin))
    })
}

/// Whether a live process has locked the group, as every creator does.
fn is_locked(folder: &Path) -> bool {
    let Ok(file) = File::open(folder) else {
        return false;
    };
    let wish = FlockOperation::NonBlockingLockShared;
    rustix::fs::flock(&file, wish) == Err(Errno::WOULDBLOCK)
}

/// Leftovers of a run that used these folders. All descendants of this process except `known`
/// belong to the run.
fn left(folders: &[&Path], known: Option<i32>) -> Vec<String> {
    let own = std::process::id() as i32;
    let processes = descendants(own).into_iter().filter(|p| Some(p.pid) != known);
    let mut left: Vec<String> =
        processes.map(|p| format!("process {} {}", p.pid, p.words)).collect();
    for folder in folders {
        left.extend(files(folder));
        left.extend(mounts(folder));
    }
    left.extend(devices());
    left
}

/// Waits at most `patience` until nothing new is left, and returns the leftovers. Objects that
/// other programs keep briefly do not count.
pub fn settle(
    folders: &[&Path],
    known: Option<i32>,
    before: &BTreeSet<String>,
    patience: Duration,
) -> Vec<String> {
    let since = Instant::now();
    let mut objects: Option<BTreeSet<String>> = None;
    loop {
        let mut left = left(folders, known);
        // Check objects only after all processes have ended, since live processes may own them.
        if left.is_empty() {
            let mut now: BTreeSet<String> = kept().difference(before).cloned().collect();
            now.retain(|object| objects.as_ref().is_none_or(|all| all.contains(object)));
            left.extend(now.iter().cloned());
            objects = Some(now);
        }
        if left.is_empty() || since.elapsed() > patience {
            return left;
        }
        sleep(Duration::from_millis(10));
    }
}
