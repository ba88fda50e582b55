//! The facts that the operating system and the processor report about a machine. A fact that is not
//! reported is `None` and never guessed. No field names the machine or its owner. Later versions
//! add fields.

use serde::{Deserialize, Serialize};

/// The version that this program writes.
pub const VERSION: u64 = 1;

/// System facts, conditions that would disturb a measurement, and benchmarks that cannot run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Details {
    /// [`VERSION`] of the program that wrote the document.
    pub version: u64,
    /// Files of the system whose content was not understood: the facts in them are unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// The processor.
    pub processor: Processor,
    /// The caches of each kind of core.
    pub caches: Vec<Cache>,
    /// Translation look-aside buffers; empty where no instruction reports them.
    pub tlbs: Vec<Tlb>,
    /// The clock rate and the settings that control it.
    pub frequency: Frequency,
    /// Sleep states of an idle processor.
    pub idle: Idle,
    /// Main memory.
    pub memory: Memory,
    /// The kernel's settings.
    pub kernel: Kernel,
    /// Hypervisor, container and resource limits of the control group.
    pub virtualisation: Virtualisation,
    /// Timer sources.
    pub timers: Timers,
    /// The file system and disk of scratch files.
    pub storage: Storage,
    /// Resource limits of a process.
    pub limits: Limits,
    /// Privileges of this process.
    pub privileges: Privileges,
    /// System load when the facts were read.
    pub load: Load,
    /// Conditions that would disturb a measurement.
    pub disturbances: Vec<Disturbance>,
    /// Quantities that cannot be measured here.
    pub unmeasurable: Vec<Unmeasurable>,
}

/// The processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Processor {
    /// Vendor, as CPUID or the kernel reports it.
    pub vendor: Option<String>,
    /// Family, model and stepping, or the equivalent of the architecture.
    pub signature: Option<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// Number of sockets.
    pub packages: Option<u64>,
    /// Number of cores in all sockets.
    pub cores: Option<u64>,
    /// Online processors, as a list.
    pub online: Option<String>,
    /// Processors in this process's affinity mask, as a list.
    pub allowed: Option<String>,
    /// Processors that the scheduler does not use by itself (`isolcpus`), as a list.
    pub isolated: Option<String>,
    /// Processors without a tick while they run one thread (`nohz_full`), as a list.
    pub tickless: Option<String>,
    /// Whether two hardware threads share a core.
    pub smt: Option<bool>,
    /// State of the kernel's switch for SMT: `on`, `off`, `forceoff`, `notsupported`,
    /// `notimplemented`.
    pub smt_control: Option<String>,
    /// The kinds of core; one entry where all cores are alike.
    pub kinds: Vec<CoreKind>,
    /// Thermal throttling events of the cores since boot.
    pub throttled: Option<u64>,
}

/// A set of identical cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct CoreKind {
    /// The name of the kind, where the system reports one.
    pub name: Option<String>,
    /// The processors of this kind, as a list.
    pub cpus: String,
    /// Relative capacity; the fastest kind has 1024.
    pub capacity: Option<u64>,
}

/// A cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Cache {
    /// Level; 1 is nearest to the core.
    pub level: u64,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Size in bytes.
    pub bytes: Option<u64>,
    /// Line size in bytes.
    pub line: Option<u64>,
    /// Associativity: lines that can hold one address.
    pub ways: Option<u64>,
    /// Number of sets.
    pub sets: Option<u64>,
    /// Processors that share the cache, as a list, for the first processor of the kind of core.
    pub shared_by: Option<String>,
}

/// A translation look-aside buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Tlb {
    /// Level; 1 is nearest to the core.
    pub level: Option<u64>,
    /// `data`, `instruction`, `unified`, `load` or `store`.
    pub kind: String,
    /// Supported page sizes in bytes.
    pub pages: Vec<u64>,
    /// Number of entries.
    pub entries: Option<u64>,
    /// Associativity: entries that can hold one address.
    pub ways: Option<u64>,
    /// A description in words, from old processors that report no numbers.
    pub description: Option<String>,
}

