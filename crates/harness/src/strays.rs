//! What a launch leaves behind outside its process group: daemons in a session of their own, orphans of its partners. They would compete
//! with the next launch. While this process is the one that adopts them, it can find and end them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

/// What tells every process of a launch where its files are, and us whose process it is.
pub(super) const SCRATCH: &str = "YAMBA_SCRATCH";

/// Who is killed and is not gone after so long waits for a device: it will not run again.
const PATIENCE: Duration = Duration::from_secs(1);

/// So long a process that a launch leaves behind may still run, also where others keep the processor from it.
const LAST_WILL: Duration = Duration::from_secs(1);

/// Ending a process hands its children to us. More generations than this are made on purpose.
const GENERATIONS: usize = 100;

/// The processes that were started here and whose end was not yet taken note of. Held while one is started or others are looked for:
/// nobody takes a new one for a stray.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn started() -> MutexGuard<'static, BTreeSet<i32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A launch, and since when it runs in the system's own count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    pid: i32,
    since: Option<u64>,
}

impl Started {
    /// The process that was started, as long as it has its number: until its end is taken note of.
    pub(super) fn process(self) -> Option<Pid> {
        let is_itself = self.since.is_some_and(|since| is_same(self.pid, since));
        is_itself.then(|| Pid::from_raw(self.pid))?
    }
}

/// Starts a process whose orphans become ours.
pub(super) fn start(command: &mut Command) -> io::Result<(Child, Started)> {
    let mut started = started();
    adopt_orphans();
    let child = command.spawn()?;
    let pid = child.id() as i32;
    started.insert(pid);
    let since = Stat::of(pid).map(|s| s.since);
    Ok((child, Started { pid, since }))
}

/// Its end was taken note of.
pub(super) fn forget(process: Started) {
    started().remove(&process.pid);
}

/// Where the system has nobody adopt orphans, none is found.
#[cfg(target_os = "linux")]
fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Takes note of orphans that have ended by themselves: as zombies they would use up the system's numbers.
pub(super) fn bury() {
    let started = started();
    while let Some(Some(pid)) = ended_child() {
        let is_orphan = !started.contains(&pid) && Stat::of(pid).is_some_and(|s| s.is_foreign());
        if !is_orphan || !is_gone(pid) {
            return;
        }
    }
}

/// Whether all have ended by themselves. A process that a benchmark keeps to undo what its own sudden end would leave behind (a
/// semaphore, a mount) gets the time for it.
///
/// Gives up early when `must_stop` says so.
pub(super) fn all_end_in_time(
    launch: Started,
    scratch: &Path,
    mut must_stop: impl FnMut() -> bool,
) -> bool {
    let since = Instant::now();
    while since.elapsed() < LAST_WILL && !must_stop() {
        bury();
        if strays(launch, scratch).is_empty() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Ends what a launch that has ended itself left behind, and says the names of those that had left its group.
pub(super) fn end(launch: Started, scratch: &Path) -> Vec<String> {
    started().remove(&launch.pid);
    let mut names = Vec::new();
    for _ in 0..GENERATIONS {
        bury();
        let found = strays(launch, scratch);
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

/// Whether a child has ended; then it is forgotten.
fn is_gone(pid: i32) -> bool {
    let ended = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::NOHANG);
    !matches!(ended, Ok(None))
}

/// The processes of a launch: the one that was started, the adopted ones, and all that descend from these.
///
/// `known` are processes of the launch that need not be read again. They are left out of the answer.
pub(super) fn family(launch: Started, scratch: &Path, known: &HashMap<i32, u64>) -> Vec<Stat> {
    let adopted = strays(launch, scratch);
    let own = launch.process().map(|pid| pid.as_raw_nonzero().get());
    let roots = adopted.iter().map(|s| s.pid).chain(own);
    let mut members: HashSet<i32> = known.keys().copied().chain(roots).collect();
    let mut others: Vec<Stat> = numbers()
        .filter(|pid| !known.contains_key(pid))
        .filter_map(Stat::of)
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

/// Whether a process is still the one that began at this time.
pub(super) fn is_same(pid: i32, since: u64) -> bool {
    Stat::of(pid).is_some_and(|s| s.since == since)
}

/// The numbers of all processes.
fn numbers() -> impl Iterator<Item = i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// The adopted processes that live. Other children of this process are in its own group, or older, or of another run.
fn strays(launch: Started, scratch: &Path) -> Vec<Stat> {
    let started = started();
    let Some(since) = launch.since.filter(|_| ended_child().is_some()) else {
        return Vec::new();
    };
    let is_stray = |s: &Stat| {
        s.is_ours()
            && s.is_foreign()
            && !s.is_zombie
            && s.since >= since
            && !started.contains(&s.pid)
            && !is_of_another_run(s.pid, scratch)
            // Asked last: who ends or becomes another program meanwhile had no environment to be told by.
            && Stat::of(s.pid).is_some_and(|s| !s.is_zombie && s.has_memory)
    };
    numbers().filter_map(Stat::of).filter(is_stray).collect()
}

/// A process may have forgotten its environment; then it is not known to be of another run.
fn is_of_another_run(pid: i32, scratch: &Path) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mark = format!("{SCRATCH}=");
    let own = environment.split(|b| *b == 0);
    let mut told = own.filter_map(|v| v.strip_prefix(mark.as_bytes()));
    told.next()
        .is_some_and(|s| s != scratch.as_os_str().as_bytes())
}

/// None: there is no child at all. `Some(None)`: all of them run. It stays as it is.
#[cfg(target_os = "linux")]
fn ended_child() -> Option<Option<i32>> {
    // SAFETY: a `siginfo_t` of zeros is a valid one.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is writable; WNOWAIT changes nothing.
    let done = unsafe { libc::waitid(libc::P_ALL, 0, &mut info, options) };
    // SAFETY: waitid has filled it, or left it zero.
    let pid = unsafe { info.si_pid() };
    (done == 0).then_some((pid > 0).then_some(pid))
}

#[cfg(not(target_os = "linux"))]
fn ended_child() -> Option<Option<i32>> {
    None
}

/// Whether a child has ended; its number stays its own, so that its group can still be ended.
pub(super) fn has_ended(child: &Child) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let child = Pid::from_raw(child.id() as i32);
    child.is_some_and(|pid| matches!(rustix::process::waitid(WaitId::Pid(pid), look), Ok(Some(_))))
}

/// What the system says of a process.
pub(super) struct Stat {
    pub pid: i32,
    name: String,
    is_zombie: bool,
    parent: i32,
    group: i32,
    pub threads: u64,
    /// When it began, in the system's own count.
    pub since: u64,
    /// Who is ending has none any more.
    has_memory: bool,
}

impl Stat {
    fn of(pid: i32) -> Option<Stat> {
        Stat::read(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// A name may hold anything, also blanks and brackets.
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

    /// What this process starts for itself, a compiler for example, stays in its group.
    fn is_foreign(&self) -> bool {
        self.group != rustix::process::getpgrp().as_raw_nonzero().get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_of_a_process() {
        let line = b"77 (a) (b) S 5 6 6 0 -1 4194560 104 0 0 0 0 0 0 0 20 0 1 0 51234 2 3";
        let stat = Stat::read(77, line).unwrap();
        assert_eq!((stat.name.as_str(), stat.is_zombie), ("a) (b", false));
        assert_eq!((stat.parent, stat.group, stat.since), (5, 6, 51234));
        assert!(stat.has_memory && stat.threads == 1);
        assert!(Stat::read(1, b"1 (init) S 0").is_none());
        assert!(Stat::read(1, b"").is_none());
    }
}
