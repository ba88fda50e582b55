//! All that the system tells of a machine. What it does not tell is none, never a guess; nothing here names the
//! machine or its owner. Later versions add fields.

use serde::{Deserialize, Serialize};

/// The version that is written now.
pub const VERSION: u64 = 1;

/// What the system tells, what would disturb a measurement, and what cannot be measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Details {
    /// [`VERSION`] of the program that wrote it.
    pub version: u64,
    /// The processor.
    pub processor: Processor,
    /// Its caches, those of each kind of core.
    pub caches: Vec<Cache>,
    /// Its translation look-aside buffers; empty where no instruction tells them.
    pub tlbs: Vec<Tlb>,
    /// The clock rate and who sets it.
    pub frequency: Frequency,
    /// Sleep states of an idle processor.
    pub idle: Idle,
    /// Main memory.
    pub memory: Memory,
    /// The kernel's settings.
    pub kernel: Kernel,
    /// What stands between the system and the hardware.
    pub virtualisation: Virtualisation,
    /// Timer sources.
    pub timers: Timers,
    /// Where scratch files go.
    pub storage: Storage,
    /// What a process may have.
    pub limits: Limits,
    /// What this process may do.
    pub privileges: Privileges,
    /// What the machine did when it was looked at.
    pub load: Load,
    /// What would disturb a measurement.
    pub disturbances: Vec<Disturbance>,
    /// What cannot be measured here.
    pub cannot: Vec<Cannot>,
}

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Processor {
    /// Its maker, as it says itself.
    pub vendor: Option<String>,
    /// Family, model and stepping, or what stands for them.
    pub signature: Option<String>,
    /// The microcode's revision.
    pub microcode: Option<String>,
    /// Sockets.
    pub packages: Option<u64>,
    /// Cores, all sockets together.
    pub cores: Option<u64>,
    /// Processors online, as a list.
    pub online: Option<String>,
    /// Processors that this process may use, as a list.
    pub allowed: Option<String>,
    /// Processors that the scheduler leaves alone.
    pub isolated: Option<String>,
    /// Processors without a tick while they run one thread.
    pub tickless: Option<String>,
    /// Whether two threads share a core.
    pub smt: Option<bool>,
    /// What the kernel would do with it: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt_control: Option<String>,
    /// The kinds of core; one entry where all are alike.
    pub kinds: Vec<CoreKind>,
    /// How often heat slowed a core down since the system started.
    pub throttled: Option<u64>,
}

/// Cores that are alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CoreKind {
    /// What they are called, where that is told.
    pub name: Option<String>,
    /// Their processors, as a list.
    pub cpus: String,
    /// What they can do, the fastest being 1024.
    pub capacity: Option<u64>,
}

/// A cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u64,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Bytes.
    pub bytes: Option<u64>,
    /// Bytes of a line.
    pub line: Option<u64>,
    /// Lines that one address may be in.
    pub ways: Option<u64>,
    /// Sets.
    pub sets: Option<u64>,
    /// Processors that share it, as a list, seen from the first of its kind of core.
    pub shared_by: Option<String>,
}

/// A translation look-aside buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Tlb {
    /// 1 is the nearest.
    pub level: Option<u64>,
    /// `data`, `instruction`, `unified`, `load` or `store`.
    pub kind: String,
    /// Bytes of the pages that it holds.
    pub pages: Vec<u64>,
    /// Entries.
    pub entries: Option<u64>,
    /// Entries that one address may be in.
    pub ways: Option<u64>,
    /// What an old processor says in words in place of numbers.
    pub description: Option<String>,
}

/// The clock rate and who sets it; hertz.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Frequency {
    /// The kernel's driver.
    pub driver: Option<String>,
    /// The governors in use.
    pub governors: Vec<String>,
    /// Preferences between energy and speed in use.
    pub preferences: Vec<String>,
    /// The lowest that the hardware does.
    pub min: Option<u64>,
    /// The highest that the hardware does.
    pub max: Option<u64>,
    /// The lowest that is allowed now.
    pub lowest_allowed: Option<u64>,
    /// The highest that is allowed now.
    pub highest_allowed: Option<u64>,
    /// Whether it may rise above the rated frequency while there is room.
    pub turbo: Option<bool>,
    /// The file that says so; a mend writes it.
    pub turbo_switch: Option<String>,
    /// The firmware's profile.
    pub profile: Option<String>,
    /// Whether the machine runs on its battery.
    pub on_battery: Option<bool>,
}

/// Sleep states of an idle processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Idle {
    /// The kernel's driver.
    pub driver: Option<String>,
    /// Who chooses the state.
    pub governor: Option<String>,
    /// The states that are enabled, lightest first.
    pub states: Vec<IdleState>,
}

/// One sleep state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct IdleState {
    /// Its name.
    pub name: String,
    /// How long waking from it takes, in microseconds.
    pub wake_us: Option<u64>,
}

/// Main memory; bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Memory {
    /// All of it.
    pub total: Option<u64>,
    /// What could be had now without swapping.
    pub available: Option<u64>,
    /// Swap space.
    pub swap_total: Option<u64>,
    /// Swap space in use.
    pub swap_used: Option<u64>,
    /// When huge pages are given unasked: `always`, `madvise`, `never`.
    pub transparent_huge_pages: Option<String>,
    /// Bytes of a huge page.
    pub huge_page: Option<u64>,
    /// Huge pages set aside.
    pub huge_pages: Option<u64>,
    /// Memory nodes.
    pub nodes: Vec<Node>,
    /// Whether the kernel moves pages between nodes.
    pub node_balancing: Option<bool>,
    /// Whether the kernel merges equal pages.
    pub merging: Option<bool>,
}

