//! Shenandoah and Z: a cycle starts when the free memory would not last until its end.

use super::g1::cycle_bytes;
use super::young::whole;
use super::{Setting, Simulated, too_small};
use crate::gc::Collector;
use crate::gc::log::Kind;

/// When a collector starts its cycles.
struct Triggers {
    /// Used shares of the heap that start the first cycles.
    first: &'static [f64],
    /// Share of the heap that must be free.
    least_free: f64,
    /// Factor of the allocation rate for its variation.
    spike: f64,
    /// Time that is added to a cycle's duration, in ns.
    margin_ns: f64,
}

fn triggers(collector: Collector) -> Triggers {
    if collector == Collector::Shenandoah {
        // `ShenandoahInitFreeThreshold`, `ShenandoahMinFreeThreshold`,
        // `ShenandoahAllocSpikeFactor`.
        return Triggers { first: &[0.3; 5], least_free: 0.10, spike: 1.0, margin_ns: 0.0 };
    }
    // `ZAllocationSpikeTolerance`, and the period at which Z decides.
    Triggers { first: &[0.1, 0.2, 0.3], least_free: 0.05, spike: 2.0, margin_ns: 1e8 }
}

pub(super) fn simulate(collector: Collector, setting: &Setting) -> Result<Vec<Simulated>, String> {
    let triggers = triggers(collector);
    let heap = setting.heap_bytes;
    let (mut now, mut used) = (0.0, 0.0);
    let mut found: Vec<Simulated> = Vec::new();
    loop {
        let live = whole(setting, now, Kind::Cycle);
        let live_bytes = live.bytes;
        if live_bytes > heap * 0.95 {
            return Err(too_small(setting));
        }
        let in_cycle = cycle_bytes(setting, live_bytes);
        let lasting = triggers.spike * (in_cycle + triggers.margin_ns * setting.rate());
        let start = match triggers.first.get(found.len()) {
            Some(share) => share * heap,
            None => heap - lasting.max(triggers.least_free * heap),
        };
        now += (start - used).max(0.0);
        if now > setting.total_bytes() {
            return Ok(found);
        }
        used = used.max(start);
        let cycle = whole(setting, now, Kind::Cycle);
        found.push(cycle);
        // The application waits when the heap is full.
        let during = in_cycle.min(heap - used).max(heap * 0.002);
        now += during;
        used = (cycle.bytes + during).min(heap * 0.99);
    }
}
