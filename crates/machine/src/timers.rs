//! Timer sources of the kernel, and the counter that user space reads.

use yamba_record::machine::details::Timers;

use super::queries::Queried;
use super::source::Source;
use super::text::{big_endian, value};

pub(super) fn timers(source: &impl Source, isa: &str, cpuinfo: &str, queried: &Queried) -> Timers {
    const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";
    let available = source.word(&format!("{SOURCES}/available_clocksource"));
    let (counter, counter_hz, counter_invariant) = match isa {
        "x86_64" | "x86_32" => ("tsc", queried.counter_hz, invariant(cpuinfo)),
        // The architecture defines a constant rate for these two.
        "aarch64" => ("cntvct", queried.counter_hz, Some(true)),
        "riscv64" => ("time", timebase(source), Some(true)),
        _ => ("", None, None),
    };
    Timers {
        source: source.name(&format!("{SOURCES}/current_clocksource")),
        available: available
            .map(|words| words.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        resolution_ns: queried.answers.resolution_ns,
        counter: (!counter.is_empty()).then(|| counter.to_owned()),
        counter_hz,
        counter_invariant,
    }
}

/// Whether the counter has a constant rate and runs in idle states too.
fn invariant(cpuinfo: &str) -> Option<bool> {
    let flags = value(cpuinfo, "flags")?;
    let has = |name: &str| flags.split(' ').any(|f| f == name);
    Some(has("constant_tsc") && has("nonstop_tsc"))
}

fn timebase(source: &impl Source) -> Option<u64> {
    big_endian(&source.bytes("/proc/device-tree/cpus/timebase-frequency")?)
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn invariant_counter_needs_both_flags() {
        assert_eq!(invariant("flags\t: tsc constant_tsc nonstop_tsc"), Some(true));
        assert_eq!(invariant("flags\t: tsc constant_tsc"), Some(false));
        assert_eq!(invariant("isa\t: rv64imafdc"), None);
    }

    #[test]
    fn each_instruction_set_has_its_counter() {
        let queried = Queried { counter_hz: Some(24_000_000), ..Queried::default() };
        let for_isa = |isa: &str| timers(&Sample::new(""), isa, "", &queried);
        assert_eq!(for_isa("aarch64").counter_hz, Some(24_000_000));
        assert_eq!(for_isa("aarch64").counter_invariant, Some(true));
        assert_eq!(for_isa("x86_64").counter_invariant, None);
        assert_eq!(for_isa("riscv64").counter_hz, None);
        assert_eq!(for_isa("vax").counter, None);
    }
}
