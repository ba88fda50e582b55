//! Limits of one launch: processes, memory, and the length of a file. Where control groups can be
//! made, the kernel enforces them. Otherwise this module watches the launch. A launch that
//! exceeds a limit is killed with all its processes.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{fs, io};

use rustix::process::{Resource, Rlimit};

use super::control_group::{self, ControlGroups};
use super::freeze;
use super::options::Options;
use super::orphans::{self, Started};
use super::scratch::Room;
use yamba_machine::{available_memory, memory_limit, own_group};

/// Processes and threads of a benchmark that runs alone: lmbench's longest ring has 96, builds have
/// some per processor.
const USUAL_PROCESSES: u64 = 1024;
const FOR_EACH_PROCESSOR: u64 = 16;

/// Allowance per further process of a load: each may have a ring of its own.
const FOR_EACH_PROCESS: u64 = 128;

/// Free process numbers that a launch leaves to the rest of the system.
const PROCESS_RESERVE: u64 = 1024;

/// Lower bound for the file size limit: Yamba's own services may write files of this size.
const LEAST_FILE: u64 = 16 << 20;

/// Memory that a launch leaves to the system: a 32nd of it, and at least this. Between two checks
/// of the watcher 64 processors can take about 2 GB; such machines reserve 4 GB or more.
const LEAST_MEMORY_RESERVE: u64 = 128 << 20;

/// The limits of all launches of a run.
#[derive(Debug)]
pub(super) struct Bounds {
    groups: Option<ControlGroups>,
    process_limit: Option<u64>,
    /// Processes that the user's limit (`ulimit -u`) leaves to a launch; `None` without such a
    /// limit.
    user_processes: Option<u64>,
    memory: Option<Memory>,
    file_size: u64,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    /// Bytes available when the run began, less the reserve.
    limit: u64,
    reserve: u64,
}

/// The resource that a launch used too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// Processes and threads. `is_all`: the system cannot spare more.
    Processes { limit: u64, is_all: bool },
    /// Bytes.
    Memory { limit: u64 },
}

impl Bounds {
    pub fn new(options: &Options, room: &Room) -> Bounds {
        let memory = memory();
        // The group's limit includes the reserve: the file cache counts in a group, too, and may
        // fill the available memory, as it may outside a group.
        let available = memory.map(|m| m.limit + m.reserve);
        Bounds {
            groups: ControlGroups::make(available),
            process_limit: options.process_limit,
            user_processes: spare_user_processes(),
            memory,
            file_size: room.all.max(LEAST_FILE),
        }
    }

    /// The folders of the control groups.
    pub fn folders(&self) -> Vec<std::path::PathBuf> {
        self.groups.as_ref().map_or(Vec::new(), |g| g.folders())
    }

    /// Starts watching a launch with this number of concurrent processes or threads.
    pub fn watch(&self, workers: u64) -> io::Result<Watch<'_>> {
        let tasks = tasks();
        let asked = self.process_limit.unwrap_or_else(|| usual(workers));
        let spare = spare_processes(tasks);
        let spare = spare.into_iter().chain(self.user_processes).min();
        let limit = asked.min(spare.unwrap_or(asked)).max(1);
        if let Some(groups) = &self.groups {
            groups.limit_processes(limit)?;
        }
        let (refused, killed) = self.groups.as_ref().map_or((0, 0), ControlGroups::counts);
        Ok(Watch {
            bounds: self,
            limit,
            is_all: limit < asked,
            tasks,
            suspect: tasks.map(|tasks| tasks + limit / 2),
            refused,
            killed,
            killed_anywhere: killed_anywhere(),
        })
    }
}

/// Watches one launch.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    bounds: &'a Bounds,
    limit: u64,
    is_all: bool,
    /// Processes and threads of the system when the launch began.
    tasks: Option<u64>,
    /// Number of tasks of the system above which those of the launch are counted. Counting begins
    /// at half the limit, since up to that many other tasks may have ended since the launch began.
    suspect: Option<u64>,
    /// The groups' counters before the launch.
    refused: u64,
    killed: u64,
    killed_anywhere: Option<u64>,
}

/// Limits that a child sets on itself between fork and exec.
#[derive(Debug)]
pub(super) struct OwnLimits {
    doors: Vec<i32>,
    file_size: u64,
    user_processes: Option<u64>,
}

