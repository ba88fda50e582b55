//! The kernel's settings.

use yamba_record::machine::details::{Kernel, Mitigation};

use super::source::Source;

/// `build` is what the kernel says of its build, `tick_ns` the step of its coarse clock.
pub(super) fn kernel(source: &impl Source, build: &str, tick_ns: Option<u64>) -> Kernel {
    Kernel {
        preemption: preemption(build),
        tick_hz: tick_ns.and_then(|ns| 1_000_000_000u64.checked_div(ns)),
        layout_randomisation: source.number("/proc/sys/kernel/randomize_va_space"),
        mitigations: mitigations(source),
        realtime_runtime_us: source.number("/proc/sys/kernel/sched_rt_runtime_us"),
        realtime_period_us: source.number("/proc/sys/kernel/sched_rt_period_us"),
        watchdog: source.is_on("/proc/sys/kernel/nmi_watchdog"),
        modules: modules(source),
        perf_event_paranoid: source.number("/proc/sys/kernel/perf_event_paranoid"),
        laptop_mode: source.is_on("/proc/sys/vm/laptop_mode"),
    }
}

/// `#1 SMP PREEMPT_DYNAMIC Debian 6.1.0` says it; a kernel that preempts nothing says nothing.
fn preemption(build: &str) -> Option<String> {
    let mut words = build.split_whitespace();
    let word = words.find(|w| w.starts_with("PREEMPT"))?;
    Some(word.trim_start_matches("PREEMPT_").to_lowercase())
}

/// A kernel without them has no list of them.
fn modules(source: &impl Source) -> Option<bool> {
    let is_disabled = source.is_on("/proc/sys/kernel/modules_disabled");
    let is_linux = source.bytes("/proc/filesystems").is_some();
    let has_list = source.bytes("/proc/modules").is_some();
    is_linux.then_some(has_list && is_disabled != Some(true))
}

fn mitigations(source: &impl Source) -> Vec<Mitigation> {
    const FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";
    let names = source.list(FOLDER).into_iter();
    let each = names.filter_map(|name| {
        let state = source.word(&format!("{FOLDER}/{name}"))?;
        Some(Mitigation { name, state })
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_names_its_preemption() {
        let of = |build: &str| preemption(build);
        assert_eq!(
            of("#1 SMP PREEMPT_DYNAMIC Debian").as_deref(),
            Some("dynamic")
        );
        assert_eq!(of("#1 SMP PREEMPT_RT").as_deref(), Some("rt"));
        assert_eq!(of("#1 SMP PREEMPT Tue").as_deref(), Some("preempt"));
        assert_eq!(of("#1 SMP"), None);
    }
}
