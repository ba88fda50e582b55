//! The regions of a heap, and the size of the young generation (`G1Policy`, `G1YoungGenSizer`).

pub(super) const MEGABYTE: f64 = 1_048_576.0;
/// Regions at which the JVM aims.
const REGIONS: f64 = 2048.0;
/// Least and largest size of a region that the JVM chooses by itself, in MiB.
const LEAST_REGION_MB: f64 = 1.0;
const LARGEST_REGION_MB: f64 = 32.0;
/// Least and most young regions, as shares of the heap (`G1NewSizePercent`, `G1MaxNewSizePercent`).
const LEAST_YOUNG: f64 = 0.05;
const MOST_YOUNG: f64 = 0.60;
/// Share of the heap that stays free for survivors (`G1ReservePercent`).
const RESERVE: f64 = 0.10;
/// Factor of the bytes that G1 expects to copy: `100 / G1ConfidencePercent`, and the waste of
/// buffers.
const COPY_SAFETY: f64 = 2.0 * 1.1;
/// Time that the application has between two pauses at least: `GCPauseIntervalMillis` less
/// `MaxGCPauseMillis`, 201 and 200 ms.
const LEAST_MS_BETWEEN_PAUSES: f64 = 1.0;
/// Regions of the class data archive, which no collection frees.
const ARCHIVE: f64 = 2.0;

/// Whether the young generation of a JVM keeps its size while mixed collections last, and the
/// reserve counts only when Eden gets its regions. The first Eden differs, too.
pub(super) fn keeps_young_size(jvm_major: u32) -> bool {
    jvm_major >= 20
}

/// Sizes in regions.
pub(super) struct Heap {
    pub(super) region_bytes: f64,
    pub(super) regions: f64,
    /// Regions that the application allocates in a ms.
    regions_per_ms: f64,
    keeps_young_size: bool,
}

/// The regions in use after a collection.
#[derive(Clone, Copy)]
pub(super) struct Used {
    pub(super) survivors: f64,
    pub(super) old: f64,
}

/// Size of a region: the average, rounded up to a power of two.
fn region_bytes(heap_bytes: f64) -> f64 {
    let average_mb = (heap_bytes / REGIONS / MEGABYTE).clamp(LEAST_REGION_MB, LARGEST_REGION_MB);
    MEGABYTE * average_mb.log2().ceil().exp2()
}

impl Heap {
    /// A heap of an application that allocates `bytes_per_ns`.
    pub(super) fn new(heap_bytes: f64, jvm_major: u32, bytes_per_ns: f64) -> Self {
        let region_bytes = region_bytes(heap_bytes);
        Self {
            region_bytes,
            regions: (heap_bytes / region_bytes).floor(),
            regions_per_ms: bytes_per_ns * 1e6 / region_bytes,
            keeps_young_size: keeps_young_size(jvm_major),
        }
    }

    /// Regions that hold `bytes`.
    pub(super) fn up(&self, bytes: f64) -> f64 {
        (bytes / self.region_bytes).ceil()
    }

    pub(super) fn share(&self, share: f64) -> f64 {
        share * self.regions * self.region_bytes
    }

    /// Regions without any object after a collection.
    pub(super) fn free(&self, used: Used) -> f64 {
        self.regions - ARCHIVE - used.old - used.survivors
    }

    /// Regions that count for the start of marking.
    pub(super) fn not_young(&self, used: Used) -> f64 {
        used.old + ARCHIVE
    }

    fn least_young(&self) -> f64 {
        (self.regions * LEAST_YOUNG).floor().max(1.0)
    }

    fn reserve(&self) -> f64 {
        (self.regions * RESERVE).ceil()
    }

    /// Eden regions that fit into `free` ones if the share `survival` of them is copied, with the
    /// safety of G1.
    fn that_fit(&self, free: f64, survival: f64) -> f64 {
        (free / (1.0 + COPY_SAFETY * survival)).floor()
    }

