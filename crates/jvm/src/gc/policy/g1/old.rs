//! Old regions with the objects in them, and the regions that mixed collections take
//! (`G1CollectionSetCandidates`).

use super::heap::Heap;
use crate::gc::policy::Setting;
use crate::gc::policy::young::Promoted;

/// Live share of a region above which it is not worth a mixed collection
/// (`G1MixedGCLiveThresholdPercent`).
const LIVE_THRESHOLD: f64 = 0.85;
/// Reclaimable bytes that are not worth mixed collections, as a share of the heap
/// (`G1HeapWastePercent`).
const WASTE: f64 = 0.05;
/// Mixed collections after a marking (`G1MixedGCCountTarget`).
const MIXED_COUNT: f64 = 8.0;
/// Old regions that a mixed collection takes at most, as a share of the heap
/// (`G1OldCSetRegionThresholdPercent`).
const MOST_MIXED: f64 = 0.10;

/// Objects that were allocated together, in one old region.
#[derive(Clone, Copy)]
struct Part {
    begin: f64,
    end: f64,
    bytes: f64,
    promoted_at: f64,
}

impl Part {
    fn live_bytes(&self, setting: &Setting, now: f64) -> f64 {
        self.bytes * setting.survival.kept(self.begin, self.end, self.promoted_at, now)
    }
}

/// An old region.
#[derive(Clone, Default)]
struct Region {
    parts: Vec<Part>,
}

impl Region {
    fn used_bytes(&self) -> f64 {
        self.parts.iter().map(|p| p.bytes).sum()
    }

    fn live_bytes(&self, setting: &Setting, now: f64) -> f64 {
        self.parts.iter().map(|p| p.live_bytes(setting, now)).sum()
    }
}

/// The old regions.
#[derive(Default)]
pub(super) struct Old {
    /// Those that no mixed collection takes. The last one is not full.
    regions: Vec<Region>,
    /// Those that the next mixed collections take, the last one first.
    candidates: Vec<Region>,
    /// Candidates that one mixed collection takes.
    at_once: usize,
}

impl Old {
    /// The number of regions.
    pub(super) fn count(&self) -> f64 {
        (self.regions.len() + self.candidates.len()) as f64
    }

    /// The number of regions that a marking sees if it starts now.
    pub(super) fn seen_by_marking(&self) -> usize {
        self.regions.len()
    }

    pub(super) fn has_candidates(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// The live objects of the candidates that the next mixed collection takes; their regions are
    /// free.
    pub(super) fn take_candidates(&mut self, setting: &Setting, now: f64) -> Vec<Promoted> {
        let rest = self.candidates.len().saturating_sub(self.at_once);
        let taken = self.candidates.split_off(rest);
        taken.iter().flat_map(|r| survivors(setting, r, now)).collect()
    }

    /// Adds objects that were promoted, or moved within the old generation, at `now`.
    pub(super) fn add(&mut self, heap: &Heap, objects: &[Promoted], now: f64) {
        for object in objects {
            let mut left = object.bytes;
            while left > 0.0 {
                let full = self.regions.last().map_or(0.0, |r| heap.region_bytes - r.used_bytes());
                if full < 1.0 {
                    self.regions.push(Region::default());
                    continue;
                }
                let bytes = left.min(full);
                left -= bytes;
                if let Some(region) = self.regions.last_mut() {
                    region.parts.push(Part {
                        begin: object.begin,
                        end: object.end,
                        bytes,
                        promoted_at: now,
                    });
                }
            }
        }
    }

    /// A collection of the whole heap at `now`: its `live_bytes` fill as few regions as possible.
    pub(super) fn compact(&mut self, setting: &Setting, heap: &Heap, now: f64, live_bytes: f64) {
        let mut all = std::mem::take(&mut self.candidates);
        all.append(&mut self.regions);
        let mut alive: Vec<Promoted> =
            all.iter().flat_map(|r| survivors(setting, r, now)).collect();
        // The sum over the regions is an estimate.
        let sum: f64 = alive.iter().map(|p| p.bytes).sum();
        alive.iter_mut().for_each(|p| p.bytes *= live_bytes / sum.max(1.0));
        self.add(heap, &alive, now);
    }

    /// Ends a marking that saw the first `seen` regions as they were at `marked_at`: frees those
    /// without a live object, and chooses the candidates of mixed collections.
    pub(super) fn end_marking(
        &mut self,
        setting: &Setting,
        heap: &Heap,
        seen: usize,
        marked_at: f64,
    ) {
        let (mut stay, mut chosen) = (Vec::new(), Vec::new());
        for (index, region) in self.regions.drain(..).enumerate() {
            let live = region.live_bytes(setting, marked_at);
            if index >= seen || live > LIVE_THRESHOLD * heap.region_bytes {
                stay.push(region);
            } else if live >= 1.0 {
                chosen.push((heap.region_bytes - live, region));
            }
        }
        chosen.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let reclaimable: Vec<f64> = chosen.iter().map(|(bytes, _)| *bytes).collect();
        let candidates = chosen.split_off(pruned(&reclaimable, heap.share(WASTE)));
        // Allocation goes on in the last region, so those that stay are at the end.
        let waste = chosen.into_iter().map(|(_, region)| region);
        self.regions = waste.chain(stay).collect();
        self.at_once = at_once(heap, candidates.len());
        self.candidates = candidates.into_iter().map(|(_, region)| region).collect();
    }
}

/// How many regions, of those with the fewest `reclaimable` bytes, are no candidates.
fn pruned(reclaimable: &[f64], most_wasted: f64) -> usize {
    let least = (reclaimable.len() as f64 / MIXED_COUNT).ceil() as usize;
    let mut wasted = 0.0;
    let is_waste = |bytes: &&f64| {
        wasted += **bytes;
        wasted <= most_wasted
    };
    let most = reclaimable.len() - least;
    reclaimable[..most].iter().take_while(is_waste).count()
}

/// Candidates that a mixed collection takes, of `all` after a marking.
fn at_once(heap: &Heap, all: usize) -> usize {
    let least = (all as f64 / MIXED_COUNT).ceil();
    least.max((heap.regions * MOST_MIXED).ceil()) as usize
}

/// The live objects of a region.
fn survivors(setting: &Setting, region: &Region, now: f64) -> Vec<Promoted> {
    let parts = region.parts.iter().map(|p| Promoted {
        begin: p.begin,
        end: p.end,
        bytes: p.live_bytes(setting, now),
    });
    parts.filter(|p| p.bytes >= 1.0).collect()
}

#[cfg(test)]
mod tests {
    use super::super::heap::MEGABYTE;
    use super::*;
    use crate::gc::demand::tests::constant_lifetime;

