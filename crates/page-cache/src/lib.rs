//! Predicts the hits and misses of the page cache from an application's references to pages of
//! files.
//!
//! [`Sampled`] makes the miss-ratio curve of an ideal LRU cache for all sizes in one pass.
//! [`LinuxCache`] simulates the page cache of Linux at one size. Pure: no file, no process, no
//! clock.

mod access;
mod buckets;
mod curve;
pub mod document;
mod folios;
pub mod forecast;
mod linux;
#[cfg(test)]
mod linux_tests;
mod page_map;
mod page_tree;
mod ranks;
mod read_ahead;
mod sampled;
mod stack;
#[cfg(test)]
mod tests;
mod two_lists;

pub use access::{Access, Kind, PAGE_BYTES, Page};
pub use curve::Curve;
pub use document::FileAccesses;
pub use linux::{Counts, FileShape, LinuxCache, Share};
pub use sampled::Sampled;
pub use stack::Stack;