impl Watch<'_> {
    pub fn own_limits(&self) -> OwnLimits {
        let groups = self.bounds.groups.as_ref();
        OwnLimits {
            doors: groups.map_or(Vec::new(), ControlGroups::doors),
            file_size: self.bounds.file_size,
            user_processes: self.tasks.map(|tasks| tasks + self.limit),
        }
    }

    /// The limit that the launch has exceeded so far. Called every few milliseconds while the
    /// benchmark is timed. So it reads two small files, and inspects the launch's processes only if
    /// these give reason to.
    pub fn excess(&mut self, launch: Started, scratch: &Path) -> Option<Excess> {
        if let Some(groups) = &self.bounds.groups {
            let (refused, killed) = groups.counts();
            if killed > self.killed {
                return self.too_much_memory();
            }
            if refused > self.refused {
                return Some(self.too_many_processes());
            }
        } else if self.has_too_many_processes(launch, scratch) {
            return Some(self.too_many_processes());
        }
        let memory = self.bounds.memory.filter(|m| is_short(m.reserve))?;
        let held = orphans::family(launch, scratch, &HashMap::new());
        let held: u64 = held.iter().map(|s| held_by(s.pid)).sum();
        // Processes of other users may hold the memory.
        (held > memory.limit / 2).then(|| self.too_much_memory())?
    }

    /// The limit that the launch had exceeded when it ended. `is_killed`: it ended by a SIGKILL
    /// that Yamba did not send.
    pub fn last_excess(
        &mut self,
        launch: Started,
        scratch: &Path,
        is_killed: bool,
    ) -> Option<Excess> {
        let found = self.excess(launch, scratch);
        if found.is_some() || !is_killed {
            return found;
        }
        let (before, now) = self.killed_anywhere.zip(killed_anywhere())?;
        (now > before).then(|| self.too_much_memory())?
    }

    /// Kills all processes of the launch.
    pub fn end_all(&self, launch: Started, scratch: &Path) {
        match &self.bounds.groups {
            Some(groups) => groups.empty(),
            None => freeze::end(launch, scratch),
        }
    }

    /// Kills the processes left in the groups. Most launches leave none.
    pub fn end_rest(&self) {
        if let Some(groups) = self.bounds.groups.as_ref().filter(|g| g.has_members()) {
            groups.empty();
        }
    }

    fn too_many_processes(&self) -> Excess {
        Excess::Processes { limit: self.limit, is_all: self.is_all }
    }

    fn too_much_memory(&self) -> Option<Excess> {
        let limit = self.bounds.memory?.limit;
        Some(Excess::Memory { limit })
    }

    /// Whether the launch, whose first process has ended but is not reaped, has left too many
    /// processes. Only without control groups, which refuse each process beyond the limit.
    pub fn excess_at_its_end(&self, launch: Started, scratch: &Path) -> Option<Excess> {
        let may_be = self.bounds.groups.is_none() && !orphans::has_adopted_none();
        (may_be && freeze::count(launch, scratch) > self.limit).then(|| self.too_many_processes())
    }

    fn has_too_many_processes(&mut self, launch: Started, scratch: &Path) -> bool {
        let Some((now, suspect)) = tasks().zip(self.suspect) else {
            return false;
        };
        if now <= suspect {
            // Others may have ended.
            self.suspect = Some(suspect.min(now + self.limit / 2));
            return false;
        }
        let own = freeze::count(launch, scratch);
        self.suspect = Some(now + self.limit.saturating_sub(own) / 2);
        own > self.limit
    }
}

impl OwnLimits {
    /// Limits the calling process. Does not allocate or lock, since it runs between fork and exec.
    pub fn apply(&self) -> io::Result<()> {
        control_group::join(&self.doors)?;
        // Only soft limits: a benchmark that needs more, for example for a sparse file, can raise
        // them.
        lower(Resource::Fsize, self.file_size);
        // This limit counts the user's other processes, too, and does not bind root.
        if let Some(most) = self.user_processes {
            lower(Resource::Nproc, most);
        }
        be_first_to_go();
        Ok(())
    }
}

fn lower(resource: Resource, most: u64) {
    let now = rustix::process::getrlimit(resource);
    if now.current.is_none_or(|current| current > most) {
        let lower = Rlimit {
            current: Some(now.maximum.map_or(most, |maximum| maximum.min(most))),
            maximum: now.maximum,
        };
        let _ = rustix::process::setrlimit(resource, lower);
    }
}