    /// Eden regions until the next collection. `survival` is the predicted share of Eden that
    /// survives; `limit` bounds them while the JVM knows little about pauses.
    pub(super) fn eden(&self, used: Used, survival: f64, limit: f64, is_mixed: bool) -> f64 {
        let free = self.free(used);
        let least = (self.least_young() - used.survivors).max(1.0);
        let most = ((self.regions * MOST_YOUNG).floor() - used.survivors).max(least);
        let room = if self.keeps_young_size { free } else { free - self.reserve() };
        let by_pause = if is_mixed && !self.keeps_young_size {
            least
        } else {
            self.that_fit(room, survival).min(limit)
        };
        let by_mmu = (self.regions_per_ms * LEAST_MS_BETWEEN_PAUSES).ceil();
        self.limited_by_reserve(by_pause.max(by_mmu).clamp(least, most), free)
    }

    /// The desired Eden, less what would use up the reserve: at most half of that is given away.
    fn limited_by_reserve(&self, desired: f64, free: f64) -> f64 {
        let reserve = self.reserve();
        let of_reserve = self.least_young().min(((reserve + 1.0) / 2.0).floor());
        let outside = (free - reserve).max(0.0);
        let inside = (desired - outside).clamp(0.0, of_reserve).min(free);
        desired.min(outside + inside).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Heap Region Size` of `-Xlog:gc+init`, the same with JDK 17 and 25. The sizes are in MiB.
    #[test]
    fn region_size_is_as_in_logs() {
        let logs = [
            (48.0, 1.0),
            (1024.0, 1.0),
            (2048.0, 1.0),
            (2049.0, 2.0),
            (3072.0, 2.0),
            (4096.0, 2.0),
            (6144.0, 4.0),
            (102_400.0, 32.0),
        ];
        for (heap_mb, region_mb) in logs {
            let heap = Heap::new(heap_mb * MEGABYTE, 25, 0.0);
            assert_eq!(heap.region_bytes, region_mb * MEGABYTE, "{heap_mb}");
        }
    }

    /// `Eden regions: x->0(NEXT)` of logs with nearly all objects of Eden alive: regions of
    /// survivors and old ones (with humongous ones) after a collection, then NEXT.
    #[test]
    fn eden_is_as_in_logs() {
        let logs = [
            (17, 88, [(2.0, 51.0, 7.0), (2.0, 49.0, 8.0), (2.0, 57.0, 5.0)]),
            (17, 48, [(1.0, 28.0, 3.0), (1.0, 33.0, 1.0), (1.0, 36.0, 1.0)]),
            (25, 88, [(2.0, 64.0, 6.0), (2.0, 62.0, 7.0), (1.0, 75.0, 3.0)]),
        ];
        for (jvm, megabytes, rows) in logs {
            let heap = Heap::new(f64::from(megabytes) * MEGABYTE, jvm, 0.0);
            for (survivors, old, next) in rows {
                let used = Used { survivors, old };
                let found = heap.eden(used, 0.97, f64::INFINITY, false);
                assert!((found - next).abs() <= 1.0, "{jvm} {megabytes}: {old} {found}");
            }
        }
    }

    #[test]
    fn eden_of_mixed_collections_is_least_with_jdk_17() {
        let used = Used { survivors: 1.0, old: 51.0 };
        let heap = |jvm| Heap::new(88.0 * MEGABYTE, jvm, 0.0);
        assert_eq!(heap(17).eden(used, 0.9, f64::INFINITY, true), 3.0);
        assert!(heap(25).eden(used, 0.9, f64::INFINITY, true) > 8.0);
    }

    /// From a log of JDK 25 with trace of `gc+ergo+heap`, for an application that allocates 1 to 2
    /// MB a ms and keeps all: regions of survivors and old ones, then those that each collection
    /// received.
    #[test]
    fn a_fast_application_gets_more_than_survivors_allow() {
        let heap = Heap::new(48.0 * MEGABYTE, 25, 1.5e-6 * MEGABYTE);
        for (survivors, old, received) in [(1.0, 39.0, 2.0), (1.0, 41.0, 2.0), (1.0, 44.0, 1.0)] {
            let used = Used { survivors, old };
            assert_eq!(heap.eden(used, 0.97, f64::INFINITY, false), received);
        }
    }
}
