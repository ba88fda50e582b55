//! From an application's system calls to its application vector. Reading the text of a trace is pure; [`live`] runs the application.

mod bpf;
mod call;
mod count;
mod descriptors;
mod line;
pub mod live;
mod primitive;
mod strace;
mod tally;
#[cfg(test)]
mod tests;
mod trace;

pub use strace::strace;
pub use trace::{Request, Trace};
