//! Reads the processor time of a collector's threads while a JVM runs.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use yamba_gc::Collector;

use crate::limits::Limits;

/// Between two readings. The collector's time after the last reading is lost.
const PERIOD: Duration = Duration::from_millis(3);
/// Readings between two searches for new threads.
const SEARCH_EVERY: u32 = 10;

pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) elapsed_ns: f64,
    pub(crate) gc_cpu_ns: f64,
}

/// Waits for a JVM, and kills it at its limits.
pub(crate) fn watch(
    mut child: Child,
    collector: Collector,
    limits: Limits,
) -> Result<Ended, String> {
    let begin = Instant::now();
    let mut threads = Threads::of(child.id());
    for reading in 0u32.. {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(Ended {
                status,
                elapsed_ns: begin.elapsed().as_nanos() as f64,
                gc_cpu_ns: threads.cpu_ns(),
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
        return Some(format!(
            "java did not end within {} s",
            limits.time.as_secs()
        ));
    }
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages: u64 = statm
        .split(' ')
        .nth(1)
        .and_then(|p| p.parse().ok())
        .unwrap_or(0);
    let resident = pages * rustix::param::page_size() as u64;
    let is_excess = resident > limits.resident_bytes;
    is_excess.then(|| format!("java used {} MB of memory", resident / 1_000_000))
}

/// The threads of a collector with the last reading of each, in ns.
struct Threads {
    folder: String,
    cpu_ns: BTreeMap<String, f64>,
}

impl Threads {
    fn of(pid: u32) -> Self {
        Self {
            folder: format!("/proc/{pid}/task"),
            cpu_ns: BTreeMap::new(),
        }
    }

    fn search(&mut self, collector: Collector) {
        let Ok(tasks) = fs::read_dir(&self.folder) else {
            return;
        };
        for task in tasks.flatten() {
            let id = task.file_name().to_string_lossy().into_owned();
            let comm = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            if collector.owns_thread(comm.trim_end()) {
                self.cpu_ns.entry(id).or_default();
            } else if comm.trim_end() == "yamba-gc" {
                hasten(&id);
            }
        }
    }

    fn read(&mut self) {
        for (id, ns) in &mut self.cpu_ns {
            let text = fs::read_to_string(format!("{}/{id}/schedstat", self.folder));
            let on_cpu = text.ok().and_then(|t| t.split(' ').next()?.parse().ok());
            *ns = on_cpu.unwrap_or(*ns);
        }
    }

    fn cpu_ns(&self) -> f64 {
        self.cpu_ns.values().sum()
    }
}

/// Gives the profiling thread precedence, so that its collections come at the right bytes. Without privilege they come less evenly.
fn hasten(id: &str) {
    let pid = id.parse().ok().and_then(rustix::process::Pid::from_raw);
    let _ = rustix::process::setpriority_process(pid, -20);
}
