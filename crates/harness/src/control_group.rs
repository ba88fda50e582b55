//! The control groups of a run: the kernel limits the processes and the memory of launches in them.
//!
//! All launches of a run share one set of groups. A removed group stays in the kernel as long as a
//! page of the file cache belongs to it: a group per launch would leave hundreds.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal};

use super::orphans;
use yamba_machine::{OwnGroup, own_group};

/// Name prefix of every group of a run. `runtime/yamba/memory_groups.h` uses it, too.
const PREFIX: &str = "yamba-run-";

/// Longest wait for killed processes. The kernel removes them within milliseconds unless they wait
/// for a device.
const PATIENCE: Duration = Duration::from_secs(10);

/// Number of the next group of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The groups of a run: one in cgroup version 2, one per controller in version 1.
#[derive(Debug)]
pub(super) struct ControlGroups {
    groups: Vec<Group>,
    /// Counts forks that the limit refused.
    refused: Counter,
    /// Counts processes that were killed when the group ran out of memory.
    killed: Option<Counter>,
}

/// A folder, locked as long as this process lives.
#[derive(Debug)]
struct Group {
    folder: PathBuf,
    /// `cgroup.procs`: a process that writes `0` here joins the group.
    door: File,
    _lock: File,
}

/// A number in a kernel file, on the line that begins with `word`.
#[derive(Debug)]
struct Counter {
    file: File,
    word: &'static str,
}

impl ControlGroups {
    /// Makes groups below those of this process. `None` where that is impossible or would change
    /// how launches run.
    pub fn make(memory: Option<u64>) -> Option<ControlGroups> {
        let pids = own_group("pids")?;
        let groups =
            if pids.is_unified { unified(&pids, memory)? } else { separate(&pids, memory)? };
        groups.admits_a_process().then_some(groups)
    }

    /// Groups that limit processes, not memory.
    fn new(group: Group) -> Option<ControlGroups> {
        Some(ControlGroups {
            refused: Counter::open(&group.folder, "pids.events", "max")?,
            groups: vec![group],
            killed: None,
        })
    }

    /// Limits the processes and threads of the group to `most`.
    pub fn limit_processes(&self, most: u64) -> io::Result<()> {
        fs::write(self.groups[0].folder.join("pids.max"), most.to_string())
    }

    /// Open files to which a process writes `0` to join.
    pub fn doors(&self) -> Vec<i32> {
        self.groups.iter().map(|g| g.door.as_raw_fd()).collect()
    }

    pub fn folders(&self) -> Vec<PathBuf> {
        self.groups.iter().map(|g| g.folder.clone()).collect()
    }

    /// Counts since the groups were made: refused forks, and processes killed for lack of memory.
    pub fn counts(&self) -> (u64, u64) {
        let killed = self.killed.as_ref().and_then(Counter::read);
        (self.refused.read().unwrap_or(0), killed.unwrap_or(0))
    }

    pub fn has_members(&self) -> bool {
        !members(&self.groups[0].folder).is_empty()
    }

    /// Kills every process in the groups. None of them can fork meanwhile.
    pub fn empty(&self) {
        for group in &self.groups {
            empty(&group.folder);
        }
    }

    /// Starts a trial process in the groups. The kernel may allow making a group that no process
    /// can enter.
    fn admits_a_process(&self) -> bool {
        let mut trial = Command::new("/bin/sh");
        trial.args(["-c", ":"]);
        trial.stdin(Stdio::null()).stdout(Stdio::null());
        trial.stderr(Stdio::null());
        let doors = self.doors();
        // SAFETY: between fork and exec `join` makes only system calls.
        unsafe { trial.pre_exec(move || join(&doors)) };
        let Ok((mut child, started)) = orphans::start(&mut trial) else {
            return false;
        };
        let status = child.wait();
        orphans::forget(started);
        status.is_ok_and(|s| s.success())
    }
}

impl Drop for ControlGroups {
    fn drop(&mut self) {
        for group in &self.groups {
            empty(&group.folder);
            remove(&group.folder);
        }
    }
}

/// Moves the calling process into the groups. Does not allocate or lock, since it runs between fork
/// and exec.
pub(super) fn join(doors: &[i32]) -> io::Result<()> {
    for door in doors {
        // SAFETY: the parent keeps its files open until the child has become another program.
        let door = unsafe { rustix::fd::BorrowedFd::borrow_raw(*door) };
        rustix::io::write(door, b"0")?;
    }
    Ok(())
}

/// Makes groups in cgroup version 1, which has a tree per controller and allows groups below a
/// group with processes.
///
/// In the root of the memory tree the kernel counts no pages. A group there would count them and
/// slow down each page fault, which would change figures. In that case Yamba watches the memory of
/// launches instead.
fn separate(pids: &OwnGroup, memory: Option<u64>) -> Option<ControlGroups> {
    let mut made = ControlGroups::new(Group::make(&pids.folder)?)?;
    let own = own_group("memory").filter(|own| !own.is_unified && !own.is_named_root);
    if let Some((own, bytes)) = own.zip(memory)
        && let Some(group) = Group::make(&own.folder)
    {
        let limit = group.folder.join("memory.limit_in_bytes");
        if fs::write(limit, bytes.to_string()).is_ok() {
            made.killed = Counter::open(&group.folder, "memory.oom_control", "oom_kill");
            made.groups.push(group);
        } else {
            remove(&group.folder);
        }
    }
    Some(made)
}

