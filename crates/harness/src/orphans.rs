//! Finds and ends the processes that a launch leaves outside its process group: daemons in a
//! session of their own, orphans of its partner processes. They would compete with the next launch.
//! They can be found because this process adopts orphans (subreaper).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

/// Environment variable with the launch's scratch folder. It also shows which run a process belongs
/// to.
pub(super) const SCRATCH: &str = "YAMBA_SCRATCH";

/// A killed process that is still there after this time waits for a device: it will not run any
/// more.
const PATIENCE: Duration = Duration::from_secs(1);

/// The longest time for which an environment is taken for that of a process within exec.
const EXEC_TIME: Duration = Duration::from_millis(100);

/// Time for processes that outlive a launch to end by themselves, also on a busy machine.
const CLEANUP_TIME: Duration = Duration::from_secs(1);

/// When a process ends, its children become children of this process. More generations than this
/// are made on purpose.
const GENERATIONS: usize = 100;

/// Children that were started here and are not yet reaped. Locked while a child starts and while
/// orphans are searched, so that a new child is not taken for an orphan.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn started() -> MutexGuard<'static, BTreeSet<i32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A started launch: its process number and its start time in the kernel's count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    pid: i32,
    since: Option<u64>,
}

impl Started {
    /// The process of this number, which may have ended but must not be reaped yet.
    pub(super) fn unreaped(pid: Pid) -> Started {
        let pid = pid.as_raw_nonzero().get();
        let since = Stat::find(pid).map(|s| s.since);
        Started { pid, since }
    }

    /// The started process, until it is reaped. After that its number may belong to another
    /// process.
    pub(super) fn process(self) -> Option<Pid> {
        let is_itself = self.since.is_some_and(|since| is_same(self.pid, since));
        is_itself.then(|| Pid::from_raw(self.pid))?
    }
}

/// Starts a process. This process adopts its orphans.
pub(super) fn start(command: &mut Command) -> io::Result<(Child, Started)> {
    let child = spawn(command)?;
    let started = Started::unreaped(Pid::from_child(&child));
    Ok((child, started))
}

/// Like [`start`], without reading the start time of the process while it runs.
pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut started = started();
    adopts_orphans();
    let child = command.spawn()?;
    started.insert(child.id() as i32);
    Ok(child)
}

/// Removes a process that was reaped from [`STARTED`].
pub(super) fn forget(process: Started) {
    started().remove(&process.pid);
}

