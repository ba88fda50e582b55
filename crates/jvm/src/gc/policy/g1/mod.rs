//! G1: regions, a young generation that follows the free memory, marking when the old generation is
//! large, and mixed collections after it.

mod heap;
mod marking;
mod old;

use self::heap::{Heap, MEGABYTE, Used, keeps_young_size};
use self::marking::Start;
use self::old::Old;
use super::average::Forecast;
use super::metaspace::{Metaspace, due};
use super::young::{Evacuated, Young, whole};
use super::{Setting, Simulated, too_small};
use crate::gc::log::Kind;

/// Young bytes for each in the survivor regions (`SurvivorRatio`).
const SURVIVOR_RATIO: f64 = 8.0;
/// Share of the survivor regions at which the age of promotion falls (`TargetSurvivorRatio`).
const TARGET_SURVIVORS: f64 = 0.5;
/// Share of Eden that G1 expects to survive at the start, and the weight of a new sample.
const FIRST_SURVIVAL: f64 = 0.4;
const SURVIVAL_WEIGHT: f64 = 0.3;
/// Pace at which the application allocates, relative to that with Serial: barriers and the threads
/// of G1 slow it down. Chosen on two programs (docs/notes/java.md).
pub(super) const PACE: f64 = 0.5;
/// Live share of the heap above which the application cannot run.
const MOST_LIVE: f64 = 0.95;

/// Eden at most before the first collections, in MiB, while the JVM expects long pauses. From logs
/// of JDK 17 and 25; they are the same for heaps of 40 to 88 MB.
fn first_edens(jvm_major: u32) -> &'static [f64] {
    if keeps_young_size(jvm_major) { &[14.0] } else { &[6.0, 4.0, 12.0] }
}

/// Where G1 is between two markings.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Normal,
    /// The next collection starts a marking.
    Requested,
    /// Marking saw the first `seen` old regions at `since`, and ends at `until`.
    Marking {
        since: f64,
        until: f64,
        seen: usize,
    },
    /// Marking, which began at `since`, has found regions for mixed collections.
    Prepared {
        since: f64,
    },
    Mixed,
}

/// State of the simulation.
struct G1<'a> {
    setting: &'a Setting<'a>,
    heap: Heap,
    young: Young,
    old: Old,
    survival: Forecast,
    start: Start,
    phase: Phase,
    found: Vec<Simulated>,
}

pub(super) fn simulate(setting: &Setting) -> Result<Vec<Simulated>, String> {
    let mut survival = Forecast::new(SURVIVAL_WEIGHT);
    survival.add(FIRST_SURVIVAL);
    G1 {
        setting,
        heap: Heap::new(setting.heap_bytes, setting.jvm_major, PACE * setting.rate()),
        young: Young::new(15),
        old: Old::default(),
        survival,
        start: Start::new(),
        phase: Phase::Normal,
        found: Vec::new(),
    }
    .run()
}

