//! Rules about the kernel's settings and its clock.

use super::{Facts, Finding, advice, command};

/// Clock sources that are read over the bus, by a system call.
const SLOW: [&str; 4] = ["hpet", "acpi_pm", "refined-jiffies", "jiffies"];

pub(super) fn clock_source(f: &Facts<'_>) -> Option<Finding> {
    let timers = &f.details.timers;
    let source = timers.source.as_deref()?;
    if !f.machine.isa.starts_with("x86") || source == "tsc" {
        return None;
    }
    let text = if SLOW.contains(&source) {
        format!(
            "the kernel's clock is {source}: reading it is a system call of a microsecond or so"
        )
    } else {
        format!(
            "the kernel's clock is {source}, which the host may adjust: reading it costs more than the counter"
        )
    };
    Some(if timers.available.iter().any(|a| a == "tsc") {
        command(
            text,
            "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource",
        )
    } else {
        advice(
            text,
            "the kernel distrusts the time stamp counter, or the host hides it; if you know better, boot with `tsc=reliable`",
        )
    })
}

pub(super) fn counter(f: &Facts<'_>) -> Option<Finding> {
    (f.details.timers.counter_invariant == Some(false)).then(|| {
        advice(
            "the time stamp counter follows the clock rate, or stops while the processor sleeps",
            "hold the clock rate, and keep the processor awake (boot with `idle=poll`)",
        )
    })
}

pub(super) fn huge_pages(f: &Facts<'_>) -> Option<Finding> {
    let when = f.details.memory.transparent_huge_pages.as_deref()?;
    (when == "always").then(|| {
        command("huge pages are given unasked where memory allows: the page size of a buffer differs from launch to launch",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        )
    })
}

pub(super) fn node_balancing(f: &Facts<'_>) -> Option<Finding> {
    let memory = &f.details.memory;
    (memory.nodes.len() > 1 && memory.node_balancing == Some(true)).then(|| {
        command("the kernel moves pages between memory nodes: it takes access away to see who comes back",
            "sudo sysctl kernel.numa_balancing=0",
        )
    })
}

pub(super) fn merging(f: &Facts<'_>) -> Option<Finding> {
    (f.details.memory.merging == Some(true)).then(|| {
        command(
            "the kernel looks for equal pages and merges them: a write to one then faults",
            "echo 2 | sudo tee /sys/kernel/mm/ksm/run",
        )
    })
}

/// The watchdog occupies one hardware counter.
pub(super) fn watchdog(f: &Facts<'_>) -> Option<Finding> {
    let counts = f.details.privileges.counters == Some(true);
    (counts && f.details.kernel.watchdog == Some(true)).then(|| {
        command(
            "the watchdog holds a hardware counter and interrupts every processor",
            "sudo sysctl kernel.nmi_watchdog=0",
        )
    })
}

/// Without layout randomisation all launches have the same memory layout. A figure's confidence
/// interval comes from the variation between launches, so it misses the effect of the layout.
pub(super) fn one_layout(f: &Facts<'_>) -> Option<Finding> {
    (f.details.kernel.layout_randomisation == Some(0)).then(|| {
        command("addresses are not randomised: all launches draw one layout, and what it does to a figure stays unseen",
            "sudo sysctl kernel.randomize_va_space=2",
        )
    })
}

/// A program at a trace point makes everything longer that passes there. On an Emerald Rapids, a
/// call of getppid took 2.5 times as long while another process was traced.
pub(super) fn traced(f: &Facts<'_>) -> Option<Finding> {
    let tracers = &f.details.load.tracers;
    let each = tracers.iter().map(|tracer| {
        let name = tracer.name.as_deref().unwrap_or("unknown");
        let points = tracer.points.join(", ");
        format!("`{name}` (process {}) at {points}", tracer.process)
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| {
        advice(
            format!(
                "the kernel runs programs of other processes at trace points: {}: all that passes there takes longer",
                each.join("; ")
            ),
            "end these processes while you measure, unless they belong to the machine",
        )
    })
}