/// The clock rate and the settings that control it. Frequencies are in hertz.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Frequency {
    /// The kernel's frequency driver.
    pub driver: Option<String>,
    /// The governors in use.
    pub governors: Vec<String>,
    /// Energy-performance preferences in use.
    pub preferences: Vec<String>,
    /// The lowest frequency of the hardware.
    pub min: Option<u64>,
    /// The highest frequency of the hardware.
    pub max: Option<u64>,
    /// The lowest frequency that the current policy allows.
    pub lowest_allowed: Option<u64>,
    /// The highest frequency that the current policy allows.
    pub highest_allowed: Option<u64>,
    /// Whether the frequency may rise above the rated one.
    pub turbo: Option<bool>,
    /// The file that switches turbo on and off; the fix of a disturbance writes it.
    pub turbo_switch: Option<String>,
    /// The firmware's power profile.
    pub profile: Option<String>,
    /// Whether the machine runs on battery.
    pub on_battery: Option<bool>,
}

/// Sleep states of an idle processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Idle {
    /// The kernel's idle driver.
    pub driver: Option<String>,
    /// The governor that chooses the state.
    pub governor: Option<String>,
    /// The enabled states, lightest first.
    pub states: Vec<IdleState>,
}

/// One sleep state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct IdleState {
    /// Its name.
    pub name: String,
    /// Exit latency in microseconds.
    pub wake_us: Option<u64>,
}

/// Main memory. Sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Memory {
    /// Total memory.
    pub total: Option<u64>,
    /// Memory that can be allocated now without swapping.
    pub available: Option<u64>,
    /// Swap space.
    pub swap_total: Option<u64>,
    /// Swap space in use.
    pub swap_used: Option<u64>,
    /// Mode of transparent huge pages: `always`, `madvise`, `never`.
    pub transparent_huge_pages: Option<String>,
    /// Size of a huge page.
    pub huge_page: Option<u64>,
    /// Number of reserved huge pages.
    pub huge_pages: Option<u64>,
    /// NUMA nodes.
    pub nodes: Vec<Node>,
    /// Whether the kernel moves pages between NUMA nodes.
    pub node_balancing: Option<bool>,
    /// Whether the kernel merges identical pages (KSM).
    pub merging: Option<bool>,
}

/// A NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Node {
    /// The number of the node. `None` in runs of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<u64>,
    /// The processors of the node, as a list. Empty for memory without processors.
    pub cpus: String,
    /// Memory of the node, in bytes.
    pub total: Option<u64>,
}

/// The kernel's settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Kernel {
    /// Preemption model, as the kernel's version text names it.
    pub preemption: Option<String>,
    /// Timer ticks per second.
    pub tick_hz: Option<u64>,
    /// Address-space layout randomisation: 0 off, 1 without the heap, 2 full.
    pub layout_randomisation: Option<u64>,
    /// Hardware vulnerabilities and their mitigations.
    pub mitigations: Vec<Mitigation>,
    /// Microseconds of each period that real-time threads may run; negative means unlimited.
    pub realtime_runtime_us: Option<i64>,
    /// Length of that period in microseconds.
    pub realtime_period_us: Option<u64>,
    /// Whether a watchdog interrupts every processor.
    pub watchdog: Option<bool>,
    /// Whether modules can be loaded.
    pub modules: Option<bool>,
    /// The kernel's `perf_event_paranoid`: -1 allows all events, 2 only a user's own programs,
    /// higher values none.
    pub perf_event_paranoid: Option<i64>,
    /// Whether the kernel delays disk writes to save power.
    pub laptop_mode: Option<bool>,
}

/// A hardware vulnerability and its mitigation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Mitigation {
    /// The kernel's name of the vulnerability.
    pub name: String,
    /// State of the mitigation, in the kernel's words.
    pub state: String,
}

/// Hypervisor, container and resource limits of the control group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Virtualisation {
    /// The hypervisor, where it identifies itself.
    pub hypervisor: Option<String>,
    /// The kind of container.
    pub container: Option<String>,
    /// CPU quota of the control group, in processors.
    pub cpu_quota: Option<f64>,
    /// Whether a control group that this process sees has a CPU quota; absent if that is unknown.
    pub has_cpu_quota: Option<bool>,
    /// Memory limit of the control group, in bytes.
    pub memory_limit: Option<u64>,
    /// Stolen time since boot, as a share of non-idle time.
    pub stolen: Option<f64>,
}