    /// A heap of 100 regions of 1 MiB: waste of 5 regions is accepted.
    fn heap() -> Heap {
        Heap::new(100.0 * MEGABYTE, 25, 0.0)
    }

    #[test]
    fn regions_with_the_fewest_reclaimable_bytes_are_pruned_up_to_the_waste() {
        // The first two sum up to the waste, the third exceeds it.
        let reclaimable = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        assert_eq!(pruned(&reclaimable, 5.0), 2);
        assert_eq!(pruned(&reclaimable, 4.9), 1);
        assert_eq!(pruned(&reclaimable, 1.9), 0);
        // An eighth of the regions, rounded up, stays.
        assert_eq!(pruned(&reclaimable, 1e9), 7);
        assert_eq!(pruned(&[1.0; 9], 1e9), 7);
        assert_eq!(pruned(&[], 5.0), 0);
    }

    #[test]
    fn mixed_collection_takes_a_tenth_of_the_heap_or_an_eighth_of_the_candidates() {
        assert_eq!(at_once(&heap(), 8), 10);
        assert_eq!(at_once(&heap(), 80), 10);
        assert_eq!(at_once(&heap(), 81), 11);
    }

    /// 20 regions, each with the objects of a megabyte of allocation that ended at 80.5, 81.5 ...
    /// 99.5 MB. Objects live for 10 MB.
    fn aged(heap: &Heap) -> Old {
        let mut old = Old::default();
        for region in 0..20 {
            let begin = 79.5e6 + 1e6 * f64::from(region);
            let objects = Promoted { begin, end: begin + 1e6, bytes: MEGABYTE };
            old.add(heap, &[objects], begin + 1e6);
        }
        assert_eq!(old.count(), 20.0);
        old
    }

    #[test]
    fn marking_frees_dead_regions_and_chooses_partly_live_ones_that_it_saw() {
        let demand = constant_lifetime(100, 10e6);
        let setting = Setting::new(&demand, 100.0 * MEGABYTE, 25);
        let heap = heap();
        let now = 100e6;
        // Objects from before 90 MB are dead: those of ten regions, and half of those of the next.
        let mut old = aged(&heap);
        old.end_marking(&setting, &heap, 20, now);
        assert_eq!((old.count(), old.has_candidates()), (10.0, true));
        let taken: f64 = old.take_candidates(&setting, now).iter().map(|p| p.bytes).sum();
        assert!((taken - 0.5 * MEGABYTE).abs() < 1.0, "{taken}");
        assert_eq!((old.count(), old.has_candidates()), (9.0, false));
        // A marking that saw eight regions frees no others.
        let mut old = aged(&heap);
        old.end_marking(&setting, &heap, 8, now);
        assert_eq!((old.count(), old.has_candidates()), (12.0, false));
    }
}
