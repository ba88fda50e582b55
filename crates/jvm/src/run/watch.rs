//! Reads the processor time of a collector's threads while a JVM runs.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::gc::{Collector, Role};
use crate::stop::end;
use crate::{INTERRUPTED, StopFlag};

use crate::run::limits::Limits;

/// Time between two readings. The collector's time after the last reading is lost.
const PERIOD: Duration = Duration::from_millis(3);
/// Readings between two searches for new threads.
const SEARCH_EVERY: u32 = 10;

pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) elapsed_ns: f64,
    pub(crate) cpu: CpuTime,
}

/// Processor time of a collector's threads by their roles, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTime {
    /// Threads that collect, or do several sorts of work.
    pub collecting_ns: f64,
    /// Threads that only mark.
    pub marking_ns: f64,
    /// Threads that only refine cards.
    pub refining_ns: f64,
}

impl CpuTime {
    /// The sum over all threads, in ns.
    pub fn all_ns(self) -> f64 {
        self.collecting_ns + self.marking_ns + self.refining_ns
    }

    fn add(&mut self, role: Role, ns: f64) {
        let sum = match role {
            Role::Collects => &mut self.collecting_ns,
            Role::Marks => &mut self.marking_ns,
            Role::Refines => &mut self.refining_ns,
        };
        *sum += ns;
    }
}

/// Waits for a JVM, and kills it at its limits, or when the user stops it.
pub(crate) fn watch(
    mut child: Child,
    collector: Collector,
    limits: Limits,
    stop: &StopFlag,
) -> Result<Ended, String> {
    let begin = Instant::now();
    let mut threads = Threads::watch(child.id());
    for reading in 0u32.. {
        if stop.is_set() {
            end(&mut child);
            return Err(INTERRUPTED.to_owned());
        }
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(Ended {
                status,
                elapsed_ns: begin.elapsed().as_nanos() as f64,
                cpu: threads.cpu(),
            });
        }
        if reading % SEARCH_EVERY == 0 {
            threads.search(collector);
            if let Some(reason) = excess(child.id(), begin.elapsed(), limits) {
                let _ = child.kill();
                let _ = child.wait();
                return Err(reason);
            }
        }
        threads.read();
        sleep(PERIOD);
    }
    unreachable!("the readings do not end before the JVM does")
}

fn excess(pid: u32, elapsed: Duration, limits: Limits) -> Option<String> {
    if elapsed > limits.time {
        return Some(format!("java did not end within {} s", limits.time.as_secs()));
    }
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|p| p.parse().ok()).unwrap_or(0);
    let resident = pages * rustix::param::page_size() as u64;
    let is_excess = resident > limits.resident_bytes;
    is_excess.then(|| format!("java used {} MB of memory", resident / 1_000_000))
}

/// A thread of a collector.
struct Thread {
    role: Role,
    /// The last reading.
    cpu_ns: f64,
}

/// The threads of a collector by their ids.
struct Threads {
    folder: String,
    by_id: BTreeMap<String, Thread>,
}

impl Threads {
    fn watch(pid: u32) -> Self {
        Self { folder: format!("/proc/{pid}/task"), by_id: BTreeMap::new() }
    }

    fn search(&mut self, collector: Collector) {
        let Ok(tasks) = fs::read_dir(&self.folder) else {
            return;
        };
        for task in tasks.flatten() {
            let id = task.file_name().to_string_lossy().into_owned();
            let comm = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            if let Some(role) = collector.role(comm.trim_end()) {
                let new = Thread { role, cpu_ns: 0.0 };
                self.by_id.entry(id).or_insert(new).role = role;
            } else if comm.trim_end() == "yamba-gc" {
                hasten(&id);
            }
        }
    }

    fn read(&mut self) {
        for (id, thread) in &mut self.by_id {
            let text = fs::read_to_string(format!("{}/{id}/schedstat", self.folder));
            let on_cpu = text.ok().and_then(|t| t.split(' ').next()?.parse().ok());
            thread.cpu_ns = on_cpu.unwrap_or(thread.cpu_ns);
        }
    }

    fn cpu(&self) -> CpuTime {
        let mut sum = CpuTime::default();
        for thread in self.by_id.values() {
            sum.add(thread.role, thread.cpu_ns);
        }
        sum
    }
}

/// Gives the profiling thread precedence, so that its collections come at the right bytes. Without
/// privilege they come less evenly.
fn hasten(id: &str) {
    let pid = id.parse().ok().and_then(rustix::process::Pid::from_raw);
    let _ = rustix::process::setpriority_process(pid, -20);
}