impl G1<'_> {
    fn run(mut self) -> Result<Vec<Simulated>, String> {
        let mut metaspace = Metaspace::new();
        loop {
            let before = self.young.emptied_at();
            let now = before + self.eden() * self.heap.region_bytes;
            let by_metaspace = due(self.setting, &mut metaspace, before, now);
            let at = by_metaspace.unwrap_or(now);
            let end = self.setting.total_bytes();
            if at > end {
                self.abort_marking(end);
                return Ok(self.found);
            }
            let live_bytes = whole(self.setting, at, Kind::ConcurrentMark).bytes;
            if live_bytes > self.setting.heap_bytes * MOST_LIVE {
                return Err(too_small(self.setting));
            }
            if by_metaspace.is_some() && self.phase == Phase::Normal {
                self.phase = Phase::Requested;
            }
            self.collect(before, at);
        }
    }

    fn used(&self) -> Used {
        Used { survivors: self.heap.up(self.young.survivor_bytes()), old: self.old.count() }
    }

    /// Eden regions until the next collection.
    fn eden(&self) -> f64 {
        let first = first_edens(self.setting.jvm_major);
        let is_pause = |c: &&Simulated| c.kind != Kind::ConcurrentMark;
        let done = self.found.iter().filter(is_pause).take(first.len()).count();
        let limit = first.get(done).map_or(f64::INFINITY, |mb| self.heap.up(mb * MEGABYTE));
        let is_mixed = matches!(self.phase, Phase::Prepared { .. } | Phase::Mixed);
        self.heap.eden(self.used(), self.survival.value(), limit, is_mixed)
    }

    /// A young or mixed collection at `now`; Eden was empty at `before`.
    fn collect(&mut self, before: f64, now: f64) {
        let is_mixed = self.begin_mixed(now);
        self.end_marking(now);
        let used = self.used();
        let eden = self.heap.up(now - before);
        let most = ((eden + used.survivors) / SURVIVOR_RATIO).ceil() * self.heap.region_bytes;
        self.young.tenure_by_table(most * TARGET_SURVIVORS);
        let moved = self.young.collect(self.setting, now, most);
        let mut bytes = moved.copied_bytes;
        let mut taken_regions = 0.0;
        if is_mixed {
            let taken = self.old.take_candidates(self.setting, now);
            bytes += taken.iter().map(|p| p.bytes).sum::<f64>();
            taken_regions = used.old - self.old.count();
            self.old.add(&self.heap, &taken, now);
        }
        self.old.add(&self.heap, &moved.promoted, now);
        // The collected regions are free only afterwards.
        let after = self.used();
        let needed = after.old + taken_regions - used.old + after.survivors;
        let room = self.heap.free(used) - eden;
        let kind = if is_mixed { Kind::Mixed } else { Kind::Young };
        if needed > room {
            bytes *= (room / needed).max(0.0);
            self.found.push(Simulated::new(kind, bytes));
            self.fail(now);
        } else {
            self.found.push(Simulated::new(kind, bytes));
            self.learn(&moved, now - before, is_mixed);
            self.next_phase(now);
        }
    }

    /// Objects without room stay where they are. In logs another collection of a single region
    /// fails as well, and one of the whole heap follows.
    fn fail(&mut self, now: f64) {
        self.found.push(Simulated::new(Kind::Young, 0.0));
        self.collect_all(now);
    }

    /// A collection of the whole heap at `now`.
    fn collect_all(&mut self, now: f64) {
        self.abort_marking(now);
        let all = whole(self.setting, now, Kind::Full);
        self.found.push(all);
        let rest = self.young.leave();
        self.old.add(&self.heap, &rest, now);
        self.old.compact(self.setting, &self.heap, now, all.bytes);
        self.phase = self.normal();
    }

    /// A marking that is not complete at `now` has done a part of its work.
    fn abort_marking(&mut self, now: f64) {
        let Phase::Marking { since, until, .. } = self.phase else {
            return;
        };
        let is_marking = |c: &&mut Simulated| c.kind == Kind::ConcurrentMark;
        if let Some(marking) = self.found.iter_mut().rev().find(is_marking) {
            marking.bytes *= ((now - since) / (until - since)).clamp(0.0, 1.0);
        }
    }

    /// Feeds the forecasts of G1.
    fn learn(&mut self, moved: &Evacuated, eden_bytes: f64, is_mixed: bool) {
        if is_mixed {
            return;
        }
        if !matches!(self.phase, Phase::Marking { .. }) {
            self.survival.add(moved.from_eden_bytes / eden_bytes.max(1.0));
        }
        let young = (self.eden() + self.used().survivors) * self.heap.region_bytes;
        self.start.add_young(moved.promoted_bytes, eden_bytes, young);
    }

    /// The phase after a collection.
    fn next_phase(&mut self, now: f64) {
        self.phase = match self.phase {
            Phase::Requested => self.begin_marking(now),
            Phase::Normal => self.normal(),
            Phase::Mixed if !self.old.has_candidates() => self.normal(),
            other => other,
        };
    }

    fn begin_marking(&mut self, now: f64) -> Phase {
        let live = whole(self.setting, now, Kind::ConcurrentMark);
        self.found.push(live);
        Phase::Marking {
            since: now,
            until: now + PACE * cycle_bytes(self.setting, live.bytes),
            seen: self.old.seen_by_marking(),
        }
    }

    /// Whether the collection at `now` is a mixed one.
    fn begin_mixed(&mut self, now: f64) -> bool {
        if let Phase::Prepared { since } = self.phase {
            self.start.add_marking(now - since);
            self.phase = Phase::Mixed;
        }
        self.phase == Phase::Mixed
    }

    /// The phase without marking: requests one if the old generation is large.
    fn normal(&self) -> Phase {
        let old = self.heap.not_young(self.used()) * self.heap.region_bytes;
        if old > self.start.threshold_bytes(&self.heap) { Phase::Requested } else { Phase::Normal }
    }

    /// Ends a marking that is complete at `now`.
    fn end_marking(&mut self, now: f64) {
        let Phase::Marking { since, until, seen } = self.phase else {
            return;
        };
        if now < until {
            return;
        }
        self.old.end_marking(self.setting, &self.heap, seen, since);
        self.phase =
            if self.old.has_candidates() { Phase::Prepared { since } } else { Phase::Normal };
    }
}

