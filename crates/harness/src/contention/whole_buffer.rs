//! The entries of a core's whole reorder buffer. A neighbour halves some of the readings. Pure.

use std::collections::BTreeMap;

/// Fewest readings of a size, as a number and as a share of all. One reading may be wrong, if both
/// times that it compares were interrupted.
const FEWEST: usize = 8;
const LEAST_SHARE: f64 = 0.04;

/// The command-line arguments by which a program knows the buffers of processors.
pub(crate) fn arguments(known: &BTreeMap<u64, u64>) -> Vec<String> {
    let each = known.iter().map(|(cpu, entries)| format!("{cpu}={entries}"));
    let list = each.collect::<Vec<String>>().join(",");
    if list.is_empty() { Vec::new() } else { vec!["--whole-buffers".to_owned(), list] }
}

/// The readings of a processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WholeBuffer {
    /// By earlier runs.
    earlier: Option<u64>,
    /// Number of readings of each size. Size 0 is unknown.
    counts: BTreeMap<u64, usize>,
}

impl WholeBuffer {
    pub fn new(earlier: Option<u64>) -> WholeBuffer {
        WholeBuffer { earlier, counts: BTreeMap::new() }
    }

    /// Adds readings, in entries. 0: unknown.
    pub fn add(&mut self, readings: impl Iterator<Item = f64>) {
        for entries in readings {
            *self.counts.entry(entries as u64).or_default() += 1;
        }
    }

    /// The number of readings.
    pub fn readings(&self) -> usize {
        self.counts.values().sum()
    }

    /// The largest size that was read often enough, in entries; 0 if none was, and `None` without
    /// readings.
    pub fn own(&self) -> Option<u64> {
        let fewest = FEWEST.max((LEAST_SHARE * self.readings() as f64) as usize);
        let often = self.counts.iter().filter(|(_, count)| **count >= fewest);
        let largest = often.map(|(entries, _)| *entries).max();
        (self.readings() > 0).then(|| largest.unwrap_or_default())
    }

    /// The same, at least that of earlier runs: a neighbour may have been there all the time.
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
        buffer.add([0.0; 3].into_iter());
        assert_eq!(buffer.entries(), Some(0));
        buffer.add([125.0; 70].into_iter().chain([215.0; 20]).chain([385.0; 3]));
        assert_eq!(buffer.entries(), Some(215));
        // Of many readings, 20 may be wrong.
        buffer.add([125.0; 1000].into_iter());
        assert_eq!(buffer.entries(), Some(125));
        let mut halved = WholeBuffer::new(Some(215));
        halved.add([125.0; 500].into_iter());
        assert_eq!((halved.entries(), halved.own()), (Some(215), Some(125)));
        assert_eq!(arguments(&BTreeMap::from([(0, 385), (16, 215)]))[1], "0=385,16=215");
        assert!(arguments(&BTreeMap::new()).is_empty());
    }
}
