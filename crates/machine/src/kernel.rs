//! The kernel's settings.

use yamba_record::machine::details::{Kernel, Mitigation};

use super::source::Source;

/// `build` is the kernel's build text, `tick_ns` the resolution of the coarse clock.
pub(super) fn kernel(source: &impl Source, build: &str, tick_ns: Option<u64>) -> Kernel {
    Kernel {
        preemption: preemption(build),
        tick_hz: tick_ns.and_then(|ns| 1_000_000_000u64.checked_div(ns)),
        layout_randomisation: source.number("/proc/sys/kernel/randomize_va_space"),
        mitigations: mitigations(source),
        realtime_runtime_us: realtime_runtime(source),
        realtime_period_us: source.number("/proc/sys/kernel/sched_rt_period_us"),
        watchdog: source.is_on("/proc/sys/kernel/nmi_watchdog"),
        modules: modules(source),
        perf_event_paranoid: source.number("/proc/sys/kernel/perf_event_paranoid"),
        laptop_mode: source.is_on("/proc/sys/vm/laptop_mode"),
    }
}

/// The time of real-time threads; -1 is no limit.
fn realtime_runtime(source: &impl Source) -> Option<i64> {
    const PATH: &str = "/proc/sys/kernel/sched_rt_runtime_us";
    let time: i64 = source.number(PATH)?;
    source.understood(PATH, Some(time).filter(|t| *t >= -1))
}

/// The preemption model in a build text such as `#1 SMP PREEMPT_DYNAMIC Debian 6.1.0`. `None` for a
/// kernel without preemption.
fn preemption(build: &str) -> Option<String> {
    let mut words = build.split_whitespace();
    let word = words.find(|w| w.starts_with("PREEMPT"))?;
    Some(word.trim_start_matches("PREEMPT_").to_lowercase())
}

/// Whether modules can be loaded. A kernel without module support has no list of modules.
fn modules(source: &impl Source) -> Option<bool> {
    let is_disabled = source.is_on("/proc/sys/kernel/modules_disabled");
    let is_linux = source.bytes("/proc/filesystems").is_some();
    let has_list = source.bytes("/proc/modules").is_some();
    is_linux.then_some(has_list && is_disabled != Some(true))
}

fn mitigations(source: &impl Source) -> Vec<Mitigation> {
    const FOLDER: &str = "/sys/devices/system/cpu/vulnerabilities";
    let names = source.list(FOLDER).into_iter();
    names
        .filter_map(|name| {
            let state = source.word(&format!("{FOLDER}/{name}"))?;
            Some(Mitigation { name, state })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preemption_is_read_from_build_text() {
        assert_eq!(preemption("#1 SMP PREEMPT_DYNAMIC Debian").as_deref(), Some("dynamic"));
        assert_eq!(preemption("#1 SMP PREEMPT_RT").as_deref(), Some("rt"));
        assert_eq!(preemption("#1 SMP PREEMPT Tue").as_deref(), Some("preempt"));
        assert_eq!(preemption("#1 SMP"), None);
    }
}
