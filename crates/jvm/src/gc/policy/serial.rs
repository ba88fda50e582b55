//! Serial: a young generation of a third of the heap, whose survivors move to an old generation
//! that is collected when it is full.

use super::average::PaddedAverage;
use super::metaspace::{Metaspace, due};
use super::young::{Young, full};
use super::{Setting, Simulated, too_small};
use crate::gc::log::Kind;

const ALIGNMENT_BYTES: f64 = 65536.0;
/// Bytes in the old generation for each in the young one (`NewRatio`).
const NEW_RATIO: f64 = 2.0;
/// Bytes in Eden for each in a survivor space (`SurvivorRatio`).
const SURVIVOR_RATIO: f64 = 8.0;
/// Share of a survivor space that the survivors of the next collection may fill
/// (`TargetSurvivorRatio`).
const TARGET_SURVIVOR: f64 = 0.5;
/// Weight and padding of the average of promoted bytes (`AdaptiveSizePolicyWeight`,
/// `PromotedPadding`).
const PROMOTED: (f64, f64) = (10.0, 3.0);

/// The first JDK that begins no unsafe young collection (JDK-8331557). Earlier ones begin it and
/// give it up, and it has its own GC id in the log: logs of JDK 17 have such collections, logs of
/// JDK 25 have none.
const TRIES_IN_VAIN_BEFORE: u32 = 23;

/// The sizes of the spaces, in bytes.
struct Layout {
    eden: f64,
    survivor: f64,
    old: f64,
}

impl Layout {
    fn new(heap_bytes: f64) -> Self {
        let aligned = |bytes: f64| (bytes / ALIGNMENT_BYTES).floor() * ALIGNMENT_BYTES;
        let young = aligned(heap_bytes / (NEW_RATIO + 1.0));
        let survivor = aligned(young / (SURVIVOR_RATIO + 2.0)).max(ALIGNMENT_BYTES);
        Self { eden: young - 2.0 * survivor, survivor, old: heap_bytes - young }
    }
}

pub(super) fn simulate(setting: &Setting) -> Result<Vec<Simulated>, String> {
    let layout = Layout::new(setting.heap_bytes);
    if layout.eden <= 0.0 {
        return Err(too_small(setting));
    }
    let mut young = Young::new(15);
    let mut promoted = PaddedAverage::new(PROMOTED.0, PROMOTED.1);
    let mut metaspace = Metaspace::new();
    let mut old_bytes = 0.0;
    // Live bytes that did not fit into the old generation stay in Eden.
    let mut eden_rest = 0.0;
    let mut found = Vec::new();
    loop {
        let now = young.emptied_at() + layout.eden - eden_rest;
        let next = due(setting, &mut metaspace, young.emptied_at(), now);
        let at = next.unwrap_or(now);
        if at > setting.total_bytes() {
            return Ok(found);
        }
        let free = layout.old - old_bytes;
        let used = layout.eden + young.survivor_bytes();
        let is_safe = free >= promoted.padded().min(used) && eden_rest == 0.0;
        if next.is_none() && is_safe {
            let moved = young.collect(setting, at, layout.survivor);
            young.tenure_by_table(layout.survivor * TARGET_SURVIVOR);
            found.push(moved.as_collection(Kind::Young));
            promoted.add(moved.promoted_bytes);
            old_bytes += moved.promoted_bytes;
            if old_bytes <= layout.old {
                continue;
            }
        }
        if next.is_none() && !is_safe && setting.jvm_major < TRIES_IN_VAIN_BEFORE {
            found.push(Simulated::new(Kind::Young, 0.0));
        }
        let all_used = old_bytes + eden_rest + young.bytes_at(at);
        let all = full(setting, at, all_used);
        found.push(all);
        let live = all.bytes;
        old_bytes = live.min(layout.old);
        eden_rest = (live - layout.old).max(0.0);
        young.empty(at);
        if eden_rest > layout.eden * 0.98 {
            return Err(too_small(setting));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::demand::tests::constant_lifetime;

    fn run(lifetime: f64, heap_bytes: f64) -> Result<Vec<Simulated>, String> {
        let demand = constant_lifetime(1000, lifetime);
        simulate(&Setting::new(&demand, heap_bytes, 25))
    }

    /// The sizes that JDK 25 prints for -Xmx128m.
    #[test]
    fn layout_is_that_of_the_jvm() {
        let layout = Layout::new(128.0 * 1048576.0);
        let kilobytes = [layout.eden, layout.survivor, layout.old].map(|b| b / 1024.0);
        assert_eq!(kilobytes, [34944.0, 4352.0, 87424.0]);
    }

    #[test]
    fn short_lived_objects_cause_one_collection_for_each_eden() {
        let found = run(1e6, 128.0 * 1048576.0).unwrap();
        assert_eq!(found.len(), (1e9 / (34944.0 * 1024.0)) as usize);
        assert!(found.iter().all(|c| c.kind == Kind::Young));
        assert!(found.iter().all(|c| (c.bytes - 1e6).abs() < 2e5));
    }

    #[test]
    fn promoted_objects_fill_the_old_generation() {
        let found = run(20e6, 128.0 * 1048576.0).unwrap();
        let full = found.iter().filter(|c| c.kind == Kind::Full).count();
        // 20 MB of each Eden of 36 MB are promoted, and the old generation has about 66 MB free
        // after a full collection.
        assert!((5..=11).contains(&full), "{full}");
    }

    #[test]
    fn jdk_17_gives_up_a_young_collection_before_each_full_one() {
        let demand = constant_lifetime(1000, 20e6);
        let kinds = |jvm_major: u32| {
            let found = simulate(&Setting::new(&demand, 128.0 * 1048576.0, jvm_major));
            let found = found.unwrap();
            let full = found.iter().filter(|c| c.kind == Kind::Full).count();
            let given_up = found.windows(2).filter(|pair| {
                (pair[0].kind, pair[0].bytes, pair[1].kind) == (Kind::Young, 0.0, Kind::Full)
            });
            (found.len(), full, given_up.count())
        };
        let (all, full, given_up) = kinds(25);
        assert!(full > 0 && given_up == 0);
        assert_eq!(kinds(17), (all + full, full, full));
    }

    #[test]
    fn live_set_larger_than_the_heap_is_an_error() {
        assert!(run(150e6, 128.0 * 1048576.0).is_err());
    }
}
