//! Parallel: as Serial, but survivor spaces follow the average of the survivors, and Eden has the
//! rest of the young generation.

use super::average::PaddedAverage;
use super::metaspace::{Metaspace, due};
use super::young::{Young, full};
use super::{Setting, Simulated, too_small};
use crate::gc::log::Kind;

const ALIGNMENT_BYTES: f64 = 524_288.0;
/// Bytes in the young generation for each in a survivor space, at first and at most
/// (`InitialSurvivorRatio`, `MinSurvivorRatio`).
const SURVIVOR_RATIO: (f64, f64) = (8.0, 3.0);
/// Largest age of young objects, at first (`InitialTenuringThreshold`).
const TENURING: usize = 7;
/// Sizes and tenuring follow the survivors from the collection after these
/// (`AdaptiveSizePolicyReadyThreshold`). In logs of JDK 17 and 25 that is the sixth.
const READY_AFTER: usize = 5;
/// Weight and padding of the averages (`AdaptiveSizePolicyWeight`, `SurvivorPadding`,
/// `PromotedPadding`).
const AVERAGE: (f64, f64) = (10.0, 3.0);

/// The spaces of the heap, in bytes, and what decides their sizes.
struct Heap {
    young_size: f64,
    old_size: f64,
    survivor: f64,
    most_survivor: f64,
    /// Age at which objects are promoted.
    threshold: usize,
    young: Young,
    survived: PaddedAverage,
    promoted: PaddedAverage,
    old_bytes: f64,
    /// Live bytes that stay in Eden, since the old generation is full.
    eden_rest: f64,
}

fn down(bytes: f64) -> f64 {
    (bytes / ALIGNMENT_BYTES).floor() * ALIGNMENT_BYTES
}

pub(super) fn simulate(setting: &Setting) -> Result<Vec<Simulated>, String> {
    let mut heap = Heap::new(setting)?;
    let mut metaspace = Metaspace::new();
    let mut found = Vec::new();
    loop {
        let eden = heap.eden();
        let now = heap.young.emptied_at() + eden - heap.eden_rest;
        let by_metaspace = due(setting, &mut metaspace, heap.young.emptied_at(), now);
        let at = by_metaspace.unwrap_or(now);
        if at > setting.total_bytes() {
            return Ok(found);
        }
        if by_metaspace.is_some() || heap.is_young_safe() {
            let is_ready = found.len() >= READY_AFTER;
            found.push(heap.collect_young(setting, at, is_ready));
            // The logs have a collection of the whole heap in the place of the next young one if
            // the promoted objects would not fit.
            if by_metaspace.is_none() && heap.old_bytes <= heap.old_size {
                continue;
            }
        }
        let all = heap.collect_all(setting, at);
        found.push(all);
        if heap.eden_rest > eden * 0.98 {
            return Err(too_small(setting));
        }
    }
}

impl Heap {
    fn new(setting: &Setting) -> Result<Heap, String> {
        let young_size = down(setting.heap_bytes / 3.0);
        let most_survivor = down(young_size / SURVIVOR_RATIO.1);
        if most_survivor < ALIGNMENT_BYTES {
            return Err(too_small(setting));
        }
        Ok(Heap {
            young_size,
            old_size: setting.heap_bytes - young_size,
            survivor: down(young_size / SURVIVOR_RATIO.0).max(ALIGNMENT_BYTES),
            most_survivor,
            threshold: TENURING,
            young: Young::new(TENURING),
            survived: PaddedAverage::new(AVERAGE.0, AVERAGE.1),
            promoted: PaddedAverage::new(AVERAGE.0, AVERAGE.1),
            old_bytes: 0.0,
            eden_rest: 0.0,
        })
    }

    fn eden(&self) -> f64 {
        self.young_size - 2.0 * self.survivor
    }

    /// Whether the old generation has room for the objects that a young collection is expected to
    /// promote.
    fn is_young_safe(&self) -> bool {
        let most = self.eden() + self.young.survivor_bytes();
        let expected = self.promoted.padded().min(most);
        expected < self.old_size - self.old_bytes && self.eden_rest == 0.0
    }

    /// `is_ready`: sizes and tenuring follow the survivors.
    fn collect_young(&mut self, setting: &Setting, at: f64, is_ready: bool) -> Simulated {
        let moved = self.young.collect(setting, at, self.survivor);
        self.old_bytes += moved.promoted_bytes;
        let kept = moved.copied_bytes - moved.promoted_bytes;
        let is_overflow = moved.promoted_bytes > 0.0 && kept >= self.survivor * 0.99;
        self.survived.add(if is_overflow { moved.copied_bytes } else { kept });
        self.promoted.add(moved.promoted_bytes);
        if is_ready {
            // Young collections cost more than full ones, or the survivors do not fit: objects are
            // promoted earlier.
            self.threshold = (self.threshold - 1).max(1);
            self.young.set_threshold(self.threshold);
            let target = down(self.survived.padded() + ALIGNMENT_BYTES - 1.0);
            self.survivor = target.clamp(ALIGNMENT_BYTES, self.most_survivor);
        }
        moved.as_collection(Kind::Young)
    }

    fn collect_all(&mut self, setting: &Setting, at: f64) -> Simulated {
        let used = self.old_bytes + self.eden_rest + self.young.bytes_at(at);
        let all = full(setting, at, used);
        self.old_bytes = all.bytes.min(self.old_size);
        self.eden_rest = (all.bytes - self.old_size).max(0.0);
        self.young.empty(at);
        self.threshold = (self.threshold + 1).min(15);
        self.young.set_threshold(self.threshold);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gc::demand::tests::constant_lifetime;

    /// Sizes in logs of JDK 17 and 25 with 48 MB: Eden has 12 MiB, and 6 MiB as soon as survivor
    /// spaces of 2 MiB have become 5 MiB. That is after the sixth collection here. A collection of
    /// the whole heap comes in the place of a young one, so each Eden has one collection.
    #[test]
    fn each_eden_has_one_collection() {
        let demand = constant_lifetime(613, 16e6);
        let mebibytes = |count: f64| count * 1048576.0;
        let found = simulate(&Setting::new(&demand, mebibytes(48.0), 25));
        let found = found.unwrap();
        let rest = (613e6 - mebibytes(6.0 * 12.0)) / mebibytes(6.0);
        // A survivor space may become smaller for a while, and Eden larger.
        let expected = 6 + rest as usize;
        assert!((expected - 1..=expected).contains(&found.len()), "{}", found.len());
        // 10.5, 11 and 11 MB are promoted of the old generation's 33.6 MB. Such an amount does not
        // fit once more.
        let first: Vec<Kind> = found.iter().take(4).map(|c| c.kind).collect();
        assert_eq!(first, [Kind::Young, Kind::Young, Kind::Young, Kind::Full]);
    }
}