/// Bytes that the application allocates while a cycle runs.
pub(super) fn cycle_bytes(setting: &Setting, live_bytes: f64) -> f64 {
    let (fixed, each) = setting.cycle_ns;
    (fixed + each * live_bytes) * setting.rate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::demand::tests::constant_lifetime;

    /// Collections and markings of an application that allocates `steps` MB, as fast as the
    /// benchmark with Serial: 2.2 MB a ms. Its objects live for `lifetime` bytes.
    fn simulated(
        steps: usize,
        lifetime: f64,
        heap_mb: f64,
        jvm_major: u32,
        cycle_ns: f64,
    ) -> Vec<Simulated> {
        let mut demand = constant_lifetime(steps, lifetime);
        demand.mutator_ns = steps as f64 / 2.2 * 1e6;
        let found = simulate(&Setting {
            cycle_ns: (cycle_ns, 0.0),
            ..Setting::new(&demand, heap_mb * MEGABYTE, jvm_major)
        });
        found.unwrap()
    }

    /// Young, mixed and full collections, and markings, of an application that allocates 839 MB.
    fn counts(lifetime: f64, heap_mb: f64, jvm_major: u32, cycle_ns: f64) -> [usize; 4] {
        let found = simulated(839, lifetime, heap_mb, jvm_major, cycle_ns);
        let kinds = [Kind::Young, Kind::Mixed, Kind::Full, Kind::ConcurrentMark];
        kinds.map(|kind| found.iter().filter(|c| c.kind == kind).count())
    }

    /// `Shapes list 24` with windows of 16 and 32 MB and an allocation of 839 MB, in heaps of 48
    /// and 96 MB: marking never ended in time. Young and full collections of the logs of JDK 17 and
    /// 25.
    #[test]
    fn full_collections_are_as_many_as_in_logs() {
        let logs = [
            (16.0, 17, 296.0, 27.0),
            (16.0, 25, 163.0, 27.0),
            (32.0, 17, 189.0, 11.0),
            (32.0, 25, 105.0, 10.0),
        ];
        for (window_mb, jvm, young, full) in logs {
            let found = counts(window_mb * 1_048_576.0, 3.0 * window_mb, jvm, 1e12);
            let close =
                |found: usize, logged: f64, share: f64| (found as f64 / logged - 1.0).abs() < share;
            assert!(close(found[2], full, 0.25), "{jvm} {window_mb}: {found:?}");
            assert!(close(found[0], young, 0.4), "{jvm} {window_mb}: {found:?}");
            assert_eq!(found[1], 0);
        }
    }

    /// An application that allocates less than its heap has one marking and no full collection.
    #[test]
    fn marking_that_outlasts_the_run_costs_its_part() {
        let marked_bytes = |cycle_ns: f64| {
            let found = simulated(160, 140e6, 200.0, 25, cycle_ns);
            let is_marking = |c: &&Simulated| c.kind == Kind::ConcurrentMark;
            let markings: Vec<_> = found.iter().filter(is_marking).collect();
            assert_eq!(markings.len(), 1);
            assert!(found.iter().all(|c| c.kind != Kind::Full));
            markings[0].bytes
        };
        let whole = marked_bytes(1.0);
        // Marking starts at 45 % of the heap.
        assert!(whole > 0.45 * 200.0 * MEGABYTE * 0.95, "{whole}");
        // The whole run takes 146 ms with G1. A marking that takes longer does less in the rest of
        // the run.
        let (second, two_seconds) = (marked_bytes(1e9), marked_bytes(2e9));
        assert!(second > 0.0 && second < 0.146 * whole, "{second} {whole}");
        assert!((second / two_seconds - 2.0).abs() < 1e-6, "{second} {two_seconds}");
    }

    #[test]
    fn objects_that_die_young_need_no_marking() {
        assert_eq!(counts(1e6, 96.0, 25, 1e6)[1..], [0, 0, 0]);
    }

    /// A marking that ends at once finds dead regions before the heap is full.
    #[test]
    fn quick_marking_avoids_full_collections() {
        for jvm in [17, 25] {
            let [_, _, full, markings] = counts(20e6, 96.0, jvm, 1e5);
            assert_eq!(full, 0);
            assert!(markings > 5, "{markings}");
        }
    }
}
