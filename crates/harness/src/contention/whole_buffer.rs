//! The entries of a core's whole reorder buffer. A neighbour halves some of the readings. Pure.

use std::collections::BTreeMap;

/// Fewest readings of a size, as a number and as a share of all. One reading may be wrong, if both
/// times that it compares were interrupted.
const FEWEST: usize = 8;
const LEAST_SHARE: f64 = 0.04;

/// The readings of a processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WholeBuffer {
    /// By earlier runs.
    earlier: Option<u64>,
    /// Number of readings of each size.
    counts: BTreeMap<u64, usize>,
}

impl WholeBuffer {
    pub fn new(earlier: Option<u64>) -> WholeBuffer {
        WholeBuffer { earlier, counts: BTreeMap::new() }
    }

    /// Adds readings, in entries. 0: unknown.
    pub fn add(&mut self, readings: impl Iterator<Item = f64>) {
        for entries in readings.map(|entries| entries as u64).filter(|entries| *entries > 0) {
            *self.counts.entry(entries).or_default() += 1;
        }
    }

    /// The largest size that was read often enough, in entries. A neighbour that was there all the
    /// time does not lower that of earlier runs.
    pub fn entries(&self) -> Option<u64> {
        let all: usize = self.counts.values().sum();
        let fewest = FEWEST.max((LEAST_SHARE * all as f64) as usize);
        let often = self.counts.iter().filter(|(_, count)| **count >= fewest);
        let own = often.map(|(entries, _)| *entries).max();
        own.max(self.earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_size_that_is_not_rare_counts() {
        let mut buffer = WholeBuffer::default();
        assert_eq!(buffer.entries(), None);
        buffer.add([125.0; 70].into_iter().chain([215.0; 20]).chain([385.0; 3]).chain([0.0; 500]));
        assert_eq!(buffer.entries(), Some(215));
        // Of many readings, 20 may be wrong.
        buffer.add([125.0; 1000].into_iter());
        assert_eq!(buffer.entries(), Some(125));
        let mut halved = WholeBuffer::new(Some(215));
        halved.add([125.0; 500].into_iter());
        assert_eq!(halved.entries(), Some(215));
    }
}
