//! An entry in the form in which it is kept: some thirtieth of the room that it takes while one works with it.

use std::borrow::Cow;

use yamba_record::Benchmark;

use crate::columns;
use crate::figures::figures;

/// What the database has of an entry.
#[derive(Clone)]
pub struct PackedEntry {
    pub(crate) name: String,
    /// As JSON.
    pub(crate) parameters: String,
    pub(crate) valid: bool,
    /// Its document without samples, intervals and sizing, as JSON.
    pub(crate) figures: String,
    /// 64-bit floating-point numbers, the lowest byte first.
    pub(crate) samples: Vec<u8>,
    /// Intervals and sizing.
    pub(crate) intervals: Vec<u8>,
}

impl PackedEntry {
    pub(crate) fn of(entry: &Benchmark) -> PackedEntry {
        let json = "what is recorded can be written";
        PackedEntry {
            name: entry.name.clone(),
            parameters: serde_json::to_string(&entry.parameters).expect(json),
            valid: entry.valid,
            figures: serde_json::to_string(&figures(entry)).expect(json),
            samples: entry.samples.iter().flat_map(|s| s.to_le_bytes()).collect(),
            intervals: columns::packed(entry).expect(json),
        }
    }
}

impl From<Benchmark> for PackedEntry {
    fn from(entry: Benchmark) -> PackedEntry {
        PackedEntry::of(&entry)
    }
}

/// An entry that can be kept.
pub trait Entry {
    /// In the form in which it is.
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
