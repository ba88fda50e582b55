//! G1: regions, a young generation that follows the pause target, marking when the old generation is large, and mixed collections after it.

use super::metaspace::{Metaspace, due};
use super::young::{Young, whole};
use super::{Setting, Simulated};
use crate::log::Kind;

const MEGABYTE: f64 = 1_048_576.0;
/// Regions at which the JVM aims.
const REGIONS: f64 = 2048.0;
/// Shares of the heap: least and most young, reserve, old when marking starts (`G1NewSizePercent`, `G1MaxNewSizePercent`, `G1ReservePercent`, `InitiatingHeapOccupancyPercent`).
const LEAST_YOUNG: f64 = 0.05;
const MOST_YOUNG: f64 = 0.60;
const RESERVE: f64 = 0.10;
const MARKING: f64 = 0.45;
/// Dead old bytes that are not worth a mixed collection (`G1HeapWastePercent`).
const WASTE: f64 = 0.05;
/// Share of dead old bytes in regions without any live object, which marking frees at once. An assumption.
const WHOLLY_DEAD: f64 = 0.6;
/// Share of the dead old bytes that one mixed collection reclaims at most (`G1MixedGCCountTarget`).
const MIXED_SHARE: f64 = 0.125;
/// Bytes in Eden for each in the survivor regions (`SurvivorRatio`).
const SURVIVOR_RATIO: f64 = 8.0;

/// Growth of the young generation from one collection to the next while the predictions of the JVM learn. From logs of JDK 17 and 25.
fn growth(jvm_major: u32) -> (f64, f64) {
    if jvm_major >= 20 {
        (0.11, 2.6)
    } else {
        (LEAST_YOUNG, 1.33)
    }
}

struct Regions {
    heap: f64,
    region: f64,
}

impl Regions {
    fn of(heap_bytes: f64) -> Self {
        let power = (heap_bytes / REGIONS / MEGABYTE).max(1.0).log2().floor();
        Self {
            heap: heap_bytes,
            region: MEGABYTE * power.exp2(),
        }
    }

    fn up(&self, bytes: f64) -> f64 {
        (bytes / self.region).ceil() * self.region
    }

    /// The Eden after a collection that left `survivors` and `old` bytes; `desired` is the size of the young generation. The survivors must find room.
    fn eden(&self, desired: f64, survivors: f64, old: f64, survival: f64) -> f64 {
        let free = self.heap * (1.0 - RESERVE) - old - survivors;
        let room = free / (1.0 + survival);
        let least = (self.heap * LEAST_YOUNG).max(self.region);
        (desired.min(self.heap * MOST_YOUNG) - survivors)
            .min(room)
            .max(least)
    }
}

/// Where G1 is between two markings.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Normal,
    Marking { until: f64 },
    Mixed { left: f64, each: f64 },
}

pub(super) fn simulate(setting: &Setting) -> Result<Vec<Simulated>, String> {
    let regions = Regions::of(setting.heap_bytes);
    let (first, step) = growth(setting.jvm_major);
    let mut desired = setting.heap_bytes * first;
    let mut young = Young::new(15);
    let mut metaspace = Metaspace::new();
    let (mut old, mut survival) = (0.0, 0.0);
    let mut phase = Phase::Normal;
    let mut found = Vec::new();
    loop {
        let survivors = regions.up(young.survivor_bytes());
        let is_mixed = matches!(phase, Phase::Mixed { .. });
        let size = if is_mixed {
            setting.heap_bytes * LEAST_YOUNG
        } else {
            desired
        };
        let eden = regions.eden(size, survivors, old, survival);
        let now = young.emptied_at() + eden;
        let by_metaspace = due(setting, &mut metaspace, young.emptied_at(), now);
        let at = by_metaspace.unwrap_or(now);
        if at > setting.total_bytes() {
            return Ok(found);
        }
        let live = whole(setting, at, Kind::ConcurrentMark);
        let live_bytes = live.bytes;
        if live_bytes > setting.heap_bytes * 0.95 {
            return Err(format!("the live set is {:.0} MB", live_bytes / 1e6));
        }
        let capacity = regions.up((eden + survivors) / SURVIVOR_RATIO);
        let moved = young.collect(setting, at, capacity);
        young.tenure_by_table(capacity / 2.0);
        survival = moved.copied_bytes / (at - (now - eden)).max(regions.region);
        let reclaimed = if let Phase::Mixed { each, .. } = phase {
            each
        } else {
            0.0
        };
        old += moved.promoted_bytes - reclaimed;
        found.push(moved.as_collection(if is_mixed { Kind::Mixed } else { Kind::Young }));
        desired = (desired * step).min(setting.heap_bytes * MOST_YOUNG);
        let old_live = (live_bytes - young.survivor_bytes()).max(0.0);
        if old + young.survivor_bytes() + regions.region > setting.heap_bytes {
            found.push(whole(setting, at, Kind::Full));
            young.empty(at);
            old = live_bytes;
            phase = Phase::Normal;
            continue;
        }
        phase = match phase {
            Phase::Normal if old > MARKING * setting.heap_bytes || by_metaspace.is_some() => {
                found.push(live);
                Phase::Marking {
                    until: at + cycle_bytes(setting, live_bytes),
                }
            }
            Phase::Marking { until } if at >= until => {
                let dead = (old - old_live).max(0.0);
                old -= dead * WHOLLY_DEAD;
                mixed(dead * (1.0 - WHOLLY_DEAD), setting.heap_bytes)
            }
            Phase::Mixed { left, each } => mixed_rest(left - each, each, setting.heap_bytes),
            other => other,
        };
    }
}

fn mixed(dead: f64, heap_bytes: f64) -> Phase {
    mixed_rest(
        dead,
        (dead * MIXED_SHARE).max(heap_bytes * 0.02),
        heap_bytes,
    )
}

fn mixed_rest(left: f64, each: f64, heap_bytes: f64) -> Phase {
    if left > heap_bytes * WASTE {
        Phase::Mixed { left, each }
    } else {
        Phase::Normal
    }
}

/// Bytes that the application allocates while a cycle runs.
pub(super) fn cycle_bytes(setting: &Setting, live_bytes: f64) -> f64 {
    let (fixed, each) = setting.cycle_ns;
    (fixed + each * live_bytes) * setting.rate()
}
