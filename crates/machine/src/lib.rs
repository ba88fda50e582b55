//! Facts about this machine, conditions that disturb a measurement on it, and quantities that it
//! cannot measure. None of the facts names the machine or its owner.
//!
//! Facts come from two places: files that the system writes ([`source`]), and calls or instructions
//! ([`queries`]). Everything else is a pure function, tested with saved files of other machines.
//! The crate `procfs-core` parses saved files, too, but not those of `/sys`, which has most of the
//! facts. Several of its parsers fail as a whole where a field is missing; here a missing field
//! costs one fact.
//!
//! This crate knows instruction sets and systems by their names alone, and prints nothing.

mod affinity;
mod arm;
mod attempts;
mod cache;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod cpuid;
mod frequency;
mod group;
mod kernel;
mod load;
pub mod locale;
mod memory;
mod mounts;
mod privileges;
mod processor;
mod queries;
mod recorded;
mod rules;
mod source;
pub mod stale_dirs;
mod storage;
mod text;
mod timers;
mod tracers;
mod virtualisation;

use yamba_record::Machine;
use yamba_record::machine::Details;
use yamba_record::machine::details::VERSION;

pub use affinity::{allowed_processors, processor_count};
pub use group::OwnGroup;
pub use queries::Answers;
pub use recorded::{FILES, recorded};
pub use storage::scratch_folder;
pub use virtualisation::{ProcessorTicks, processor_ticks};

use queries::Queried;
use source::{Here, Source};

/// Describes this machine, whose programs are built for the instruction set `isa` and the operating
/// system `system`. Takes some milliseconds and starts no process.
pub fn probe(isa: &str, system: &str) -> Machine {
    let before = load::load(&Here);
    let queried = queries::query();
    let mut machine = describe(&Here, &queried, isa, system);
    if let Some(details) = &mut machine.details {
        details.load.running = load::lasting(before.running, details.load.running);
        details.load.tracers = tracers::tracers(&Here, std::process::id());
    }
    judge(&mut machine);
    machine
}

/// The number of other threads that run now: the smallest of three samples, 10 ms apart.
pub fn others_running() -> u64 {
    let mut least = u64::MAX;
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        least = least.min(load::load(&Here).running.unwrap_or(0));
    }
    least
}

/// The text of `/proc/cpuinfo`; empty if the file is missing.
pub fn cpuinfo() -> String {
    Here.read("/proc/cpuinfo").unwrap_or_default()
}

/// The processor's model and the number of processors that this process may run on.
pub fn processor_summary() -> String {
    let identity = processor::Identity::from_cpuinfo(&cpuinfo());
    let model = identity.model.as_deref().unwrap_or("unknown processor");
    format!("{model}, {} processors", processor_count())
}

/// The control group in which `controller` counts this process; `None` if the system does not show
/// it.
pub fn own_group(controller: &str) -> Option<OwnGroup> {
    group::own(&Here, controller)
}

/// Memory in bytes that programs can get now without swapping.
pub fn available_memory() -> Option<u64> {
    memory::available(&Here)
}

/// The memory limit in bytes that the control groups of this process set.
pub fn memory_limit() -> Option<u64> {
    group::limits(&Here).memory
}

fn describe(source: &impl Source, queried: &Queried, isa: &str, system: &str) -> Machine {
    let noted = source::Noted::new(source);
    let source = &noted;
    let cpuinfo = source.lines("/proc/cpuinfo").unwrap_or_default();
    let identity = processor::Identity::from_cpuinfo(&cpuinfo);
    if !cpuinfo.is_empty() && !identity.is_complete() {
        source.omit("/proc/cpuinfo");
    }
    let mut details = details(source, queried, isa, &cpuinfo, &identity);
    details.omitted = noted.omitted();
    let is_guest = details.virtualisation.hypervisor.is_some().then_some(true);
    Machine {
        isa: isa.to_owned(),
        system: system.to_owned(),
        kernel: queried.answers.release.clone(),
        cpu: identity.model,
        cpus: queried.answers.cpus,
        memory: details.memory.total,
        page_size: queried.answers.page_size,
        root: queried.answers.root,
        virtual_machine: virtualisation::flag(&cpuinfo).or(is_guest),
        scratch: None,
        quiet_widths: std::collections::BTreeMap::new(),
        whole_buffers: std::collections::BTreeMap::new(),
        java: None,
        contention: std::collections::BTreeMap::new(),
        core_pairs: None,
        measured_caches: None,
        hardware: Vec::new(),
        details: Some(Box::new(details)),
    }
}

fn details(
    source: &impl Source,
    queried: &Queried,
    isa: &str,
    cpuinfo: &str,
    identity: &processor::Identity,
) -> Details {
    let answers = &queried.answers;
    let processor = processor::processor(source, cpuinfo, identity);
    let hypervisor = queried.hypervisor.as_deref();
    Details {
        version: VERSION,
        caches: cache::caches(source, &processor.kinds),
        tlbs: queried.tlbs.clone(),
        frequency: frequency::frequency(source),
        idle: frequency::idle(source),
        memory: memory::memory(source),
        kernel: kernel::kernel(source, &answers.build, answers.tick_ns),
        virtualisation: virtualisation::virtualisation(
            source,
            hypervisor,
            answers.container.as_deref(),
        ),
        timers: timers::timers(source, isa, cpuinfo, queried),
        storage: storage::storage(source, &queried.folder),
        limits: answers.limits.clone(),
        privileges: privileges::privileges(source, answers),
        load: load::load(source),
        processor,
        ..Details::default()
    }
}

/// Derives the disturbances and the quantities that cannot be measured from the facts.
fn judge(machine: &mut Machine) {
    let disturbances = rules::disturbances(machine);
    let cannot = rules::cannot(machine);
    if let Some(details) = &mut machine.details {
        details.disturbances = disturbances;
        details.unmeasurable = cannot;
    }
}

#[cfg(test)]
mod mutants;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