/// Makes the kernel kill this process and its children before any other program if memory runs out.
fn be_first_to_go() {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    if let Ok(file) = open(c"/proc/self/oom_score_adj", flags, Mode::empty()) {
        let _ = rustix::io::write(&file, b"1000");
    }
}

fn memory() -> Option<Memory> {
    let available = available_memory()?;
    let available = memory_limit().map_or(available, |limit| limit.min(available));
    let info = rustix::system::sysinfo();
    let total = info.totalram as u64 * u64::from(info.mem_unit);
    let reserve = (total / 32).max(LEAST_MEMORY_RESERVE).min(available / 2);
    Some(Memory { limit: available - reserve, reserve })
}

/// Whether less than `reserve` is available. Checks free memory first, which costs next to nothing.
fn is_short(reserve: u64) -> bool {
    let info = rustix::system::sysinfo();
    let free = info.freeram as u64 * u64::from(info.mem_unit);
    free < 2 * reserve && available_memory().is_some_and(|bytes| bytes < reserve)
}

/// Bytes of memory that become free when this process ends.
fn held_by(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kibibytes = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        let counts = matches!(name, "RssAnon" | "RssShmem" | "VmSwap" | "VmPTE");
        let number = rest.split_whitespace().next().filter(|_| counts)?;
        number.parse::<u64>().ok()
    };
    status.lines().filter_map(kibibytes).sum::<u64>() << 10
}

/// Default limit of a launch's processes and threads.
fn usual(workers: u64) -> u64 {
    let processors = yamba_machine::processor_count();
    let alone = USUAL_PROCESSES.max(FOR_EACH_PROCESSOR * processors);
    alone.saturating_add(FOR_EACH_PROCESS.saturating_mul(workers.saturating_sub(1)))
}

/// Processes and threads of the whole system: the second number of `1/80` in `0.20 0.18 0.12 1/80
/// 11206`.
fn tasks() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    tasks_in(&text)
}

fn tasks_in(loadavg: &str) -> Option<u64> {
    let (_, all) = loadavg.split(' ').nth(3)?.split_once('/')?;
    all.parse().ok()
}

/// Processes and threads that the system and the surrounding control groups still allow, less a
/// reserve.
fn spare_processes(tasks: Option<u64>) -> Option<u64> {
    let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let of_system = ["/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"];
    let of_system = of_system.iter().filter_map(|path| number(Path::new(path)));
    let of_system = of_system.map(|most| most.saturating_sub(tasks.unwrap_or(0)));
    let own = own_group("pids").map(|own| own.folder);
    let groups = own.iter().flat_map(|folder| folder.ancestors());
    let of_groups = groups.filter_map(|folder| {
        let most = number(&folder.join("pids.max"))?;
        Some(most.saturating_sub(number(&folder.join("pids.current"))?))
    });
    let left = of_system.chain(of_groups).min()?;
    Some(left - PROCESS_RESERVE.min(left / 4))
}

/// Processes and threads that this user's limit (`ulimit -u`) still allows, less a quarter: a
/// launch that reaches that limit would time its failing forks. `None` for root, which the limit
/// does not bind, and without a limit.
fn spare_user_processes() -> Option<u64> {
    let user = rustix::process::geteuid();
    let limit = rustix::process::getrlimit(Resource::Nproc).current?;
    if user.is_root() {
        return None;
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = processes.filter(|entry| {
        let is_number = |name: &str| name.bytes().all(|b| b.is_ascii_digit());
        let about = entry.metadata();
        about.is_ok_and(|about| about.uid() == user.as_raw())
            && entry.file_name().to_str().is_some_and(is_number)
    });
    let threads =
        own.filter_map(|entry| Some(fs::read_dir(entry.path().join("task")).ok()?.count()));
    let left = limit.saturating_sub(threads.sum::<usize>() as u64);
    Some(left - left / 4)
}

/// Processes that the kernel has killed for lack of memory since it started.
fn killed_anywhere() -> Option<u64> {
    let text = fs::read_to_string("/proc/vmstat").ok()?;
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_tasks_is_read_from_loadavg() {
        assert_eq!(tasks_in("0.20 0.18 0.12 1/80 11206\n"), Some(80));
        assert_eq!(tasks_in(""), None);
    }

    #[test]
    fn load_allows_one_ring_per_process() {
        let alone = usual(1);
        assert!(alone >= 1024);
        assert_eq!(usual(3), alone + 256);
        assert!(usual(4096) > 4096 * 96);
        assert_eq!(usual(u64::MAX), u64::MAX);
    }
}
