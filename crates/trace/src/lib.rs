//! From an application's system calls to its application vector. Reading the text of a trace is pure; [`live`] runs the application.

mod call;
mod count;
mod descriptors;
mod line;
pub mod live;
mod strace;
#[cfg(test)]
mod tests;

pub use strace::{Request, Trace, strace};
