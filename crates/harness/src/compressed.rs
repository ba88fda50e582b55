//! Entries in compressed form. A whole run has some hundred thousand batches, each of which takes a thousand bytes uncompressed.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use yamba_record::event::Sizing;
use yamba_record::{Benchmark, Interval};

/// A value as compressed JSON, in about a tenth of its memory.
#[derive(Clone, Debug)]
pub(super) struct Compressed<T> {
    bytes: Vec<u8>,
    of: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> Compressed<T> {
    pub fn new(value: &T) -> Compressed<T> {
        let text = serde_json::to_vec(value).expect("what is recorded can be written");
        let mut bytes = lz4_flex::compress_prepend_size(&text);
        bytes.shrink_to_fit();
        Compressed {
            bytes,
            of: PhantomData,
        }
    }

    /// The value, bit for bit.
    pub fn value(&self) -> T {
        let text = lz4_flex::decompress_size_prepended(&self.bytes);
        let text = text.expect("it was compressed here");
        serde_json::from_slice(&text).expect("it was written here")
    }
}

/// The records of one launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LaunchRecords {
    pub intervals: Vec<Interval>,
    /// Warm-up, sizing and the growth check.
    pub sizing: Vec<Sizing>,
}

/// An entry in compressed form. The records of each launch are compressed once, when the launch has ended.
#[derive(Clone, Debug)]
pub struct CompressedEntry {
    /// The entry without its records.
    rest: Compressed<Benchmark>,
    launches: Vec<Compressed<LaunchRecords>>,
}

impl CompressedEntry {
    /// An entry that has no records.
    pub(super) fn without_records(benchmark: &Benchmark) -> CompressedEntry {
        debug_assert!(benchmark.intervals.is_empty() && benchmark.sizing.is_empty());
        CompressedEntry {
            rest: Compressed::new(benchmark),
            launches: Vec::new(),
        }
    }

    /// An entry whose records are those of `launches`, in their order.
    pub(super) fn of_launches(
        benchmark: &mut Benchmark,
        launches: Vec<Compressed<LaunchRecords>>,
    ) -> CompressedEntry {
        let intervals = std::mem::take(&mut benchmark.intervals);
        let sizing = std::mem::take(&mut benchmark.sizing);
        let rest = Compressed::new(benchmark);
        (benchmark.intervals, benchmark.sizing) = (intervals, sizing);
        CompressedEntry { rest, launches }
    }

    /// The entry without its records.
    pub(super) fn rest(&self) -> Benchmark {
        self.rest.value()
    }

    /// The complete entry, bit for bit.
    pub fn unpack(&self) -> Benchmark {
        let mut benchmark = self.rest();
        for launch in &self.launches {
            let records = launch.value();
            benchmark.intervals.extend(records.intervals);
            benchmark.sizing.extend(records.sizing);
        }
        benchmark
    }
}

/// Serializes as the entry itself.
impl Serialize for CompressedEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.unpack().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::Event;

    use super::*;
    use crate::launch_tests::{SIX, entry, launches};
    use crate::tests::changed;

    #[test]
    fn compressed_value_is_equal_to_the_last_bit() {
        let lines = changed(|i, raw| raw.ns = 0.1 + 1.0 / (3.0 + i as f64));
        let events: Vec<Event> = lines
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let compressed = Compressed::new(&events);
        assert_eq!(compressed.value(), events);
        let direct = serde_json::to_string(&events).unwrap();
        assert!(compressed.bytes.len() < direct.len() / 2);
    }

    #[test]
    fn compressed_entry_is_equal_to_the_last_bit() {
        let original = entry(&launches(&SIX));
        assert_eq!((original.intervals.len(), original.sizing.len()), (66, 36));
        let each = (0..6).map(|launch| {
            let own = original.intervals.iter().filter(|i| i.launch == launch);
            Compressed::new(&LaunchRecords {
                intervals: own.cloned().collect(),
                sizing: original.sizing[6 * launch as usize..][..6].to_vec(),
            })
        });
        let mut benchmark = original.clone();
        let compressed = CompressedEntry::of_launches(&mut benchmark, each.collect());
        assert_eq!(benchmark, original);
        assert_eq!(compressed.unpack(), original);
        assert!(compressed.rest().intervals.is_empty());
        assert_eq!(
            serde_json::to_string(&compressed).unwrap(),
            serde_json::to_string(&original).unwrap()
        );
    }
}
