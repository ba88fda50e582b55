//! From an application's system calls to its application vector. Reading the text of a trace is pure; [`live`] runs the application.

mod bpf;
mod call;
mod count;
mod descriptors;
mod files;
#[cfg(test)]
mod files_tests;
mod kinds;
mod line;
pub mod live;
mod loader;
mod positions;
mod primitive;
mod strace;
mod tally;
#[cfg(test)]
mod tests;
mod trace;

pub use strace::{strace, strace_with_files};
pub use trace::{Request, Trace};