/// Makes this process the subreaper of its descendants, if the system can. Else no orphans are
/// found.
#[cfg(target_os = "linux")]
pub(super) fn adopts_orphans() -> bool {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn adopts_orphans() -> bool {
    false
}

/// Reaps orphans that have ended: as zombies they would use up process numbers.
pub(super) fn bury() {
    let started = started();
    while let Some(Some(pid)) = ended_child() {
        let is_orphan = !started.contains(&pid) && Stat::find(pid).is_some_and(|s| s.is_foreign());
        if !is_orphan || !is_gone(pid) {
            return;
        }
    }
}

/// Waits until all processes that outlived the launch have ended; `false` after [`CLEANUP_TIME`].
///
/// A benchmark may keep a process that cleans up (a semaphore, a mount) after a sudden end: it gets
/// time for that. Returns early when `must_stop` is true.
pub(super) fn all_end_in_time(
    launch: Started,
    scratch: &Path,
    mut must_stop: impl FnMut() -> bool,
) -> bool {
    let since = Instant::now();
    while since.elapsed() < CLEANUP_TIME && !must_stop() {
        bury();
        if orphans(launch, scratch).is_empty() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Kills all processes that outlived a launch. Returns the names of those outside its process
/// group.
pub(super) fn end(launch: Started, scratch: &Path) -> Vec<String> {
    started().remove(&launch.pid);
    let mut names = Vec::new();
    for _ in 0..GENERATIONS {
        bury();
        let found = orphans(launch, scratch);
        if found.is_empty() {
            break;
        }
        for stray in &found {
            kill(stray.pid);
        }
        let outsiders = found.into_iter().filter(|s| s.group != launch.pid);
        names.extend(outsiders.map(|s| s.name));
    }
    names
}

fn kill(pid: i32) {
    let Some(stray) = Pid::from_raw(pid) else {
        return;
    };
    let _ = rustix::process::kill_process(stray, Signal::KILL);
    let begun = Instant::now();
    while !is_gone(pid) && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reaps the members of a process group that was killed after its leader had ended. Returns the
/// names of those that ran until then.
pub(super) fn reap_group(group: Pid) -> Vec<String> {
    let (mut names, begun) = (Vec::new(), Instant::now());
    while let Some(member) = ended_member(group) {
        match member {
            Some(ended) => {
                let stat = Stat::find(ended.pid).filter(|_| ended.is_killed);
                names.extend(stat.map(|s| s.name));
                is_gone(ended.pid);
            }
            None if begun.elapsed() > PATIENCE => break,
            None => std::thread::sleep(Duration::from_micros(50)),
        }
    }
    names
}

/// Whether this process has adopted members of the group.
pub(super) fn has_members(group: Pid) -> bool {
    ended_member(group).is_some()
}

/// Numbers and names of the adopted processes that began with the launch or later, except those in
/// its process group and in the group `other`.
pub(super) fn adopted_since(launch: Started, other: Option<Pid>) -> Vec<(i32, String)> {
    let groups = [Some(launch.pid), other.map(|pid| pid.as_raw_nonzero().get())];
    let found = orphans(launch, Path::new("")).into_iter();
    let outside = found.filter(|s| !groups.contains(&Some(s.group)));
    outside.map(|s| (s.pid, s.name)).collect()
}

/// Whether the children of the main thread, which adopts all orphans, are those that were started
/// here. That takes microseconds; a search of `/proc` at the end of each process takes
/// milliseconds. The kernel may leave out a child while another one is being reaped: a later call
/// finds it. `false` if the kernel does not list children.
pub(super) fn has_adopted_none() -> bool {
    let (started, own) = (started(), std::process::id());
    let is_started = |pid: &str| pid.parse().is_ok_and(|pid| started.contains(&pid));
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"));
    children.is_ok_and(|pids| pids.split_whitespace().all(is_started))
}

/// Whether a child has ended. Reaps it if so.
fn is_gone(pid: i32) -> bool {
    let ended = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::NOHANG);
    !matches!(ended, Ok(None))
}

/// The processes of a launch: the started one, the adopted ones, and all their descendants.
///
/// `known` are processes of the launch that were found before. They are not read again and not
/// returned.
pub(super) fn family(launch: Started, scratch: &Path, known: &HashMap<i32, u64>) -> Vec<Stat> {
    let adopted = orphans(launch, scratch);
    let own = launch.process().map(|pid| pid.as_raw_nonzero().get());
    let roots = adopted.iter().map(|s| s.pid).chain(own);
    let mut members: HashSet<i32> = known.keys().copied().chain(roots).collect();
    let mut others: Vec<Stat> = numbers()
        .filter(|pid| !known.contains_key(pid))
        .filter_map(Stat::find)
        .filter(|s| !s.is_zombie)
        .collect();
    let mut family = Vec::new();
    loop {
        let is_member = |s: &mut Stat| members.contains(&s.pid) || members.contains(&s.parent);
        let found: Vec<Stat> = others.extract_if(.., is_member).collect();
        if found.is_empty() {
            return family;
        }
        members.extend(found.iter().map(|s| s.pid));
        family.extend(found);
    }
}

/// Whether this number still belongs to the process that started at this time.
pub(super) fn is_same(pid: i32, since: u64) -> bool {
    Stat::find(pid).is_some_and(|s| s.since == since)
}

/// Numbers of all processes.
fn numbers() -> impl Iterator<Item = i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// Living processes of this launch that were adopted. Other children of this process are in its own
/// group, older, or of another run.
fn orphans(launch: Started, scratch: &Path) -> Vec<Stat> {
    let Some(since) = launch.since.filter(|_| !has_adopted_none()) else {
        return Vec::new();
    };
    let started = started();
    let is_orphan = |s: &Stat| {
        s.is_ours()
            && s.is_foreign()
            && !s.is_zombie
            && s.since >= since
            && !started.contains(&s.pid)
            && !is_of_another_run(s.pid, scratch)
            // Checked last: a process that just ended or called exec had no readable environment
            // above.
            && Stat::find(s.pid).is_some_and(|s| !s.is_zombie && s.has_memory)
    };
    numbers().filter_map(Stat::find).filter(is_orphan).collect()
}

/// Whether the environment names the scratch folder of another run. A process without that variable
/// counts as this run's.
fn is_of_another_run(pid: i32, scratch: &Path) -> bool {
    let environment = environment(pid);
    let mark = format!("{SCRATCH}=");
    let own = environment.split(|b| *b == 0);
    let mut marks = own.filter_map(|v| v.strip_prefix(mark.as_bytes()));
    marks.next().is_some_and(|s| s != scratch.as_os_str().as_bytes())
}

/// The environment of a process. It is empty while the process calls exec, until the kernel has
/// written its new stack, which takes long if others have the processor.
fn environment(pid: i32) -> Vec<u8> {
    let begun = Instant::now();
    loop {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok();
        let is_final = environment.as_ref().is_none_or(|variables| !variables.is_empty());
        if is_final || begun.elapsed() > EXEC_TIME {
            return environment.unwrap_or_default();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A child that has ended and is not reaped.
struct EndedChild {
    pid: i32,
    /// By SIGKILL.
    is_killed: bool,
}

/// `None`: no children. `Some(None)`: all still running. Does not reap.
fn ended_child() -> Option<Option<i32>> {
    Some(ended(None)?.map(|ended| ended.pid))
}

/// Like [`ended_child`], for children in this process group.
fn ended_member(group: Pid) -> Option<Option<EndedChild>> {
    ended(Some(group))
}

#[cfg(target_os = "linux")]
fn ended(group: Option<Pid>) -> Option<Option<EndedChild>> {
    // SAFETY: a `siginfo_t` of zeros is a valid one.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let (which, number) = match group {
        Some(group) => (libc::P_PGID, group.as_raw_nonzero().get() as libc::id_t),
        None => (libc::P_ALL, 0),
    };
    // SAFETY: `info` is writable; WNOWAIT changes nothing.
    let done = unsafe { libc::waitid(which, number, &mut info, options) };
    // SAFETY: waitid has filled it, or left it zero.
    let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
    let is_killed = info.si_code == libc::CLD_KILLED && status == libc::SIGKILL;
    (done == 0).then_some((pid > 0).then_some(EndedChild { pid, is_killed }))
}

#[cfg(not(target_os = "linux"))]
fn ended(_: Option<Pid>) -> Option<Option<EndedChild>> {
    None
}

/// Whether a child has ended. Does not reap: its number stays taken, so that its group can still be
/// killed.
pub(super) fn has_ended(child: &Child) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let child = Pid::from_raw(child.id() as i32);
    child.is_some_and(|pid| matches!(rustix::process::waitid(WaitId::Pid(pid), look), Ok(Some(_))))
}

/// A process as `/proc/PID/stat` describes it.
pub(super) struct Stat {
    pub pid: i32,
    name: String,
    is_zombie: bool,
    parent: i32,
    group: i32,
    pub threads: u64,
    /// Start time in the kernel's count.
    pub since: u64,
    /// False for a process that is ending.
    has_memory: bool,
}

impl Stat {
    fn find(pid: i32) -> Option<Stat> {
        Stat::read(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses a line of `/proc/PID/stat`. The name may contain any character, also blanks and
    /// brackets.
    fn read(pid: i32, bytes: &[u8]) -> Option<Stat> {
        let text = String::from_utf8_lossy(bytes);
        let (before, after) = text.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let fields: Vec<&str> = after.split_whitespace().collect();
        Some(Stat {
            pid,
            name: name.to_owned(),
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            since: fields.get(19)?.parse().ok()?,
            has_memory: *fields.get(20)? != "0",
        })
    }

    fn is_ours(&self) -> bool {
        self.parent == rustix::process::getpid().as_raw_nonzero().get()
    }

    /// Whether it is outside this process's group. Processes that Yamba starts for itself, such as
    /// a compiler, stay in the group.
    fn is_foreign(&self) -> bool {
        self.group != rustix::process::getpgrp().as_raw_nonzero().get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_state_is_read_from_proc() {
        let line = b"77 (a) (b) S 5 6 6 0 -1 4194560 104 0 0 0 0 0 0 0 20 0 1 0 51234 2 3";
        let stat = Stat::read(77, line).unwrap();
        assert_eq!((stat.name.as_str(), stat.is_zombie), ("a) (b", false));
        assert_eq!((stat.parent, stat.group, stat.since), (5, 6, 51234));
        assert!(stat.has_memory && stat.threads == 1);
        assert!(Stat::read(1, b"1 (init) S 0").is_none());
        assert!(Stat::read(1, b"").is_none());
    }
}
