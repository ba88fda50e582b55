//! The file to carry: packs programs and a runner into one executable, and reads what it printed,
//! as a document or through a serial line.
//!
//! A capture is a list of items, each a JSON object: `yamba-capture/1`, docs/notes/fleet.md. This
//! crate finds the items among other text, and names those that are missing. It judges nothing: the
//! harness computes the figures.
//!
//! Pure: no file, no process, no printing.

mod archive;
mod capture;
mod document;
mod executable;
mod frames;
mod item;
mod plan;
mod shortened;

pub use archive::{Archive, Contents, Executables, Packed, pack, unpack};
pub use capture::{Capture, RecordedLaunch, RecordedPoint, captures, run_of_capture};
pub use plan::{Plan, PlannedProgram};

pub const SCHEMA: &str = "yamba-capture/1";

/// Whether this is the text of a capture: a document or the log of a serial line.
pub fn is_capture(bytes: &[u8]) -> bool {
    document::is_it(bytes) || frames::is_it(bytes)
}

#[cfg(test)]
mod tests;