/// A memory node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Node {
    /// Its processors, as a list.
    pub cpus: String,
    /// Its bytes.
    pub total: Option<u64>,
}

/// The kernel's settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Kernel {
    /// How it preempts: the word of its build.
    pub preemption: Option<String>,
    /// Ticks a second.
    pub tick_hz: Option<u64>,
    /// Address-space layout randomisation: 0 none, 1 without the heap, 2 full.
    pub layout_randomisation: Option<u64>,
    /// Weaknesses of the processor and what is done about them.
    pub mitigations: Vec<Mitigation>,
    /// Microseconds of each period that real-time threads may run; negative is without end.
    pub realtime_runtime_us: Option<i64>,
    /// That period.
    pub realtime_period_us: Option<u64>,
    /// Whether a watchdog interrupts every processor.
    pub watchdog: Option<bool>,
    /// Whether modules can be loaded.
    pub modules: Option<bool>,
    /// Who may count events: -1 all, 2 of their own programs only, more nobody.
    pub perf_event_paranoid: Option<i64>,
    /// Whether it delays writes to spare a disk.
    pub laptop_mode: Option<bool>,
}

/// A weakness of the processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Mitigation {
    /// The kernel's name of it.
    pub name: String,
    /// What the kernel says.
    pub state: String,
}

/// What stands between the system and the hardware.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Virtualisation {
    /// The hypervisor, where it says who it is.
    pub hypervisor: Option<String>,
    /// The kind of container.
    pub container: Option<String>,
    /// Processors' worth of time that the group may use.
    pub cpu_quota: Option<f64>,
    /// Bytes that the group may use.
    pub memory_limit: Option<u64>,
    /// Share of the time since the system started that the host took, of what was not idle.
    pub stolen: Option<f64>,
}

/// Timer sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Timers {
    /// The kernel's clock source.
    pub source: Option<String>,
    /// Those that it could use.
    pub available: Vec<String>,
    /// The smallest step of the monotonic clock, in nanoseconds.
    pub resolution_ns: Option<u64>,
    /// The counter that user space reads.
    pub counter: Option<String>,
    /// Its rate.
    pub counter_hz: Option<u64>,
    /// Whether its rate never changes.
    pub counter_invariant: Option<bool>,
}

/// Where scratch files go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Storage {
    /// `$TMPDIR` or `/var/tmp`; a path may name its owner.
    pub folder: String,
    /// The file system.
    pub file_system: Option<String>,
    /// Its options that cost or save time.
    pub options: Vec<String>,
    /// Whether it is memory.
    pub is_memory: Option<bool>,
    /// The kernel's name of the disk.
    pub device: Option<String>,
    /// The disk's model.
    pub model: Option<String>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// Who orders requests.
    pub scheduler: Option<String>,
    /// Bytes that are read ahead.
    pub read_ahead: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Bytes of the file system.
    pub total: Option<u64>,
    /// Bytes that are free for this user.
    pub free: Option<u64>,
}

/// What a process may have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Limits {
    /// Bytes that may be locked in memory.
    pub locked_memory: Option<Limit>,
    /// The highest real-time priority.
    pub realtime_priority: Option<Limit>,
    /// Open files.
    pub open_files: Option<Limit>,
    /// Processes of this user.
    pub processes: Option<Limit>,
    /// Bytes of the stack.
    pub stack: Option<Limit>,
}

/// A number or none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Limit {
    /// This many.
    At(u64),
    /// As many as there are.
    Not(Unlimited),
}

/// The word for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unlimited {
    /// `unlimited`
    Unlimited,
}

/// What this process may do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Privileges {
    /// Of the capabilities that matter to a measurement, those that are in force.
    pub capabilities: Vec<String>,
    /// Whether real-time scheduling was given when it was tried.
    pub realtime: Option<bool>,
    /// Whether all of a benchmark's memory may be locked.
    pub lock_memory: Option<bool>,
    /// Whether hardware counters count.
    pub counters: Option<bool>,
    /// Why they do not: the error's name, or `zero` where they open and never count.
    pub counters_error: Option<String>,
    /// Whether guests of the kernel's own hypervisor can be made.
    pub guests: Option<bool>,
    /// File systems over a network that the kernel knows now.
    pub network_file_systems: Option<Vec<String>>,
}

/// What the machine did when it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
#[cfg_attr(test, schemars(rename = "MachineLoad"))]
pub struct Load {
    /// Threads that ran or wanted to: means of 1, 5 and 15 minutes.
    pub average: Option<[f64; 3]>,
    /// Threads that ran or wanted to just then, this one left out.
    pub running: Option<u64>,
    /// Of the last 10 s, the per cent in which a thread waited for a processor.
    pub cpu_pressure: Option<f64>,
    /// Of the last 10 s, the per cent in which a thread waited for a disk.
    pub io_pressure: Option<f64>,
}

/// Something that would disturb a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "MachineDisturbance"))]
pub struct Disturbance {
    /// A word for it, the same in every version.
    pub name: String,
    /// What is the case, and what it does to a figure.
    pub text: String,
    /// What helps.
    pub mend: Mend,
}

/// What helps against a disturbance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mend {
    /// A command to copy.
    Command(String),
    /// What no command does.
    Advice(String),
}

/// Something that cannot be measured here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cannot {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
    /// What would change that.
    pub mend: Mend,
}
