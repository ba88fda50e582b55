//! An access to a part of a file.

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