/// Timer sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Timers {
    /// The kernel's clock source.
    pub source: Option<String>,
    /// Clock sources that the kernel could use.
    pub available: Vec<String>,
    /// Resolution of the monotonic clock, in nanoseconds.
    pub resolution_ns: Option<u64>,
    /// The hardware counter that user space reads.
    pub counter: Option<String>,
    /// Rate of the counter in hertz.
    pub counter_hz: Option<u64>,
    /// Whether the rate of the counter is constant.
    pub counter_invariant: Option<bool>,
}

/// The file system and disk of scratch files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Storage {
    /// `$TMPDIR` or `/var/tmp`. The path may contain the user's name.
    pub folder: String,
    /// The file system.
    pub file_system: Option<String>,
    /// Mount options that affect performance.
    pub options: Vec<String>,
    /// Whether the file system is in memory.
    pub is_memory: Option<bool>,
    /// The kernel's name of the block device.
    pub device: Option<String>,
    /// The disk's model.
    pub model: Option<String>,
    /// Whether the disk is rotational.
    pub rotational: Option<bool>,
    /// The I/O scheduler.
    pub scheduler: Option<String>,
    /// Read-ahead in bytes.
    pub read_ahead: Option<u64>,
    /// The file with this number, if the file system has one of its own. Otherwise it is that of
    /// the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_file: Option<String>,
    /// Cache mode: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Size of the file system in bytes.
    pub total: Option<u64>,
    /// Bytes free for this user.
    pub free: Option<u64>,
}

/// Resource limits of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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

/// A resource limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Limit {
    /// The limit as a number.
    At(u64),
    /// No limit.
    Not(Unlimited),
}

/// The word for no limit in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unlimited {
    /// `unlimited`
    Unlimited,
}

/// Privileges of this process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Privileges {
    /// The effective capabilities that matter to a measurement.
    pub capabilities: Vec<String>,
    /// Whether a real-time scheduling class could be set.
    pub realtime: Option<bool>,
    /// Whether all memory of a benchmark may be locked.
    pub lock_memory: Option<bool>,
    /// Whether hardware counters work.
    pub counters: Option<bool>,
    /// Why counters do not work: the name of the error, or `zero` if they open but stay at 0.
    pub counters_error: Option<String>,
    /// Whether KVM guests can be created.
    pub guests: Option<bool>,
    /// Network file systems that the kernel currently supports.
    pub network_file_systems: Option<Vec<String>>,
}

/// System load when the facts were read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
#[schemars(rename = "MachineLoad")]
pub struct Load {
    /// Load average over 1, 5 and 15 minutes.
    pub average: Option<[f64; 3]>,
    /// Threads that were runnable at that moment, without this one.
    pub running: Option<u64>,
    /// Pressure stall (CPU): per cent of the last 10 s in which a thread waited for a processor.
    pub cpu_pressure: Option<f64>,
    /// Pressure stall (I/O): per cent of the last 10 s in which a thread waited for a disk.
    pub io_pressure: Option<f64>,
    /// Other processes whose programs the kernel runs at its trace points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracers: Vec<Tracer>,
}

/// A process that keeps programs at trace points of the kernel, as BPF does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Tracer {
    /// Number of the process.
    pub process: u64,
    /// Its name.
    pub name: Option<String>,
    /// The names of the trace points, such as `sys_enter`.
    pub points: Vec<String>,
}

/// A condition that would disturb a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "MachineDisturbance")]
pub struct Disturbance {
    /// Identifier, the same in every version.
    pub name: String,
    /// The condition and its effect on a figure.
    pub text: String,
    /// The fix.
    pub fix: Fix,
}

/// The fix for a disturbance or for a missing capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fix {
    /// A command to copy into a shell.
    Command(String),
    /// Advice, where no command can fix it.
    Advice(String),
}

/// A quantity that cannot be measured here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Unmeasurable {
    /// The quantity.
    pub what: String,
    /// The reason.
    pub why: String,
    /// A way to make it measurable.
    pub fix: Fix,
}
