//! An entry in the form in which it is kept: some thirtieth of the room that it takes while one works with it.

use std::borrow::Cow;

use serde::Serialize;
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
        PackedEntry {
            name: entry.name.clone(),
            parameters: written(&entry.parameters),
            valid: entry.valid,
            figures: written(&figures(entry)),
            samples: entry.samples.iter().flat_map(|s| s.to_le_bytes()).collect(),
            intervals: columns::packed(entry).expect(WRITABLE),
        }
    }
}

const WRITABLE: &str = "what is recorded can be written";

/// As JSON, without the room into which it could have grown: many entries may be kept in memory.
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
