//! Facts from system calls and instructions: limits, clocks, the processor itself.

use std::path::Path;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_getres};
use serde::Deserialize;
use yamba_record::machine::details::{Limit, Limits, Tlb, Unlimited};

use super::affinity::processor_count;
use super::attempts;
use super::storage::{self, Folder};

/// Answers of the system that are in no file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answers {
    /// The kernel's release.
    pub release: String,
    /// The kernel's build text.
    pub build: String,
    /// Number of processors in the affinity mask.
    pub cpus: u64,
    /// Bytes of a page.
    pub page_size: u64,
    /// Whether the user is root.
    pub root: bool,
    /// Limits of the process.
    pub limits: Limits,
    /// Resolution of the monotonic clock, in ns.
    pub resolution_ns: Option<u64>,
    /// Resolution of the coarse monotonic clock, in ns.
    pub tick_ns: Option<u64>,
    /// The container, by the environment variable `container`.
    pub container: Option<String>,
    /// Whether a thread can get a real-time class.
    pub realtime: Option<bool>,
    /// The error of hardware counters; empty if they work.
    pub counters: Option<String>,
    /// Whether this user can open the kernel's hypervisor.
    pub guests: Option<bool>,
}

/// The answers of this machine, with those that only a program here gets. `None` where the system
/// does not support the call.
#[derive(Debug, Default)]
pub(super) struct Queried {
    pub answers: Answers,
    pub folder: Folder,
    /// Rate of the counter that user space reads.
    pub counter_hz: Option<u64>,
    pub tlbs: Vec<Tlb>,
    pub hypervisor: Option<String>,
}

/// Queries this machine.
pub(super) fn query() -> Queried {
    let names = rustix::system::uname();
    let answers = Answers {
        release: names.release().to_string_lossy().into_owned(),
        build: names.version().to_string_lossy().into_owned(),
        cpus: processor_count(),
        page_size: rustix::param::page_size() as u64,
        root: rustix::process::geteuid().is_root(),
        limits: limits(),
        resolution_ns: step(ClockId::Monotonic),
        tick_ns: tick(),
        container: std::env::var("container").ok().filter(|c| !c.is_empty()),
        realtime: attempts::realtime(),
        counters: attempts::counters(),
        guests: guests(),
    };
    Queried { answers, folder: folder(), ..from_instructions() }
}

/// Facts from instructions of the processor.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn from_instructions() -> Queried {
    let cpuid = raw_cpuid::CpuId::new();
    Queried {
        counter_hz: super::cpuid::counter_hz(&cpuid),
        tlbs: super::cpuid::tlbs(&raw_cpuid::CpuIdReaderNative),
        hypervisor: super::cpuid::hypervisor(&cpuid),
        ..Queried::default()
    }
}

#[cfg(target_arch = "aarch64")]
fn from_instructions() -> Queried {
    let hertz: u64;
    // SAFETY: user space may read this register on every system that grants access to the counter;
    // the instruction changes nothing else.
    unsafe { std::arch::asm!("mrs {}, cntfrq_el0", out(reg) hertz, options(nomem, nostack)) };
    Queried { counter_hz: (hertz > 0).then_some(hertz), ..Queried::default() }
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
fn from_instructions() -> Queried {
    Queried::default()
}

fn limits() -> Limits {
    let limit = |resource| {
        Some(match getrlimit(resource).current {
            Some(number) => Limit::At(number),
            None => Limit::Not(Unlimited::Unlimited),
        })
    };
    Limits {
        locked_memory: limit(Resource::Memlock),
        #[cfg(target_os = "linux")]
        realtime_priority: limit(Resource::Rtprio),
        #[cfg(not(target_os = "linux"))]
        realtime_priority: None,
        open_files: limit(Resource::Nofile),
        processes: limit(Resource::Nproc),
        stack: limit(Resource::Stack),
    }
}

fn step(clock: ClockId) -> Option<u64> {
    let step = clock_getres(clock);
    let seconds = u64::try_from(step.tv_sec).ok()?;
    let rest = u64::try_from(step.tv_nsec).ok()?;
    Some(seconds * 1_000_000_000 + rest)
}

#[cfg(target_os = "linux")]
fn tick() -> Option<u64> {
    step(ClockId::MonotonicCoarse)
}

#[cfg(not(target_os = "linux"))]
fn tick() -> Option<u64> {
    None
}

fn folder() -> Folder {
    let (name, path) = storage::scratch_folder();
    let space = rustix::fs::statvfs(&path).ok();
    let path = path.canonicalize().unwrap_or(path);
    Folder {
        name: name.to_owned(),
        path: path.to_string_lossy().into_owned(),
        total: space.as_ref().map(|s| s.f_blocks.saturating_mul(s.f_frsize)),
        free: space.map(|s| s.f_bavail.saturating_mul(s.f_frsize)),
    }
}

/// Whether this user can open the kernel's hypervisor. Opening it creates nothing.
fn guests() -> Option<bool> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(Path::new("/dev/kvm"));
    Some(opened.is_ok())
}
