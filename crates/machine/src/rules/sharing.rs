//! Rules about competing use of processors and memory.

use yamba_record::number::bytes;

use super::{Facts, Finding, advice, command};
use crate::text::cpu_list;

/// Thresholds: the share of stolen time, and the percentage of time that threads wait.
const STOLEN: f64 = 0.0001;
const PRESSURE: f64 = 1.0;

/// Emulation, as the emulator reports it. With an accelerator the emulator reports the name of
/// that.
pub(super) fn emulated(f: &Facts<'_>) -> Option<Finding> {
    let hypervisor = f.details.virtualisation.hypervisor.as_deref()?;
    (hypervisor == "qemu-tcg").then(|| {
        advice(
            "the processor is emulated: no figure says anything of the speed of a real one",
            "start the guest with `-accel kvm`",
        )
    })
}

pub(super) fn load(f: &Facts<'_>) -> Option<Finding> {
    let load = &f.details.load;
    let mut seen = Vec::new();
    match load.running {
        None | Some(0) => {}
        Some(1) => seen.push("another thread is running now".to_owned()),
        Some(n) => seen.push(format!("{n} other threads are running now")),
    }
    if let Some([minute, ..]) = load.average
        && minute > 0.25 * f.machine.cpus as f64
    {
        seen.push(format!("{minute:.2} threads ran on average in the last minute"));
    }
    if let Some(share) = load.cpu_pressure
        && share >= PRESSURE
    {
        seen.push(format!("in {share:.0} % of the last 10 s a thread waited for a processor"));
    }
    (!seen.is_empty()).then(|| {
        command(
            format!("{}: they take processor time, cache and memory bandwidth", seen.join(", ")),
            "ps -eo pcpu,pid,comm --sort=-pcpu | head    # lists them",
        )
    })
}

/// A single processor, in the machine or in this process's affinity mask.
pub(super) fn one_processor(f: &Facts<'_>) -> Option<Finding> {
    if f.machine.cpus != 1 {
        return None;
    }
    let online = f.details.processor.online.as_deref();
    let text = "there is one processor: interrupts, kernel threads and all other processes run on it and disturb measurements";
    match online {
        Some(all) if cpu_list(all).len() > 1 => {
            Some(command(text, format!("taskset -cp {all} $$")))
        }
        _ => Some(advice(text, "give the machine a second processor")),
    }
}

pub(super) fn stolen(f: &Facts<'_>) -> Option<Finding> {
    let share = f.details.virtualisation.stolen?;
    (share >= STOLEN).then(|| {
        advice(
            format!(
                "the host withheld {} of the processor time since the system started (steal time)",
                percent(share)
            ),
            "measure on a physical machine or a dedicated host; batches with steal time are marked",
        )
    })
}

/// Formats a share in per cent with two significant digits.
fn percent(share: f64) -> String {
    match share {
        s if s >= 0.01 => format!("{:.1} %", s * 100.0),
        s => format!("{:.2} %", s * 100.0),
    }
}

pub(super) fn quota(f: &Facts<'_>) -> Option<Finding> {
    let quota = f.details.virtualisation.cpu_quota?;
    (quota < f.machine.cpus as f64).then(|| {
        advice(format!(
                "the control group may use the time of {quota} processors: once it has used that, all its processes stop until the next \
                 period (usually 100 ms)"
            ),
            "start it without a quota: `docker run` without `--cpus`, systemd without `CPUQuota=`, Kubernetes without `limits.cpu`",
        )
    })
}

pub(super) fn smt(f: &Facts<'_>) -> Option<Finding> {
    if f.details.processor.smt != Some(true) {
        return None;
    }
    let text = "two hardware threads share a core: a process on the sibling takes execution units and the first caches";
    Some(match f.details.processor.smt_control.as_deref() {
        Some("on") => command(text, "echo off | sudo tee /sys/devices/system/cpu/smt/control"),
        _ => advice(text, "switch it off in the firmware, or at the host"),
    })
}

/// Less than a twentieth of memory is free, so that the kernel reclaims pages during the benchmark.
pub(super) fn little_memory(f: &Facts<'_>) -> Option<Finding> {
    let memory = &f.details.memory;
    let (total, available) = memory.total.zip(memory.available)?;
    (available < total / 20).then(|| {
        command(
            format!(
                "only {} of memory is left: the kernel reclaims pages during measurements",
                bytes(available)
            ),
            "ps -eo rss,pid,comm --sort=-rss | head    # lists the largest",
        )
    })
}

pub(super) fn swap(f: &Facts<'_>) -> Option<Finding> {
    let used = f.details.memory.swap_used?;
    (used > 0).then(|| {
        command(
            format!(
                "{} of memory is swapped out: a process that accesses it waits for a disk",
                bytes(used)
            ),
            "sudo swapoff -a && sudo swapon -a",
        )
    })
}