/// Makes a group in cgroup version 2. A group with processes cannot have groups below it: the new
/// group stands beside that of this process.
///
/// The limits of this process's group do not apply there. So that group must have no limits, and
/// its parent must already have the controllers: Yamba changes no setting of the system.
fn unified(own: &OwnGroup, memory: Option<u64>) -> Option<ControlGroups> {
    if own.is_top || !is_unlimited(&own.folder) {
        return None;
    }
    let above = own.folder.parent()?;
    let controllers = fs::read_to_string(above.join("cgroup.subtree_control")).ok()?;
    let has = |name: &str| controllers.split_whitespace().any(|c| c == name);
    if !has("pids") {
        return None;
    }
    let mut made = ControlGroups::new(Group::make(above)?)?;
    let folder = &made.groups[0].folder;
    if let Some(bytes) = memory.filter(|_| has("memory"))
        && fs::write(folder.join("memory.max"), bytes.to_string()).is_ok()
    {
        // A launch that lost one of its processes is useless.
        let _ = fs::write(folder.join("memory.oom.group"), "1");
        made.killed = Counter::open(folder, "memory.events", "oom_kill");
    }
    Some(made)
}

/// Whether a group has no limit or weight of its own, apart from a limit of processes.
fn is_unlimited(folder: &Path) -> bool {
    let usual = [
        ("memory.max", "max"),
        ("memory.high", "max"),
        ("memory.swap.max", "max"),
        ("cpu.weight", "100"),
        ("cpuset.cpus", ""),
        ("cpuset.mems", ""),
        ("io.max", ""),
    ];
    // A missing file means that the group lacks this controller.
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let has_quota = text("cpu.max").is_some_and(|text| !text.starts_with("max"));
    let is_usual = |(name, value)| text(name).is_none_or(|text| text.trim() == value);
    !has_quota && usual.into_iter().all(is_usual)
}

impl Group {
    /// Makes a group in this folder. First removes groups that killed runs left there.
    fn make(home: &Path) -> Option<Group> {
        sweep(home);
        // Another run may remove a group before it is locked.
        for _ in 0..20 {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = home.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match fs::create_dir(&folder) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.ok()?,
            }
            let Some(_lock) = lock(&folder) else {
                continue;
            };
            let mut options = File::options();
            let door = options.write(true).open(folder.join("cgroup.procs"));
            let made = door.map(|door| Group { folder: folder.clone(), door, _lock });
            return made.inspect_err(|_| remove(&folder)).ok();
        }
        None
    }
}

impl Counter {
    fn open(folder: &Path, name: &str, word: &'static str) -> Option<Counter> {
        let file = File::open(folder.join(name)).ok()?;
        let counter = Counter { file, word };
        counter.read().map(|_| counter)
    }

    fn read(&self) -> Option<u64> {
        let mut text = [0; 1024];
        let length = self.file.read_at(&mut text, 0).ok()?;
        number_of(std::str::from_utf8(&text[..length]).ok()?, self.word)
    }
}

/// The number on the line that begins with this word.
fn number_of(text: &str, word: &str) -> Option<u64> {
    let words = text.lines().filter_map(|line| line.split_once(' '));
    let mut own = words.filter(|(name, _)| *name == word);
    own.next()?.1.trim().parse().ok()
}

/// Locks a folder. A lock ends with its process. A process number would be ambiguous across
/// containers.
fn lock(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

fn sweep(home: &Path) {
    for folder in below(home) {
        let name = folder.file_name().unwrap_or_default();
        if name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && let Some(_lock) = lock(&folder)
        {
            empty(&folder);
            remove(&folder);
        }
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
    folders.map(|e| e.path()).collect()
}

/// Kills every process in a group and in the groups below it.
fn empty(folder: &Path) {
    // Either file may be missing: `cgroup.kill` exists in version 2 only, and `pids.max` needs its
    // controller.
    let _ = fs::write(folder.join("pids.max"), "0");
    let _ = fs::write(folder.join("cgroup.kill"), "1");
    let begun = Instant::now();
    loop {
        let members = members(folder);
        if members.is_empty() || begun.elapsed() > PATIENCE {
            return;
        }
        for member in members {
            let _ = rustix::process::kill_process(member, Signal::KILL);
        }
        orphans::bury();
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn members(folder: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    // A process of another PID namespace has no number here: it reads as 0.
    let numbers = text.lines().filter_map(|line| line.parse().ok());
    let own = numbers.filter(|pid| *pid > 0).filter_map(Pid::from_raw);
    let inner = below(folder).into_iter().flat_map(|f| members(&f));
    own.chain(inner).collect()
}

/// Removes an empty group and those below it. Waits for killed processes that are still ending.
fn remove(folder: &Path) {
    let begun = Instant::now();
    for inner in below(folder) {
        remove(&inner);
    }
    while let Err(e) = fs::remove_dir(folder) {
        let is_busy = e.kind() == io::ErrorKind::ResourceBusy;
        if !is_busy || begun.elapsed() > PATIENCE {
            return;
        }
        orphans::bury();
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_is_number_after_its_name() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(number_of(text, "oom_kill"), Some(3));
        assert_eq!(number_of(text, "max"), None);
        assert_eq!(number_of("max 12\n", "max"), Some(12));
    }

    #[test]
    fn group_with_limit_is_not_unlimited() {
        let folder = tempfile::tempdir().unwrap();
        let with = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).unwrap();
            is_unlimited(folder.path())
        };
        assert!(is_unlimited(folder.path()));
        assert!(with("cpu.max", "max 100000\n"));
        assert!(with("memory.max", "max\n"));
        assert!(with("cpuset.cpus", "\n"));
        assert!(!with("memory.max", "1000000\n"));
        assert!(with("memory.max", "max\n"));
        assert!(!with("cpu.max", "50000 100000\n"));
        assert!(with("cpu.max", "max 100000\n"));
        assert!(!with("cpuset.cpus", "0-1\n"));
    }
}
