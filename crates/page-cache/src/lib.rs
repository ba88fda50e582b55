//! Predicts the hits and misses of the page cache from an application's references to pages of files.
//!
//! [`Sampled`] makes the miss-ratio curve of an ideal LRU cache for all sizes in one pass. Pure: no file, no process, no clock.

mod buckets;
mod curve;
mod page;
mod page_map;
mod ranks;
mod sampled;
mod stack;
#[cfg(test)]
mod tests;

pub use curve::Curve;
pub use page::{PAGE_BYTES, Page};
pub use sampled::Sampled;
pub use stack::Stack;
