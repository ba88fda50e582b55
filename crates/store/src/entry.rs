//! An entry in its stored form, which takes about a thirtieth of the memory of a [`Benchmark`].

use std::borrow::Cow;

use serde::Serialize;
use yamba_record::Benchmark;

use crate::columns;

/// The columns of a stored entry.
#[derive(Clone)]
pub struct PackedEntry {
    pub(crate) name: String,
    /// Parameters as JSON.
    pub(crate) parameters: String,
    pub(crate) valid: bool,
    /// The document without samples, intervals and sizing, as JSON.
    pub(crate) figures: String,
    /// Samples: 64-bit floating-point numbers, little-endian.
    pub(crate) samples: Vec<u8>,
    /// Intervals and sizing, compressed.
    pub(crate) intervals: Vec<u8>,
}

impl PackedEntry {
    pub(crate) fn of(entry: &Benchmark) -> PackedEntry {
        PackedEntry {
            name: entry.name.clone(),
            parameters: written(&entry.parameters),
            valid: entry.valid,
            figures: written(&entry.clone().figures()),
            samples: entry.samples.iter().flat_map(|s| s.to_le_bytes()).collect(),
            intervals: columns::packed(entry).expect(WRITABLE),
        }
    }
}

const WRITABLE: &str = "what is recorded can be written";

/// Serialises to JSON and drops spare capacity, since many entries may be in memory.
fn written(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect(WRITABLE);
    text.shrink_to_fit();
    text
}

impl From<Benchmark> for PackedEntry {
    fn from(entry: Benchmark) -> PackedEntry {
        PackedEntry::of(&entry)
    }
}

/// An entry that can be stored.
pub trait Entry {
    /// Converts to the stored form.
    fn packed(&self) -> Cow<'_, PackedEntry>;
}

impl Entry for Benchmark {
    fn packed(&self) -> Cow<'_, PackedEntry> {
        Cow::Owned(PackedEntry::of(self))
    }
}

impl Entry for PackedEntry {
    fn packed(&self) -> Cow<'_, PackedEntry> {
        Cow::Borrowed(self)
    }
}
