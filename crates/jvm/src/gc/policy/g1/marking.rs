//! When concurrent marking starts: `InitiatingHeapOccupancyPercent`, and after a few markings a
//! forecast of G1 (`G1AdaptiveIHOPControl`).

use super::heap::Heap;
use crate::gc::policy::average::Forecast;

/// Share of the heap that starts the first markings (`InitiatingHeapOccupancyPercent`).
const FIRST: f64 = 0.45;
/// Share of the heap that G1 fills at most: less `G1ReservePercent` and `G1HeapWastePercent`.
const TARGET: f64 = 0.85;
/// Samples before the forecast counts (`G1AdaptiveIHOPNumInitialSamples`).
const INITIAL_SAMPLES: f64 = 3.0;
/// Weight of a new sample.
const WEIGHT: f64 = 0.05;

/// Forecasts of the length of marking and of the growth of the old generation. Both are in bytes
/// that the application allocates: time passes with these.
pub(super) struct Start {
    marking: Forecast,
    growth: Forecast,
    young_bytes: f64,
}

impl Start {
    pub(super) fn new() -> Self {
        Self { marking: Forecast::new(WEIGHT), growth: Forecast::new(WEIGHT), young_bytes: 0.0 }
    }

    /// A marking ended with its first mixed collection, after `allocated_bytes`.
    pub(super) fn add_marking(&mut self, allocated_bytes: f64) {
        self.marking.add(allocated_bytes);
    }

    /// Notes a young collection, which promoted `promoted_bytes` after `allocated_bytes` of
    /// allocation. The next young generation has `young_bytes`.
    pub(super) fn add_young(
        &mut self,
        promoted_bytes: f64,
        allocated_bytes: f64,
        young_bytes: f64,
    ) {
        self.growth.add(promoted_bytes / allocated_bytes.max(1.0));
        self.young_bytes = young_bytes;
    }

    /// Bytes in regions that are not young above which marking starts.
    pub(super) fn threshold_bytes(&self, heap: &Heap) -> f64 {
        let samples = self.marking.samples().min(self.growth.samples());
        if samples < INITIAL_SAMPLES {
            return heap.share(FIRST);
        }
        let grown = self.marking.value() * self.growth.value();
        (heap.share(TARGET) - grown - self.young_bytes).max(0.0)
    }
}
