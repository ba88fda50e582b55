//! An entry in its stored form, which takes about a thirtieth of the memory of a [`Benchmark`].

use std::borrow::Cow;

use yamba_record::{Benchmark, document};

use crate::columns;

/// The columns of a stored entry.
#[derive(Clone)]
pub struct StoredEntry {
    pub(crate) name: String,
    /// Parameters as JSON.
    pub(crate) parameters: String,
    pub(crate) valid: bool,
    /// The document without samples, batches, sizing and curves, as JSON.
    pub(crate) figures: String,
    /// Samples: 64-bit floating-point numbers, little-endian.
    pub(crate) samples: Vec<u8>,
    /// Batches, sizing and curves, compressed.
    pub(crate) batches: Vec<u8>,
}

impl StoredEntry {
    pub(crate) fn of(entry: &Benchmark) -> StoredEntry {
        StoredEntry {
            name: entry.name.clone(),
            parameters: short(serde_json::to_string(&entry.parameters)),
            valid: entry.valid,
            figures: short(document::write_entry(&entry.clone().figures())),
            samples: entry.samples.iter().flat_map(|s| s.to_le_bytes()).collect(),
            batches: columns::compress(entry).expect(WRITABLE),
        }
    }
}

const WRITABLE: &str = "what is recorded can be written";

/// Drops spare capacity, since many entries may be in memory.
fn short(written: serde_json::Result<String>) -> String {
    let mut text = written.expect(WRITABLE);
    text.shrink_to_fit();
    text
}

impl From<Benchmark> for StoredEntry {
    fn from(entry: Benchmark) -> StoredEntry {
        StoredEntry::of(&entry)
    }
}

/// An entry that can be stored.
pub trait StorableEntry {
    /// Converts to the stored form.
    fn stored_form(&self) -> Cow<'_, StoredEntry>;
}

impl StorableEntry for Benchmark {
    fn stored_form(&self) -> Cow<'_, StoredEntry> {
        Cow::Owned(StoredEntry::of(self))
    }
}

impl StorableEntry for StoredEntry {
    fn stored_form(&self) -> Cow<'_, StoredEntry> {
        Cow::Borrowed(self)
    }
}
