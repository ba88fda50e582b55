//! From the record of an application's system calls to its application vector. Pure: the record is a text.

mod call;
mod count;
mod descriptors;
mod line;
mod strace;
#[cfg(test)]
mod tests;

pub use strace::{Request, Trace, strace};
