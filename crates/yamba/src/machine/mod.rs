//! What this machine is, what would disturb a measurement on it, and what cannot be measured. Nothing that names it.
//!
//! Facts come from two places: files that the system writes ([`source`]) and questions that only a call or an
//! instruction answers ([`asked`]). From there on everything is a pure function, tested with the files of other machines.

mod arm;
mod asked;
mod attempts;
mod cache;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod cpuid;
mod frequency;
mod group;
mod kernel;
mod load;
mod memory;
mod mounts;
mod privileges;
mod processor;
mod rules;
mod show;
mod source;
mod storage;
mod text;
mod timers;
mod virtualisation;

use yamba_lang::model::Target;
use yamba_record::Machine;
use yamba_record::machine::Details;
use yamba_record::machine::details::VERSION;

pub(crate) use group::OwnGroup;
pub use show::show;
pub(crate) use storage::scratch_folder;

use asked::Asked;
use source::{Here, Source};

/// The facts that any figure depends on. It takes some milliseconds, and starts nothing.
pub fn probe(target: &Target) -> Machine {
    let before = load::load(&Here);
    let asked = asked::ask();
    let mut machine = describe(&Here, &asked, target);
    if let Some(details) = &mut machine.details {
        details.load.running = load::lasting(before.running, details.load.running);
    }
    judge(&mut machine);
    machine
}

/// How many other threads run now: the least of three looks, 10 ms apart.
pub(crate) fn others_running() -> u64 {
    let mut least = u64::MAX;
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        least = least.min(load::load(&Here).running.unwrap_or(0));
    }
    least
}

/// The text of `/proc/cpuinfo`; empty if the file is missing.
pub(crate) fn cpuinfo() -> String {
    Here.read("/proc/cpuinfo").unwrap_or_default()
}

/// The group in which `controller` counts this process; `None` where that is not to be seen.
pub(crate) fn own_group(controller: &str) -> Option<OwnGroup> {
    group::own(&Here, controller)
}

/// Bytes that the machine could give to programs now without swapping.
pub(crate) fn available_memory() -> Option<u64> {
    memory::available(&Here)
}

/// Bytes that the control groups of this process let it have.
pub(crate) fn memory_limit() -> Option<u64> {
    group::limits(&Here).memory
}

fn describe(source: &impl Source, asked: &Asked, target: &Target) -> Machine {
    let cpuinfo = source.read("/proc/cpuinfo").unwrap_or_default();
    let details = details(source, asked, &target.isa, &cpuinfo);
    let is_guest = details.virtualisation.hypervisor.is_some().then_some(true);
    Machine {
        isa: target.isa.clone(),
        system: target.system.clone(),
        kernel: asked.release.clone(),
        cpu: processor::model(&cpuinfo),
        cpus: asked.cpus,
        memory: details.memory.total,
        page_size: asked.page_size,
        root: asked.root,
        virtual_machine: virtualisation::flag(&cpuinfo).or(is_guest),
        scratch: None,
        details: Some(Box::new(details)),
    }
}

fn details(source: &impl Source, asked: &Asked, isa: &str, cpuinfo: &str) -> Details {
    let processor = processor::processor(source, cpuinfo);
    let hypervisor = asked.hypervisor.as_deref();
    Details {
        version: VERSION,
        caches: cache::caches(source, &processor.kinds),
        tlbs: asked.tlbs.clone(),
        frequency: frequency::frequency(source),
        idle: frequency::idle(source),
        memory: memory::memory(source),
        kernel: kernel::kernel(source, &asked.build, asked.tick_ns),
        virtualisation: virtualisation::virtualisation(
            source,
            hypervisor,
            asked.container.as_deref(),
        ),
        timers: timers::timers(source, isa, cpuinfo, asked),
        storage: storage::storage(source, &asked.folder),
        limits: asked.limits.clone(),
        privileges: privileges::privileges(source, &asked.limits, asked),
        load: load::load(source),
        processor,
        ..Details::default()
    }
}

/// From the facts, what disturbs and what cannot be measured.
fn judge(machine: &mut Machine) {
    let disturbances = rules::disturbances(machine);
    let cannot = rules::cannot(machine);
    if let Some(details) = &mut machine.details {
        details.disturbances = disturbances;
        details.cannot = cannot;
    }
}

#[cfg(test)]
mod tests;
