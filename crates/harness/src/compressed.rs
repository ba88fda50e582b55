//! Entries in compressed form. A whole run has some hundred thousand batches, each of which takes a
//! thousand bytes uncompressed.

use std::borrow::Cow;
use std::marker::PhantomData;

use yamba_record::document::{self, Entry, Records};
use yamba_record::{Batches, Benchmark};

/// A value that has a text, which is read back bit for bit.
pub(super) trait Textual: Sized {
    fn write(&self) -> serde_json::Result<Vec<u8>>;
    fn read(text: &str) -> serde_json::Result<Self>;
}

impl Textual for Benchmark {
    fn write(&self) -> serde_json::Result<Vec<u8>> {
        document::write_entry(self).map(String::into_bytes)
    }

    fn read(text: &str) -> serde_json::Result<Benchmark> {
        document::read_entry(text)
    }
}

impl Textual for Records {
    fn write(&self) -> serde_json::Result<Vec<u8>> {
        self.write()
    }

    fn read(text: &str) -> serde_json::Result<Records> {
        Records::read(text)
    }
}

/// A value as compressed text, in about a tenth of its memory.
#[derive(Clone, Debug)]
pub(super) struct Compressed<T> {
    bytes: Vec<u8>,
    of: PhantomData<T>,
}

impl<T: Textual> Compressed<T> {
    pub fn new(value: &T) -> Compressed<T> {
        let text = value.write().expect("what is recorded can be written");
        let mut bytes = lz4_flex::compress_prepend_size(&text);
        bytes.shrink_to_fit();
        Compressed { bytes, of: PhantomData }
    }

    /// The value, bit for bit.
    pub fn value(&self) -> T {
        let text = lz4_flex::decompress_size_prepended(&self.bytes);
        let text = text.ok().and_then(|text| String::from_utf8(text).ok());
        T::read(&text.expect("it was compressed here")).expect("it was written here")
    }
}

/// An entry in compressed form. The records of each launch are compressed once, when the launch has
/// ended.
#[derive(Clone, Debug)]
pub struct CompressedEntry {
    /// The entry without its records.
    rest: Compressed<Benchmark>,
    launches: Vec<Compressed<Records>>,
}

impl CompressedEntry {
    /// An entry that has no records.
    pub(super) fn without_records(benchmark: &Benchmark) -> CompressedEntry {
        debug_assert!(benchmark.batches.is_empty() && benchmark.sizing.is_empty());
        debug_assert!(benchmark.curves.is_empty());
        CompressedEntry { rest: Compressed::new(benchmark), launches: Vec::new() }
    }

    /// An entry whose records are those of `launches`, in their order. If the probes were judged,
    /// the batches of `benchmark` have the marks.
    pub(super) fn of_launches(
        benchmark: &mut Benchmark,
        mut launches: Vec<Compressed<Records>>,
    ) -> CompressedEntry {
        if benchmark.contended.is_some() {
            for (number, launch) in (0..).zip(&mut launches) {
                let own = benchmark.batches.iter().filter(|b| b.launch == number);
                let mut records = launch.value();
                let marked: Batches = own.collect();
                if records.batches != marked {
                    records.batches = marked;
                    *launch = Compressed::new(&records);
                }
            }
        }
        let batches = std::mem::take(&mut benchmark.batches);
        let sizing = std::mem::take(&mut benchmark.sizing);
        let curves = std::mem::take(&mut benchmark.curves);
        let rest = Compressed::new(benchmark);
        benchmark.batches = batches;
        benchmark.sizing = sizing;
        benchmark.curves = curves;
        CompressedEntry { rest, launches }
    }

    /// The records of each launch.
    pub(super) fn launches(&self) -> &[Compressed<Records>] {
        &self.launches
    }

    /// The entry without its records.
    pub fn rest(&self) -> Benchmark {
        self.rest.value()
    }

    /// Replaces the entry, which has no records, and keeps the records.
    pub(super) fn replace_rest(&mut self, benchmark: &Benchmark) {
        debug_assert!(benchmark.batches.is_empty() && benchmark.sizing.is_empty());
        self.rest = Compressed::new(benchmark);
    }

    /// The complete entry, bit for bit.
    pub fn decompress(&self) -> Benchmark {
        let mut benchmark = self.rest();
        for launch in &self.launches {
            let records = launch.value();
            benchmark.batches.extend(records.batches.iter());
            benchmark.sizing.extend(records.sizing);
            benchmark.curves.extend(records.curves);
        }
        benchmark
    }
}

impl Entry for CompressedEntry {
    fn benchmark(&self) -> Cow<'_, Benchmark> {
        Cow::Owned(self.decompress())
    }
}

#[cfg(test)]
mod tests {
    use yamba_record::Event;

    use super::*;
    use crate::launch_tests::{SIX, entry, launches};
    use crate::reader::event;
    use crate::tests::changed;

    #[test]
    fn compressed_value_is_equal_to_the_last_bit() {
        let lines = changed(|i, raw| raw.ns = 0.1 + 1.0 / (3.0 + i as f64));
        let events = lines.lines().map(|l| event(l.as_bytes()).unwrap());
        let batches = events.filter_map(|event| match event {
            Event::Batch(raw) => Some(raw.batch),
            _ => None,
        });
        let records = Records { batches: batches.collect(), ..Records::default() };
        assert_eq!(records.batches.len(), 11);
        let compressed = Compressed::new(&records);
        assert_eq!(compressed.value(), records);
        assert!(compressed.bytes.len() < lines.len() / 2);
    }

    #[test]
    fn compressed_entry_is_equal_to_the_last_bit() {
        let original = entry(&launches(&SIX));
        assert_eq!((original.batches.len(), original.sizing.len()), (66, 36));
        let each = (0..6).map(|launch| {
            let own = original.batches.iter().filter(|b| b.launch == launch);
            Compressed::new(&Records {
                batches: own.collect(),
                sizing: original.sizing[6 * launch as usize..][..6].to_vec(),
                ..Records::default()
            })
        });
        let mut benchmark = original.clone();
        let compressed = CompressedEntry::of_launches(&mut benchmark, each.collect());
        assert_eq!(benchmark, original);
        assert!(compressed.rest().batches.is_empty());
        assert_eq!(*compressed.benchmark(), original);
    }

    /// The records of a launch have no marks of neighbours: those are found when all launches are
    /// known.
    #[test]
    fn compressed_entry_has_marks_of_neighbours() {
        let recorded = entry(&launches(&SIX));
        let each = (0..6).map(|launch| {
            let own = recorded.batches.iter().filter(|b| b.launch == launch);
            Compressed::new(&Records {
                batches: own.collect(),
                sizing: recorded.sizing[6 * launch as usize..][..6].to_vec(),
                ..Records::default()
            })
        });
        let mut marked = recorded.clone();
        let batches = recorded.batches.iter().enumerate().map(|(i, mut batch)| {
            if i.is_multiple_of(7) {
                batch.disturbed.push("neighbour".to_owned());
            }
            batch
        });
        marked.batches = batches.collect();
        marked.contended = Some(0.2);
        let compressed = CompressedEntry::of_launches(&mut marked, each.collect());
        assert_eq!(*compressed.benchmark(), marked);
        assert_ne!(marked.batches, recorded.batches);
    }
}
