//! An access to a part of a file, and the pages of a file.

use serde::{Deserialize, Serialize};

/// How a file is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `read(2)` and its like.
    Read,
    /// `write(2)` and its like.
    Write,
    /// A page fault of a mapped file.
    Mapped,
}

/// An access to bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Number of the file.
    pub file: u32,
    /// How the file is accessed.
    pub kind: Kind,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

/// Length of a page, in bytes.
pub const PAGE_BYTES: u64 = 4096;

/// A page of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Page {
    /// Number of the file.
    pub file: u32,
    /// Number of the page in the file, from 0.
    pub index: u64,
}

impl Page {
    /// The page of a file that has this byte.
    pub fn at(file: u32, offset: u64) -> Page {
        Page { file, index: offset / PAGE_BYTES }
    }

    /// A number that is spread evenly over 64 bits. Steele, Lea and Flood, "Fast splittable
    /// pseudorandom number generators", OOPSLA 2014.
    pub(crate) fn hash(self) -> u64 {
        let mixed = |x: u64| {
            let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        };
        let file = mixed(u64::from(self.file).wrapping_add(0x9e37_79b9_7f4a_7c15));
        mixed(self.index ^ file)
    }
}
