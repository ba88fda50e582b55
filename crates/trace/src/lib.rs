//! From an application's system calls to its application vector. Reading the text of a trace is
//! pure; [`live`] runs the application.

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
#[cfg(test)]
mod log_tests;
mod logs;
mod modes;
#[cfg(test)]
mod mutant_tests;
mod pages;
mod positions;
mod primitive;
mod refusal;
mod shape;
mod shown_call;
mod strace;
mod tally;
#[cfg(test)]
mod tests;
mod trace;

pub use logs::{Log, read_strace};
pub use refusal::Refusal;
pub use trace::{Request, Trace, Unread};
