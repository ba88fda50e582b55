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
    /// Number of readings, and of those of each size.
    readings: usize,
    counts: BTreeMap<u64, usize>,
}

impl WholeBuffer {
    pub fn new(earlier: Option<u64>) -> WholeBuffer {
        WholeBuffer { earlier, ..WholeBuffer::default() }
    }

    /// Adds readings, in entries. `None`: not clear.
    pub fn add(&mut self, readings: &[Option<f64>]) {
        self.readings += readings.len();
        for entries in readings.iter().flatten() {
            *self.counts.entry(*entries as u64).or_default() += 1;
        }
    }

    /// The number of readings.
    pub fn readings(&self) -> usize {
        self.readings
    }

    /// The largest size that was read often enough, in entries; 0 if none was, and `None` without
    /// readings.
    pub fn own(&self) -> Option<u64> {
        let fewest = FEWEST.max((LEAST_SHARE * self.readings as f64) as usize);
        let often = self.counts.iter().filter(|(_, count)| **count >= fewest);
        let largest = often.map(|(entries, _)| *entries).max();
        (self.readings > 0).then(|| largest.unwrap_or_default())
    }

    /// The size by this run or, if that is larger, by earlier ones: a neighbour may have been there
    /// all the time.
    pub fn entries(&self) -> Option<u64> {
        self.own().max(self.earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_size_that_is_not_rare_counts() {
        let mut buffer = WholeBuffer::default();
        assert_eq!(buffer.entries(), None);
        buffer.add(&[None, None, Some(0.0)]);
        assert_eq!(buffer.entries(), Some(0));
        for (entries, count) in [(125.0, 70), (215.0, 20), (385.0, 3)] {
            buffer.add(&vec![Some(entries); count]);
        }
        assert_eq!(buffer.entries(), Some(215));
        // Of many readings, 20 may be wrong.
        buffer.add(&[Some(125.0); 1000]);
        assert_eq!(buffer.entries(), Some(125));
        let mut halved = WholeBuffer::new(Some(215));
        halved.add(&[Some(125.0); 500]);
        assert_eq!((halved.entries(), halved.own()), (Some(215), Some(125)));
    }
}
