//! Sizes of caches and memory that a program takes instead of those that the system reports.

use yamba_record::Machine;
use yamba_record::hardware::HardwareParameter;

use super::options::Options;

/// Environment variable with the sizes, for every program of a run: `NAME=BYTES ...`, of which a
/// later one replaces an earlier one.
pub(super) const SIZES: &str = "YAMBA_SIZES";

/// Names in [`SIZES`] of the caches that belong to one core, with their parameters.
const OF_CORE: [(&str, &str); 3] =
    [("l1d_size", "l1d.size"), ("l1i_size", "l1i.size"), ("l2_size", "l2.size")];

/// The last cache counts as this multiple of the size that was found, so that no larger buffer
/// fits: others share the cache, and may leave more of it at another time.
const OF_LAST: f64 = 4.0;

/// Sizes are whole pages.
const PAGE: u64 = 4096;

/// The value of [`SIZES`]: the room for buffers in the time of the run, the largest measured cache,
/// the caches that were found on this machine, then the sizes of the user's environment.
pub(super) fn variable(options: &Options, machine: Option<&Machine>) -> String {
    let room = options.buffer_room().map(|r| format!("buffer_room={r}"));
    // Other runs name these caches only for predictions.
    let caches = machine.and_then(|m| m.measured_caches.as_ref()).filter(|_| room.is_some());
    let measured = caches.map(|c| format!("measured_cache={}", c.largest()));
    let found = machine.map(found).unwrap_or_default();
    let given = std::env::var(SIZES).ok();
    let all: Vec<String> = room.into_iter().chain(measured).chain(found).chain(given).collect();
    all.join(" ")
}

/// Whether sizes come from this parameter.
pub(super) fn is_used(parameter: &HardwareParameter) -> bool {
    let name = parameter.name.as_str();
    let is_size = name == "l3.size" || OF_CORE.iter().any(|(_, own)| *own == name);
    is_size && parameter.found.is_some()
}

/// The sizes of the caches that `yamba hardware` found on this machine.
fn found(machine: &Machine) -> Vec<String> {
    let each = OF_CORE.iter().map(|(size, parameter)| (*size, machine.found(parameter)));
    let has_third = machine.claimed("l3.size").or(machine.found("l3.size")).is_some();
    let last = if has_third { "l3.size" } else { "l2.size" };
    let most = machine.claimed(last).unwrap_or(f64::INFINITY);
    let last = machine.found(last).map(|bytes| most.min(OF_LAST * bytes));
    let known = each.chain([("last_cache_size", last)]);
    let known = known.filter_map(|(size, bytes)| Some((size, bytes? as u64 / PAGE * PAGE)));
    known.filter(|(_, bytes)| *bytes > 0).map(|(size, bytes)| format!("{size}={bytes}")).collect()
}

#[cfg(test)]
mod tests {
    use yamba_record::hardware::KeptParameter;
    use yamba_record::machine::details::Cache;
    use yamba_record::machine::{Details, MeasuredCache, MeasuredCaches};

    use super::*;

    #[test]
    fn largest_measured_cache_is_given() {
        let level = |bytes, latency_ns| MeasuredCache { bytes, latency_ns };
        let caches = MeasuredCaches {
            levels: vec![level(32768.0, 1.1), level(1e6, 3.8)],
            memory_ns: 100.0,
            unix_s: 0.0,
        };
        let machine = Machine { measured_caches: Some(caches), ..Machine::default() };
        let whole = Options { whole: true, ..Options::quick() };
        let text = variable(&whole, Some(&machine));
        assert!(text.split(' ').any(|w| w == "measured_cache=1000000"));
        assert!(!variable(&whole, None).contains("measured_cache"));
        // Other runs have time to fill any buffer.
        assert!(!variable(&Options::quick(), Some(&machine)).contains("measured_cache"));
    }

    /// A machine whose system claims a third cache of this size, and where these sizes were found.
    fn machine(claimed: u64, sizes: &[(&str, f64)]) -> Machine {
        let cache = |level, bytes| Cache {
            level,
            kind: "unified".to_owned(),
            bytes: Some(bytes),
            ..Cache::default()
        };
        let caches = vec![cache(2, 2 << 20), cache(3, claimed)];
        let parameter = |name: &str, bytes| HardwareParameter {
            name: name.to_owned(),
            found: Some(bytes),
            ..HardwareParameter::default()
        };
        let kept = |(name, bytes): &(&str, f64)| KeptParameter {
            parameter: parameter(name, *bytes),
            unix_s: 1.0,
        };
        Machine {
            details: Some(Box::new(Details { caches, ..Details::default() })),
            hardware: sizes.iter().map(kept).collect(),
            ..Machine::default()
        }
    }

    #[test]
    fn found_caches_replace_claimed_ones() {
        let all = [("l1d.size", 49_152.0), ("l2.size", 1_050_000.0), ("l3.size", 16_777_216.0)];
        let expected = |last: u64| {
            vec![
                "l1d_size=49152".to_owned(),
                "l2_size=1048576".to_owned(),
                format!("last_cache_size={last}"),
            ]
        };
        // A claim of 480 MiB is no size from which buffers come.
        assert_eq!(found(&machine(480 << 20, &all)), expected(64 << 20));
        // Others may have left 16 of 32 MiB.
        assert_eq!(found(&machine(32 << 20, &all)), expected(32 << 20));
        assert_eq!(found(&machine(32 << 20, &all[..1])), ["l1d_size=49152"]);
        assert_eq!(found(&machine(32 << 20, &[])), Vec::<String>::new());
        // The system hides the third cache.
        let mut hidden = machine(0, &all[2..]);
        hidden.details.as_mut().unwrap().caches.pop();
        assert_eq!(found(&hidden), ["last_cache_size=67108864"]);
        // Without a third cache the second one is the last.
        let mut two = machine(0, &all[1..2]);
        two.details.as_mut().unwrap().caches.pop();
        assert_eq!(found(&two), ["l2_size=1048576", "last_cache_size=2097152"]);
    }
}
